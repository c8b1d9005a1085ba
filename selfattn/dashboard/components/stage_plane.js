/* A lesson's 2-d drawing. Its marks (dots and arrows) move when another lesson page opens. */

const DURATION = 800; // ms of a movement
const WIDE = 320; // units: the drawing's width

/**
 * Return an object that draws a plane: its HTML `node`, its `name` and the function `draw`.
 * draw(old, duration) moves each mark from its place in the plane `old` to its place in `plane`.
 */
function planePart(plane) {
  const [[left, right], [low, high]] = plane.ends;
  const x = (value) => (WIDE * (value - left)) / (right - left);
  const y = (value) => (WIDE * (high - value)) / (high - low);
  const to = (point) => [x(point[0]), y(point[1])];
  const marks = shape("g");
  const svg = shape("svg", { class: "plane", viewBox: `0 0 ${WIDE} ${WIDE}`, "aria-hidden": "true" }, [
    ...gridOf(plane, x, y),
    marks,
  ]);
  const axes = plane.axes.map((text, i) => element("span", `small axis ${"xy"[i]}`, text));
  const node = element("figure", { "data-name": `plane ${plane.name}` }, [
    element("figcaption", {}, element("strong", {}, plane.title)),
    axes[1],
    svg,
    axes[0],
  ]);
  let frame = null;

  function draw(old, duration) {
    if (old === null && frame) return; // the marks are still moving
    cancelAnimationFrame(frame);
    const before = new Map((old?.marks ?? []).map((mark) => [mark.name, mark]));
    const began = performance.now();
    const step = (now) => {
      const part = duration ? clamp((now - began) / duration, 1) : 1;
      const eased = part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) ** 2;
      paint(plane.marks.map((mark) => between(before.get(mark.name) ?? entering(mark), mark, eased)));
      frame = part < 1 ? requestAnimationFrame(step) : null;
    };
    step(began);
  }

  function paint(shown) {
    const drawn = shown.map((mark) => markOf(mark, to));
    const labels = labelsOf(shown, to);
    marks.replaceChildren(...drawn, ...labels.map((label) => label.node));
    const dots = shown.flatMap(({ at, origin }) =>
      origin
        ? [0.3, 0.6, 0.8, 0.9, 1].map((part) => to(origin.map((start, i) => start + part * (at[i] - start))))
        : [to(at)],
    );
    placeLabels(labels, dots, WIDE);
  }
  return { node, draw, name: plane.name };
}

/** Return the first state of a new arrow or dot. The arrow has length 0, and the dot is already in its final place. */
function entering(mark) {
  return { ...mark, at: mark.origin ?? mark.at };
}

/** Interpolate a mark between two of its states. part: 0 (`from`) to 1 (`to`). */
function between(from, to, part) {
  const mix = (a, b) => a.map((value, i) => value + part * (b[i] - value));
  const origin = to.origin && mix(from.origin ?? from.at, to.origin);
  return { ...to, at: mix(from.at, to.at), origin, width: from.width + part * (to.width - from.width) };
}

/** Return the grid, the axes and the diagonal. */
function gridOf({ ends: [[left, right], [low, high]], corners }, x, y) {
  const step = right - left > 2 ? 1 : 0.1;
  const lines = [];
  for (let i = Math.ceil(left / step); i * step <= right; i++) {
    lines.push(shape("path", { class: i ? "grid" : "grid zero", d: `M${x(i * step)} 0V${WIDE}` }));
    const text = decimal(i * step, step < 1 ? 1 : 0);
    if (x(i * step) > 14 && x(i * step) < WIDE - 14)
      lines.push(shape("text", { class: "tick", x: x(i * step), y: WIDE - 5, "text-anchor": "middle" }, text));
  }
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    lines.push(shape("path", { class: i ? "grid" : "grid zero", d: `M0 ${y(i * step)}H${WIDE}` }));
    const text = decimal(i * step, step < 1 ? 1 : 0);
    if (y(i * step) > 14 && y(i * step) < WIDE - 24)
      lines.push(shape("text", { class: "tick", x: 5, y: y(i * step) + 4 }, text));
  }
  if (!corners[0]) return lines;
  const [from, end] = [Math.max(left, low), Math.min(right, high)];
  return [
    ...lines,
    shape("path", { class: "diagonal", d: `M${x(from)} ${y(from)}L${x(end)} ${y(end)}` }),
    shape("text", { class: "corner", x: 26, y: 22 }, corners[0]),
    shape("text", { class: "corner", x: WIDE - 8, y: WIDE - 26, "text-anchor": "end" }, corners[1]),
  ];
}

/** Return a mark: an arrow, or a dot if the arrow would be too short. */
function markOf({ name, at, origin, kind, width, tip }, to) {
  const about = { class: `mark ${kind}`, "data-mark": name, "data-tip": tip || null };
  const [end, start] = [to(at), to(origin ?? at)];
  const thick = 1.5 + 6 * width;
  const paths = arrowPaths(start, end, thick);
  if (!paths) return shape("circle", { ...about, cx: end[0], cy: end[1], r: origin ? 4 : 6.5 });
  if (kind === "chain") return shape("path", { ...about, d: `M${start}L${end}`, "stroke-width": 2.5 });
  return shape("g", about, paths);
}

/** Return the labels of the arrows and dots. Labels at the same place are joined. */
function labelsOf(marks, to) {
  const joined = new Map();
  for (const { label, at, kind } of marks) {
    if (!label) continue;
    const key = to(at).map(Math.round).join();
    const { texts = [] } = joined.get(key) ?? {};
    joined.set(key, { texts: [...texts, label], tip: to(at), kind });
  }
  return [...joined.values()].map(({ texts, tip, kind }) => {
    const text = [...new Set(texts)].join(", ");
    return { tip, width: widthOf(text), node: shape("text", { class: `name ${kind}` }, text) };
  });
}
