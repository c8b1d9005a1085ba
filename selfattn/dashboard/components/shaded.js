/* Sentences, each word tinted by a number; a row may open another view. shaded.schema.json describes the data. */

const lists = new WeakMap(); // by parentElement

/** Called by Streamlit for each change of data. The number of a row or a word that is clicked goes back as "open" or "word". */
export default function shaded({ data, parentElement, setStateValue }) {
  const list = lists.get(parentElement) ?? newList(parentElement);
  const choose = data.choose && ((at) => setStateValue("word", at));
  const rows = data.rows.map((row, at) => rowNode(row, data.open, () => setStateValue("open", at), choose));
  const focused = list.root.getRootNode().activeElement?.dataset.id;
  const headed = data.rows.flatMap(({ heading }, at) => [heading && element("p", "heading", heading), rows[at]]);
  list.body.replaceChildren(element("div", "rows", headed.filter(Boolean)), ...moreButton(rows, data.first));
  flag(list.root, { weights: data.kind === "weights" });
  if (data.open) addArrowKeys(rows, 1);
  const words = [...list.body.querySelectorAll("button.word")];
  if (words.length)
    addArrowKeys(
      words,
      words.length,
    )(
      Math.max(
        0,
        words.findIndex((word) => word.ariaPressed === "true"),
      ),
    );
  words.find((word) => word.dataset.id === focused)?.focus();
  const call = (list.calls += 1);
  // A call that a later one has overtaken is cleaned up as well, while the list lives on.
  return () => {
    if (list.calls !== call) return;
    lists.delete(parentElement);
    list.root.remove();
  };
}

function newList(parent) {
  const body = element("div");
  const root = element("div", "selfattn shaded", body);
  const list = { root, body, calls: 0 };
  lists.set(parent, list);
  parent.append(root);
  addTooltip(root);
  return list;
}

function rowNode({ said, dir, words }, open, choose, chooseWord) {
  const text = element("span", { class: "text", dir });
  appendWords(
    text,
    words,
    words.map((word, at) => shadedWord(word, chooseWord && (() => chooseWord(at)), at)),
  );
  const parts = [element("span", "said", said), text];
  if (!open) return element("p", "row", parts);
  const spoken = words.map((word) => [word.text, word.number].filter(Boolean).join(" ")).join(" ");
  const name = { "aria-label": `${said}: ${spoken}. ${open}`, title: open };
  return element("button", { type: "button", class: "row", onclick: choose, ...name }, parts);
}

function shadedWord({ text, kind, depth, number, tip }, choose, at) {
  const parts = [element("bdi", "ink", text), element("span", "number", number)];
  const about = { class: `word ${kind}`, ...(tip && { "data-tip": tip }) };
  const pressed = { type: "button", "data-id": `word ${at}`, "aria-pressed": kind === "chosen", onclick: choose };
  const node = choose ? element("button", { ...about, ...pressed }, parts) : element("span", about, parts);
  node.style.setProperty("--depth", `${Math.abs(depth)}%`);
  flag(node, { away: depth < 0 });
  return node;
}

/** A button that shows the rows after the first ones; none where there are no more. */
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
