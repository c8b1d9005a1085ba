/* Rows: each is a sentence with tinted words, or a long text with tinted sentences (see shaded.schema.json). */

/**
 * A click on a row sets the state "open" to the row's number. A click on a word sets "word" to the word's number in its row.
 * A click on a sentence of a long text sets "opened" to the row's number and the sentence's number.
 */
export default function shaded(given) {
  return showIn(ShadedView, "shaded", given);
}

const TALL = 36; // pixels: largest effect in the chart of a long text

class ShadedView extends View {
  show(data, send) {
    this.send = send;
    if (data.key === this.data?.key) return;
    const focused = this.root.getRootNode().activeElement?.dataset.id;
    Object.assign(this, { data, opened: data.opened ?? null, hovered: null });
    this.parts = data.rows.map((row, at) => (row.read ? longRow(this, row, at) : wordsRow(this, row, at)));
    const rows = this.parts.map((part) => part.node);
    const headed = data.rows.flatMap(({ heading }, at) => [heading && element("p", "heading", heading), rows[at]]);
    this.body.replaceChildren(
      element("h2", "finding", data.finding ?? ""),
      element("div", "rows", headed.filter(Boolean)),
      element("p", "small", data.legend ?? ""),
      ...moreButton(rows, data.first),
    );
    flag(this.root, { weights: data.kind === "weights" });
    if (data.open) addArrowKeys(rows, 1);
    const words = [...this.body.querySelectorAll("button.word")];
    const pressed = words.findIndex((word) => word.ariaPressed === "true");
    if (words.length) addArrowKeys(words, words.length)(Math.max(0, pressed));
    words.find((word) => word.dataset.id === focused)?.focus();
    this.paint();
  }

  paint() {
    for (const part of this.parts) part.paint?.();
  }
}

function wordsRow(view, { said, dir, words }, at) {
  const { open, choose } = view.data;
  const press = (n) => choose && { onclick: () => view.send("word", n), "data-id": `word ${n}` };
  const parts = [element("span", "said", said), wordsOf(words, dir, press)];
  if (!open) return { node: element("p", "row", parts) };
  const spoken = words.map((word) => [word.text, word.number].filter(Boolean).join(" ")).join(" ");
  const about = { type: "button", class: "row", "aria-label": `${said}: ${spoken}. ${open}`, title: open };
  return { node: element("button", { ...about, onclick: () => view.send("open", at) }, parts) };
}

/** Return a sentence's words. press(n): the attributes that make word n clickable, or null. */
function wordsOf(words, dir, press = () => null) {
  const text = element("span", { class: "text", dir });
  const about = ({ kind, tip }, n) => {
    const pressed = press(n) && { ...press(n), "aria-pressed": kind === "chosen" };
    return { ...(tip && { "data-tip": tip }), ...pressed };
  };
  appendWords(
    text,
    words,
    words.map((word, n) => tintedWord(word, about(word, n))),
  );
  return text;
}

/** Return the row of a long text: its chart, its sentences, and the words of the opened sentence. */
function longRow(view, { said, dir, words: sentences, tokens, read }, row) {
  const parts = sentences.map((sentence, n) => sentencePart(view, sentence, [row, n]));
  const text = element("p", { class: "sentences", dir });
  sentences.forEach(({ gap }, n) => text.append(gap ? " " : "", parts[n].node));
  const buttons = parts.filter(({ paint }) => paint);
  const setStop = addArrowKeys(
    buttons.map(({ node }) => node),
    buttons.length,
  );
  const opened = element("div", { class: "opened", role: "status" });
  const curve = curvePart(sentences, tokens, read, parts);
  const node = element("section", "long", [element("p", "said", said), curve, text, opened]);
  let shown = null;

  function paint() {
    for (const part of buttons) part.paint();
    const open = view.opened?.[0] === row ? sentences[view.opened[1]] : null;
    if (open === shown) return;
    shown = open;
    if (open) setStop(view.opened[1]);
    opened.replaceChildren(...(open ? [element("p", "small", open.tip), wordsOf(open.words, dir)] : []));
  }
  return { node, paint };
}

/** Return a sentence as a span, because lines can't break inside a button. */
function sentencePart(view, sentence, place) {
  const { text, kind, depth, tip, number } = sentence;
  if (kind === "lost") return { node: element("span", { class: "lost", "data-tip": tip }, text) };
  const isOn = (other) => other?.join() === place.join();
  const open = () => {
    view.set({ opened: place });
    view.send("opened", place);
  };
  const hovering = previewing((there) => view.set({ hovered: there }), place);
  const onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  };
  const name = { role: "button", "aria-label": `${text} ${number}`, "data-id": `sentence ${place.join(" ")}` };
  const about = { class: `sentence ${kind}`, "data-tip": tip, ...name };
  const node = element("span", { ...about, onclick: open, onkeydown, ...hovering }, text);
  tint(node, depth);
  const bar = { onclick: open, onpointerenter: hovering.onpointerenter, onpointerleave: hovering.onpointerleave };
  const part = { node, bar, paint };

  function paint() {
    const [opened, lit] = [isOn(view.opened), isOn(view.hovered)];
    assign(node, "aria-expanded", opened);
    for (const each of [node, part.drawn]) flag(each, { opened, lit });
  }
  return part;
}

/** Draw the effect of hiding each sentence, with the sentence's noise level as a band. */
function curvePart(sentences, tokens, read, parts) {
  const x = (token) => `${(100 * token) / tokens}%`;
  const box = (from, to, low, high, more) => {
    const [y, height] = [TALL * (1 - high / 100), Math.max(1, (TALL * (high - low)) / 100)];
    return shape("rect", { x: x(from), width: x(to - from), y, height, ...more });
  };
  const drawn = sentences.flatMap(({ kind, start, stop, depth, level, tip }, n) => {
    if (kind === "lost") return [box(read, tokens, -100, 100, { class: "cut", "data-tip": tip })];
    const look = { class: depth < 0 ? "bar away" : "bar", "data-tip": tip, ...parts[n].bar };
    parts[n].drawn = box(start, stop, Math.min(depth, 0), Math.max(depth, 0), look);
    flag(parts[n].drawn, { named: kind === "named" });
    return [box(start, stop, -level, level, { class: "band" }), parts[n].drawn];
  });
  const base = shape("line", { class: "rail", x1: 0, x2: "100%", y1: TALL, y2: TALL });
  const curve = shape("svg", { width: "100%", height: 2 * TALL, "aria-hidden": "true" }, [...drawn, base]);
  const end = read < tokens ? `the last ${tokens - read} tokens are never read` : `${tokens} tokens`;
  const ends = ["first token", end].map((each) => element("span", {}, each));
  return element("div", {}, [curve, element("p", "small ends", ends)]);
}

/** Show only the first rows. Return a list with a button that shows all rows; an empty list if no row is hidden. */
function moreButton(rows, first) {
  const rest = rows.slice(first);
  if (!rest.length) return [];
  const write = (folded) => rest.forEach((row) => assign(row, "hidden", folded ? "" : null));
  write(true);
  const show = (event) => {
    write(false);
    event.currentTarget.remove();
    rest[0].focus();
  };
  return [element("button", { type: "button", class: "more", onclick: show }, `Show all ${rows.length}`)];
}
