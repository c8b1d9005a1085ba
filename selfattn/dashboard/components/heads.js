/* All heads, layers x heads, coloured by a number or with their own small maps; one is chosen. heads.schema.json describes the data. */

/** Called by Streamlit for each change of data. A chosen head goes back as the trigger "head": its number, layer by layer. */
export default function heads(given) {
  return showIn(HeadsView, "heads", given);
}

/** The map, and beneath it the chosen head's number and the colours' meaning. */
class HeadsView extends View {
  show(data, _, tell) {
    Object.assign(this, { data, tell: data.clicks ? tell : () => {} });
    if (data.key !== this.key) this.build();
    this.key = data.key;
    this.chosen = data.chosen;
    this.drawMaps();
    this.paint();
  }

  build() {
    const { layers, heads } = this.data;
    const choose = (chosen) => {
      this.set({ chosen });
      this.tell("head", chosen);
    };
    this.map = headMap(layers, heads, choose, (hovered) => this.set({ hovered }));
    [this.name, this.number] = [element("strong"), element("span")];
    [this.low, this.high, this.about] = ["end", "end", "about"].map((kind) => element("span", kind));
    this.bar = element("span", "bar");
    this.legend = element("p", "legend", [this.low, this.bar, this.high, this.about]);
    this.body.replaceChildren(
      this.map.node,
      element("div", "below small", [element("p", {}, [this.name, this.number]), this.legend]),
    );
  }

  /** Each head's map of weights, cut from one picture of all: its opacity is the weight. */
  drawMaps() {
    const { layers, heads, maps } = this.data;
    flag(this.root, { pictured: maps });
    if (!maps) return;
    this.map.node.style.setProperty("--maps", `url("${maps.picture}")`);
    this.map.node.style.setProperty("--size", `${heads * 100}% ${layers * 100}%`);
    flag(this.map.node, { coarse: maps.side < 46 });
    this.map.cells.forEach((cell, head) => {
      const [x, y] = [(head % heads) / Math.max(1, heads - 1), Math.floor(head / heads) / Math.max(1, layers - 1)];
      const picture = cell.firstElementChild ?? element("span", "picture");
      picture.style.setProperty("--at", `${100 * x}% ${100 * y}%`);
      cell.append(picture);
    });
  }

  paint() {
    const { kind, label, depths, said, scale, heads } = this.data;
    const { chosen, hovered } = this;
    const values = numbersOf(depths, 100);
    this.map.paint({ label, values, largest: 1, printed: Infinity, chosen, shown: hovered, said });
    flag(this.root, { plain: kind === "plain", weights: kind === "weights", effect: kind === "effect" });
    const head = hovered ?? chosen;
    write(this.name, head < 0 ? "" : `${kind === "plain" ? `${label}: ` : ""}${headLabel(head, heads)}`);
    write(this.number, said[head] ? `: ${said[head]}` : "");
    assign(this.legend, "hidden", scale ? null : "");
    if (!scale) return;
    write(this.low, scale.low);
    write(this.high, scale.high);
    write(this.about, scale.about);
  }

  layOut() {}
}
