/* Ribbons from other words to the chosen word, and bands ("streams") from the chosen word down to
   the circles that mark the place of its vector before and after another word is hidden. */

const GAP = 1.5; // pixels between ribbons

/** Set the width and place of a sentence's ribbons. Return the height that they need. */
function stackRibbons({ found, sum }, scale) {
  const room = [-1, 1].map((sign) => {
    let [height, end] = [16, (sign * (sum * scale + GAP * found.length)) / 2];
    for (const flow of found.filter(({ dx }) => Math.sign(dx) === sign)) {
      const width = flow.size * scale;
      Object.assign(flow, { width, height: height + width / 2, end: end - (sign * (width + GAP)) / 2 });
      [height, end] = [height + width + 5, end - sign * (width + GAP)];
    }
    return height;
  });
  return found.length ? Math.max(...room) + 4 : 0;
}

/** Return the SVG path of the ribbon (curved band) from a word to the chosen word. */
function ribbon({ word, dx, width, height, end }, centre, top, named) {
  const [from, high] = [centre + dx, top - height * 1.34];
  const d = `M${from} ${top + 1} C${from} ${high} ${centre + end} ${high} ${centre + end} ${top + 1}`;
  const kind = named ? "named" : "";
  const stroke = named ? `url(#flow${dx > 0 ? "Right" : "Left"})` : null;
  return shape("path", { class: `flow ${kind}`, d, "data-at": word.at, "stroke-width": Math.max(width, 0.6), stroke });
}

/** Return a ribbon's colour gradient. */
function shade(id, x1, x2) {
  const stops = [0, 1].map((offset) => shape("stop", { offset, class: offset ? "deep" : "light" }));
  return shape("linearGradient", { id, x1, x2 }, stops);
}

/** Return a path from (x, y) to (toX, toY), vertical below the y coordinate `knee`. */
function fall(x, y, toX, toY, knee) {
  return `C${x} ${y + (knee - y) * 0.6} ${toX} ${y + (knee - y) * 0.35} ${toX} ${knee} V${toY}`;
}

/** Return the path of `fall` in reverse, from the current point to (x, y). */
function rise(x, y, toX, knee) {
  return `V${knee} C${toX} ${y + (knee - y) * 0.35} ${x} ${y + (knee - y) * 0.6} ${x} ${y}`;
}

/** Return the outline of an area between two curves, which begin at x ± width / 2 and end at the x coordinates `ends`. */
function beam(x, y, width, ends, toY, knee) {
  const half = (Math.sign(ends[1] - ends[0]) * width) / 2;
  return `M${x - half} ${y} ${fall(x - half, y, ends[0], toY, knee)} H${ends[1]} ${rise(x + half, y, ends[1], knee)} z`;
}
