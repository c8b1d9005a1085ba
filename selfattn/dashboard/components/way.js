/* The main view: a word in two sentences; hide another word, and see how far it moves. way.schema.json describes the data. */

const PRINTED = 0.05; // the map and the bars print numbers from here on
const SEEN = 0.15; // of the deepest colour: from here on, brown needs its key
const SCROLLED = 24; // tokens: a longer list scrolls inside itself

const views = new WeakMap(); // by parentElement

/** Called by Streamlit for each change of data. Choices go back as the states "hidden", "head" and "guess". */
export default function way({ data, parentElement, setStateValue }) {
  const view = views.get(parentElement) ?? new WayView(parentElement);
  views.set(parentElement, view);
  const call = view.show(data, setStateValue);
  // A call that a later one has overtaken is cleaned up as well, while the view lives on.
  return () => {
    if (view.calls !== call) return;
    views.delete(parentElement);
    view.remove();
  };
}

/** The data, the visitor's choices, and the parts that draw them. */
class WayView {
  calls = 0;

  constructor(parent) {
    this.body = element("div");
    this.root = element("div", { class: "selfattn way" }, this.body);
    parent.append(this.root);
    addTooltip(this.root);
    const again = () => (this.frame ??= requestAnimationFrame(() => this.layOut()));
    this.observer = new ResizeObserver(again);
    this.observer.observe(this.root);
    document.fonts.ready.then(again);
  }

  remove() {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.root.remove();
  }

  show(data, send) {
    if (data.key !== this.data?.key) {
      Object.assign(this, {
        hidden: [...data.chosen.hidden],
        head: data.chosen.head,
        hovered: null,
        hoveredHead: null,
      });
      this.last = null;
    }
    this.data = data;
    this.send = send;
    this.byAt = data.sides.map(
      ({ words }) => new Map(words.filter(({ at }) => at !== null).map((word) => [word.at, word])),
    );
    const built = JSON.stringify([data.key, data.guess, data.way?.between]);
    if (built !== this.built) this.build();
    this.built = built;
    this.paint();
    this.layOut();
    return ++this.calls;
  }

  build() {
    const { data, root } = this;
    const focused = root.getRootNode().activeElement?.dataset?.id;
    const answer = data.guess ? [] : [...(data.way ? [linePart(this)] : []), headsPart(this), beyondPart(this)];
    this.parts = [findingPart(this), sentencesPart(this), ...answer];
    this.body.replaceChildren(...this.parts.map((part) => part.node));
    if (focused) root.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  paint() {
    for (const part of this.parts) part.paint();
  }

  layOut() {
    this.frame = null;
    if (this.root.clientWidth) for (const part of this.parts) part.layOut?.();
  }

  /** The word of a side that the way shows hidden: the one that is, else the leading one. */
  drawn(side) {
    return this.hidden[side] ?? this.data.sides[side].leader;
  }

  share(side, at) {
    return this.byAt[side].get(at)?.share ?? null;
  }

  /** The sentence whose leading word moves it further. */
  get leading() {
    const [a, b] = [0, 1].map((side) => this.share(side, this.data.sides[side].leader) ?? -Infinity);
    return b > a ? 1 : 0;
  }

  /** The word that the heads are shown for: under the pointer, else hidden last, else the leading one. `at` may be null. */
  get subject() {
    if (this.hovered) return this.hovered;
    const side = this.last ?? [0, 1].find((each) => this.hidden[each] !== null) ?? this.leading;
    return { side, at: this.drawn(side) };
  }

  hover(word) {
    if (JSON.stringify(word) === JSON.stringify(this.hovered)) return;
    this.hovered = word;
    this.paint();
  }

  hoverHead(head) {
    if (head === this.hoveredHead) return;
    this.hoveredHead = head;
    this.paint();
  }

  press(side, at) {
    if (this.data.guess) return this.send("guess", [side, at]);
    this.hidden[side] = this.hidden[side] === at ? null : at;
    this.last = side;
    this.paint();
    this.send("hidden", [...this.hidden]);
  }

  chooseHead(head) {
    this.head = head;
    this.paint();
    this.send("head", head);
  }
}

function quoted(text) {
  return `“${text}”`;
}

function findingPart(view) {
  const [finding, below] = [element("h2", { class: "finding" }), element("div", { class: "below" })];
  const paint = () => {
    write(finding, view.data.finding);
    if (below.dataset.lines === JSON.stringify(view.data.below)) return;
    below.dataset.lines = JSON.stringify(view.data.below);
    below.replaceChildren(...view.data.below.map((line) => element("p", {}, line)));
  };
  return { node: element("div", {}, [finding, below]), paint };
}

function sentencesPart(view) {
  const sides = [0, 1].map((side) => sentencePart(view, side));
  return {
    node: element(
      "div",
      { class: "sentences" },
      sides.map((side) => side.node),
    ),
    paint: () => sides.forEach((side) => side.paint()),
    layOut: () => {
      const arcs = sides.map((side) => side.arcs());
      const beside =
        sides[0].node.offsetTop === sides[1].node.offsetTop || sides[0].node.offsetLeft !== sides[1].node.offsetLeft;
      const rooms = arcs.map((all) => Math.max(0, ...all.map((arc) => arc.height + 12)));
      sides.forEach((side, i) => side.draw(arcs[i], beside ? Math.max(...rooms) : rooms[i]));
    },
  };
}

function sentencePart(view, side) {
  const { name, dir, words } = view.data.sides[side];
  const lines = shape("svg", { class: "arcs", "aria-hidden": "true" });
  const nodes = words.map((word) => wordNode(view, side, word));
  const content = [element("span", { class: "badge", "aria-hidden": "true" }, name)];
  let glued = null; // punctuation stays on the line of its word
  words.forEach((word, i) => {
    const joined = i > 0 && !word.gap && [word, words[i - 1]].some((each) => each.kind === "punctuation");
    if (!joined) {
      glued = element("span", { class: "glued" });
      content.push(word.gap ? " " : "", glued);
    }
    glued.append(nodes[i].node);
  });
  const text = element("p", { class: words.length > 24 ? "text long" : "text", dir }, content);
  const chosen = nodes[words.findIndex((word) => word.kind === "chosen")]?.node;

  const boxOf = (node) => (node.querySelector(".ink") ?? node).getBoundingClientRect();

  /** The named words on the chosen word's line, the nearest first, with the height of their arc. */
  function arcs() {
    const { named } = view.data.sides[side];
    if (view.data.guess || !chosen) return [];
    const [to, around] = [boxOf(chosen), text.getBoundingClientRect()];
    const centre = to.left + to.width / 2 - around.left;
    return nodes
      .filter(({ word }) => named.includes(word.at))
      .map(({ word, node }) => ({ word, box: boxOf(node) }))
      .filter(({ box }) => Math.abs(box.bottom - to.bottom) < box.height / 2)
      .map(({ word, box }) => ({ word, from: box.left + box.width / 2 - around.left, centre }))
      .sort((one, other) => Math.abs(one.from - centre) - Math.abs(other.from - centre))
      .map((arc, i) => ({ ...arc, height: Math.min(22 + 12 * i, 16 + Math.abs(arc.from - centre) / 4) }));
  }

  function draw(all, room) {
    text.style.setProperty("--room", `${room}px`);
    const top = chosen ? boxOf(chosen).top - text.getBoundingClientRect().top - 3 : 0;
    lines.replaceChildren(
      ...all.map(({ word, from, centre, height }, i) => {
        const width = 2 + 6 * Math.min(1, Math.abs(word.share));
        const to = centre + Math.sign(from - centre) * (4 + 6 * i);
        const [high, half] = [top - height * 1.3, 4 + width / 2];
        return shape("g", { class: "arc", "data-at": word.at }, [
          shape("path", {
            d: `M${from} ${top} C${from} ${high} ${to} ${high} ${to} ${top - 5 - width}`,
            "stroke-width": width,
          }),
          shape("path", { class: "tip-of-arc", d: `M${to} ${top} l${-half} ${-half * 1.3} h${2 * half} z` }),
        ]);
      }),
    );
    cut();
  }

  /** The arc of the hidden word fades. */
  function cut() {
    const hidden = String(view.hidden[side]);
    for (const arc of lines.children) arc.classList.toggle("cut", arc.dataset.at === hidden);
  }

  function paint() {
    for (const each of nodes) each.paint();
    cut();
  }

  const node = element("div", { class: `sentence ${name.toLowerCase()}` }, [text]);
  text.append(lines);
  return { node, paint, arcs, draw };
}

function wordNode(view, side, word) {
  if (word.kind === "punctuation") return { word, node: element("span", {}, word.text), paint: () => {} };
  const ink = element("bdi", { class: "ink" }, word.text);
  if (word.kind === "chosen") return { word, node: element("strong", { class: "chosen" }, ink), paint: () => {} };
  const number = element("span", { class: "number" });
  const here = { side, at: word.at };
  const node = element(
    "button",
    {
      type: "button",
      class: "word",
      "data-id": `word ${side} ${word.at}`,
      onclick: () => view.press(side, word.at),
      onpointerenter: () => view.hover(here),
      onpointerleave: () => view.hover(null),
      onfocus: (event) => event.target.matches(":focus-visible") && view.hover(here),
      onblur: () => view.hover(null),
    },
    [ink, number],
  );
  function paint() {
    const { sides, guess, guessed, word: asked } = view.data;
    const { named, leader } = sides[side];
    const { share, chance } = view.byAt[side].get(word.at);
    if (guess) return assign(node, "aria-label", word.text);
    const hidden = view.hidden[side] === word.at;
    const isNamed = named.includes(word.at);
    const isLeader = !named.length && leader === word.at;
    const isGuess = guessed?.[0] === side && guessed[1] === word.at;
    const said = share === null ? "not run" : `${percent(share)} of the way`;
    const classes = { word: true, named: isNamed, leader: isLeader, hidden, guessed: isGuess };
    assign(
      node,
      "class",
      Object.keys(classes)
        .filter((each) => classes[each])
        .join(" "),
    );
    assign(node, "aria-pressed", hidden);
    assign(node, "aria-label", `${word.text}: ${said}${hidden ? ", hidden" : ""}${isGuess ? ", your guess" : ""}`);
    assign(
      node,
      "data-tip",
      `Hide ${quoted(word.text)} from ${quoted(asked)}: ${said}.${chance ? ` ${chance.replace(/\.?$/, ".")}` : ""}`,
    );
    ink.style.setProperty("--share", `${Math.round(25 + 65 * Math.min(1, Math.max(0, share ?? 0)))}%`);
    const value = share === null ? "not run" : percent(share);
    write(number, isGuess ? `your guess: ${value}` : isNamed || isLeader ? value : "");
  }
  return { word, node, paint };
}

function headsPart(view) {
  const { layers, heads } = view.data.heads;
  const [title, how, sum] = [element("h3"), element("p", { class: "small" }), element("p", { class: "sum" })];
  const key = element("p", { class: "small key", hidden: "" }, [
    element("span", { class: "swatch" }),
    "toward ",
    element("span", { class: "swatch away" }),
    "away",
  ]);
  const map = headMap(
    layers,
    heads,
    (head) => view.chooseHead(head),
    (head) => view.hoverHead(head),
  );
  const bars = barsPart(view);

  /** What hiding a word in each head alone does, exactly where that was run; null where it is unknown. */
  function effects(side, at) {
    const { exact, gradient } = view.data.sides[side];
    const row = at === null ? null : (exact[at] ?? gradient[at]);
    return row ? numbersOf(row, 10000) : null;
  }

  function paint() {
    const { sides, word, heads: about } = view.data;
    const { side, at } = view.subject;
    const values = about.reason ? null : effects(side, at);
    const leading = sides.flatMap(({ leader }, each) => effects(each, leader) ?? []);
    const largest = Math.max(PRINTED, ...leading.map(Math.abs));
    const [share, hidden] = [view.share(side, at), quoted(view.byAt[side].get(at)?.text ?? "")];
    const together = sides[side].together[at];
    const names = together?.heads.map((head) => `L${Math.floor(head / heads)} H${head % heads}`).join(", ");
    const count = together?.heads.length === 3 ? "three" : together?.heads.length;
    write(
      title,
      !values
        ? "Heads"
        : share === null
          ? "Through one head alone"
          : `Of these ${percent(share)}, through one head alone`,
    );
    const gradient = sides[side].exact[at] ? "" : ", by gradient";
    write(how, values ? `${hidden} hidden from ${quoted(word)} in that head only${gradient}` : about.reason);
    const three = together ? `The ${count} largest (${names}) together: ${percent(together.share)}. ` : "";
    write(sum, values && share !== null ? `${three}All heads: ${percent(share)}.` : "");
    assign(key, "hidden", values?.some((value) => value < -SEEN * largest) ? null : "");
    const label = `${title.textContent}: ${how.textContent}`;
    map.paint({ label, values, largest, printed: PRINTED, chosen: view.head, shown: view.hoveredHead });
    bars.paint();
  }
  const left = element("section", { class: "effects" }, [title, how, map.node, sum, key]);
  return { node: element("div", { class: "heads" }, [left, bars.node]), paint };
}

function barsPart(view) {
  const [title, habit, sum] = [element("h3"), element("p"), element("p", { class: "sum" })];
  const note = element("p", { class: "small" }, "attention weight: what the head reads, not what that changes");
  const lists = view.data.sides.map((side) => {
    const rows = side.tokens.map((token) => {
      const [bar, value] = [element("span", { class: "bar" }), element("span", { class: "value" })];
      const name = element("bdi", { class: "token" }, token.text);
      return {
        token,
        name,
        bar,
        value,
        node: element("li", {}, [name, element("span", { class: "track" }, [bar, value])]),
      };
    });
    const badge = element("span", { class: "badge", "aria-hidden": "true" }, side.name);
    const more =
      rows.length > SCROLLED ? [element("p", { class: "small" }, `${rows.length} tokens; the list scrolls.`)] : [];
    const list = element(
      "ol",
      { class: more.length ? "scrolled" : null, tabindex: more.length ? 0 : null },
      rows.map((row) => row.node),
    );
    const node = element("div", { class: `tokens ${side.name.toLowerCase()}`, role: "group" }, [badge, list, ...more]);
    assign(node, "aria-label", `Sentence ${side.name}`);
    return { rows, node };
  });

  function paint() {
    const { sides, word, heads: about } = view.data;
    const head = view.hoveredHead ?? view.head;
    const { side: asked, at } = view.subject;
    const name = headName(head, about.heads);
    write(title, `H${name.slice(1)}: what ${quoted(word)} attends to`);
    write(habit, about.habits[head] ? `This head mostly ${about.habits[head].replace(/\.?$/, ".")}` : "");
    sides.forEach((side, s) => {
      const weights = numbersOf(side.weights[head], 1000);
      assign(lists[s].node, "class", `tokens ${side.name.toLowerCase()}${s === asked ? "" : " other"}`);
      lists[s].rows.forEach(({ token, name, bar, value, node }, i) => {
        const hidden = token.at !== null && token.at === view.hidden[s];
        const classes = {
          special: token.special,
          self: token.chosen,
          hidden,
          subject: s === asked && token.at === at && at !== null,
        };
        assign(
          name,
          "class",
          `token ${Object.keys(classes)
            .filter((each) => classes[each])
            .join(" ")}`,
        );
        bar.style.width = `${100 * (weights[i] ?? 0)}%`;
        write(value, weights[i] >= PRINTED ? weight(weights[i]) : "");
        assign(node, "data-tip", weights[i] === null ? null : `${token.text}: ${decimal(weights[i], 3)}`);
      });
    });
    write(sum, arithmetic(sides[asked], at, head));
  }

  /** The kernel's line for the word that is asked about. */
  function arithmetic({ tokens, weights, scores, scaled }, at, head) {
    const i = at === null ? -1 : tokens.findIndex((token) => token.at === at);
    if (i < 0) return "";
    const read = (rows, unit) => (rows ? numbersOf(rows[head], unit)[i] : null);
    const [score, after, share] = [read(scores, 100), read(scaled, 100), read(weights, 1000)];
    if (share === null) return "";
    const steps =
      score === null || after === null ? "" : `${decimal(score)} ${view.data.heads.scale} = ${decimal(after)} → `;
    return `${quoted(view.data.word)} to ${quoted(tokens[i].text)}: ${steps}weight ${weight(share)}`;
  }
  const both = element(
    "div",
    { class: "lists" },
    lists.map((list) => list.node),
  );
  return { node: element("section", { class: "reads" }, [title, note, both, habit, sum]), paint };
}

function beyondPart(view) {
  const node = element("p", { class: "beyond" });
  const paint = () => {
    const { text, link } = view.data.beyond;
    node.replaceChildren(text, ...(link ? [" ", element("a", { href: link.href, target: "_self" }, link.text)] : []));
  };
  return { node, paint };
}
