/* A map of layers × heads. Data: heads.schema.json. */

/** Show the map. A click on a head sends the trigger "head" to Python. */
export default function heads(given) {
  return showIn(HeadsView, "heads", given);
}

class HeadsView extends View {
  show(data, _, send) {
    Object.assign(this, { data, send: data.clicks ? send : () => {} });
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
      this.send("head", chosen);
    };
    this.large = null;
    this.map = headMap(layers, heads, choose, (hovered) => this.set({ hovered }));
    [this.name, this.number] = [element("strong"), element("span")];
    [this.low, this.high, this.about] = ["end", "end", "about"].map((kind) => element("span", kind));
    this.bar = element("span", "bar");
    this.legend = element("p", "legend", [this.low, this.bar, this.high, this.about]);
    this.below = element("div", "below small", [element("p", {}, [this.name, this.number]), this.legend]);
    this.body.replaceChildren(this.map.node, this.below);
  }

  /** Show each head's attention map, which is a part of one large picture. */
  drawMaps() {
    const { layers, heads, maps } = this.data;
    flag(this.root, { pictured: maps });
    if (!maps) return;
    const style = {
      maps: `url("${this.addressOf(maps.picture)}")`,
      size: `${heads * 100}% ${layers * 100}%`,
      layers,
      heads,
    };
    for (const [name, value] of Object.entries(style)) this.body.style.setProperty(`--${name}`, value);
    flag(this.map.node, { coarse: maps.side < 46 });
    this.map.cells.forEach((cell, head) => {
      const picture = cell.firstElementChild ?? element("span", "picture");
      picture.style.setProperty("--at", placeOf(this.data, head));
      cell.append(picture);
    });
    const weights = ["each map: weight 0", element("span", "bar shades"), "the head’s largest"];
    this.below.replaceChildren(element("p", "legend", weights), this.legend);
    this.large?.node.remove();
    this.large = largePart(this);
    this.body.append(this.large.node);
  }

  /** Return a short URL of the picture: painting takes seconds if each cell's style has a long URL. */
  addressOf(picture) {
    if (picture === this.picture) return this.address;
    const bytes = Uint8Array.from(atob(picture.split(",")[1]), (letter) => letter.charCodeAt(0));
    if (this.address) URL.revokeObjectURL(this.address);
    this.picture = picture;
    return (this.address = URL.createObjectURL(new Blob([bytes], { type: "image/png" })));
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
    this.large?.paint(Math.max(0, head));
    assign(this.legend, "hidden", scale ? null : "");
    if (!scale) return;
    write(this.low, scale.low);
    write(this.high, scale.high);
    write(this.about, this.large ? `bar beneath: ${scale.about}` : scale.about);
  }
}
