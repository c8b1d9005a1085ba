/* One head's attention, step by step. Data: kernel.schema.json. */

const FITTING = 26; // tokens: the most for which both sentences are shown at once
const WIDE = 720; // pixels: the least width of a wide figure
const MANY = 4; // columns of numbers: more are drawn smaller on a phone

/**
 * Called by Streamlit. A click on a token sets the state "query" to a pair: the sentence's index and the token's position.
 * This view also forwards choices from the main view (way.js) as triggers: "head", "hidden" and "heads". The answer to "heads"
 * comes with this view's data, as `exact`, and is handed to the main view.
 */
export default function kernel(given) {
  return showIn(KernelView, "kernel", given);
}

class KernelView extends View {
  constructor(parent, name) {
    super(parent, name);
    const take = (event) => {
      if (!this.root.isConnected) return removeEventListener("selfattn-choice", take);
      if (!this.trigger) return;
      event.preventDefault();
      this.trigger(event.detail.state, event.detail.value);
    };
    addEventListener("selfattn-choice", take);
  }

  show(given, send, trigger) {
    const stays = given.key === this.given?.key;
    Object.assign(this, { given, send, trigger });
    if (!stays) {
      this.query = null; // the query that the visitor dragged
      this.plane?.node.remove();
      this.plane = given.plane && planePart(this);
      if (this.plane) this.body.before(this.plane.node);
    }
    this.draw();
    if (given.exact) dispatchEvent(new CustomEvent("selfattn-exact", { detail: given.exact }));
  }

  /** Show the numbers for a query that the visitor dragged. */
  move(query) {
    this.query = query;
    this.draw();
  }

  draw() {
    const data = this.query ? withQuery(this.given, this.query) : this.given;
    const before = data.key === this.data?.key ? this.data.sides : [];
    const lit = data.sides.map((side, i) => {
      const stays = before[i]?.query.at === side.query.at && side.rows.some(({ at }) => at === this.lit[i]);
      return stays ? this.lit[i] : heaviest(side).at;
    });
    const shown = before.length ? this.shown : leading(data.sides); // the sentence to show if there is no room for both
    Object.assign(this, { data, lit, shown, column: null });
    this.build();
    this.plane?.paint(attend(data.plane, this.query ?? data.plane.query), data.findings[0]);
    this.paint();
    this.layOut();
  }

  build() {
    const focused = this.root.getRootNode().activeElement?.dataset?.id;
    const { about, below, columns, findings, sides } = this.data;
    const parts = sides.map((_, side) => sidePart(this, side));
    const [heads, lines, strips] = [headPart(this), codePart(this), foldPart(this)];
    const rows = [heads, ...parts].map(({ node }) => node);
    const table = element("div", { class: "table", role: "grid", "aria-label": about }, rows);
    const numbers = columns.filter(({ kind }) => kind !== "strip").length;
    table.style.setProperty("--numbers", numbers);
    flag(table, { many: numbers > MANY });
    const foot = element("div", "foot small", [
      ...below.map((line) => element("p", {}, line)),
      element("div", "toggles", [strips.button, lines.button]),
    ]);
    const choice = switchPart(this);
    const found = findings.map((text, side) =>
      element("p", "finding", [...badgeOf(sides[side]), element("span", {}, text)]),
    );
    this.parts = [...parts, heads, lines, strips, choice];
    this.body.replaceChildren(element("div", "findings", found), choice.node, table, foot, lines.node);
    if (focused) this.root.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  paint() {
    for (const part of this.parts) part.paint();
    flag(this.body, { coded: this.code });
  }

  /** Show both sentences or, if there is no room, one sentence and a switch. */
  layOut() {
    const tokens = this.data.sides.reduce((sum, { rows }) => sum + rows.length, 0);
    const both = tokens <= FITTING && this.root.clientWidth >= WIDE;
    flag(this.body, { single: this.data.sides.length === 1, switched: this.data.sides.length > 1 && !both });
  }

  /** Highlight a token's row, and the matching row of the other sentence. */
  light(side, { at, pair }) {
    if (this.lit[side] === at) return;
    const other = this.data.sides[1 - side];
    const there = other?.rows.some((row) => row.at === pair) ? pair : other && heaviest(other).at;
    this.set({ lit: side ? [there, at] : [at, there] });
  }
}

/** Return the attributes with which an element highlights its column on hover. */
function ofColumn(view, column) {
  const light = (to) => () => view.set({ column: to });
  return { "data-column": column, onpointerenter: light(column), onpointerleave: light(null) };
}

function paintColumn(view, nodes) {
  for (const node of nodes) flag(node, { lit: view.column !== null && node.dataset.column === view.column });
}

function headPart(view) {
  const heads = view.data.columns.map(({ id, title, about, kind }) => {
    const texts = [element("strong", {}, powers(title)), element("div", "small about", powers(about))];
    return element("div", { role: "columnheader", class: `${kind}-cell`, ...ofColumn(view, id) }, texts);
  });
  const node = element("div", { class: "row head", role: "row" }, [element("span"), ...heads]);
  return { node, paint: () => paintColumn(view, heads) };
}

function switchPart(view) {
  const buttons = view.data.sides.map(({ name, query }, side) => {
    const about = { type: "button", class: name.toLowerCase(), "data-id": `side ${side}` };
    const label = [...badgeOf({ name }), element("bdi", {}, query.text)];
    return element("button", { ...about, onclick: () => view.set({ shown: side }) }, label);
  });
  const node = element("div", { class: "switch", role: "group", "aria-label": "Sentence" }, buttons);
  return { node, paint: () => buttons.forEach((each, side) => assign(each, "aria-pressed", side === view.shown)) };
}

function badgeOf({ name }) {
  return name ? [element("span", `badge ${name.toLowerCase()}`, name)] : [];
}

function sidePart(view, side) {
  const { name, query, rows, rest, sums, context } = view.data.sides[side];
  const strips = {
    query: strip(view, "vectors", `the query of ${quoted(query.text)}`, query.values, (i, own) => `query ${own}`),
    context: strip(view, "handed", "the context", context, (i, own) => `all weight × value, summed: ${own}`),
  };
  for (const each of Object.values(strips)) assign(each.node, "tabindex", 0);
  const head = element("div", { class: "row query", role: "row" }, [
    element("div", { class: "token", role: "rowheader" }, [
      ...badgeOf(view.data.sides[side]),
      element("bdi", "self", query.text),
    ]),
    element("div", "strip-cell", strips.query.node),
    element("div", "small means", [
      "its query: what it looks for",
      element("span", "key", " (blue above 0, red below)"),
    ]),
  ]);
  const sumCells = view.data.columns.map(({ id, kind }) => {
    if (id === "products") return element("div", "placeholder");
    if (id === "handed") return element("div", { class: "strip-cell", "data-title": "context" }, strips.context.node);
    const sign = element("span", "small", kind === "share" ? "Σ " : "max ");
    const caption = id === "weight" ? [element("span", "small caption", "context")] : [];
    return element("div", "sum", sums[id] ? [sign, sums[id], ...caption] : caption);
  });
  const foot = element("div", { class: "row sums", role: "row" }, [element("span"), ...sumCells]);
  const tokens = rows.map((row) => tokenRow(view, side, row, strips));
  const nodes = tokens.map(({ node }) => node);
  const setStop = addArrowKeys(nodes, 1);
  const [meaning, line] = [element("p", "small meaning", view.data.context), element("p", "line")];
  const all = [head, ...nodes, ...(rest ? [restRow(view, rest, strips)] : []), foot, meaning, line];
  const node = element("div", { class: `side ${name.toLowerCase()}`, role: "rowgroup" }, all);
  let written = null; // the row whose arithmetic is shown

  function paint() {
    const at = rows.findIndex((row) => row.at === view.lit[side]);
    flag(node, { shown: side === view.shown });
    for (const token of tokens) token.paint();
    if (!nodes.includes(node.getRootNode().activeElement)) setStop(at);
    if (at !== written) {
      const steps = rows[at].steps.map(([column, text]) => element("span", ofColumn(view, column), powers(text)));
      line.replaceChildren(
        element("bdi", {}, rows[at].text),
        ...steps.flatMap((step, i) => [i ? "\u2002→\u2002" : "\u2002", step]),
      );
    }
    written = at;
    paintColumn(view, line.children);
  }
  return { node, paint };
}

function cellsOf(view, cells, strips) {
  return view.data.columns.map((column) => {
    const { id, title, kind } = column;
    const about = { role: "gridcell", "data-title": title, ...ofColumn(view, id) };
    if (kind === "strip") return element("div", { class: "strip-cell", ...about }, strips[id]?.node ?? []);
    return element("div", { class: "amount", ...about }, cells[id] ? numberCell(column, cells[id]) : []);
  });
}

/** Return a token's row. A dimension under the pointer is also marked in `beside`, the drawings of query and context. */
function tokenRow(view, side, row, beside) {
  const { at, text, special, word, hidden, cells, fine, steps } = row;
  const { query } = view.data.sides[side];
  const [queries, keys, values] = [query.values, row.keys, row.values].map((each) => written(view, "vectors", each));
  const product = (i, own) => `query ${queries[i]} × key ${keys[i]} = ${own}`;
  const share = (i, own) => `weight ${fine} × value ${values[i]} = ${own}`;
  const strips = {
    products: strip(view, "products", `query × key of ${quoted(text)}`, row.products, product, beside.query),
    handed: strip(view, "handed", `weight × value of ${quoted(text)}`, row.handed, share, beside.context),
  };
  const isQuery = at === query.at;
  const ask = () => view.data.clicks && !isQuery && view.send("query", [side, at]);
  const asking = { type: "button", tabindex: -1, "data-tip": `Show the row of ${quoted(text)}`, onclick: ask };
  const label = view.data.clicks && !isQuery ? element("button", asking) : element("span");
  label.append(element("bdi", {}, text));
  flag(label, { special, hidden, self: word || isQuery });
  const said = `${text}: ${steps.map(([, step]) => step).join(", ")}`;
  const node = element("div", { class: "row", role: "row", "data-id": `row ${side} ${at}`, "aria-label": said }, [
    element("div", { class: "token", role: "rowheader" }, label),
    ...cellsOf(view, cells, strips),
  ]);
  const light = () => view.light(side, row);
  const onkeydown = (event) => event.key === "Enter" && event.target === node && ask();
  filled(node, { onpointerenter: light, onfocus: light, onkeydown });

  function paint() {
    const lit = view.lit[side] === at;
    if (node.getAttribute("aria-selected") === String(lit)) return;
    flag(node, { lit });
    assign(node, "aria-selected", lit);
    for (const each of Object.values(strips)) assign(each.node, "tabindex", lit ? 0 : null);
  }
  return { node, paint };
}

/** Return the last row, which sums over the tokens that have no row of their own. */
function restRow(view, { text, cells, fine, handed }, { context }) {
  const tip = (i, own) => `sum of the weights ${fine}, weight × value ${own}`;
  const strips = { handed: strip(view, "handed", `weight × value of ${text}`, handed, tip, context) };
  return element("div", { class: "row", role: "row" }, [
    element("div", { class: "token small", role: "rowheader" }, text),
    ...cellsOf(view, cells, strips),
  ]);
}

/** Return the button that, on a phone, shows or hides the dimensions of the vectors. */
function foldPart(view) {
  const [{ query }] = view.data.sides;
  const few = query.values.split(",").length <= FEW;
  const about = { type: "button", class: "unfold", "data-id": "strips", hidden: few ? "" : null };
  const button = element("button", { ...about, onclick: () => view.set({ unfolded: !view.unfolded }) });

  function paint() {
    flag(view.body, { folded: !few && !view.unfolded });
    assign(button, "aria-expanded", Boolean(view.unfolded));
    write(button, `${view.unfolded ? "Hide" : "Show"} each dimension`);
  }
  return { button, paint };
}

function codePart(view) {
  const { code, columns } = view.data;
  const about = { type: "button", class: "toggle", "data-id": "code" };
  const button = element("button", { ...about, onclick: () => view.set({ code: !view.code }) });
  const lines = code.map(({ text, makes }) => {
    const column = columns.findLast((each) => each.makes.includes(makes));
    const node = element("div", column ? ofColumn(view, column.id) : {}, text.trim());
    node.style.paddingInlineStart = `${text.search(/\S/) + 3}ch`;
    return { node, makes };
  });
  const nodes = lines.map(({ node }) => node);
  const node = element("div", { class: "code", role: "region", "aria-label": "selfattn's own lines of code" }, nodes);

  function paint() {
    const lit = columns.find(({ id }) => id === view.column)?.makes;
    for (const line of lines) flag(line.node, { lit: lit?.includes(line.makes) });
    assign(button, "aria-expanded", Boolean(view.code));
    write(button, `${view.code ? "Hide" : "Show"} selfattn’s code`);
    assign(node, "hidden", view.code ? null : "");
  }
  return { node, button, paint };
}
