/* Draw the line between two senses or sentences, a dot for each labelled sentence, and marks (circles) for sentences A and B. */

const MARK = 14; // radius
const SPACE = 24; // pixels between labels
const DOT = 5.5; // radius
const FALL = { long: 98, short: 72 }; // pixels from sentences to marks
const ROW = 82; // pixels between rows of marks
const NEAR = 160; // pixels: nearer marks get separate rows
const FAR = 400; // pixels: if sentences' marks are nearer, only one ruler has a label
const CLEAR = 58; // pixels between marks and dots
const RULER = { down: 44, plain: 10, labelled: 26 }; // pixels: from marks to a ruler; what it adds to a row's height
const END = 15; // pixels: half the height of the line's ends
const EDGE = 74; // pixels for outer labels
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

/** Return SVG shapes, ordered from back to front. They show one sentence's chosen word and how far it moves along the line. */
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
    reach: shape("path", { class: "rail", "stroke-width": 2.5 }),
    shaft: shape("rect", { class: "moved", y: -5, width: 1, height: 10 }),
    head: shape("path", { class: "moved", d: "M0 0 l-18 -12 v24 z" }),
    hollow: dot("hollow"),
    ghost: dot("ghost"),
    solid: dot("solid"),
    doubt: shape("text", { class: "doubt", role: "img" }),
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
  const front = shape("g"); // axis and dots
  const marks = view.data.sides.map(({ name }) => sideMarks(name));
  const parts = (...names) => marks.flatMap((each) => names.map((name) => each[name]));
  const svg = shape("svg", { class: "line", width: "100%", role: "group" }, [
    ...parts("fan", "pale", "full", "faint"),
    front,
    ...parts(
      "stem",
      "landing",
      "reach",
      "shaft",
      "head",
      "hollow",
      "ghost",
      "solid",
      "doubt",
      "much",
      "before",
      "after",
    ),
  ]);
  const names = [0, 1].map(() => element("div", "name"));
  const ends = element("div", "ends", names);
  const legend = element("div", "legend");
  let drawn = null; // result of the last `layOut`

  /** Return the chosen word's positions on the line: first with no word hidden, then with one word hidden at a time. */
  function positions(side) {
    const { at, toward } = view.data.way;
    const words = view.data.sides[side].words.filter((word) => word.kind === "word" && word.share !== null);
    return [0, ...words.map((word) => word.share)].map((share) => at[side] + toward[side] * share);
  }

  /** Return the points where the bands below the two chosen words begin; null if the sentences are one above the other. */
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
    const places = way.dots.flat().map((dot) => dot.x);
    const values = [0, 1, ...places, ...positions(0), ...positions(1)];
    const from = sources();
    const of = JSON.stringify([way, width, values, from]);
    if (of === drawn?.of) return paint(); // keeps the focus
    const [low, high, pad] = [Math.min(...values), Math.max(...values), from ? EDGE : 2 * MARK];
    const x = (value) => pad + ((value - low) / (high - low)) * (width - 2 * pad);
    const [a, b] = [0, 1].map((side) => positions(side).map(x));
    const apart = Math.max(...a) + NEAR < Math.min(...b) || Math.max(...b) + NEAR < Math.min(...a);
    const first = from ? FALL.long : FALL.short;
    const [plain, labelled] = way.level === null ? [0, 0] : [RULER.plain, RULER.labelled];
    const rows = [0, 1].map((side) => (apart || side === view.leading ? first : first + ROW + plain));
    way.ends.forEach(({ label, count }, end) => {
      assign(names[end], "class", `name ${colour(way, end)}`);
      assign(names[end], "data-tip", way.about);
      const about = count ? `average of ${count} other sentences` : "";
      names[end].replaceChildren(element("bdi", {}, label), element("div", "count", about));
    });
    const dots = swarm(way.dots, x);
    const rulers = apart ? labelled : plain; // the lower row has no label
    const axis = Math.max(...rows) + CLEAR + rulers + 2 * DOT * Math.max(0, ...dots.map((dot) => dot.level + 1));
    drawn = { x, axis, width, of, dots, from, rows, rulers, apart };
    placeNames();
    assign(svg, "aria-label", way.about);
    drawLand(way);
    paint();
    requestAnimationFrame(() => flag(svg, { moves: true }));
  }

  /** Place the names of the line's ends. Set the picture's height. */
  function placeNames() {
    const { x, axis, width } = drawn;
    const sizes = names.map((name) => name.offsetWidth);
    const [left, right] = [x(0) - sizes[0] / 2, x(1) - sizes[1] / 2];
    const over = Math.max(0, left + sizes[0] + 2 * SPACE - right) / 2;
    const lefts = [clamp(left - over, width - sizes[0]), clamp(right + over, width - sizes[1])];
    names.forEach((name, end) => {
      name.style.left = `${lefts[end]}px`;
      name.style.top = `${axis + END + 4}px`;
    });
    assign(svg, "height", axis + END + 4 + Math.max(...names.map((name) => name.offsetHeight)));
  }

  /** Return the CSS class of end 0 or end 1 of the line, or "" if the word has the same sense in sentences A and B. */
  function colour({ toward }, end) {
    return toward[0] === toward[1] ? "" : "ab"[end];
  }

  /** Draw the axis from end to end, and a dot for each labelled sentence. */
  function drawLand(way) {
    const { x, width, axis } = drawn;
    const middle = x(0.5);
    const dots = drawn.dots.map(({ at, level, text, end }) => {
      const place = { cx: at.toFixed(1), cy: axis - DOT - 3 - 2 * DOT * level, r: DOT - 0.5 };
      return shape("circle", {
        class: `dot ${colour(way, end)}`,
        ...place,
        role: "img",
        "aria-label": text,
        "data-tip": text,
      });
    });
    const halves = [0, 1].map((end) => {
      const d = `M${middle} ${axis} H${x(end)} M${x(end)} ${axis - END} v${2 * END}`;
      return shape("path", { class: `shore ${colour(way, end)}`, d });
    });
    const rail = shape("path", { class: "rail", d: `M0 ${axis} H${width}` });
    const about = { tabindex: 0, role: "img", "aria-label": way.about, "data-tip": way.about };
    front.replaceChildren(shape("g", about, [rail, ...halves]), ...dots);
    addArrowKeys(dots, dots.length);
    drawMiddle(way);
    explain(way);
  }

  /** Mark the middle of the line: left of it, a vector is nearer to one end, right of it to the other. */
  function drawMiddle(way) {
    const { x, axis, rows, rulers } = drawn;
    const d = `M${x(0.5)} ${Math.max(...rows) + MARK + 26 + rulers} V${axis + END + 6}`;
    const halves = way.ends.map(({ label }, end) => {
      const place = { x: x(0.5) + (end ? 9 : -9), y: axis + END + 4, "text-anchor": end ? "start" : "end" };
      return shape("text", { class: `nearer ${colour(way, end)}`, ...place }, `nearer to ${label}`);
    });
    front.append(shape("path", { class: "tick", d }), ...halves);
    const longest = Math.max(...halves.map((half) => half.getComputedTextLength()));
    if (longest + 9 + SPACE > x(0.5) - x(0)) halves.forEach((half) => half.remove());
  }

  /** Write the legend below the line. It explains the dots and the scale. */
  function explain(way) {
    const dot = [0, 1].map((end) => element("span", { class: colour(way, end), "aria-hidden": "true" }, "●"));
    const keys = [[`${percent(1)}: the distance between the ${way.between === "senses" ? "averages" : "ends"}`]];
    if (drawn.dots.length) keys.unshift([...dot, " one of the sentences, left out of its own average"]);
    legend.replaceChildren(...keys.map((key) => element("span", "key", key)));
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
    colourMoved(side, named && crosses(side, share), hidden);
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
    const level = moved(way.level ?? 0);
    const ruled = !covered && way.level;
    assign(mark.reach, "d", ruled ? `M${from} ${y + RULER.down - 5} v10 m0 -5 H${level} m0 -5 v10` : "");
    const labelled = side === view.leading || (drawn.apart && Math.abs(x(way.at[0]) - x(way.at[1])) > FAR);
    labelRuler(mark.doubt, ruled && labelled ? way.level : null, from, sign, y + RULER.down + 19);
    assign(mark.doubt, "tabindex", side === view.leading ? 0 : null);
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

    flag(mark.much, { low: y !== Math.min(...rows) }); // smaller type, clear of the labels above
    write(mark.much, share === null ? "" : view.printed(side, at));
    const fits = !covered && mark.much.getComputedTextLength() < length - MARK;
    move(mark.much, (from + to) / 2, y - MARK - (named ? 6 : 4));
    const doubt = share !== null && Math.abs(share) < way.level ? ", could be chance" : "";
    const inside = share === null ? ": not run" : fits ? doubt : `: ${mark.much.textContent}${doubt}`;
    const most = !fits && !named && !hidden && share !== null && at === sides[side].leader;
    const text = at === null ? "" : view.text(side, at);
    write(mark.after, text && `${most ? "moves most " : ""}without ${text}${inside}`);
    write(mark.before, starts && !covered && (named || hidden) ? `with ${text}` : ""); // no room on narrow pages
    if (!fits) write(mark.much, "");
    flag(mark.before, { now: !hidden });
    flag(mark.after, { now: hidden, named: !fits && named });
    return [
      { node: mark.before, x: from, y },
      { node: mark.after, x: named || hidden ? to : (from + to) / 2, y },
    ];
  }

  /** Return true if a move by `share` leads to the other sense's half of the line. */
  function crosses(side, share) {
    const { at, toward, level } = view.data.way;
    const own = (place) => (side ? place >= 0.5 : place <= 0.5);
    return level !== null && toward[0] !== toward[1] && own(at[side]) && !own(at[side] + toward[side] * share);
  }

  /** Draw the place without the hidden word in its own sentence's colour or, if `crossed`, in the other sentence's. */
  function colourMoved(side, crossed, hidden) {
    const { solid, full, hollow, pale, landing } = marks[side];
    for (const part of [solid, full, hollow, pale, landing]) {
      const other = crossed && [landing, ...(hidden ? [solid, full] : [hollow, pale])].includes(part);
      flag(part, { ["ab"[side]]: !other, ["ba"[side]]: other });
    }
  }

  /** Label a ruler: moves up to its length could be chance. The label begins or ends at the ruler's start, at x = `from`. */
  function labelRuler(label, level, from, sign, y) {
    write(label, level === null ? "" : `up to ${percent(level)}: could be chance`);
    const about = `In labelled sentences, of the moves of ${percent(level)} or more, at least eight go toward the other sense for each that goes away.`;
    for (const [name, value] of Object.entries({ "aria-label": about, "data-tip": about }))
      assign(label, name, level === null ? null : value);
    const size = label.getComputedTextLength();
    move(label, clamp(sign < 0 ? from - 8 - size : from + 8, drawn.width - size), y);
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
  return { node: element("div", "way-line", [svg, ends, legend]), paint, layOut };
}
