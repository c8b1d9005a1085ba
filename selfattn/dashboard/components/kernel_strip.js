/* Draw strips (a vector's numbers as coloured cells), and numbers with bars. */

const LEVELS = 16; // depths of colour
const FEW = 4; // most numbers that a strip writes out

/** Read a number; "<0.0001" gives 0. */
function read(text) {
  return text.startsWith("<") ? 0 : Number(text.replace("−", "-").replace("∞", "Infinity"));
}

/** Return the text with exponents as superscripts. */
function powers(text) {
  return text
    .split(/\^(x|\((?:[^()]|\([^()]*\))*\))/)
    .map((part, i) => (i % 2 ? element("sup", {}, part.replace(/^\((.*)\)$/, "$1")) : part));
}

function heaviest({ rows }) {
  return rows.reduce((one, other) => (read(other.fine) > read(one.fine) ? other : one));
}

/** Return the index (0 or 1) of the sentence with the largest attention weight. */
function leading([a, b]) {
  return b && read(heaviest(b).fine) > read(heaviest(a).fine) ? 1 : 0;
}

function written({ data }, kind, text) {
  return numbersOf(text, 10 ** data.places[kind]).map((value) => decimal(value, data.places[kind]));
}

/** Return a number and its bar. */
function numberCell({ ends: [low, high], digits }, text) {
  const [number, value] = [read(text), element("span", "value", text)];
  value.style.minWidth = `${digits}ch`;
  if (!Number.isFinite(number)) return [value];
  const bar = element("span", number < 0 ? "bar minus" : "bar");
  const [left, width] = [Math.min(number, 0) - low, Math.abs(number)].map((part) => `${(100 * part) / (high - low)}%`);
  Object.assign(bar.style, { left, width });
  return [value, element("span", "track", bar)];
}

/**
 * Return a strip: a vector's numbers as coloured cells. tip(i, text): tooltip of cell i.
 * beside: another strip. When the visitor points at cell i of the returned strip, cell i is outlined in both strips.
 */
function strip(view, kind, label, text, tip, beside) {
  const [values, texts] = [numbersOf(text, 10 ** view.data.places[kind]), written(view, kind, text)];
  const [n, shades, largest] = [values.length, new Map(), view.data.largest[kind] / 10 ** view.data.places[kind]];
  values.forEach((value, i) => {
    const level = Math.round((LEVELS * value) / largest);
    shades.set(level, `${shades.get(level) ?? ""}M${i + 0.04} 0h.92v1h-.92z`);
  });
  const cells = [...shades].map(([level, d]) => {
    const path = shape("path", { d, class: level < 0 ? "minus" : null });
    path.style.setProperty("--depth", `${Math.round((100 * Math.abs(level)) / LEVELS)}%`);
    return path;
  });
  const deep = (i) => (Math.abs(values[i]) > 0.6 * largest ? "deep" : {});
  const printed = n > FEW ? [] : texts.map((each, i) => element("span", deep(i), each));
  const cursor = element("span", { class: "cursor", hidden: "" });
  const node = element("div", { class: "strip", role: "img", "aria-label": label }, [
    shape("svg", { viewBox: `0 0 ${n} 1`, preserveAspectRatio: "none", "aria-hidden": "true" }, cells),
    element("div", "printed", printed),
    cursor,
  ]);
  let at = 0;

  /** Mark cell i, or no cell if i is null. */
  function mark(i) {
    assign(cursor, "hidden", i === null || i >= n ? "" : null);
    if (i === null || i >= n) return;
    Object.assign(cursor.style, { left: `${(100 * i) / n}%`, width: `${100 / n}%` });
    cursor.dataset.tip = `dimension ${i}: ${tip(i, texts[i])}`;
    assign(node, "aria-label", `${label}, ${cursor.dataset.tip}`);
  }

  function point(i) {
    at = i === null ? at : clamp(i, n - 1);
    for (const each of [mark, beside?.mark]) each?.(i === null ? null : at);
    if (i !== null) view.tell(cursor);
  }
  filled(node, {
    onpointermove({ clientX }) {
      const { left, width } = node.getBoundingClientRect();
      point(Math.floor(((clientX - left) / width) * n));
    },
    onkeydown(event) {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: n - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation(); // the row has arrow keys too
      point(to);
    },
    onpointerover: (event) => event.stopPropagation(),
    onfocusin(event) {
      event.stopPropagation();
      if (node.matches(":focus-visible")) point(at);
    },
    onpointerleave: () => point(null),
    onblur: () => point(null),
  });
  return { node, mark };
}
