/* Shared by all components: elements, numbers, tooltip, keyboard, and the map of heads. Every text is set as text, never as HTML. */

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else assign(node, name, value);
  }
  node.append(...[children].flat());
  return node;
}

/** An HTML element. Attributes of null are left out, "onclick" is a listener, and children are nodes or texts. */
function element(tag, attributes = {}, children = []) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element, likewise. */
function shape(tag, attributes = {}, children = []) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Set an attribute, or remove it: null. */
function assign(node, name, value) {
  if (value === null || value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Set a text; one that is there already is left alone, so that screen readers don't read it again. */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Numbers as selfattn/numbers.py writes them: a true minus sign, halves away from zero, no sign on a zero. */
function decimal(value, places = 2) {
  if (Number.isNaN(value)) return "unknown";
  const digits = Number.isFinite(value) ? Math.abs(value).toFixed(places) : "∞";
  return value < 0 && /[1-9∞]/.test(digits) ? `−${digits}` : digits;
}

/** A part of a way, 1 being all: "44 %", with a no-break space. */
function percent(value) {
  return `${decimal(100 * value, 0)}\u00a0%`;
}

/** An attention weight: "0.31"; one that two decimals would call 0 has its first digit. */
function weight(value) {
  if (value > 0 && value < 0.0001) return "under 0.0001";
  if (value > 0 && value < 0.005) return decimal(value, -Math.floor(Math.log10(value)));
  return decimal(value);
}

/** The numbers of a row: "8,,-3" with unit 100 is [0.08, null, -0.03]. */
function numbersOf(row, unit) {
  return row.split(",").map((text) => (text === "" ? null : Number(text) / unit));
}

/** How a head is called in a sentence. */
function headName(index, heads) {
  return `head ${index % heads} of layer ${Math.floor(index / heads)}`;
}

/** Show the text of data-tip beside what the pointer or the keyboard is on; Escape hides it. */
function addTooltip(root) {
  const box = element("div", { class: "tip", role: "tooltip", hidden: "" });
  const hide = () => assign(box, "hidden", "");
  const show = ({ target }) => {
    const node = target.closest?.("[data-tip]");
    if (!node) return hide();
    write(box, node.dataset.tip);
    assign(box, "hidden", null);
    const [around, place] = [root.getBoundingClientRect(), node.getBoundingClientRect()];
    const left = place.left + place.width / 2 - around.left - box.offsetWidth / 2;
    const above = place.top - around.top - box.offsetHeight - 6;
    box.style.left = `${Math.max(0, Math.min(left, around.width - box.offsetWidth))}px`;
    box.style.top = `${above + around.top < 0 ? place.bottom - around.top + 6 : above}px`;
  };
  filled(root, {
    onpointerover: show,
    onpointerleave: hide,
    onfocusin: (event) => event.target.matches(":focus-visible") && show(event),
    onfocusout: hide,
    onkeydown: (event) => event.key === "Escape" && hide(),
  });
  root.append(box);
}

/** One tab stop for many items: arrow keys, Home and End move between them, `columns` in a row. Returns a function that sets the stop. */
function addArrowKeys(container, items, columns) {
  const setStop = (at) => items.forEach((item, i) => assign(item, "tabindex", i === at ? 0 : -1));
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
  filled(container, {
    onkeydown: (event) => {
      const from = items.indexOf(event.target);
      const start = from - (from % columns);
      const to = { Home: start, End: Math.min(start + columns, items.length) - 1 }[event.key] ?? from + step[event.key];
      if (from < 0 || !items[to]) return;
      const sideways = event.key !== "ArrowUp" && event.key !== "ArrowDown";
      event.preventDefault();
      if (sideways && (to < start || to >= start + columns)) return;
      items[to].focus();
    },
    onfocusin: (event) => items.includes(event.target) && setStop(items.indexOf(event.target)),
  });
  setStop(0);
  return setStop;
}

/** A map of layers x heads as buttons. `choose(head)` follows a click, `preview(head or null)` the pointer and the focus. */
function headMap(layers, heads, choose, preview) {
  const cells = Array.from({ length: layers * heads }, (_, head) =>
    element("button", {
      type: "button",
      class: "cell",
      role: "gridcell",
      "data-id": `head ${head}`,
      onclick: () => choose(head),
      onpointerenter: () => preview(head),
      onfocus: (event) => event.target.matches(":focus-visible") && preview(head),
      onblur: () => preview(null),
    }),
  );
  const [every, label] = [
    heads > 12 ? 4 : 2,
    (text) => element("span", { class: "axis", "aria-hidden": "true" }, text),
  ];
  const row = (layer) => [
    label(layers <= 12 || layer % 4 === 0 ? `L${layer}` : ""),
    ...cells.slice(layer * heads, (layer + 1) * heads),
  ];
  const top = [label(""), ...Array.from({ length: heads }, (_, head) => label(head % every === 0 ? `H${head}` : ""))];
  const node = element("div", { class: "map", role: "grid", onpointerleave: () => preview(null) }, [
    element("div", { class: "row", "aria-hidden": "true" }, top),
    ...Array.from({ length: layers }, (_, layer) => element("div", { class: "row", role: "row" }, row(layer))),
  ]);
  node.style.setProperty("--heads", heads);
  node.style.setProperty("--height", `${layers <= 6 ? 24 : layers <= 12 ? 16 : 9}px`);
  const setStop = addArrowKeys(node, cells, heads);

  /** Colour the cells by `values` (null: unknown) up to `largest`, print those from `printed` up, and outline the chosen one. */
  function paint({ label, values, largest, printed, chosen, shown }) {
    assign(node, "aria-label", label);
    cells.forEach((cell, head) => {
      const value = values?.[head] ?? null;
      const depth = value === null ? 0 : Math.min(1, Math.abs(value) / largest);
      const text = value === null ? "" : percent(value);
      const name = headName(head, heads);
      cell.style.setProperty("--depth", `${Math.round(depth * 100)}%`);
      assign(
        cell,
        "class",
        `cell${value < 0 ? " away" : ""}${depth > 0.6 ? " deep" : ""}${head === shown ? " shown" : ""}`,
      );
      assign(cell, "aria-selected", head === chosen);
      assign(cell, "aria-label", text ? `${name}: ${text}` : name);
      assign(cell, "data-tip", text ? `L${Math.floor(head / heads)} H${head % heads}: ${text}` : name);
      write(cell, value !== null && Math.abs(value) >= printed ? text : "");
    });
    if (!node.contains(node.getRootNode().activeElement)) setStop(chosen);
  }
  return { node, paint };
}
