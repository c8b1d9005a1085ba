/* The line between two senses or two sentences: density curves (hills), dots, and the marks of sentences A and B. */

const MARK = 14; // radius
const SPACE = 24; // pixels between labels
const DOT = 5.5; // radius
const FALL = { long: 112, short: 72 }; // pixels from sentences to marks
const ROW = 82; // pixels between A's and B's rows
const NEAR = 150; // pixels: nearer marks get separate rows
const HILL = { one: 90, two: 62 }; // pixels: height of the higher hill, with one or two rows of marks
const CLEAR = 42; // pixels between marks and hills
const EDGE = 74; // pixels for outer labels, without hills
const STREAM = 17; // pixels between a word's middle and a stream

/** Place labels side by side between 0 and `width`. */
function spread(labels, width) {
  const over = labels.reduce((sum, label) => sum + label.size + SPACE, -SPACE) - width;
  const longest = labels.reduce((one, other) => (other.size > one.size ? other : one));
  if (over > 0) assign(longest.node, "textLength", (longest.size -= over)); // squeezes the letters
  labels.sort((one, other) => one.x - other.x);
  let limit = 0;
  for (const label of labels) limit = (label.left = Math.max(label.x - label.size / 2, limit)) + label.size + SPACE;
  limit = width;
  for (const label of labels.toReversed()) limit = (label.left = Math.min(label.left, limit - label.size)) - SPACE;
}

function move(node, x, y, scale = 1) {
  node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) scale(${scale.toFixed(2)}, 1)`;
}

/** Return the SVG shapes that show one sentence on the line, from back to front. */
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
    stem: path("stem"),
    landing: path("stem"),
    shaft: shape("rect", { class: "moved", y: -5, width: 1, height: 10 }),
    head: shape("path", { class: "moved", d: "M0 0 l-18 -12 v24 z" }),
    goal: path("goal"), // line to the noise level
    beyond: shape("text", "note"),
    hollow: dot("hollow"),
    ghost: dot("ghost"),
    solid: dot("solid"),
    much: shape("text", { class: "much", "text-anchor": "middle" }),
    before: shape("text", "label"),
    after: shape("text", "label"),
  };
}

/** Stack the dots without overlaps: return each dot with `at` (x in pixels) and `level` (its row, from 0). */
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
  const still = shape("g"); // hills and axis
  const front = shape("g"); // dots and scale bar
  const marks = view.data.sides.map(({ name }) => sideMarks(name));
  const parts = (...names) => marks.flatMap((each) => names.map((name) => each[name]));
  const svg = shape("svg", { class: "line", width: "100%", role: "group" }, [
    still,
    ...parts("fan", "pale", "full", "faint"),
    front,
    ...parts(
      "stem",
      "landing",
      "goal",
      "shaft",
      "head",
      "hollow",
      "ghost",
      "solid",
      "much",
      "before",
      "after",
      "beyond",
    ),
  ]);
  const names = [0, 1].map(() => element("div", "name"));
  const ends = element("div", "ends", names);
  let drawn = null; // result of the last `layOut`

  /** Return the chosen word's positions on the line: first with no word hidden, then with each word hidden. */
  function positions(side) {
    const { at, toward } = view.data.way;
    const words = view.data.sides[side].words.filter((word) => word.kind === "word" && word.share !== null);
    return [0, ...words.map((word) => word.share)].map((share) => at[side] + toward[side] * share);
  }

  /** Return the point where each sentence's stream begins; null if the sentences are one above the other. */
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
    if (of === drawn?.of) return paint(); // keeps the focus
    const [low, high, pad] = [Math.min(...values), Math.max(...values), hills.length || !from ? 2 * MARK : EDGE];
    const x = (value) => pad + ((value - low) / (high - low)) * (width - 2 * pad);
    const [a, b] = [0, 1].map((side) => positions(side).map(x));
    const apart = Math.max(...a) + NEAR < Math.min(...b) || Math.max(...b) + NEAR < Math.min(...a);
    const first = from ? FALL.long : FALL.short;
    const rows = [first, apart ? first : first + ROW];
    way.ends.forEach(({ label, count }, end) => {
      assign(names[end], "class", `name ${colour(way, end)}`);
      names[end].replaceChildren(
        element("bdi", {}, label),
        " ",
        element(
          "span",
          "count",
          count ? [element("span", { "aria-hidden": "true" }, "● "), `${count} other sentences`] : [],
        ),
      );
    });
    const dots = swarm(way.dots, x);
    const tall = hills.length ? HILL[apart ? "one" : "two"] : 0;
    const axis = rows[1] + CLEAR + tall;
    const foot = axis + 14 + 2 * DOT * Math.max(0, ...dots.map((dot) => dot.level + 1));
    drawn = { x, axis, high: tall, foot, width, of, dots, from, rows };
    placeNames();
    assign(svg, "aria-label", way.about);
    drawLand(way);
    paint();
    requestAnimationFrame(() => flag(svg, { moves: true }));
  }

  /** Place the names of the line's ends. Set the scale bar's y. */
  function placeNames() {
    const { x, foot, width } = drawn;
    const sizes = names.map((name) => name.offsetWidth);
    const [left, right] = [x(0) - sizes[0] / 2, x(1) - sizes[1] / 2];
    const over = Math.max(0, left + sizes[0] + 2 * SPACE - right) / 2;
    const lefts = [clamp(left - over, width - sizes[0]), clamp(right + over, width - sizes[1])];
    names.forEach((name, end) => {
      name.style.left = `${lefts[end]}px`;
      name.style.top = `${foot + 4}px`;
    });
    drawn.between = [lefts[0] + sizes[0], lefts[1]];
    drawn.bar = foot + 18 + Math.max(...names.map((name) => name.offsetHeight));
  }

  /** Return the CSS class of an end of the line (0 or 1); "" if the word has the same sense in sentences A and B. */
  function colour({ toward }, end) {
    return toward[0] === toward[1] ? "" : "ab"[end];
  }

  function drawLand(way) {
    const { x, width, axis, high, foot } = drawn;
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
      ...way.hills.flatMap((points, end) => (points.length ? hill(points, end, colour(way, end)) : [])),
      ...shores.map((d, end) => shape("path", { class: `shore ${between ? colour(way, end) : ""}`, d })),
    );
    front.replaceChildren(...scaleBar(way), ...dots);
    addArrowKeys(dots, dots.length);
    if (!between) return;
    const border = shape("text", { class: "note", x: middle, y: foot + 21, "text-anchor": "middle" }, "equally near");
    front.append(border); // to be measured
    const { x: start, width: size } = border.getBBox();
    const fits = start > drawn.between[0] + 12 && start + size < drawn.between[1] - 12;
    if (!fits) border.remove();
    const rail = `M${middle} ${axis - high} V${fits ? foot + 6 : axis + 6}`;
    still.append(shape("path", { class: "rail", "stroke-dasharray": "2 4", d: rail }));
    const nearer = way.ends.map(({ label }, end) => {
      const place = { x: end ? width : 0, y: axis + 19, "text-anchor": end ? "end" : "start" };
      return shape("text", { class: `note nearer ${colour(way, end)}`, ...place }, `nearer to ${label}`);
    });
    front.append(...nearer);
    for (const text of nearer) {
      const { x: left, width: size } = text.getBBox();
      const covers = (at) => left - 10 < at && at < left + size + 10;
      const above = [middle, ...way.hills.flat().flatMap(([at, part]) => (part * high > 8 ? x(at) : []))];
      const below = [middle, ...drawn.dots.map(({ at }) => at)];
      assign(text, "visibility", [above, below].every((walls) => walls.some(covers)) ? "hidden" : null);
      if (below.some(covers)) assign(text, "y", axis - 12);
    }
  }

  /** Return a scale bar. Its length is the distance between the line's two ends (100 %). Set the picture's height. */
  function scaleBar(way) {
    const [end, length] = [drawn.width, drawn.x(1) - drawn.x(0)];
    const about = { tabindex: 0, role: "img", "aria-label": way.about, "data-tip": way.about };
    const text = shape("text", { ...about, class: "note", "text-anchor": "end" });
    front.append(text); // to be measured
    write(text, `${percent(1)}: the distance between ${way.between === "senses" ? "the averages" : "A and B"}`);
    const beside = text.getComputedTextLength() < end - length - 8;
    const y = drawn.bar + (beside ? 0 : 18);
    assign(text, "x", beside ? end - length - 8 : end);
    assign(text, "y", beside ? y + 5 : y - 10);
    const ticks = Array.from({ length: 11 }, (_, i) => {
      const high = i % 10 ? (i % 5 ? 2 : 4) : 6;
      return `M${end - (length * i) / 10} ${y - high} v${2 * high}`;
    });
    assign(svg, "height", y + 12);
    return [shape("path", { class: "rail ruler", d: `M${end - length} ${y} H${end} ${ticks.join(" ")}` }), text];
  }

  /** Return the density curve of the dots that belong to one end of the line. */
  function hill(points, end, side) {
    const { x, axis, high } = drawn;
    const ridge = points.map(([place, part]) => `${x(place).toFixed(1)} ${(axis - high * part).toFixed(1)}`).join(" L");
    const stops = [0.62, 0.12].map((opacity, i) => shape("stop", { offset: i, "stop-opacity": opacity }));
    const shade = shape("linearGradient", { id: `hill${end}`, x2: 0, y2: 1 }, stops);
    const [first, last] = [points[0], points.at(-1)].map(([place]) => x(place).toFixed(1));
    return shape("g", `hill ${side}`, [
      shade,
      shape("path", { d: `M${first} ${axis} L${ridge} L${last} ${axis} z`, fill: `url(#hill${end})` }),
      shape("path", { class: "ridge", d: `M${ridge}` }),
    ]);
  }

  /** Place the shapes of one sentence, except its labels. Return the labels. */
  function place(side) {
    const { x, rows, axis, from: starts } = drawn;
    const { way, sides } = view.data;
    const [at, mark, y] = [view.drawn(side), marks[side], rows[side]];
    const { hovered } = view;
    const moved = (share) => x(way.at[side] + way.toward[side] * share);
    const share = view.share(side, at);
    const [from, to] = [moved(0), moved(share ?? 0)];
    const hidden = share !== null && view.hidden[side] !== null;
    const ghost = hovered?.side === side && hovered.at !== at ? view.share(side, hovered.at) : null;
    const [sign, length] = [to < from ? -1 : 1, Math.abs(to - from) - MARK - 1];
    const covered = share === null || length < 0; // the marks overlap
    const named = sides[side].named.includes(at);
    const [startX, startY] = starts?.[side] ?? [(from + to) / 2, y - 64];
    const knee = y - MARK - 6;
    const stream = (out, end) => {
      const start = startX + out * sign * STREAM;
      return `M${start} ${startY} ${fall(start, startY, end, y, knee)}`;
    };

    assign(mark.fan, "d", covered ? "" : beam(startX, startY, 2 * STREAM, [from, to], y, knee));
    assign(mark.fan, "fill", named ? "url(#beam)" : null);
    assign(mark.full, "d", hidden ? stream(1, to) : stream(-1, from));
    assign(mark.pale, "d", covered ? "" : hidden ? stream(-1, from) : stream(1, to));
    assign(mark.faint, "d", ghost === null ? "" : stream(0, moved(ghost)));
    for (const [stem, place] of [
      [mark.stem, from],
      [mark.landing, to],
    ]) {
      assign(stem, "d", `M0 ${MARK + 26} V${axis - y}`);
      move(stem, place, y);
    }
    move(mark.shaft, from, y, sign * Math.max(0, length - 16));
    move(mark.head, from + sign * length, y, sign);
    assign(mark.head, "visibility", length > 18 ? null : "hidden");
    move(mark.solid, hidden ? to : from, y);
    move(mark.hollow, hidden ? from : to, y);
    move(mark.ghost, moved(ghost ?? 0), y);
    for (const part of [mark.hollow, mark.landing]) assign(part, "visibility", covered ? "hidden" : null);
    assign(mark.ghost, "visibility", ghost === null ? "hidden" : null);
    for (const part of [mark.fan, mark.shaft, mark.head, mark.much]) flag(part, { named });

    flag(mark.much, { low: y !== rows[0] }); // smaller type, clear of A's label
    write(mark.much, share === null ? "" : view.printed(side, at));
    const fits = !covered && mark.much.getComputedTextLength() < length - MARK;
    move(mark.much, (from + to) / 2, y - MARK - (named ? 6 : 4));
    const doubt = share !== null && Math.abs(share) < way.level ? ", could be chance" : "";
    const gate = moved(way.level ?? 0);
    const far = doubt && !covered && Math.abs(gate - to) > 2 * MARK; // else the tick touches a mark
    assign(mark.goal, "d", far ? `M${from} ${y} H${gate} m0 ${-MARK} v${2 * MARK}` : "");
    write(mark.beyond, far ? `chance up to ${percent(way.level)}` : "");
    assign(mark.beyond, "text-anchor", sign > 0 ? "start" : "end");
    move(mark.beyond, gate - 6 * sign, y - MARK - 6);
    const inside = share === null ? ": not run" : fits ? doubt : `: ${mark.much.textContent}${doubt}`;
    const most = covered && !hidden && share !== null && at === sides[side].leader;
    const text = at === null ? "" : view.text(side, at);
    write(mark.after, most ? `moves at most ${mark.much.textContent}${doubt}` : text && `without ${text}${inside}`);
    write(mark.before, starts && !covered && (named || hidden) ? `with ${text}` : ""); // no room on narrow pages
    if (!fits) write(mark.much, "");
    flag(mark.before, { now: !hidden });
    flag(mark.after, { now: hidden, named: !fits && named });
    return [
      { node: mark.before, x: from, y },
      { node: mark.after, x: named || hidden ? to : (from + to) / 2, y },
    ];
  }

  function paint() {
    if (!drawn) return;
    const labels = [0, 1].flatMap(place).filter(({ node }) => node.textContent);
    for (const label of labels) {
      assign(label.node, "textLength", null);
      label.size = label.node.getComputedTextLength();
    }
    for (const y of new Set(drawn.rows)) {
      const row = labels.filter((label) => label.y === y);
      if (row.length) spread(row, drawn.width);
    }
    for (const { node, left, y } of labels) move(node, left, y + MARK + 17);
  }

  svg.prepend(
    shape("linearGradient", { id: "beam", x2: 0, y2: 1 }, [
      shape("stop", { offset: 0, class: "deep", "stop-opacity": 0.75 }),
      shape("stop", { offset: 1, class: "light", "stop-opacity": 0.4 }),
    ]),
  );
  return { node: element("div", "way-line", [svg, ends]), paint, layOut };
}
