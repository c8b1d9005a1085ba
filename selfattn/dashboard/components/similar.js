/* Two texts with lines between words, and the texts' cosine (see similar.schema.json). */

/** A click on a word sends the state "hidden", a list: given.key, then the index of each text's hidden word (or null). */
export default function similar(given) {
  return showIn(SimilarView, "similar", given);
}

/** Holds the data, the hidden words and the hovered word. */
class SimilarView extends View {
  show(data, send) {
    this.send = send;
    if (data.key === this.data?.key) return;
    const rows = data.cosines.map((row) => numbersOf(row, 1000));
    Object.assign(this, { data, rows, hidden: data.hidden ?? [null, null], hovered: null });
    this.parts = [textsPart(this), cosinePart(this)];
    const [texts, cosine] = this.parts.map((part) => part.node);
    const below = data.below.map((line) => element("p", {}, line));
    this.body.replaceChildren(element("h2", "finding", data.finding), ...below, texts, keyPart(data), cosine);
    for (const word of this.body.querySelectorAll(".ink")) this.observer.observe(word); // fonts may load late
    this.paint();
    this.layOut();
  }

  paint() {
    for (const part of this.parts) part.paint();
  }

  layOut() {
    if (this.root.clientWidth) for (const part of this.parts) part.layOut?.();
  }

  word(side, at) {
    return this.data.sides[side].words[at];
  }

  /**
   * Return the cosine of texts A and B, with word a of A and word b of B hidden. If a or b is null, no word of that text is
   * hidden. The cosine is null if a text has no word left.
   */
  cosine([a, b] = [null, null]) {
    return this.rows[a === null ? 0 : a + 1][b === null ? 0 : b + 1];
  }

  /** Return which words are hidden after a click on word `at` of text `side`. */
  pressed(side, at) {
    return this.hidden.with(side, this.hidden[side] === at ? null : at);
  }

  /** Return the words in `hidden`, quoted and joined by "and". */
  named(hidden) {
    return hidden.flatMap((at, side) => (at === null ? [] : [quoted(this.word(side, at).text)])).join(" and ");
  }
}

/** Return both texts with the lines between their words. */
function textsPart(view) {
  const svg = shape("svg", { class: "lines", width: "100%", height: "100%", "aria-hidden": "true" });
  const texts = view.data.sides.map((_, side) => textPart(view, side));
  const node = element("div", "texts", [svg, ...texts.map((text) => text.node)]);
  const largest = Math.max(0, ...view.data.lines.map(([, , , interaction]) => interaction));
  let drawn = [];

  /** Return the hovered word's lines, or the initial lines if no word with lines is hovered. */
  function lines() {
    const { hovered, data } = view;
    const own = hovered && view.word(...hovered).lines;
    return own?.length ? own : data.lines;
  }

  function layOut() {
    const around = node.getBoundingClientRect();
    const boxes = texts.map((text) => text.boxes());
    drawn = lines().map(([a, b, part, interaction]) => {
      const [from, to] = [boxes[0][a], boxes[1][b]];
      const [x, y] = [from.left + from.width / 2 - around.left, from.bottom - around.top];
      const [x2, y2] = [to.left + to.width / 2 - around.left, to.top - around.top];
      const bend = Math.max(20, (y2 - y) * 0.5);
      const d = `M${x} ${y} C${x} ${y + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
      const width = 1.5 + 8.5 * clamp(interaction / largest, 1);
      return { a, b, part, path: shape("path", { d, "stroke-width": width.toFixed(1) }) };
    });
    svg.replaceChildren(...drawn.map(({ path }) => path));
    paintLines();
  }

  function paintLines() {
    for (const { a, b, path } of drawn) flag(path, { gone: a === view.hidden[0] || b === view.hidden[1] });
  }

  let hovered = null;
  function paint() {
    texts.forEach((text) => text.paint());
    const other = view.hovered !== hovered;
    hovered = view.hovered;
    if (other && node.isConnected) layOut();
    else paintLines();
  }
  return { node, paint, layOut };
}

function textPart(view, side) {
  const { name, dir, words } = view.data.sides[side];
  const nodes = words.map((word, at) => wordPart(view, side, word, at));
  const badge = element("span", { class: "badge", "aria-hidden": "true" }, name);
  const text = element("p", { class: words.length > 24 ? "text long" : "text", dir }, badge);
  const buttons = nodes.filter(({ paint }) => paint).map((each) => each.node);
  appendWords(
    text,
    words,
    nodes.map((each) => each.node),
  );
  if (buttons.length) addArrowKeys(buttons, buttons.length);
  const boxes = () => nodes.map(({ node }) => node.getBoundingClientRect());
  const paint = () => nodes.forEach((each) => each.paint?.());
  const label = { role: "group", "aria-label": `Sentence ${name}` };
  return { node: element("div", { class: name.toLowerCase(), ...label }, text), boxes, paint };
}

function wordPart(view, side, word, at) {
  if (word.kind === "punctuation") return { node: element("span", {}, word.text) };
  const hover = (place) => view.set({ hovered: place && [side, at] });
  const press = () => {
    view.set({ hidden: view.pressed(side, at) });
    view.send("hidden", [view.data.key, ...view.hidden]); // the key identifies the texts
  };
  const node = tintedWord(word, { "data-id": `word ${side} ${at}`, onclick: press, ...previewing(hover, at) });

  function paint() {
    const hidden = view.hidden[side] === at;
    const alone = view.cosine(side ? [null, at] : [at, null]);
    const effect = alone === null ? "nothing is left" : `cosine ${decimal(view.cosine())} → ${decimal(alone)}`;
    const joined = word.lines.map(
      (line) => `${quoted(view.word(1 - side, line[1 - side]).text)} ${decimal(line[2], 3)}`,
    );
    const parts = joined.length ? ` Largest pairs: ${joined.slice(0, 3).join(", ")}.` : "";
    const { hovered } = view;
    const partner = hovered && hovered[0] !== side && view.word(...hovered).lines.some((line) => line[side] === at);
    flag(node, { hidden, partner });
    assign(node, "aria-pressed", hidden);
    assign(node, "aria-label", `${word.text}: ${effect} without it`);
    assign(node, "data-tip", `Hide ${quoted(word.text)}: ${effect}.${parts}`);
  }
  return { node, paint };
}

function keyPart({ lines }) {
  const line = "A line joins two words that go together more than either does with other words. ";
  const parts = [
    "A tint shows how much the cosine changes without the word; ",
    element("b", "away", "brown"),
    " means that it falls. Click a word to hide it.",
  ];
  return element("p", "small key", [lines.length ? line : "", ...parts]);
}

/** Return an axis that shows the cosine, with a histogram of the cosines of unrelated sentence pairs. */
function cosinePart(view) {
  const { unrelated } = view.data;
  const said = element("p", { class: "said", role: "status" });
  const still = shape("g");
  const [dot, moved] = ["solid", "hollow"].map((kind) => shape("circle", { class: kind, r: 8 }));
  const [before, after] = [shape("text", {}, "as it is"), shape("text", "now")];
  const svg = shape("svg", { class: "cosine", width: "100%", role: "img" }, [still, dot, moved, before, after]);
  const others = unrelated ? numbersOf(unrelated.cosines, 1000) : [];
  const high = others.length ? 46 : 0; // pixels: tallest bar
  const axis = 44 + high;
  let x = null;

  function layOut() {
    const width = svg.clientWidth;
    const every = [...others, ...view.rows.flat().filter((each) => each !== null)];
    const low = Math.min(0, ...every);
    x = (value) => 12 + ((value - low) / (1 - low)) * (width - 24);
    assign(svg, "height", axis + (view.data.sum ? 46 : 26));
    const step = 0.02;
    const counts = new Map();
    for (const value of others) counts.set(Math.floor(value / step), (counts.get(Math.floor(value / step)) ?? 0) + 1);
    const most = Math.max(1, ...counts.values());
    const bars = [...counts].map(([bin, count]) => {
      const [left, tall] = [x(bin * step), (high * count) / most];
      const tip = `${count} of ${others.length} unrelated pairs: ${decimal(bin * step)} to ${decimal((bin + 1) * step)}`;
      const place = { x: left, width: Math.max(1, x((bin + 1) * step) - left - 1), y: axis - tall, height: tall };
      return shape("rect", { class: "bar", ...place, "data-tip": tip });
    });
    const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
      shape("path", { class: "rail", d: `M${x(value)} ${axis} v5` }),
      shape("text", { x: x(value), y: axis + 20, "text-anchor": value === 1 ? "end" : "middle" }, decimal(value)),
    ]);
    let end = 0;
    const stack = sumOf(view.data).map(([kind, name, value]) => {
      const [left, right] = [x(Math.min(end, end + value)), x(Math.max(end, end + value))];
      end += value;
      const look = { class: `part ${value < 0 ? "away" : kind}`, "data-tip": `${name}: ${decimal(value, 3)}` };
      return shape("rect", { ...look, x: left, width: Math.max(1, right - left - 1), y: axis + 30, height: 12 });
    });
    still.replaceChildren(...bars, ...stack, shape("path", { class: "rail", d: `M0 ${axis} H${width}` }), ...ticks);
    paint();
    requestAnimationFrame(() => flag(svg, { moves: true }));
  }

  /** Return text such as ", above 99.8 % of 1,000 unrelated pairs (median 0.05)". */
  function place(cosine) {
    if (!others.length) return "";
    const below = others.filter((value) => value < cosine).length;
    const share = (below + others.filter((value) => value === cosine).length / 2) / others.length;
    const part = share === 1 ? "all" : share === 0 ? "none" : `${decimal(100 * share, 1)}\u00a0%`;
    return `, above ${part} of ${others.length.toLocaleString("en")} unrelated pairs (median ${decimal(unrelated.median)})`;
  }

  function paint() {
    const [as, now] = [view.cosine(), view.cosine(view.hidden)];
    const ghost = view.hovered ? view.pressed(...view.hovered) : view.hidden;
    const changes = ghost.some((at) => at !== null) && view.cosine(ghost) !== null;
    const shown = view.hidden.some((at) => at !== null);
    const text = shown ? `Without ${view.named(view.hidden)}: cosine` : "Cosine";
    write(said, now === null ? `${text}: nothing is left to compare.` : `${text} ${decimal(now)}${place(now)}.`);
    assign(svg, "aria-label", said.textContent);
    if (!x) return;
    const there = changes ? view.cosine(ghost) : as;
    for (const [node, value] of [
      [dot, as],
      [moved, there],
    ])
      node.style.transform = `translate(${x(value)}px, ${axis}px)`;
    flag(moved, { off: !changes, ghost: view.hovered !== null });
    write(after, changes ? `without ${view.named(ghost)}` : "");
    const end = (value) => (x(value) > svg.clientWidth / 2 ? "end" : "start");
    const at = (value) => ({ x: x(value) + (end(value) === "end" ? 8 : -8), "text-anchor": end(value) });
    for (const [name, value] of Object.entries(at(as))) assign(before, name, value);
    for (const [name, value] of Object.entries(at(there))) assign(after, name, value);
    const above = (value) => axis - 14 - (value <= others.at(-1) ? high : 0); // above the bars
    assign(before, "y", above(as));
    assign(after, "y", Math.min(above(there), above(as)) - 16);
  }
  return { node: element("section", {}, [said, svg, sumText(view.data)]), paint, layOut };
}

/** Return the parts that add up to the cosine, each as [CSS class, name, value]. */
function sumOf({ sum, lines }) {
  if (!sum) return [];
  const joined = lines.length === 1 ? "the pair joined by a line" : `the ${lines.length} pairs joined by a line`;
  return [
    ...(lines.length ? [["joined", joined, sum.lines]] : []),
    ["others", "all other pairs of words", sum.others],
    ["special", "pairs with a special token", sum.special],
  ];
}

function sumText(data) {
  const parts = sumOf(data);
  if (!parts.length) return element("p");
  const texts = parts.flatMap(([kind, name, value], i) => [
    value < 0 ? " − " : i ? " + " : "",
    element("span", `swatch ${kind}`, "■"),
    ` ${decimal(Math.abs(value), 3)} ${name}`,
  ]);
  const total = decimal(
    parts.reduce((all, part) => all + part[2], 0),
    3,
  );
  return element("p", "small", [
    "As a sum: ",
    ...texts,
    ` = ${total} (differs from the cosine by ${data.sum.difference}).`,
  ]);
}
