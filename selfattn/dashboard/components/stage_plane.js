/* A plane of the stage: dots, and arrows from the origin or head to tail. Marks of one name glide from state to state. */

const DURATION = 800; // ms of a movement
const WIDE = 320; // units of the drawing
const LETTERS = 15; // the height of a label

/** draw(old, duration): old is the plane's former data; null: draw again where it is. */
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
    if (old === null && frame) return; // it is moving
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
    placeLabels(labels, shown, to);
  }
  return { node, draw, name: plane.name };
}

/** A new arrow grows out of its origin; a new dot comes where it belongs. */
function entering(mark) {
  return { ...mark, at: mark.origin ?? mark.at };
}

/** A mark on its way from one state to the next. */
function between(from, to, part) {
  const mix = (a, b) => a.map((value, i) => value + part * (b[i] - value));
  const origin = to.origin && mix(from.origin ?? from.at, to.origin);
  return { ...to, at: mix(from.at, to.at), origin, width: from.width + part * (to.width - from.width) };
}

/** The lines of whole or tenth numbers, the axes, and the diagonal. */
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

/** An arrow; of no length, or without an origin, a dot. */
function markOf({ name, at, origin, kind, width, tip }, to) {
  const about = { class: `mark ${kind}`, "data-mark": name, "data-tip": tip || null };
  const [end, start] = [to(at), to(origin ?? at)];
  const length = Math.hypot(end[0] - start[0], end[1] - start[1]);
  if (length < 2) return shape("circle", { ...about, cx: end[0], cy: end[1], r: origin ? 4 : 6.5 });
  const thick = 1.5 + 6 * width;
  if (kind === "chain") return shape("path", { ...about, d: `M${start}L${end}`, "stroke-width": 2.5 });
  const head = Math.min(length, 8 + thick);
  const [dx, dy] = [(end[0] - start[0]) / length, (end[1] - start[1]) / length];
  const [bx, by, half] = [end[0] - dx * head, end[1] - dy * head, 3 + thick / 2 + head / 8];
  const point = `M${end}L${bx - dy * half} ${by + dx * half}L${bx + dy * half} ${by - dx * half}Z`;
  return shape("g", about, [
    shape("path", { d: `M${start}L${bx} ${by}`, "stroke-width": thick }),
    shape("path", { class: "point", d: point }),
  ]);
}

/** Labels of marks; those at one place are joined. */
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
    return { tip, width: 7.4 * text.length, node: shape("text", { class: `name ${kind}` }, text) };
  });
}

/** Put each label beside its mark, clear of the other labels and the dots. */
function placeLabels(labels, marks, to) {
  const dots = marks.flatMap(({ at, origin }) =>
    origin
      ? [0.3, 0.6, 0.8, 0.9, 1].map((part) => to(origin.map((start, i) => start + part * (at[i] - start))))
      : [to(at)],
  );
  const taken = [];
  for (const { tip, width, node } of labels) {
    const spots = [tip[0] + 10, tip[0] - 10 - width, tip[0] - width / 2].flatMap((left) =>
      [-8, 8, -22, 22].map((down) => [
        clamp(left, WIDE - width - 2),
        clamp(tip[1] + down - LETTERS / 2, WIDE - LETTERS - 2),
      ]),
    );
    const cost = ([left, top]) =>
      20 * taken.filter(([l, t, w]) => left < l + w && l < left + width && Math.abs(t - top) < LETTERS).length +
      dots.filter(([dx, dy]) => left - 7 < dx && dx < left + width + 7 && top - 5 < dy && dy < top + LETTERS + 5)
        .length;
    const [left, top] = spots.reduce((best, spot) => (cost(spot) < cost(best) ? spot : best));
    taken.push([left, top, width]);
    assign(node, "x", left);
    assign(node, "y", top + LETTERS - 3);
  }
}
