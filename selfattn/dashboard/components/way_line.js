/* The way: one line between the two senses (or sentences), with A and B as they are and with a word hidden. */

const MARK = 12; // radius
const SPACE = 8; // between labels
const ROW = 46;

/** Move labels apart that overlap on one line, and into 0 to `width`. Each has its centre `x` and its `size`; `left` is set. */
function spread(labels, width) {
  labels.sort((one, other) => one.x - other.x).forEach((label) => (label.left = label.x - label.size / 2));
  for (let round = 0; round < 8; round++) {
    for (let i = 1; i < labels.length; i++) {
      const over = labels[i - 1].left + labels[i - 1].size + SPACE - labels[i].left;
      if (over > 0) [labels[i - 1].left, labels[i].left] = [labels[i - 1].left - over / 2, labels[i].left + over / 2];
    }
  }
  let limit = width;
  for (const label of labels.toReversed()) limit = (label.left = Math.min(label.left, limit - label.size)) - SPACE;
  limit = 0;
  for (const label of labels) limit = (label.left = Math.max(label.left, limit)) + label.size + SPACE;
}

function move(node, x, y, scale = "") {
  node.style.transform = `translate(${x.toFixed(1)}px, ${y}px)${scale}`;
}

function linePart(view) {
  const svg = shape("svg", { class: "line", role: "group" });
  const still = shape("g"); // the line itself: drawn anew for another width
  const marks = view.data.sides.map(({ name }) => sideMarks(name));
  const noise = shape("text", { class: "note" }, "noise level");
  svg.append(still, ...marks.flatMap((each) => each.all), noise);
  const ends = [0, 1].map(() =>
    element("div", { class: "end" }, [element("strong"), element("span", { class: "small" })]),
  );
  const names = element("div", { class: "ends" }, ends);
  let drawn = null; // {x, rows, width} of the last layout

  /** Every position that a mark may take. */
  function positions(side) {
    const { at, toward, level } = view.data.way;
    const words = view.data.sides[side].words.filter((word) => word.kind === "word" && word.share !== null);
    return [0, level ?? 0, ...words.map((word) => word.share)].map((share) => at[side] + toward[side] * share);
  }

  function layOut() {
    const { way } = view.data;
    const width = svg.clientWidth;
    const all = [0, 1, ...way.dots.flat().map((dot) => dot.x), ...positions(0), ...positions(1)];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const pad = MARK + 12;
    const x = (value) => pad + ((value - low) / (high - low)) * (width - 2 * pad);
    const [a, b] = [0, 1].map((side) => positions(side).map(x));
    const apart = Math.max(...a) + 110 < Math.min(...b) || Math.max(...b) + 110 < Math.min(...a);
    const first = (way.between === "senses" ? 18 : 0) + 18 + MARK;
    const rows = [first, apart ? first : first + ROW];
    const axis = rows[1] + (way.level === null ? 32 : 42);
    drawn = { x, rows, width };
    assign(svg, "height", axis + 30);
    assign(svg, "aria-label", way.about);
    drawLine(way, drawn, axis);
    nameEnds(way, drawn);
    paint();
    requestAnimationFrame(() => svg.classList.add("moves"));
  }

  function drawLine(way, { x, width }, axis) {
    const [left, right, middle] = [x(0), x(1), x(0.5)];
    const oneSense = way.toward[0] === way.toward[1];
    const dots = way.dots
      .flatMap((sentences, end) => sentences.map((sentence) => ({ ...sentence, end })))
      .sort((one, other) => one.x - other.x)
      .map(({ x: at, text, end }) =>
        shape("circle", {
          class: `dot ${oneSense ? "" : "ab"[end]}`,
          cx: x(at).toFixed(1),
          cy: axis,
          r: 6,
          role: "img",
          "aria-label": text,
          "data-tip": text,
        }),
      );
    const bracket = axis + 20;
    const whole = shape(
      "text",
      { class: "note", x: (left + right) / 2, y: bracket + 4, "text-anchor": "middle" },
      "100\u00a0%",
    );
    const about = shape(
      "g",
      { class: "about", tabindex: 0, role: "img", "aria-label": way.about, "data-tip": way.about },
      [
        shape("circle", { cx: width - 9, cy: bracket, r: 8 }),
        shape("text", { x: width - 9, y: bracket + 4, "text-anchor": "middle" }, "?"),
      ],
    );
    const group = shape("g", {}, dots);
    still.replaceChildren(
      shape("path", { class: "axis", d: `M0 ${axis} H${width}` }),
      shape("path", { class: "bracket", d: `M${left} ${axis - 11} V${bracket} H${right} V${axis - 11}` }),
      whole,
      group,
      about,
    );
    if (dots.length) addArrowKeys(group, dots, dots.length);
    if (way.between !== "senses") return;
    const label = shape("text", { class: "note", y: 12 }, "from here nearer to the other sense");
    still.prepend(shape("path", { class: "divider", d: `M${middle} 18 V${axis + 9}` }), label);
    const size = label.getComputedTextLength();
    assign(label, "x", Math.max(0, Math.min(middle - size / 2, width - size)));
  }

  /** Each end's name under its tick, as wide as there is room on both sides. */
  function nameEnds(way, { x, width }) {
    const middle = (x(0) + x(1)) / 2;
    const reach = [Math.min(x(0), middle - x(0)), Math.min(width - x(1), x(1) - middle)].map(
      (each) => each - SPACE / 2,
    );
    const narrow = Math.min(...reach) < 40;
    way.ends.forEach(({ label, count }, end) => {
      const [name, more] = ends[end].children;
      write(name, label);
      write(more, count ? `${count} other sentences, a dot each` : "");
      assign(ends[end], "class", `end ${way.toward[0] === way.toward[1] ? "" : "ab"[end]}${narrow ? " narrow" : ""}`);
      ends[end].style.marginLeft = narrow ? "0" : `${x(end) - reach[end] - end * (x(0) + reach[0])}px`;
      ends[end].style.width = narrow ? "50%" : `${2 * reach[end]}px`;
    });
  }

  function paint() {
    if (!drawn) return;
    const { way, sides } = view.data;
    const { x, rows, width } = drawn;
    const labels = sides.flatMap(({ named }, side) => {
      const [at, y, mark] = [view.drawn(side), rows[side], marks[side]];
      const moved = (share) => x(way.at[side] + way.toward[side] * share);
      const share = view.share(side, at);
      const [from, to] = [moved(0), share === null ? null : moved(share)];
      const hidden = to !== null && view.hidden[side] !== null;
      const ghost = view.hovered?.side === side && view.hovered.at !== at ? view.share(side, view.hovered.at) : null;
      const length = to === null ? 0 : Math.abs(to - from) - MARK - 1;
      const sign = to < from ? -1 : 1;
      const band = Math.abs(moved(way.level ?? 0) - from);
      move(mark.band, from, y, ` scale(${way.toward[side] * band}, 1)`);
      move(mark.shaft, from, y, ` scale(${sign * Math.max(0, length - 7)}, 1)`);
      move(mark.head, from + sign * length, y, ` scale(${sign}, 1)`);
      move(mark.solid, hidden ? to : from, y);
      move(mark.hollow, hidden ? from : (to ?? from), y);
      move(mark.ghost, ghost === null ? from : moved(ghost), y);
      assign(mark.head, "visibility", length > MARK ? null : "hidden");
      assign(mark.hollow, "visibility", to === null ? "hidden" : null);
      assign(mark.ghost, "visibility", ghost === null ? "hidden" : null);
      for (const arrow of [mark.shaft, mark.head]) arrow.classList.toggle("named", named.includes(at));
      write(mark.before, "as it is");
      write(
        mark.after,
        at === null ? "" : `without ${quoted(view.byAt[side].get(at).text)}${to === null ? ": not run" : ""}`,
      );
      mark.before.classList.toggle("now", !hidden);
      mark.after.classList.toggle("now", hidden);
      return [
        { node: mark.before, x: from, y },
        { node: mark.after, x: to ?? from + 1, y },
      ];
    });
    for (const label of labels) label.size = label.node.getComputedTextLength();
    for (const y of new Set(rows)) {
      const row = labels.filter((label) => label.y === y && label.size);
      spread(row, width);
      for (const label of row) move(label.node, label.left, y - MARK - 7);
    }
    assign(noise, "visibility", way.level === null ? "hidden" : null);
    if (way.level === null) return;
    const side = rows[0] === rows[1] ? view.leading : 1;
    const size = noise.getComputedTextLength();
    const centre = x(way.at[side] + (way.toward[side] * way.level) / 2);
    move(noise, Math.max(0, Math.min(centre - size / 2, width - size)), rows[side] + 25);
  }

  return { node: element("div", { class: "way-line" }, [svg, names]), paint, layOut };
}

/** What is drawn of one sentence, at the origin: the noise band, the arrow, the dots and their labels. */
function sideMarks(name) {
  const kind = name.toLowerCase();
  const dot = (more) =>
    shape("g", { class: `mark ${kind} ${more}` }, [
      shape("circle", { r: MARK - (more === "solid" ? 0 : 1) }),
      shape("text", { "text-anchor": "middle", y: 4.5 }, name),
    ]);
  const tip = "Moves this long or longer go the wrong way at most once for eight times toward.";
  const band = shape("rect", { class: "band", y: -9, width: 1, height: 18, "data-tip": `Noise level. ${tip}` });
  const shaft = shape("rect", { class: "shaft", y: -1.5, width: 1, height: 3 });
  const head = shape("path", { class: "head", d: "M0 0 l-10 -5.5 v11 z" });
  const [hollow, solid, ghost] = ["hollow", "solid", "ghost"].map(dot);
  const [before, after] = [shape("text", { class: "label" }), shape("text", { class: "label" })];
  return {
    band,
    shaft,
    head,
    hollow,
    solid,
    ghost,
    before,
    after,
    all: [band, shaft, head, hollow, ghost, solid, before, after],
  };
}
