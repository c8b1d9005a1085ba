/* The way: one line between the two senses (or sentences), with A and B as they are and with a word hidden. */

const MARK = 14; // radius
const SPACE = 8; // between labels
const ROW = 66; // pixels: if A and B would overlap, B moves to another row
const DOT = 5.5; // radius
const HILL = 90; // pixels: the height of the higher hill
const NAME = 26; // pixels above a hill, for its name
const WIDE = 60; // pixels of a band that has room for a note
const NOTE = 18; // pixels beneath a mark, for the word "noise"
const RULER = 10; // pixels: the height of the ruler's line

/** Set the `left` of each label from its centre `x` and its `size`, so that all fit side by side between 0 and `width`. */
function spread(labels, width) {
  const over = labels.reduce((sum, label) => sum + label.size + SPACE, -SPACE) - width;
  const longest = labels.reduce((one, other) => (other.size > one.size ? other : one));
  if (over > 0) assign(longest.node, "textLength", (longest.size -= over)); // closes the gaps between its letters
  labels.sort((one, other) => one.x - other.x);
  let limit = 0;
  for (const label of labels) limit = (label.left = Math.max(label.x - label.size / 2, limit)) + label.size + SPACE;
  limit = width;
  for (const label of labels.toReversed()) limit = (label.left = Math.min(label.left, limit - label.size)) - SPACE;
}

function move(node, x, y, scale = 1) {
  node.style.transform = `translate(${x.toFixed(1)}px, ${y}px) scale(${scale}, 1)`;
}

/** The marks of one sentence, from back to front, drawn at the origin. */
function sideMarks(name) {
  const dot = (kind) =>
    shape("g", `mark ${name.toLowerCase()} ${kind}`, [
      shape("circle", { r: MARK - 1, "stroke-dasharray": kind === "ghost" ? 3 : null }),
      shape("text", { "text-anchor": "middle", y: 5 }, name),
    ]);
  return {
    band: shape("rect", { class: "band", y: -MARK, width: 1, height: 2 * MARK }),
    noise: shape("text", { class: "note", "text-anchor": "middle", y: MARK + NOTE - 4 }),
    much: shape("text", "label much"),
    shaft: shape("rect", { class: "arrow", y: -3, width: 1, height: 6 }),
    head: shape("path", { class: "arrow", d: "M0 0 l-15 -9 v18 z" }),
    hollow: dot("hollow"),
    ghost: dot("ghost"),
    solid: dot("solid"),
    before: shape("text", "label", "as it is"),
    after: shape("text", "label"),
  };
}

/** Stack dots from left to right: each gets its x (`at`, in pixels) and the lowest `level` on which it covers no other dot. */
function swarm(ends, x) {
  const last = []; // by level
  return ends
    .flatMap((sentences, end) => sentences.map((sentence) => ({ ...sentence, at: x(sentence.x), end })))
    .sort((one, other) => one.at - other.at)
    .map((dot) => {
      const free = last.findIndex((at) => dot.at - at >= 2 * DOT);
      const level = free < 0 ? last.length : free;
      last[level] = dot.at;
      return { ...dot, level };
    });
}

function linePart(view) {
  const still = shape("g"); // the line itself, which is redrawn if the width changes
  const marks = view.data.sides.map(({ name }) => sideMarks(name));
  const all = marks.flatMap((each) => Object.values(each));
  const svg = shape("svg", { class: "line", width: "100%", role: "group" }, [still, ...all]);
  const names = [0, 1].map(() => element("bdi", "name"));
  const [ends, key] = [element("div", "ends", names), element("p", "small")];
  let drawn = null; // what `layOut` computed last

  /** Every position that a side's marks may take. */
  function positions(side) {
    const { at, toward, level } = view.data.way;
    const words = view.data.sides[side].words.filter((word) => word.kind === "word" && word.share !== null);
    return [0, level ?? 0, ...words.map((word) => word.share)].map((share) => at[side] + toward[side] * share);
  }

  function layOut() {
    const { way } = view.data;
    const width = svg.clientWidth;
    const hills = way.hills.flat();
    const places = [...way.dots.flat().map((dot) => dot.x), ...hills.map(([place]) => place)];
    const values = [0, 1, ...places, ...positions(0), ...positions(1)];
    const of = JSON.stringify([way, width, values]);
    if (of === drawn?.of) return paint(); // the focus stays on its dot
    const [low, high, pad] = [Math.min(...values), Math.max(...values), 2 * MARK];
    const x = (value) => pad + ((value - low) / (high - low)) * (width - 2 * pad);
    const [a, b] = [0, 1].map((side) => positions(side).map(x));
    const apart = Math.max(...a) + 110 < Math.min(...b) || Math.max(...b) + 110 < Math.min(...a);
    write(key, explained(way));
    way.ends.forEach(({ label }, end) => {
      write(names[end], label);
      assign(names[end], "class", `name ${colour(way, end)}`);
    });
    const first = 66 + MARK;
    const rows = [first, apart ? first : first + ROW];
    const dots = swarm(way.dots, x);
    const axis = rows[1] + MARK + NOTE + NAME + (hills.length ? HILL : 0);
    const foot = axis + 20 + 2 * DOT * Math.max(0, ...dots.map((dot) => dot.level + 1));
    drawn = { x, rows, axis, foot, width, of, dots };
    placeNames(way);
    assign(svg, "aria-label", way.about);
    drawLine(way, axis);
    paint();
    requestAnimationFrame(() => flag(svg, { moves: true }));
  }

  /** Place each end's name above its hill, or below the line without a hill. Set the height of the picture. */
  function placeNames({ hills }) {
    const { x, axis, foot, width } = drawn;
    const highest = (points) => points.reduce((one, other) => (other[1] > one[1] ? other : one), [null, 0]);
    const tops = hills.map((points, end) => (points.length ? highest(points) : [end, 0]));
    const [a, b] = names.map((name) => name.offsetWidth);
    const [left, right] = tops.map(([place]) => x(place));
    const middle = clamp((left + right) / 2, width - b - SPACE);
    const lefts = [Math.min(left - a / 2, middle - a - SPACE), Math.max(right - b / 2, middle + SPACE)];
    let bottom = foot;
    names.forEach((name, end) => {
      const high = hills[end].length ? axis - HILL * tops[end][1] - name.offsetHeight - 2 : foot + 8;
      name.style.left = `${clamp(lefts[end], width - name.offsetWidth)}px`;
      name.style.top = `${high}px`;
      bottom = Math.max(bottom, high + name.offsetHeight);
    });
    assign(svg, "height", bottom);
  }

  function explained(way) {
    const { between, level } = way;
    if (between !== "senses") return "";
    const dots = `Dots: ${quoted(view.data.word)} in other sentences${colour(way, 0) && ", coloured by labelled sense"}.`;
    return `${dots}${level === null ? "" : ` Noise: moves under ${percent(level)} could be chance.`}`;
  }

  /** The colour class of an end; none (grey) if A and B have the same sense. */
  function colour({ toward }, end) {
    return toward[0] === toward[1] ? "" : "ab"[end];
  }

  function drawLine(way, axis) {
    const { x, width } = drawn;
    const [left, right, middle] = [x(0), x(1), x(0.5)];
    const dots = drawn.dots.map(({ at, level, text, end }) => {
      const place = { cx: at.toFixed(1), cy: axis + DOT + 2 + 2 * DOT * level, r: DOT - 0.5 };
      return shape("circle", {
        class: `dot ${colour(way, end)}`,
        ...place,
        role: "img",
        "aria-label": text,
        "data-tip": text,
      });
    });
    const about = { tabindex: 0, role: "img", "aria-label": way.about, "data-tip": way.about };
    const ruler = `M${left} ${RULER - 5} v10 m0 -5 H${right} m0 -5 v10`;
    const length = shape("text", { ...about, class: "note", x: middle, y: RULER + 4, "text-anchor": "middle" });
    still.replaceChildren(
      shape("path", { class: "rail", d: `M0 ${axis} H${width}` }),
      shape("path", { class: "rail bracket", d: ruler }),
      length,
      ...dots,
    );
    const ends = way.between === "senses" ? "from one sense's average to the other's" : "from A to B, as they are";
    for (const text of [`${percent(1)}: ${ends}`, percent(1)]) {
      write(length, text);
      if (length.getComputedTextLength() < right - left - 30) break;
    }
    addArrowKeys(dots, dots.length);
    if (way.between !== "senses") return;
    still.prepend(
      shape("path", { class: "rail", "stroke-dasharray": "2 4", d: `M${middle} ${RULER + 10} V${axis}` }),
      ...way.hills.map((points, end) => hill(points, end, colour(way, end))),
    );
    still.append(...[0, 1].map((end) => nearer(way.ends[end].label, end)));
  }

  /** Draw the text beside the middle of the line, shortened if there is no room. */
  function nearer(label, end) {
    const { x, width } = drawn;
    const at = x(0.5) + (end ? SPACE : -SPACE);
    const text = shape("text", { class: "note", x: at, y: RULER + 24, "text-anchor": end ? "start" : "end" });
    still.append(text); // to be measured
    for (const words of [`nearer to ${label}`, label, ""]) {
      write(text, end ? `${words} →` : `← ${words}`);
      if (text.getComputedTextLength() <= (end ? width - at : at)) break;
    }
    return text;
  }

  /** A hill over the line, filled with a gradient. Few dots have none. */
  function hill(points, end, side) {
    const { x, axis } = drawn;
    const ridge = points.map(([place, high]) => `${x(place).toFixed(1)} ${(axis - HILL * high).toFixed(1)}`).join(" L");
    const stops = [0.28, 0.05].map((opacity, i) => shape("stop", { offset: i, "stop-opacity": opacity }));
    const shade = shape("linearGradient", { id: `hill${end}`, x2: 0, y2: 1 }, stops);
    return shape("g", `hill ${side}`, [
      shade,
      shape("path", { d: ridge && `M${ridge} z`, fill: `url(#hill${end})` }),
      shape("path", { class: "ridge", d: ridge && `M${ridge}` }),
    ]);
  }

  /** Place a side's marks. Returns the side's two labels, which the caller places. */
  function place(side) {
    const { x, rows } = drawn;
    const { way, sides } = view.data;
    const [at, y, mark] = [view.drawn(side), rows[side], marks[side]];
    const { hovered } = view;
    const moved = (share) => x(way.at[side] + way.toward[side] * share);
    const share = view.share(side, at);
    const [from, to] = [moved(0), moved(share ?? 0)];
    const hidden = share !== null && view.hidden[side] !== null;
    const ghost = hovered?.side === side && hovered.at !== at ? view.share(side, hovered.at) : null;
    const [sign, length] = [to < from ? -1 : 1, Math.abs(to - from) - MARK - 1];
    const covered = share === null || length < MARK / 2; // the solid mark covers the hollow mark
    move(mark.band, from, y, moved(way.level ?? 0) - from);
    move(mark.noise, moved((way.level ?? 0) / 2), y);
    const room = way.level === null ? 0 : Math.abs(moved(way.level) - from);
    write(mark.noise, room > WIDE ? `noise: ${percent(way.level)}` : "");
    move(mark.shaft, from, y, sign * Math.max(0, length - 10));
    move(mark.head, from + sign * length, y, sign);
    move(mark.solid, hidden ? to : from, y);
    move(mark.hollow, hidden ? from : to, y);
    move(mark.ghost, moved(ghost ?? 0), y);
    assign(mark.head, "visibility", length > 1.5 * MARK ? null : "hidden");
    assign(mark.hollow, "visibility", covered ? "hidden" : null);
    assign(mark.ghost, "visibility", ghost === null ? "hidden" : null);
    const named = sides[side].named.includes(at);
    for (const part of [mark.shaft, mark.head]) flag(part, { named });
    const notRun = share === null ? ": not run" : "";
    write(mark.before, covered && hidden ? "" : "as it is");
    write(mark.after, at === null || (covered && !hidden && !notRun) ? "" : `without ${view.text(side, at)}${notRun}`);
    flag(mark.before, { now: !hidden });
    flag(mark.after, { now: hidden });
    write(mark.much, share === null ? "" : view.printed(side, at));
    flag(mark.much, { named });
    const label = (node, x) => ({ node, x, y });
    return [label(mark.before, from), label(mark.after, to + way.toward[side])];
  }

  /** Write a share between the two labels above its arrow. If there is no room, the word in the sentence shows the share. */
  function placeShare(side, labels) {
    const { much } = marks[side];
    const [left, right] = labels.toSorted((one, other) => one.left - other.left);
    const [start, end, size] = [left.left + left.size, right.left, much.getComputedTextLength()];
    const fits = much.textContent && end - start >= size + 2 * SPACE;
    if (!fits) write(much, "");
    view.onLine[side] = fits ? view.drawn(side) : null;
    move(much, (start + end - size) / 2, labels[0].y - MARK - 2);
  }

  function paint() {
    if (!drawn) return;
    const { rows, width } = drawn;
    const sides = [0, 1].map(place);
    const labels = sides.flat().filter(({ node }) => node.textContent);
    for (const { node } of labels) assign(node, "textLength", null);
    for (const label of labels) label.size = label.node.getComputedTextLength();
    for (const y of new Set(rows)) {
      const row = labels.filter((label) => label.y === y);
      spread(row, width);
      for (const label of row) move(label.node, label.left, y - MARK - 7);
    }
    sides.forEach((own, side) => placeShare(side, own));
  }

  return { node: element("div", "way-line", [svg, ends, key]), paint, layOut };
}
