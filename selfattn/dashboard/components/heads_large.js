/* A large map of one head's attention weights. */

const LABELLED = 20; // with more tokens, only outlined tokens have labels

function largePart(view) {
  const { tokens, rows, sentence, said } = view.data.maps;
  const [name, number, picture] = [element("strong", "chip"), element("span"), element("span", "picture")];
  const cursor = element("span", { class: "cursor", hidden: "" });
  const labels = (kind) =>
    tokens.map((token, at) => {
      const own = kind === "from" && rows.includes(at);
      return element("bdi", own ? "own" : "", own || tokens.length <= LABELLED ? token : "");
    });
  const [from, to] = ["from", "to"].map((kind) => element("div", { class: kind, "aria-hidden": "true" }, labels(kind)));
  const own = rows.length ? [element("span", "row-of-word")] : [];
  const plane = element("div", { class: "plane", role: "img" }, [picture, ...own, cursor]);
  const about = element("p", "small", "A row is a token; its dark cells are the tokens it attends to.");
  const box = element("div", `opened ${sentence.toLowerCase()}`, [
    element("p", "which", [name, number]),
    element("div", "large", [to, from, plane]),
    about,
  ]);
  box.style.setProperty("--tokens", tokens.length);
  if (own.length) {
    const [first, last] = [rows[0], rows[rows.length - 1] + 1].map((at) => `${(100 * at) / tokens.length}%`);
    own[0].style.setProperty("top", first);
    own[0].style.setProperty("height", `calc(${last} - ${first})`);
  }
  const weights = said ? said.split(",") : [];
  let head = -1;

  /** Mark the cell under the pointer, and show its weight. */
  function point({ clientX, clientY }) {
    const { left, top, width } = plane.getBoundingClientRect();
    const [column, row] = [clientX - left, clientY - top].map((from) =>
      clamp(Math.floor((from / width) * tokens.length), tokens.length - 1),
    );
    const part = 100 / tokens.length;
    Object.assign(cursor.style, { left: `${column * part}%`, top: `${row * part}%`, width: `${part}%` });
    const text = head === view.data.chosen ? weights[row * tokens.length + column] : undefined;
    cursor.dataset.tip = `${quoted(tokens[row])} to ${quoted(tokens[column])}${text ? `: ${text}` : ""}`;
    assign(cursor, "hidden", null);
    view.tell(cursor);
  }
  filled(plane, {
    onpointermove: point,
    onpointerover: (event) => event.stopPropagation(), // the large map shows its own tooltip
    onpointerleave: () => assign(cursor, "hidden", ""),
  });

  function paint(shown) {
    head = shown;
    const { heads, scale } = view.data;
    write(name, headLabel(head, heads));
    write(number, view.data.said[head] ? `${scale.about}: ${view.data.said[head]}` : "");
    picture.style.setProperty("--at", placeOf(view.data, head));
    assign(plane, "aria-label", `The map of ${headName(head, heads)}`);
  }
  return { node: box, paint };
}

/** Return the CSS mask-position that shows one head's map in the picture of all heads' maps. */
function placeOf({ layers, heads }, head) {
  const [x, y] = [(head % heads) / Math.max(1, heads - 1), Math.floor(head / heads) / Math.max(1, layers - 1)];
  return `${100 * x}% ${100 * y}%`;
}
