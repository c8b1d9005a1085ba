/* Functions that all components use. No text is parsed as HTML. */

function filled(node, attributes, children = []) {
  const all = typeof attributes === "string" ? { class: attributes } : attributes;
  for (const [name, value] of Object.entries(all)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else assign(node, name, value);
  }
  node.append(...[children].flat());
  return node;
}

/** Return an HTML element. attributes: a string (the class) or an object; "onclick" adds a listener. */
function element(tag, attributes = {}, children = []) {
  return filled(document.createElement(tag), attributes, children);
}

/** Return an SVG element; arguments as for `element`. */
function shape(tag, attributes = {}, children = []) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Set an attribute; null removes the attribute. */
function assign(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Set a node's text only if it differs: screen readers read a text again each time it is set. */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Add or remove classes: { named: true, hidden: false } adds "named" and removes "hidden". */
function flag(node, flags) {
  for (const [name, on] of Object.entries(flags)) node.classList.toggle(name, Boolean(on));
}

/** Format a number as selfattn/numbers.py does. */
function decimal(value, places = 2) {
  const digits = Math.abs(value).toFixed(places);
  return value < 0 && /[1-9]/.test(digits) ? `−${digits}` : digits;
}

/** Format 0.44 as "44 %", with a no-break space. */
function percent(value) {
  return `${decimal(100 * value, 0)}\u00a0%`;
}

/** Format an attention weight with two decimals, or with one significant digit if it's under 0.005. */
function weight(value) {
  if (value > 0 && value < 0.0001) return "under 0.0001";
  return decimal(value, value > 0 && value < 0.005 ? -Math.floor(Math.log10(value)) : 2);
}

/** Parse "8,,-3" with unit 100 into [0.08, null, -0.03]. */
function numbersOf(row, unit) {
  return (row ? row.split(",") : []).map((text) => (text === "" ? null : Number(text) / unit));
}

/** Put a text in quotation marks, and a right-to-left text also in Unicode isolates. */
function quoted(text) {
  return /[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? `"\u2068${text}\u2069"` : `"${text}"`;
}

/** Append the words' nodes and the spaces between them to `text`. A word stays on one line with its punctuation. */
function appendWords(text, words, nodes) {
  let glued = null;
  words.forEach((word, i) => {
    const joined = i > 0 && !word.gap && [word, words[i - 1]].some((each) => each.kind === "punctuation");
    if (!joined) text.append(word.gap ? " " : "", (glued = element("span", "glued")));
    glued.append(nodes[i]);
  });
}

/** Tint an element. depth: the strength of the tint in percent; below 0, the tint is brown. */
function tint(node, depth) {
  node.style.setProperty("--depth", `${Math.abs(depth)}%`);
  flag(node, { away: depth < 0 });
}

/** Return a tinted word with `number` below it. The word is a button if `about` has "onclick". */
function tintedWord({ text, kind, depth, number }, about) {
  const parts = [element("bdi", "ink", text), element("span", "number", number)];
  const button = about.onclick && { type: "button" };
  const node = element(button ? "button" : "span", { class: `word ${kind}`, ...button, ...about }, parts);
  tint(node, depth);
  return node;
}

/** Limit a number to the range from 0 to `most`. */
function clamp(value, most) {
  return Math.max(0, Math.min(value, most));
}

/** Return listeners that call show(thing) on hover or focus. */
function previewing(show, thing) {
  return {
    onpointerenter: () => show(thing),
    onpointerleave: () => show(null),
    onfocus: (event) => event.target.matches(":focus-visible") && show(thing),
    onblur: () => show(null),
  };
}

/** Add a tooltip for elements with data-tip. Return a function that shows the tooltip of an element. */
function addTooltip(root) {
  const box = element("div", { class: "tip", role: "tooltip", hidden: "" });
  const hide = () => assign(box, "hidden", "");
  const show = ({ target }) => {
    const node = target.closest?.("[data-tip]");
    if (!node) return hide();
    write(box, node.dataset.tip);
    assign(box, "hidden", null);
    const [around, place] = [root.getBoundingClientRect(), node.getBoundingClientRect()];
    const centre = place.left + place.width / 2 - around.left;
    const [above, below] = [place.top - box.offsetHeight - 6, place.bottom + 6];
    box.style.left = `${clamp(centre - box.offsetWidth / 2, around.width - box.offsetWidth)}px`;
    box.style.top = `${(below + box.offsetHeight > innerHeight ? above : below) - around.top}px`;
  };
  filled(root, {
    onpointerover: show,
    onpointerleave: hide,
    onfocusin: (event) => event.target.matches(":focus-visible") && show(event),
    onfocusout: hide,
    onkeydown: (event) => event.key === "Escape" && hide(),
  });
  root.append(box);
  return (target) => show({ target });
}

/** Base class of components. Subclasses have show(data, send), paint() and optionally layOut(). */
class View {
  constructor(parent, name) {
    this.body = element("div", "body");
    this.root = element("div", `selfattn ${name}`, this.body);
    parent.append(this.root);
    this.tell = addTooltip(this.root);
    this.observer = new ResizeObserver(() => (this.frame ??= requestAnimationFrame(() => this.layOutAgain())));
    this.observer.observe(this.root);
  }

  layOutAgain() {
    this.frame = null;
    this.layOut();
  }

  layOut() {}

  /** Store choices. Paint if a choice changed. */
  set(choices) {
    if (Object.entries(choices).every(([name, value]) => this[name] === value)) return;
    Object.assign(this, choices);
    this.paint(Object.keys(choices));
  }
}

const views = new WeakMap(); // by parentElement

/** Show data in parentElement's view, made on the first call. Return a clean-up function. */
function showIn(Kind, name, { data, parentElement, setStateValue, setTriggerValue }) {
  const view = views.get(parentElement) ?? new Kind(parentElement, name);
  views.set(parentElement, view);
  const call = (view.calls = (view.calls ?? 0) + 1);
  view.show(data, setStateValue, setTriggerValue);
  // An earlier call's clean-up function, which Streamlit also runs, must not remove the view.
  return () => {
    if (view.calls !== call) return;
    views.delete(parentElement);
    view.observer.disconnect();
    view.root.remove();
  };
}

/** Let arrow keys, Home and End move the focus among items. Return a function that sets which item Tab reaches. */
function addArrowKeys(items, columns) {
  const setStop = (at) => items.forEach((item, i) => assign(item, "tabindex", i === at ? 0 : -1));
  items.forEach((item, from) => {
    const [start, end] = [from - (from % columns), from - (from % columns) + columns - 1];
    const sideways = { ArrowRight: Math.min(from + 1, end), ArrowLeft: Math.max(from - 1, start) };
    const goals = { ...sideways, ArrowDown: from + columns, ArrowUp: from - columns, Home: start, End: end };
    const onkeydown = (event) => {
      const next = items[goals[event.key]];
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    filled(item, { onkeydown, onfocus: () => setStop(from) });
  });
  setStop(0);
  return setStop;
}

/** Return the shaft and point of an arrow, or null if the arrow is too short to see. */
function arrowPaths([x0, y0], [x, y], thick) {
  const length = Math.hypot(x - x0, y - y0);
  if (length < 2) return null;
  const [dx, dy, head] = [(x - x0) / length, (y - y0) / length, Math.min(length, 8 + thick)];
  const [bx, by, half] = [x - dx * head, y - dy * head, 3 + thick / 2 + head / 8];
  const point = `M${x} ${y}L${bx - dy * half} ${by + dx * half}L${bx + dy * half} ${by - dx * half}Z`;
  return [
    shape("path", { d: `M${x0} ${y0}L${bx} ${by}`, "stroke-width": thick }),
    shape("path", { class: "point", d: point }),
  ];
}

/** Estimate a label's width in pixels, because measuring the width is slow. */
function widthOf(text) {
  return 8.6 * text.length;
}

/** Place each label { tip, width, node } near its point `tip`, covering few dots and labels. side: the square drawing's width. */
function placeLabels(labels, dots, side) {
  const [taken, high] = [[], 15];
  for (const { tip, width, node } of labels) {
    const spots = [tip[0] + 10, tip[0] - 10 - width, tip[0] - width / 2].flatMap((left) =>
      [-8, 8, -22, 22].map((down) => [clamp(left, side - width - 2), clamp(tip[1] + down - high / 2, side - high - 2)]),
    );
    const cost = ([left, top]) =>
      20 * taken.filter(([l, t, w]) => left < l + w && l < left + width && Math.abs(t - top) < high).length +
      dots.filter(([x, y]) => left - 7 < x && x < left + width + 7 && top - 5 < y && y < top + high + 5).length;
    const [left, top] = spots.reduce((best, spot) => (cost(spot) < cost(best) ? spot : best));
    taken.push([left, top, width]);
    assign(node, "x", left);
    assign(node, "y", top + high - 3);
  }
}

/** Return a label such as "L0 H10". heads: number of heads in a layer. */
function headLabel(head, heads) {
  return `L${Math.floor(head / heads)} H${head % heads}`;
}

function headName(head, heads) {
  return `head ${head % heads} of layer ${Math.floor(head / heads)}`;
}

/** Return a map with a button for each head. A click calls choose(head), hovering preview(head), and leaving preview(null). */
function headMap(layers, heads, choose, preview) {
  const range = (length, make) => Array.from({ length }, (_, i) => make(i));
  const cells = range(layers * heads, (head) => {
    const name = { type: "button", class: "cell", role: "gridcell", "data-id": `head ${head}` };
    return element("button", { ...name, onclick: () => choose(head), ...previewing(preview, head) });
  });
  const label = (text) => element("span", { class: "axis", "aria-hidden": "true" }, text);
  const [step, every] = [heads > 12 ? 4 : 1, layers > 12 ? 4 : 1];
  const top = range(heads, (head) => label(head % step === 0 ? `H${head}` : ""));
  const rows = range(layers, (layer) => [
    label(layer % every === 0 ? `L${layer}` : ""),
    ...cells.slice(layer * heads, (layer + 1) * heads),
  ]);
  const node = element("div", { class: "map", role: "grid" }, [
    element("div", { class: "row", "aria-hidden": "true" }, [label(""), ...top]),
    ...rows.map((row) => element("div", { class: "row", role: "row" }, row)),
  ]);
  node.style.setProperty("--heads", heads);
  node.style.setProperty("--height", `${layers > 12 ? 8 : layers > 6 ? 16 : 22}px`);
  const setStop = addArrowKeys(cells, heads);
  const drawn = []; // by cell

  /** Colour the cells: no colour below `noise`, full colour at `largest`. Print values of at least `printed`. */
  function paint({ label, values, largest, printed, noise = 0, chosen, shown, said }) {
    assign(node, "aria-label", label);
    cells.forEach((cell, head) => {
      const value = values?.[head] ?? null;
      const drawing = [value, largest, noise, head === chosen, head === shown, said?.[head]].join();
      if (drawing === drawn[head]) return;
      drawn[head] = drawing;
      const depth = Math.abs(value) < noise ? 0 : clamp(Math.abs(value) / largest, 1);
      const text = value === null ? "" : `: ${said ? said[head] : percent(value)}`;
      cell.style.setProperty("--depth", `${Math.round(depth * 100)}%`);
      flag(cell, { away: value < 0, deep: depth > 0.6, shown: head === shown });
      assign(cell, "aria-selected", head === chosen);
      assign(cell, "aria-label", headName(head, heads) + text);
      assign(cell, "data-tip", headLabel(head, heads) + text);
      write(cell, Math.abs(value) >= printed && layers <= 12 ? percent(value) : "");
    });
    if (!node.contains(node.getRootNode().activeElement)) setStop(Math.max(chosen, 0));
  }
  return { node, cells, paint };
}
