/* The main view: how far the chosen word's vector moves if another word is hidden. Data: way.schema.json. */

const PRINTED = 0.05; // smallest printed number
const TYPE = { largest: 38, smallest: 22, wrapped: 27 }; // pixels: sentences side by side
const STACKED = { largest: 24, smallest: 18, wrapped: 24 }; // sentences one above the other
const FLOW = 64; // pixels: ribbon width for an effect of 100 %
const SCROLLED = 24; // tokens: longer lists scroll

/** Show the main view. Clicks set the states "hidden", "head" and "guess". The trigger "heads" asks Python for heads' effects. */
export default function way(given) {
  return showIn(WayView, "way", given);
}

/** The main view: its data, the visitor's choices, and its parts. */
class WayView extends View {
  constructor(parent, name) {
    super(parent, name);
    const take = ({ detail }) => {
      if (!this.root.isConnected) return removeEventListener("selfattn-exact", take);
      if (detail.key !== this.data?.key) return;
      detail.sides.forEach((rows, side) => Object.assign(this.run[side], rows));
      this.paint();
    };
    addEventListener("selfattn-exact", take);
  }

  show(data, send, trigger) {
    if (data.key !== this.data?.key) {
      const { hidden, head, open } = data.chosen;
      Object.assign(this, { hidden: [...hidden], head, open, hovered: null, hoveredHead: null, last: null });
      this.run = [{}, {}]; // exact effects of heads that kernel.js handed on, by side and word
    }
    const others = data.sides.map(({ words }) => words.filter(({ at }) => at !== null));
    Object.assign(this, {
      data,
      send,
      trigger,
      byAt: others.map((words) => new Map(words.map((word) => [word.at, word]))),
    });
    this.head ??= data.chosen.head; // null before the map comes
    const built = JSON.stringify([data.key, data.guess, data.way?.between, this.knowsHeads]);
    if (built !== this.built) this.build();
    this.built = built;
    for (const part of this.parts) part.show?.();
    this.paint();
    this.layOut();
    this.askForHeads();
  }

  build() {
    const focused = this.root.getRootNode().activeElement?.dataset?.id;
    const { way, heads, guess, alone } = this.data;
    const line = way && (alone || !guess) ? [linePart] : [];
    const rest = guess || alone ? [] : [beyondPart, ...(heads ? [headsPart] : [])];
    this.parts = [findingPart, sentencesPart, ...line, ...rest].map((part) => part(this));
    this.body.replaceChildren(...this.parts.map((part) => part.node));
    for (const word of this.body.querySelectorAll(".ink")) this.observer.observe(word); // a font may load late
    if (focused) this.root.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Paint all parts, or only the part with the map of heads if just the chosen or hovered head changed. */
  paint(changed = ["all"]) {
    const heads = changed.every((name) => name === "head" || name === "hoveredHead");
    for (const part of this.parts) if (!heads || part.heads) part.paint?.();
  }

  /** Lay out the parts from top to bottom, because a part can draw lines from words of a part above it. */
  layOut() {
    if (this.root.clientWidth) for (const part of this.parts) part.layOut?.();
  }

  /** Return the index of the word that the visitor hides, else of the word with the largest effect. */
  drawn(side) {
    return this.hidden[side] ?? this.data.sides[side].leader;
  }

  share(side, at) {
    return this.byAt[side].get(at)?.share ?? null;
  }

  /** Format an effect, with a decimal place if it would otherwise round up to the noise level. */
  printed(side, at) {
    const [share, level] = [this.share(side, at), this.data.way?.level];
    const value = percent(share);
    return share < level && value === percent(level) ? `${decimal(100 * share, 1)}\u00a0%` : value;
  }

  text(side, at) {
    return quoted(this.byAt[side].get(at)?.text ?? "");
  }

  /** The side (0: A, 1: B) that contains the word with the largest effect. */
  get leading() {
    const [a, b] = [0, 1].map((side) => this.share(side, this.data.sides[side].leader) ?? -Infinity);
    return b > a ? 1 : 0;
  }

  /** The map of heads shows the effects of hiding this word, given by its side and index `at`. */
  get subject() {
    if (this.hovered) return this.hovered;
    const side = this.last ?? [0, 1].find((each) => this.hidden[each] !== null) ?? this.leading;
    return { side, at: this.drawn(side) };
  }

  press(side, at) {
    if (this.data.guess) return this.send("guess", [side, at]);
    this.set({ hidden: this.hidden.with(side, this.hidden[side] === at ? null : at), last: side });
    if (!this.askForHeads()) this.choose("hidden", this.hidden);
  }

  /** True if the data contain the attention weights, which come with the map of heads. */
  get knowsHeads() {
    return this.data.sides.some(({ weights }) => weights.length);
  }

  /** The exact effects of hiding a word in one head at a time; undefined if they weren't computed. */
  exact(side, at) {
    return this.data.sides[side].exact[at] ?? this.run[side][at];
  }

  /** Ask Python for missing effects of heads, once for each choice of words. Return true if this call asked. */
  askForHeads() {
    const drawn = [0, 1].map((side) => this.drawn(side));
    const unrun = drawn.some((at, side) => this.share(side, at) !== null && !this.exact(side, at));
    const missing = !this.knowsHeads || (this.data.heads?.runnable && unrun);
    const asked = JSON.stringify([this.data.key, drawn]);
    if (!this.open || this.data.guess || !missing || asked === this.asked) return false;
    this.asked = asked;
    if (this.knowsHeads) this.choose("heads", this.hidden);
    else this.trigger("heads", this.hidden); // the weights come with this figure's data
    return true;
  }

  /** Send a choice to Python. If the page has a kernel.js figure, that figure sends it, so that less of the page reruns. */
  choose(state, value) {
    const event = new CustomEvent("selfattn-choice", { detail: { state, value }, cancelable: true });
    if (dispatchEvent(event)) (state === "heads" ? this.trigger : this.send)(state, value);
  }
}

function findingPart(view) {
  const [finding, below] = [element("h2", "finding"), element("div", "below")];

  /** Return which sentence (0: A, 1: B) has the hidden word that the finding names; undefined if no word is named. */
  function about({ sides, way }) {
    const { leading } = view;
    return way ? [leading, 1 - leading].find((side) => sides[side].named.length) : undefined;
  }

  /** Return the finding as a list of texts and coloured spans. */
  function coloured({ finding: text, word, sides, way }, named) {
    if (named === undefined) return [text];
    const { at, text: telling } = sides[named].words.find((each) => each.at === sides[named].leader) ?? {};
    const kinds = new Map([
      [quoted(telling ?? ""), at === undefined ? "" : "telling"],
      [quoted(word), `side ${"ab"[named]}`],
      ...way.ends.map(({ label }, end) => [label, `side ${"ab"[end]}`]),
    ]);
    return splitAt(text, [...kinds.keys()]).flatMap((part) =>
      kinds.has(part) ? element("span", kinds.get(part), part) : part.split(/(\d+\u00a0%)/).map(number),
    );
  }
  const number = (part, i) => (i % 2 ? element("span", "share", part) : part);

  const show = () => {
    finding.replaceChildren(...coloured(view.data, about(view.data)));
    below.replaceChildren(...view.data.below.map((line) => element("p", {}, line)));
  };
  return { node: element("div", {}, [finding, below]), show };
}

/** Split a text before and after each text of the list `sought`. */
function splitAt(text, sought) {
  const found = sought.filter((each) => each && text.includes(each));
  if (!found.length) return [text];
  const first = found.reduce((one, other) => (text.indexOf(other) < text.indexOf(one) ? other : one));
  const [start, end] = [text.indexOf(first), text.indexOf(first) + first.length];
  return [text.slice(0, start), first, ...splitAt(text.slice(end), sought)];
}

function sentencesPart(view) {
  const sides = [0, 1].map((side) => sentencePart(view, side));
  const nodes = sides.map((side) => side.node);
  const hint = element("p", "hint");
  const paint = () => {
    sides.forEach((side) => side.paint());
    const hidden = [0, 1]
      .filter((side) => view.hidden[side] !== null)
      .map((side) => view.text(side, view.hidden[side]));
    write(hint, hidden.length ? `Hidden: ${hidden.join(" and ")}. Click again to show.` : view.data.hint);
  };
  const layOut = () => {
    const beside = nodes[0].offsetLeft !== nodes[1].offsetLeft;
    fit(node, nodes, beside);
    const all = sides.map((side) => side.flows());
    const scale = Math.min(FLOW, ...all.map(({ sum, to }) => (0.9 * to.width) / sum)); // all fit on the chosen word
    const heights = all.map((each) => stackRibbons(each, scale));
    sides.forEach((side, i) => side.draw(all[i], beside ? Math.max(...heights) : heights[i]));
    paint();
  };
  const node = element("div", "sentences", [hint, ...nodes]);
  return { node, paint, layOut };
}

/** Set the largest letter size, within bounds, at which no sentence wraps. */
function fit(node, sentences, beside) {
  const type = beside ? TYPE : STACKED;
  let size = type.largest;
  flag(node, { single: true });
  for (let tries = 0; tries < 4; tries++) {
    node.style.setProperty("--size", `${size}px`);
    const over = Math.max(...sentences.map(({ firstChild }) => firstChild.scrollWidth / firstChild.clientWidth));
    if (over <= 1) break;
    size = Math.floor(size / over) - 1; // numbers beneath words keep their size
  }
  flag(node, { single: false, unwrapped: size >= type.smallest });
  node.style.setProperty("--size", `${size < type.smallest ? type.wrapped : size}px`);
}

function sentencePart(view, side) {
  const { name, dir, words } = view.data.sides[side];
  const nodes = words.map((word) => wordNode(view, side, word));
  const chosen = nodes[words.findIndex((word) => word.kind === "chosen")].node;
  const badge = element("span", { class: "badge", "aria-hidden": "true" }, name);
  const lines = shape("svg", { class: "arcs", width: "100%", height: "100%", "aria-hidden": "true" });
  const text = element("p", { class: words.length > 24 ? "text long" : "text", dir }, [badge, lines]);
  appendWords(
    text,
    words,
    nodes.map((each) => each.node),
  );
  const boxOf = (node) => node.querySelector(".ink").getBoundingClientRect();

  /** Return the words that have a positive effect and are on the chosen word's line of text, nearest first. */
  function flows() {
    const to = boxOf(chosen);
    const far = (box) => box.left + box.width / 2 - to.left - to.width / 2;
    const found = nodes
      .filter(({ word }) => word.kind === "word" && word.share > 0 && !view.data.guess)
      .map(({ word, node }) => ({ word, box: boxOf(node), size: word.share }))
      .filter(({ box }) => Math.abs(box.bottom - to.bottom) < box.height / 2)
      .map((flow) => ({ ...flow, dx: far(flow.box) }))
      .sort((one, other) => Math.abs(one.dx) - Math.abs(other.dx));
    const sum = found.reduce((all, { size }) => all + size, 0.01);
    return { found, sum, to, first: Math.abs(badge.getBoundingClientRect().bottom - to.bottom) < to.height };
  }

  function draw({ found, first }, above) {
    text.style.paddingTop = `${first ? above : 10}px`;
    chosen.style.marginTop = `${first ? 0 : above}px`;
    const [to, around] = [boxOf(chosen), text.getBoundingClientRect()];
    const [top, centre] = [to.top - around.top, to.left + to.width / 2 - around.left];
    const { named } = view.data.sides[side];
    const paths = found.map((flow) => ribbon(flow, centre, top, named.includes(flow.word.at)));
    lines.replaceChildren(shade("flowLeft", 0, 1), shade("flowRight", 1, 0), ...paths);
  }

  const paint = () => {
    nodes.forEach((each) => each.paint?.());
    const over = view.hovered?.side === side ? view.hovered.at : null;
    for (const path of lines.querySelectorAll(".flow")) {
      const at = Number(path.dataset.at);
      flag(path, { cut: at === view.hidden[side], over: at === over, dim: over !== null && at !== over });
    }
  };
  return { node: element("div", `sentence ${name.toLowerCase()}`, text), paint, flows, draw };
}

function wordNode(view, side, word) {
  if (word.kind === "punctuation") return { word, node: element("span", {}, word.text) };
  const [ink, number] = [element("bdi", "ink", word.text), element("span", "number")];
  if (word.kind === "chosen") return { word, node: element("strong", "chosen", ink) };
  const { at } = word;
  const about = { type: "button", class: "word", "data-id": `word ${side} ${at}`, onclick: () => view.press(side, at) };
  const hover = (hovered) => view.set({ hovered });
  const node = element("button", { ...about, ...previewing(hover, { side, at }) }, [ink, number]);

  function paint() {
    const { sides, guess, guessed, word: asked, way } = view.data;
    if (guess) return assign(node, "aria-label", word.text);
    const { share, chance } = view.byAt[side].get(at);
    const hidden = view.hidden[side] === at;
    const named = sides[side].named.includes(at);
    const leader = !sides[side].named.length && [sides[side].leader, ...sides[side].close].includes(at);
    const mine = guessed?.[0] === side && guessed[1] === at;
    const value = share === null ? "not run" : percent(share);
    const said = share === null ? value : `${value} of the way`;
    flag(node, { named, leader, hidden });
    assign(node, "aria-pressed", hidden);
    assign(node, "aria-label", `${word.text}: ${said}${hidden ? ", hidden" : ""}${mine ? ", your guess" : ""}`);
    const more = chance ? `; ${chance}` : "";
    assign(node, "data-tip", `Hide ${quoted(word.text)} from ${quoted(asked)}: ${said}${more}.`);
    ink.style.setProperty("--share", `${Math.round(25 + 65 * clamp(share, 1))}%`);
    const told = (named || (leader && !way)) && view.drawn(side) !== at ? view.printed(side, at) : "";
    write(number, mine ? `your guess: ${value}` : told);
  }
  return { word, node, paint };
}

function headsPart(view) {
  const { layers, heads } = view.data.heads;
  const [badge, title, how] = [element("span"), element("h3"), element("p", "small")];
  const summary = element("summary", "", [element("h2", {}, "Through which heads?"), element("span")]);
  const choose = (head) => {
    view.set({ head });
    view.choose("head", head);
  };
  const map = headMap(layers, heads, choose, (hoveredHead) => view.set({ hoveredHead }));
  map.node.style.setProperty("--height", `${layers > 12 ? 8 : layers > 6 ? 14 : 19}px`);
  const reads = view.knowsHeads ? readsPart(view) : null;

  /** For each head, return how far the chosen word's vector moves if word `at` is hidden in that head only. */
  function effects(side, at) {
    const row = at === null ? "" : view.exact(side, at) || view.data.sides[side].gradient[at];
    return row ? numbersOf(row, 10000) : null;
  }

  /** Return the caption of the map of heads for one hidden word. share: the effect of hiding this word in all heads at once. */
  function key(values, share, gradient) {
    const { word, heads: about, way } = view.data;
    const noise = about.level ?? 0;
    const parts = [`A cell: how much of the way ${quoted(word)} then moves${gradient ? ", by gradient" : ""}.`];
    if (way?.level && share < way.level) parts.push("All of it is noise.");
    else if (noise) parts.push(`Grey: under ${percent(noise)}, too small to tell from noise of one head.`);
    else if (way?.level) parts.push("Small moves may be noise.");
    if (values.some((value) => value < 0 && -value >= noise)) parts.push("Brown: the word moves away.");
    return `${parts.join(" ")} Single heads don't add up to all ${layers * heads} together.`;
  }

  function paint() {
    const { sides, heads: about, way } = view.data;
    const { side, at } = view.subject;
    const [share, values] = [view.share(side, at), effects(side, at)];
    const leading = sides.flatMap(({ leader }, each) => effects(each, leader) ?? []);
    const largest = Math.max(PRINTED, share < way?.level ? way.level : 0, ...leading.map(Math.abs)); // noise stays pale
    const known = share !== null && !about.reason && (values || !reads);
    write(title, known ? `Hide ${view.text(side, at)} in one head alone` : "Heads");
    write(
      summary.lastChild,
      known ? `Hide ${view.text(side, at)} in one of the ${layers * heads} heads at a time` : "",
    );
    write(badge, known ? sides[side].name : "");
    assign(badge, "class", `badge ${"ab"[side]}`);
    const waiting = reads ? "" : "Running the heads ...";
    write(how, about.reason || (values ? key(values, share, !view.exact(side, at)) : waiting));
    const [label, noise] = [`${title.textContent}: ${how.textContent}`, about.level ?? 0];
    map.paint({ label, values, largest, printed: PRINTED, noise, chosen: view.head, shown: view.hoveredHead });
    reads?.paint();
  }
  const effect = element("section", "effects", [element("div", "titled", [badge, title]), how, map.node]);
  const both = element("div", "both", reads ? [effect, reads.node] : effect);
  const node = element("details", "heads", [summary, both]);
  node.open = view.open;
  node.addEventListener("toggle", () => {
    view.open = node.open;
    view.askForHeads();
  });
  return { node, paint, heads: true };
}

/** Make the section that lists one head's attention weights. */
function readsPart(view) {
  const [badge, title, note] = [element("span"), element("h3"), element("p", "small")];
  const lists = view.data.sides.map((side) => tokenList(view, side));
  const nodes = lists.map((list) => list.node);
  const both = element("div", "lists", nodes);

  function paint() {
    const { word, heads: about, sides } = view.data;
    const head = view.hoveredHead ?? view.head;
    const { side: asked, at } = view.subject;
    const one = view.drawn(0) !== null || view.drawn(1) !== null; // else show both lists
    assign(badge, "hidden", one ? null : "");
    assign(badge, "class", `badge ${"ab"[asked]}`);
    write(badge, sides[asked].name);
    write(title, `What ${quoted(word)} attends to`);
    const habit = about.habits[head] ? ` It ${about.habits[head].replace(/\.?$/, ".")}` : "";
    const name = `${headName(head, about.heads)} (${headLabel(head, about.heads)}, the outlined cell)`;
    write(
      note,
      `Attention weights in ${name}: what it reads, not what that changes.${habit} Click a cell for its head.`,
    );
    flag(both, { stacked: one });
    lists.forEach((list, side) => {
      list.paint(head, view.hidden[side], side === asked ? at : undefined);
      flag(list.node, { other: one && side !== asked }); // invisible, but keeps the height
      assign(list.badge, "hidden", one ? "" : null);
    });
  }
  return { node: element("section", "reads", [element("div", "titled", [badge, title]), note, both]), paint };
}

/** Make a list of tokens with bars for their weights. */
function tokenList(view, { name, tokens }) {
  const rows = tokens.map((token) => {
    const [text, bar, value] = [element("bdi", "token", token.text), element("span", "bar"), element("span", "value")];
    flag(text, { special: token.special, self: token.chosen });
    return { token, text, bar, value, node: element("li", {}, [value, bar, text]) };
  });
  const scrolls = rows.length > SCROLLED;
  const list = element(
    "ol",
    { ...(scrolls && { class: "scrolled", tabindex: 0 }), "aria-label": `Sentence ${name}` },
    rows.map(({ node }) => node),
  );
  const note = element("p", "small", scrolls ? `${rows.length} tokens; the list scrolls.` : "");
  const badge = element("span", { class: "badge", "aria-hidden": "true" }, name);
  const node = element("div", `tokens ${name.toLowerCase()}`, [badge, list, note]);
  let last = null; // head

  /** asked: the index (`at`) of the word that the map of heads is about; undefined if that word isn't in sentence `name`. */
  function paint(head, hidden, asked) {
    const { weights: all, named } = view.data.sides["AB".indexOf(name)];
    const weights = numbersOf(all[head], 1000);
    rows.forEach(({ token, text, bar, value, node: row }, i) => {
      const subject = token.at !== null && token.at === asked;
      flag(text, {
        hidden: token.at !== null && token.at === hidden,
        subject,
        named: subject && named.includes(asked),
      });
      flag(bar, { subject });
      bar.style.setProperty("--part", weights[i] ?? 0);
      write(value, weights[i] >= PRINTED ? weight(weights[i]) : "");
      assign(row, "data-tip", (weights[i] ?? null) === null ? null : `${token.text}: ${decimal(weights[i], 3)}`);
    });
    if (head !== last)
      list.scrollTop = rows[weights.indexOf(Math.max(...weights))].node.offsetTop - list.clientHeight / 2;
    last = head;
  }
  return { node, badge, paint };
}
