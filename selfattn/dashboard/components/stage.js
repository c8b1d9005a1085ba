/* A lesson page's picture (see stage.schema.json). */

const BAR = 100; // pixels: width of a column of bars
const STEP = 110; // ms between rows of an answer

/** A click on a button of the lesson's outline sends the trigger "stop" with the name of a lesson page. */
export default function stage(given) {
  return showIn(StageView, "stage", given);
}

class StageView extends View {
  show(data, _, trigger) {
    const text = JSON.stringify(data);
    this.trigger = trigger;
    if (text === this.shown) return;
    const [before, focused] = [this.places(), this.root.getRootNode().activeElement?.dataset?.id];
    const news = data.stop !== this.data?.stop || data.lines.length !== this.data.lines.length;
    if (news) this.row = data.lit;
    Object.assign(this, { data, shown: text });
    this.planes = data.planes.map((plane) => planePart(plane));
    const parts = data.about ? this.parts() : [];
    this.body.replaceChildren(outlinePart(this), ...parts);
    for (const plane of this.planes) plane.draw(this.drawn?.get(plane.name), this.drawn && moving() ? DURATION : 0);
    this.drawn = new Map(data.planes.map((plane) => [plane.name, plane]));
    this.paint();
    if (before.size && moving()) this.move(before);
    if (focused) this.root.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  parts() {
    const { data } = this;
    const cells = data.columns.filter(({ kind }) => kind === "cells");
    const numbers = [...cells, ...data.sum].flatMap(({ rows, above, foot }) => [
      rows,
      above?.rows ?? [],
      foot?.row ?? [],
    ]);
    this.largest = Math.max(1, ...numbers.flat(2).map((value) => Math.abs(value) || 0)); // one scale for all cells
    this.finding = element("p", { class: "finding", "aria-live": "polite" }, data.finding);
    this.line = element("p", "line");
    const left = [...(data.sentences.length ? [sentencesPart(data)] : [])];
    if (data.columns.length) left.push(tablePart(this), this.line);
    const room = data.columns.reduce((sum, { kind, across }) => sum + (kind === "cells" ? 44 * across : BAR), BAR / 2);
    const table = element("div", "numbers", left);
    table.style.flexBasis = `min(100%, ${data.sentences.length ? 340 : room}px)`; // beside a 2-d drawing if there is room
    const planes = this.planes.map(({ node }) => node);
    const side = element("div", planes.length > 1 ? "side two" : "side", [table, ...planes]);
    const about = { class: "picture", role: "group", "aria-label": data.about };
    const sum = data.sum.length ? [sumPart(this)] : [];
    return [element("div", about, [this.finding, side, ...sum, element("p", "small note", data.note)])];
  }

  /** Highlight row number `this.row`, and write this row's arithmetic below the table. */
  paint() {
    const { data, row } = this;
    for (const node of this.body.querySelectorAll("[data-row]")) flag(node, { lit: Number(node.dataset.row) === row });
    if (this.line) write(this.line, data.lines[row] ?? "");
  }

  layOut() {
    if (this.root.clientWidth) for (const plane of this.planes) plane.draw(null, 0);
  }

  /** Return, for each element with a data-name, its position and its bar's position and width. */
  places() {
    const found = new Map();
    for (const node of this.body.querySelectorAll("[data-name]")) {
      const { left, top } = node.getBoundingClientRect();
      const bar = node.querySelector(".bar")?.style;
      const length = bar && { left: bar.left, width: bar.width };
      found.set(node.dataset.name, { left, top, bar: length, full: node.dataset.full });
    }
    return found;
  }

  /** Animate moved elements from their old to their new positions. Fade in new elements. */
  move(before) {
    const shift = before.get("outline")?.top - this.places().get("outline").top; // the page above may have moved
    for (const node of this.body.querySelectorAll("[data-name]")) {
      const old = before.get(node.dataset.name);
      const { left, top } = node.getBoundingClientRect();
      const timing = { duration: DURATION, easing: "ease-in-out", fill: "backwards" };
      const delay = STEP * (Number(node.dataset.row) || 0);
      if (!old) {
        node.animate([{ opacity: 0 }, { opacity: 1 }], { ...timing, delay: node.dataset.full ? delay : 0 });
      } else if (old.left !== left || old.top - shift !== top) {
        const from = `translate(${old.left - left}px, ${old.top - shift - top}px)`;
        node.animate([{ transform: from }, { transform: "none" }], timing);
      }
      const bar = node.querySelector(".bar");
      if (bar) {
        const { left: start, width } = bar.style;
        bar.animate([old?.bar ?? { left: start, width: "0%" }, { left: start, width }], { ...timing, delay });
      }
      if (old && node.dataset.full && !old.full) {
        for (const each of node.children) each.animate([{ opacity: 0 }, { opacity: 1 }], { ...timing, delay });
      }
    }
  }
}

function moving() {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Return the lesson's outline, with a button for each part of the lesson. */
function outlinePart(view) {
  const boxes = view.data.outline.flatMap(({ text, stop, state }, i) => {
    const about = { type: "button", class: state.replace(" ", "-"), "data-id": `part ${i}` };
    const button = element("button", { ...about, onclick: () => view.trigger("stop", stop) }, text);
    assign(button, "aria-current", state === "now" ? "step" : null);
    return i ? [element("span", { class: "arrow", "aria-hidden": "true" }, "→"), button] : [button];
  });
  return element("nav", { class: "outline", "data-name": "outline", "aria-label": "The parts of the path" }, boxes);
}

/** Return the table with a row per word, and a column per step of the computation. */
function tablePart(view) {
  const { words, columns, asks, hidden } = view.data;
  const [anyAbove, anyFoot] = [columns.some(({ above }) => above), columns.some(({ foot }) => foot)];
  const light = (row) => ({ onpointerenter: () => view.set({ row }), onfocus: () => view.set({ row }) });
  const labels = words.map((word, row) => {
    const about = {
      type: "button",
      class: "word",
      "data-row": row,
      "aria-label": rowText(view.data, row),
      ...light(row),
    };
    const node = element("button", { ...about, "data-id": `word ${row}`, "data-name": `word ${row}` }, word);
    flag(node, { asks: row === asks, hidden: row === hidden });
    return node;
  });
  addArrowKeys(labels, 1);
  const heads = columns.map((column) =>
    element("div", "head", [element("strong", {}, column.title), element("span", "small", column.shape)]),
  );
  const above = anyAbove ? columns.map((column) => abovePart(view, column)) : [];
  const rows = words.map((_, row) => [
    labels[row],
    ...columns.map((column) => {
      const node = column.kind === "cells" ? cellsOf(view, column, row) : barOf(column, row);
      return filled(node, {
        "data-row": row,
        "data-name": `${column.name} ${row}`,
        onpointerenter: () => view.set({ row }),
      });
    }),
  ]);
  const feet = anyFoot ? columns.map((column) => footOf(view, column)) : [];
  const node = element("div", "table", [
    ...(anyAbove ? [element("span"), ...above] : []),
    element("span"),
    ...heads,
    ...rows.flat(),
    ...(anyFoot ? [element("span"), ...feet] : []),
  ]);
  const widths = columns.map(({ kind, across, places }) => {
    if (kind !== "cells") return "minmax(56px, 1fr)";
    return across > 1 ? `calc(${across} * var(--${places ? "wide" : "cell"}))` : "minmax(56px, max-content)";
  });
  node.style.gridTemplateColumns = `max-content ${widths.join(" ")}`;
  return node;
}

function rowText({ words, columns, lines }, row) {
  const said = columns.map(
    (column) => `${column.title} ${(column.rows[row] ?? ["empty"]).map((value) => printed(column, value)).join(", ")}`,
  );
  return [`${words[row]}: ${said.join("; ")}`, lines[row] ?? ""].filter(Boolean).join(". ");
}

function printed({ kind, places }, value) {
  if (typeof value === "string") return value;
  return kind === "share" ? weight(value) : decimal(value, places);
}

/** Return a row's numbers as coloured cells: blue if positive, red if negative. */
function cellsOf(view, column, row) {
  const values = column.rows[row] ?? Array(column.across).fill(null);
  const node = element("div", "cells", cellsFor(view, column, values, column.tips[row]));
  assign(node, "data-full", column.rows.length ? "yes" : null);
  return node;
}

function cellsFor({ largest }, column, values, tips) {
  return values.map((value, i) => {
    const about = { class: "cell", "data-tip": tips?.[i] ?? null };
    const node = element("span", about, value === null ? "" : printed(column, value));
    const part = Math.abs(value) / largest;
    node.style.setProperty("--depth", `${Math.round(100 * part)}%`);
    flag(node, { minus: value < 0, half: part > 0.5, deep: part > 0.8, empty: value === null });
    return node;
  });
}

/** Return the matrix or query to show above a column, or "?" until the page shows the answer. */
function abovePart(view, column) {
  if (!column.above) return element("span");
  const { title, rows } = column.above;
  const cells = rows.map((values) => element("div", "cells", cellsFor(view, column, values)));
  const unknown = element("div", "unknown", "?");
  const node = element("div", { class: "above", "data-name": `above ${column.name}` }, [
    element("span", "small", title),
    ...(rows.length ? cells : [unknown]),
  ]);
  assign(node, "data-full", rows.length ? "yes" : null);
  return node;
}

/** Return an element with a row's value in a column, and a bar on the column's scale. */
function barOf(column, row) {
  const value = column.rows[row]?.[0] ?? null;
  const [low, high] = column.ends;
  const zero = element("span", "zero");
  zero.style.left = `${(-100 * Math.min(low, 0)) / (high - Math.min(low, 0))}%`;
  const track = element("span", "track", low < 0 ? zero : []);
  const node = element("div", { class: `amount ${column.kind}`, "data-tip": column.tips[row]?.[0] ?? null }, [track]);
  node.append(element("span", "number", value === null ? "" : printed(column, value)));
  const digits = column.rows.map(([each]) => printed(column, each).length);
  node.style.setProperty("--digits", `${Math.max(4, ...digits)}ch`); // aligns the zero lines
  assign(node, "data-full", value === null ? null : "yes");
  if (typeof value !== "number") return node;
  const inside = Math.max(low, Math.min(high, value));
  const [left, width] = [Math.min(inside, 0) - Math.min(low, 0), Math.abs(inside)].map(
    (part) => `${(100 * part) / (high - Math.min(low, 0))}%`,
  );
  const bar = element("span", value < 0 ? "bar minus" : "bar");
  Object.assign(bar.style, { left, width });
  track.append(bar);
  return node;
}

/** Return a column's foot: the column's sum. A column of the kind "share" also has a bar with a part for each word. */
function footOf(view, column) {
  if (!column.foot) return element("span");
  const { title, row } = column.foot;
  const about = { class: "foot", "data-name": `foot ${column.name}`, "data-full": row.length ? "yes" : null };
  const values = row.length ? row : Array(column.across).fill(null);
  if (column.kind === "cells")
    return element("div", about, [
      element("div", "cells", cellsFor(view, column, values)),
      element("span", "small", title),
    ]);
  const parts = column.rows.map(([value], i) => {
    const word = view.data.words[i];
    const said = { class: "part", "data-tip": `${word} ${printed(column, value)}`, "data-row": i };
    const part = element("span", said, value > 0.15 ? word : "");
    part.style.width = `${100 * value}%`;
    return part;
  });
  const text = row.length ? `${title} ${printed(column, row[0])}` : title;
  return element("div", about, [
    ...(column.kind === "share" ? [element("div", "budget", parts)] : []),
    element("span", "small", text),
  ]);
}

/** Return vectors side by side. The last vector is the sum of the others. */
function sumPart(view) {
  const parts = view.data.sum.map((column) => {
    const cells = filled(cellsOf(view, column, 0), { "data-name": `${column.name} 0` });
    return element("div", {}, [element("div", "head", element("strong", {}, column.title)), cells]);
  });
  return element("div", "sum", parts);
}

/** Return a numbered list of sentences, each with one coloured word. */
function sentencesPart({ sentences }) {
  const items = sentences.map(([before, word, after, kind], i) =>
    element("li", {}, [element("span", "small nth", `${i + 1}`), before, element("strong", kind, word), after]),
  );
  return element("ol", "sentences", items);
}
