/* Results for many sentences. */

const ARRAY = { rows: 5, columns: 20, pitch: 10.5, radius: 4 }; // 100 marks; pitch and radius in pixels

/** Make the section with results for many sentences: a text, and 100 dots for each accuracy in `bars`. */
function beyondPart(view) {
  const node = element("div", "beyond");
  const { rows, columns, pitch, radius } = ARRAY;
  const count = (value) => decimal(100 * value, 0);
  const array = ({ label, value }, tick, whole) => {
    const kind = (i) => (i < Math.round(100 * value) ? "right" : i < Math.round(100 * whole) ? "lost" : "wrong");
    const marks = Array.from({ length: rows * columns }, (_, i) => {
      const place = { cx: (Math.floor(i / rows) + 0.5) * pitch, cy: ((i % rows) + 0.5) * pitch, r: radius };
      return shape("circle", { class: kind(i), ...place });
    });
    const x = tick.value * columns * pitch;
    const line = shape("path", { class: "tick", d: `M${x} 0 V${rows * pitch + 6}` });
    const size = { class: "array", width: columns * pitch, height: rows * pitch + 22, "aria-hidden": "true" };
    const below = { class: "note", x, y: rows * pitch + 19, "text-anchor": "middle" };
    const fewer = count(whole) - count(value);
    const missing = { class: "note fewer", x: columns * pitch, y: rows * pitch + 19, "text-anchor": "end" };
    const less = shape("text", missing, fewer > 0 ? `${fewer} fewer` : "");
    const guessing = shape("text", below, `${count(tick.value)} ${tick.label}`);
    return element("div", {}, [
      element("p", "rate", [element("strong", {}, `${count(value)} in 100 right`), " ", element("span", {}, label)]),
      shape("svg", size, [...marks, line, guessing, less]),
    ]);
  };
  const show = () => {
    const { text, bars = [], tick, link } = view.data.beyond;
    const more = link ? element("a", { href: link.href, target: "_self" }, link.text) : "";
    flag(node, { arrays: bars.length });
    node.replaceChildren(
      element("p", "limit", [text, " ", more]),
      ...bars.map((bar) => array(bar, tick, bars[0].value)),
    );
  };
  return { node, show };
}
