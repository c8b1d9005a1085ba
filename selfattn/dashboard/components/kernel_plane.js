/* Two drawings of 2-d vectors: the first shows the query and the keys, the second the values. */

const PER_UNIT = 10; // a dragged query moves in steps of 1 / PER_UNIT
const SIDE = 300; // units: side of a drawing

/** Return the drawing of query and keys, and the drawing of the values. Dragging the query calls view.move(query). */
function planePart(view) {
  const { plane, sides } = view.given;
  const names = sides[0].rows.map(({ text }) => text);
  const asks = sides[0].query.text;
  const compared = planeOf([plane.query, ...plane.keys], 1);
  const mixed = planeOf(plane.values, 0.5);
  const handle = shape(
    "g",
    {
      class: "handle",
      role: "slider",
      tabindex: 0,
      "aria-label": `The query of ${quoted(asks)}; arrow keys move it`,
      "aria-valuemin": compared.low,
      "aria-valuemax": compared.high,
      "data-id": "query",
    },
    [shape("circle", { class: "reach", r: 24 }), shape("circle", { r: 8 })],
  );
  compared.svg.append(handle);
  assign(mixed.svg, "role", "img");
  const back = element("button", { type: "button", class: "toggle", onclick: goBack }, plane.back);
  const node = element("div", "planes", [
    element("figure", {}, [
      element("figcaption", {}, [element("strong", {}, "Query and keys"), " are compared"]),
      element(
        "p",
        "small",
        "Drag the query’s tip, or use the arrow keys. Thick keys score high; red keys score below 0.",
      ),
      compared.svg,
      back,
    ]),
    element("figure", {}, [
      element("figcaption", {}, [element("strong", {}, "Values"), " are mixed by the weights"]),
      element("p", "small", "Thick values get a large weight. The dashed line adds up weight × value."),
      mixed.svg,
    ]),
  ]);
  let at = plane.query;

  function moveTo(query) {
    at = query.map((part) => {
      const inside = Math.min(Math.max(part, compared.low), compared.high);
      return Math.round(inside * PER_UNIT) / PER_UNIT;
    });
    view.move(at);
  }

  function goBack() {
    view.move(plane.query);
    handle.focus(); // the focused button will be hidden
  }

  filled(handle, {
    onpointerdown(event) {
      event.preventDefault();
      handle.focus({ preventScroll: true });
      handle.setPointerCapture(event.pointerId);
    },
    onpointermove(event) {
      if (handle.hasPointerCapture(event.pointerId)) moveTo(compared.under(event));
    },
    onkeydown(event) {
      const [right, up] =
        { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
      if (right === undefined && event.key !== "Home") return;
      event.preventDefault();
      const step = event.shiftKey ? 1 : 1 / PER_UNIT;
      moveTo(event.key === "Home" ? plane.query : [at[0] + right * step, at[1] + up * step]);
    },
  });

  function paint(trace, finding) {
    const { query, scores, weights, handed, context } = trace;
    const moved = query.some((part, i) => part !== plane.query[i]);
    const most = Math.max(...scores.map(Math.abs)) || 1;
    const key = (vector, i) => arrow(compared, vector, scores[i] < 0 ? "minus" : "", Math.abs(scores[i]) / most);
    compared.draw(
      [...plane.keys.map(key), arrow(compared, query, "own", 0.1)],
      [...plane.keys, query],
      [...names, asks],
    );
    const ends = handed.reduce(
      ([first, ...rest], step) => [first.map((part, i) => part + step[i]), first, ...rest],
      [[0, 0]],
    );
    const path = shape("path", { class: "chain", d: `M${ends.map((end) => mixed.to(end)).join("L")}` });
    const value = (vector, i) => arrow(mixed, vector, "", weights[i]);
    const tips = [...plane.values, context];
    mixed.draw([...plane.values.map(value), arrow(mixed, context, "own", 0.1), path], tips, [...names, "context"]);
    const [x, y] = compared.to(query);
    assign(handle, "transform", `translate(${x} ${y})`);
    assign(handle, "aria-valuenow", query[0]);
    assign(handle, "aria-valuetext", `${vectorText(query, 1)}: ${finding}`);
    assign(mixed.svg, "aria-label", `The values, and the context ${vectorText(context, 2)}.`);
    back.style.visibility = moved ? "visible" : "hidden";
    at = query;
  }
  return { node, paint };
}

function vectorText(vector, places) {
  return `[${vector.map((part) => decimal(part, places)).join(", ")}]`;
}

/** Return a square drawing of the vectors. room: margin, in the vectors' units. */
function planeOf(vectors, room) {
  const low = Math.floor(Math.min(0, ...vectors.flat())) - room;
  const high = Math.ceil(Math.max(0, ...vectors.flat())) + room;
  const scale = SIDE / (high - low);
  const to = ([x, y]) => [(x - low) * scale, (high - y) * scale].map((part) => Math.round(10 * part) / 10);
  const grid = [];
  for (let i = Math.ceil(low); i <= high; i++) {
    const [x, y] = to([i, i]);
    grid.push(shape("path", { class: i ? "grid" : "grid zero", d: `M${x} 0V${SIDE}M0 ${y}H${SIDE}` }));
    if (i - low < 0.4 || high - i < 0.4) continue;
    grid.push(shape("text", { class: "tick", x, y: SIDE - 4, "text-anchor": "middle" }, decimal(i, 0)));
    if (i) grid.push(shape("text", { class: "tick", x: 4, y: y + 4 }, decimal(i, 0)));
  }
  const marks = shape("g");
  const svg = shape("svg", { class: "plane", viewBox: `0 0 ${SIDE} ${SIDE}` }, [...grid, marks]);
  return {
    svg,
    low,
    high,
    to,
    under({ clientX, clientY }) {
      const { left, top, width } = svg.getBoundingClientRect();
      return [low + ((clientX - left) * (high - low)) / width, high - ((clientY - top) * (high - low)) / width];
    },
    draw(arrows, tips, names) {
      const labels = namesAt(tips.map(to), names);
      const origin = to([0, 0]);
      const along = (tip, part) => tip.map((end, i) => origin[i] + part * (end - origin[i]));
      const parts = [0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1];
      marks.replaceChildren(...arrows, ...labels.map(({ node }) => node));
      placeLabels(
        labels,
        labels.flatMap(({ tip }) => parts.map((part) => along(tip, part))),
        SIDE,
      );
    },
  };
}

/** Return an arrow from the origin to the vector, or a dot if the arrow is too short to see. depth: thickness, 0 to 1. */
function arrow({ to }, vector, kind, depth) {
  const [start, end] = [to([0, 0]), to(vector)];
  const paths = arrowPaths(start, end, 1.5 + 6 * depth);
  const [cx, cy] = end;
  return paths ? shape("g", `arrow ${kind}`, paths) : shape("circle", { class: `arrow ${kind}`, cx, cy, r: 4 });
}

/** Return labels for the arrows' tips. A label that contains the last item of `names` is dark. */
function namesAt(tips, names) {
  const joined = new Map(); // by tip
  tips.forEach((tip, i) => joined.set(`${tip}`, [...(joined.get(`${tip}`) ?? []), names[i]]));
  return [...joined].map(([tip, own]) => {
    const kind = own.includes(names.at(-1)) ? "name own" : "name";
    const text = own.join(", ");
    return { tip: tip.split(",").map(Number), width: widthOf(text), node: shape("text", kind, text) };
  });
}
