/* Long texts: each sentence tinted by what hiding it does, the same over position, and the words of one. long_text.schema.json describes the data. */

/** Called by Streamlit for each change of data. The open sentence stays in the browser. */
export default function long_text(given) {
  return showIn(LongTextView, "long_text", given);
}

const TALL = 36; // pixels of the largest effect, up and down

/** The data, and the visitor's choices: the sentence whose words are shown, and the one under the pointer. */
class LongTextView extends View {
  show(data) {
    if (data.key === this.data?.key) return;
    Object.assign(this, { data, open: firstOpen(data), hovered: null });
    this.parts = data.texts.map((text, at) => textPart(this, text, at));
    const below = data.below.map((line) => element("p", "small", line));
    const key = [
      "Tint and bar: ",
      element("b", "away", "brown"),
      `, ${data.what} falls without the sentence; `,
      element("b", "toward", "teal"),
      ", it rises. Grey band: noise level. Click a sentence: its words.",
    ];
    const nodes = this.parts.map((part) => part.node);
    this.body.replaceChildren(element("h2", "finding", data.finding), ...below, ...nodes, element("p", "small", key));
    this.paint();
  }

  paint() {
    for (const part of this.parts) part.paint();
  }

  layOut() {}
}

/** The named sentence of the largest effect: [text, sentence]; null where none is named. */
function firstOpen({ texts }) {
  const named = texts.flatMap(({ sentences }, text) =>
    sentences.flatMap(({ kind, effect }, at) => (kind === "named" ? [[Math.abs(effect), text, at]] : [])),
  );
  return named.sort((one, other) => other[0] - one[0])[0]?.slice(1) ?? null;
}

const same = (one, other) => one?.[0] === other?.[0] && one?.[1] === other?.[1];

function textPart(view, { said, dir, tokens, read, sentences }, at) {
  const heading = said ? [element("p", "said", said)] : [];
  if (sentences.length < 3) {
    const words = sentences.map((each) => wordsPart(each.words, dir));
    return { node: element("section", {}, [...heading, ...words]), paint() {} };
  }
  const parts = sentences.map((sentence, n) => sentencePart(view, sentence, [at, n]));
  const text = element("p", { class: "text", dir });
  sentences.forEach((_, n) => text.append(n ? " " : "", parts[n].node));
  addArrowKeys(
    parts.flatMap(({ node, words }) => (words ? [node] : [])),
    sentences.length,
  );
  const opened = element("div", { class: "opened", role: "status" });
  const node = element("section", {}, [...heading, curvePart(sentences, tokens, read, parts), text, opened]);
  let shown = null;

  function paint() {
    for (const part of parts) part.paint();
    const open = view.open?.[0] === at ? sentences[view.open[1]] : null;
    if (open === shown) return;
    shown = open;
    opened.replaceChildren(...(open ? openedPart(open, dir) : []));
  }
  return { node, paint };
}

/** A sentence in the text. Lines break inside it, which a button's box forbids. */
function sentencePart(view, { text, kind, effect, tip, number }, place) {
  if (kind === "lost") return { node: element("span", { class: "lost", "data-tip": tip }, text), bar: {}, paint() {} };
  const open = () => view.set({ open: same(view.open, place) ? null : place });
  const hovering = previewing((there) => view.set({ hovered: there }), place);
  const onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  };
  const name = { role: "button", tabindex: -1, "data-id": `sentence ${place.join(" ")}`, "data-tip": tip };
  const about = { class: `sentence ${kind}`, "aria-label": `${text} ${number}`, ...name };
  const node = element("span", { ...about, onclick: open, onkeydown, ...hovering }, text);
  node.style.setProperty("--depth", `${Math.round(Math.abs(effect) * 100)}%`);
  const bar = { onclick: open, onpointerenter: hovering.onpointerenter, onpointerleave: hovering.onpointerleave };
  const part = { node, bar, words: true, paint };

  function paint() {
    const [opened, lit] = [same(view.open, place), same(view.hovered, place)];
    flag(node, { away: effect < 0, opened, lit });
    assign(node, "aria-expanded", opened);
    if (part.drawn) flag(part.drawn, { opened, lit });
  }
  return part;
}

/** Each sentence's effect over its place in the text, in its band of noise; what is cut off is hatched. */
function curvePart(sentences, tokens, read, parts) {
  const x = (token) => `${(100 * token) / tokens}%`;
  const box = (from, to, low, high, more) => {
    const [y, height] = [TALL * (1 - high), Math.max(1, TALL * (high - low))];
    return shape("rect", { x: x(from), width: x(to - from), y, height, ...more });
  };
  const bands = sentences.map(({ start, stop, level }) => box(start, stop, -level, level, { class: "band" }));
  const bars = sentences.flatMap(({ kind, start, stop, effect, tip }, n) => {
    if (kind === "lost") return [];
    const look = { class: `bar ${effect < 0 ? "away" : "toward"} ${kind}`, "data-tip": tip, ...parts[n].bar };
    return [(parts[n].drawn = box(start, stop, Math.min(effect, 0), Math.max(effect, 0), look))];
  });
  const cut = read < tokens ? [box(read, tokens, -1, 1, { class: "cut", "data-tip": "never read" })] : [];
  const base = shape("line", { class: "rail", x1: 0, x2: "100%", y1: TALL, y2: TALL });
  const curve = shape("svg", { width: "100%", height: 2 * TALL, "aria-hidden": "true" }, [
    ...cut,
    ...bands,
    base,
    ...bars,
  ]);
  const ends = ["first token", read < tokens ? `the last ${tokens - read} tokens are never read` : `${tokens} tokens`];
  return element("div", "curve", [
    curve,
    element(
      "p",
      "small ends",
      ends.map((end) => element("span", {}, end)),
    ),
  ]);
}

/** A sentence's line, and its own words with their effects. */
function openedPart(sentence, dir) {
  const { tip, words } = sentence;
  if (!words.length) return [element("p", "small", `${tip} Its words were not hidden one by one.`)];
  return [element("p", "small", tip), wordsPart(words, dir)];
}

function wordsPart(words, dir) {
  const text = element("p", { class: "words", dir });
  const nodes = words.map(({ text: own, depth, kind, number, tip }) => {
    const parts = [element("bdi", "ink", own), element("span", "number", number)];
    const node = element("span", { class: `word ${kind}`, "data-tip": tip }, parts);
    node.style.setProperty("--depth", `${Math.abs(depth)}%`);
    flag(node, { away: depth < 0 });
    return node;
  });
  appendWords(text, words, nodes);
  return text;
}
