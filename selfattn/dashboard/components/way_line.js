/* The landscape: the senses (or sentences) as hills over one line, and where A and B land, as they are and with a word hidden. */

const MARK = 14; // radius
const SPACE = 10; // between labels
const LIFT = 46; // pixels: if A and B would overlap, B floats over the ground
const DOT = 5.5; // radius
const HILL = 128; // pixels: the height of the higher hill
const LOW = 20; // pixels: the least height of a landing over the line
const FALL = 120; // pixels above the higher hill
const EDGE = 74; // pixels: without hills, room for a label beside an outer mark
const STREAM = 17; // pixels from the middle of a word to each of its streams

/** Set the `left` of each label from its anchor `x` and its `size`, so that all fit side by side between 0 and `width`. */
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

function move(node, x, y) {
  node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
}

/** The marks of one sentence, from back to front. */
function sideMarks(name) {
  const side = name.toLowerCase();
  const dot = (kind) =>
    shape("g", `mark ${side} ${kind}`, [
      shape("circle", { r: MARK - 1, "stroke-dasharray": kind === "ghost" ? 3 : null }),
      shape("text", { "text-anchor": "middle", y: 5 }, name),
    ]);
  const path = (kind) => shape("path", `${kind} ${side}`);
  return {
    fan: path("fan"),
    pale: path("stream pale"),
    full: path("stream full"),
    faint: path("stream faint"),
    moved: path("moved"),
    head: shape("path", { class: "moved head", d: "M0 0 l-17 -10 v20 z" }),
    gate: shape("path", { class: `gate ${side}`, d: "M0 -10 V24" }),
    level: shape("text", { class: "level", "text-anchor": "middle" }),
    hollow: dot("hollow"),
    ghost: dot("ghost"),
    solid: dot("solid"),
    much: shape("text", { class: "much", "text-anchor": "middle" }),
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

/** The height of a hill's ridge at a place: between the nearest two of its points [place, height]. */
function heightAt(points, place) {
  const next = points.findIndex(([at]) => at >= place);
  if (next < 1) return 0;
  const [[from, low], [to, high]] = [points[next - 1], points[next]];
  return low + ((high - low) * (place - from)) / (to - from);
}

function linePart(view) {
  const still = shape("g"); // the landscape itself, which is redrawn if the width changes
  const front = shape("g"); // its dots and its ruler
  const marks = view.data.sides.map(({ name }) => sideMarks(name));
  const parts = (...names) => marks.flatMap((each) => names.map((name) => each[name]));
  const svg = shape("svg", { class: "line", width: "100%", role: "group" }, [
    still,
    ...parts("fan", "pale", "full", "faint"),
    front,
    ...parts("moved", "head", "gate", "level", "hollow", "ghost", "solid", "much", "before", "after"),
  ]);
  const names = [0, 1].map(() => element("div", "name"));
  const [ends, key] = [element("div", "ends", names), element("p", "small key")];
  let drawn = null; // what `layOut` computed last

  /** Every position that a side's marks may take. */
  function positions(side) {
    const { at, toward } = view.data.way;
    const words = view.data.sides[side].words.filter((word) => word.kind === "word" && word.share !== null);
    return [0, ...words.map((word) => word.share)].map((share) => at[side] + toward[side] * share);
  }

  /** Where the streams begin: [x, y] under each chosen word, or null if the sentences are not side by side. */
  function sources() {
    const inks = [...view.body.querySelectorAll(".sentence .chosen .ink")].map((ink) => ink.getBoundingClientRect());
    const around = svg.getBoundingClientRect();
    if (inks.length < 2 || Math.abs(inks[0].left - inks[1].left) < inks[0].width) return null;
    const [a, b] = view.body.querySelectorAll(".sentence");
    if (a.offsetLeft === b.offsetLeft) return null;
    return inks.map(({ left, width, bottom }) => [left + width / 2 - around.left, bottom - around.top - 1]);
  }

  function layOut() {
    const { way } = view.data;
    const width = svg.clientWidth;
    const hills = way.hills.flat();
    const places = [...way.dots.flat().map((dot) => dot.x), ...hills.map(([place]) => place)];
    const gates = way.at.map((at, side) => at + way.toward[side] * (way.level ?? 0));
    const values = [0, 1, ...places, ...gates, ...positions(0), ...positions(1)];
    const from = sources();
    const of = JSON.stringify([way, width, values, from]);
    if (of === drawn?.of) return paint(); // the focus stays on its dot
    const [low, high, pad] = [Math.min(...values), Math.max(...values), hills.length || !from ? 2 * MARK : EDGE];
    const x = (value) => pad + ((value - low) / (high - low)) * (width - 2 * pad);
    const [a, b] = [0, 1].map((side) => positions(side).map(x));
    const apart = Math.max(...a) + 3 * MARK < Math.min(...b) || Math.max(...b) + 3 * MARK < Math.min(...a);
    const lifts = [0, apart ? 0 : LIFT];
    const said = explained(way);
    key.replaceChildren(...(said ? [element("b"), said] : []));
    way.ends.forEach(({ label, count }, end) => {
      assign(names[end], "class", `name ${colour(way, end)}`);
      names[end].replaceChildren(
        element("bdi", {}, label),
        element(
          "div",
          "count",
          count ? [element("span", { "aria-hidden": "true" }, "● "), `${count} other sentences`] : [],
        ),
      );
    });
    const dots = swarm(way.dots, x);
    const axis = FALL + Math.max(...lifts) + (hills.length ? HILL : EDGE);
    const foot = axis + 14 + 2 * DOT * Math.max(0, ...dots.map((dot) => dot.level + 1));
    drawn = { x, axis, foot, width, of, dots, from, lifts };
    placeNames();
    assign(svg, "aria-label", way.about);
    drawLand(way);
    paint();
    requestAnimationFrame(() => flag(svg, { moves: true }));
  }

  /** The y of the ground at a place: the higher hill, and at least LOW over the line. */
  function ground(place) {
    const { hills } = view.data.way;
    return drawn.axis - Math.max(LOW, ...hills.map((points) => HILL * heightAt(points, place)));
  }

  /** Place each end's name under its average. Set the height of the picture. */
  function placeNames() {
    const { x, foot, width } = drawn;
    const sizes = names.map((name) => name.offsetWidth);
    const [left, right] = [x(0) - sizes[0] / 2, x(1) - sizes[1] / 2];
    const over = Math.max(0, left + sizes[0] + 2 * SPACE - right) / 2;
    const lefts = [clamp(left - over, width - sizes[0]), clamp(right + over, width - sizes[1])];
    names.forEach((name, end) => {
      name.style.left = `${lefts[end]}px`;
      name.style.top = `${foot + 11}px`;
    });
    assign(svg, "height", foot + 11 + Math.max(...names.map((name) => name.offsetHeight)));
  }

  function explained({ between, level }) {
    if (between !== "senses" || level === null) return "";
    const often = "toward the other sense at least 8 times as often as away from it";
    return `From ${percent(level)} on a move counts: in labelled sentences, moves this long go ${often}.`;
  }

  /** The colour class of an end; none (grey) if A and B have the same sense. */
  function colour({ toward }, end) {
    return toward[0] === toward[1] ? "" : "ab"[end];
  }

  function drawLand(way) {
    const { x, width, axis, foot } = drawn;
    const middle = x(0.5);
    const dots = drawn.dots.map(({ at, level, text, end }) => {
      const place = { cx: at.toFixed(1), cy: axis + DOT + 5 + 2 * DOT * level, r: DOT - 0.5 };
      return shape("circle", {
        class: `dot ${colour(way, end)}`,
        ...place,
        role: "img",
        "aria-label": text,
        "data-tip": text,
      });
    });
    const between = way.between === "senses";
    const shores = [`M0 ${axis} H${middle}`, `M${middle} ${axis} H${width}`];
    still.replaceChildren(
      ...way.hills.map((points, end) => hill(points, end, colour(way, end))),
      ...shores.map((d, end) => shape("path", { class: `shore ${between ? colour(way, end) : ""}`, d })),
    );
    front.replaceChildren(...dots, ...ruler(way, foot + 4));
    addArrowKeys(dots, dots.length);
    if (!between) return;
    const clear = (xs) => xs.every((each) => Math.abs(each - middle) > 50);
    const spots = [
      [axis - HILL - 9, streams().every(([low, high]) => low > middle + 50 || high < middle - 50)],
      [axis + 22, clear(dots.map((dot) => dot.getAttribute("cx")))],
    ];
    const free = spots.find((spot) => spot[1]);
    if (!free) return;
    still.append(
      shape("path", { class: "rail", "stroke-dasharray": "2 4", d: `M${middle} ${axis - HILL} V${axis + 6}` }),
    );
    front.append(shape("text", { class: "note", x: middle, y: free[0], "text-anchor": "middle" }, "equally near"));
  }

  /** The leftmost and the rightmost place of each side's streams. */
  function streams() {
    const { x, from } = drawn;
    return [0, 1].map((side) => {
      const { at, toward } = view.data.way;
      const share = view.share(side, view.drawn(side)) ?? 0;
      const ends = [x(at[side]), x(at[side] + toward[side] * share), from?.[side][0] ?? x(at[side])];
      return [Math.min(...ends), Math.max(...ends)];
    });
  }

  /** The length that is 100 %, over the names of both ends. */
  function ruler(way, y) {
    const [start, end] = [drawn.x(0), drawn.x(1)];
    const middle = (start + end) / 2;
    const about = { tabindex: 0, role: "img", "aria-label": way.about, "data-tip": way.about };
    const text = shape("text", { ...about, class: "note", x: middle, y: y + 5, "text-anchor": "middle" });
    front.append(text); // to be measured
    const length = way.between === "senses" ? "from average to average" : "from A to B, as they are";
    for (const words of [`${percent(1)} ${length}`, percent(1)]) {
      write(text, words);
      if (text.getComputedTextLength() < end - start - 40) break;
    }
    const gap = text.getComputedTextLength() / 2 + 7;
    const halves = `M${start} ${y - 5} v10 m0 -5 H${middle - gap} M${end} ${y - 5} v10 m0 -5 H${middle + gap}`;
    const line = shape("path", { class: "rail", d: halves });
    return [line, text];
  }

  /** A hill over the line, filled with a gradient. Few dots have none. */
  function hill(points, end, side) {
    const { x, axis } = drawn;
    const ridge = points.map(([place, high]) => `${x(place).toFixed(1)} ${(axis - HILL * high).toFixed(1)}`).join(" L");
    const stops = [0.62, 0.12].map((opacity, i) => shape("stop", { offset: i, "stop-opacity": opacity }));
    const shade = shape("linearGradient", { id: `hill${end}`, x2: 0, y2: 1 }, stops);
    const [first, last] = [points[0], points.at(-1)].map((point) => point && x(point[0]).toFixed(1));
    return shape("g", `hill ${side}`, [
      shade,
      shape("path", { d: ridge && `M${first} ${axis} L${ridge} L${last} ${axis} z`, fill: `url(#hill${end})` }),
      shape("path", { class: "ridge", d: ridge && `M${ridge}` }),
    ]);
  }

  /** Place a side's marks. Returns the side's two labels, which the caller places. */
  function place(side) {
    const { x, lifts, from: starts } = drawn;
    const { way, sides } = view.data;
    const [at, mark, lift] = [view.drawn(side), marks[side], lifts[side]];
    const { hovered } = view;
    const moved = (share) => way.at[side] + way.toward[side] * share;
    const spot = (share) => [x(moved(share)), ground(moved(share)) - lift];
    const share = view.share(side, at);
    const steps = Array.from({ length: 41 }, (_, i) => spot(((share ?? 0) * i) / 40));
    const [from, to] = [steps[0], steps[40]];
    const hidden = share !== null && view.hidden[side] !== null;
    const ghost = hovered?.side === side && hovered.at !== at ? view.share(side, hovered.at) : null;
    const [sign, length] = [to[0] < from[0] ? -1 : 1, Math.abs(to[0] - from[0])];
    const covered = share === null || length < MARK; // the solid mark covers the hollow mark
    const named = sides[side].named.includes(at);
    const [startX, startY] = starts?.[side] ?? [(from[0] + to[0]) / 2, 40];
    const knee = Math.min(from[1], to[1]) - 10;
    const stream = (out, end) =>
      `M${startX + out * sign * STREAM} ${startY} ${fall(startX + out * sign * STREAM, startY, ...end, knee)}`;

    assign(mark.fan, "d", covered ? "" : beam(startX, startY, 2 * STREAM, steps, knee));
    assign(mark.fan, "fill", named ? "url(#beam)" : null);
    assign(mark.full, "d", hidden ? stream(1, to) : stream(-1, from));
    assign(mark.pale, "d", covered ? "" : hidden ? stream(-1, from) : stream(1, to));
    assign(mark.faint, "d", ghost === null ? "" : stream(0, spot(ghost)));
    const before = steps.filter(([x]) => (to[0] - x) * sign > MARK + 15);
    const tip = steps.filter(([x]) => (to[0] - x) * sign > MARK + 1).at(-1) ?? from;
    const line =
      before.length > 1 && length > 4 * MARK
        ? `M${before.map((point) => point.map((each) => each.toFixed(1))).join(" L")}`
        : "";
    assign(mark.moved, "d", line);
    const slope = before.length ? Math.atan2(tip[1] - before.at(-1)[1], tip[0] - before.at(-1)[0]) : 0;
    mark.head.style.transform = `translate(${to[0] - (MARK + 1) * Math.cos(slope)}px, ${(tip[1] + to[1]) / 2}px) rotate(${slope}rad)`;
    assign(mark.head, "visibility", line ? null : "hidden");

    const gate = way.level === null || covered ? null : spot(way.level);
    const room = gate && starts && !lifts[1] && drawn.axis - gate[1] > 50;
    move(mark.gate, ...(gate ?? from));
    assign(mark.gate, "visibility", gate ? null : "hidden");
    write(mark.level, room ? `counts from ${percent(way.level)}` : "");
    move(mark.level, (gate ?? from)[0], (gate ?? from)[1] + 38);
    move(mark.solid, ...(hidden ? to : from));
    move(mark.hollow, ...(hidden ? from : to));
    move(mark.ghost, ...(ghost === null ? from : spot(ghost)));
    assign(mark.hollow, "visibility", covered ? "hidden" : null);
    assign(mark.ghost, "visibility", ghost === null ? "hidden" : null);
    for (const part of [mark.fan, mark.moved, mark.head, mark.much]) flag(part, { named });

    write(mark.much, share === null ? "" : view.printed(side, at));
    const fits = !covered && !lifts[1] && mark.much.getComputedTextLength() < length - STREAM;
    const high = Math.min(...steps.map(([, y]) => y));
    move(mark.much, (from[0] + to[0]) / 2, high - (fits ? (named ? 16 : 20) : 24));
    const notRun = share === null ? ": not run" : "";
    const inside = fits || share === null ? "" : `: ${mark.much.textContent}`;
    if (!fits) write(mark.much, "");
    write(mark.before, covered && hidden ? "" : "as it is");
    write(mark.after, at === null ? "" : `without ${view.text(side, at)}${notRun}${inside}`);
    flag(mark.before, { now: !hidden });
    flag(mark.after, { now: hidden });
    const label = (node, [x, y], outward) => ({ node, x, y, outward });
    flag(mark.after, { named: !fits && named });
    if (!starts) write(mark.before, ""); // a narrow page names only the hidden word, at the top of its streams
    if (!starts) return [label(mark.before, from, 0), label(mark.after, [startX, 34], 0)];
    if (covered) return [label(mark.before, from, -sign), label(mark.after, [from[0], from[1] + 19], -sign)];
    return [label(mark.before, from, -sign), label(mark.after, to, sign)];
  }

  function paint() {
    if (!drawn) return;
    const labels = [0, 1].flatMap(place).filter(({ node }) => node.textContent);
    for (const label of labels) {
      assign(label.node, "textLength", null);
      label.size = label.node.getComputedTextLength();
      label.x += label.outward * (MARK + 6 + label.size / 2); // beside its mark, outside the move
    }
    const rows = [];
    for (const label of labels) {
      const row = rows.find(([{ y }]) => Math.abs(y - label.y) < 18);
      row ? row.push(label) : rows.push([label]);
    }
    for (const row of rows) spread(row, drawn.width);
    for (const { node, left, y } of labels) move(node, left, y - 8);
  }

  svg.prepend(
    shape("linearGradient", { id: "beam", x2: 0, y2: 1 }, [
      shape("stop", { offset: 0, class: "deep", "stop-opacity": 0.75 }),
      shape("stop", { offset: 1, class: "light", "stop-opacity": 0.4 }),
    ]),
  );
  return { node: element("div", "way-line", [svg, ends, key]), paint, layOut };
}
