/* Compute attention for a query that the visitor dragged, with the formulas of selfattn/kernel.py. */

const CELL = 2; // decimals of scores, e^x and weights
const MOST_DECIMALS = { vectors: 4, products: CELL, handed: 3 };
const ALIKE = 1e-6; // weights that differ by less count as equal

function added(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Return every step of softmax(query · keys × scale) · values. */
function attend({ keys, values, scale }, query) {
  const products = keys.map((key) => key.map((part, i) => query[i] * part));
  const scores = products.map(added);
  const scaled = scores.map((score) => score * scale);
  const maximum = Math.max(...scaled);
  const exponentials = scaled.map((each) => Math.exp(each - maximum));
  const total = added(exponentials);
  const weights = exponentials.map((each) => each / total);
  const handed = values.map((value, i) => value.map((part) => weights[i] * part));
  const context = query.map((_, i) => added(handed.map((each) => each[i])));
  return { query, products, scores, scaled, maximum, exponentials, total, weights, handed, context };
}

/** Return the figure's data for another query. */
function withQuery(data, query) {
  const [{ keys, values }, [side]] = [data.plane, data.sides];
  const trace = attend(data.plane, query);
  const numbers = {
    vectors: [query, ...keys, ...values].flat(),
    products: trace.products.flat(),
    handed: [...trace.handed, trace.context].flat(),
  };
  const [places, largest] = [{}, {}];
  for (const [kind, all] of Object.entries(numbers)) {
    places[kind] = decimalsOf(all, MOST_DECIMALS[kind]);
    const before = Math.round(data.largest[kind] * 10 ** (places[kind] - data.places[kind]));
    const shown = kind === "vectors" ? query : all;
    largest[kind] = Math.max(1, before, ...shown.map((each) => Math.abs(whole(each, places[kind]))));
  }
  const row = (vector, kind) => vector.map((each) => whole(each, places[kind])).join(",");
  const symbol = data.columns.find(({ id }) => id === "scaled").about;
  const rows = side.rows.map((each, i) => ({
    ...each,
    cells: cellsAt(trace, i),
    fine: decimal(trace.weights[i], 4),
    products: row(trace.products[i], "products"),
    keys: row(keys[i], "vectors"),
    values: row(values[i], "vectors"),
    handed: row(trace.handed[i], "handed"),
    steps: stepsAt(trace, i, symbol, data.plane.scale),
  }));
  const own = {
    ...side,
    query: { ...side.query, values: row(query, "vectors") },
    rows,
    sums: {
      exponential: decimal(trace.total, CELL),
      weight: decimal(added(trace.weights), CELL),
      scaled: decimal(trace.maximum, CELL),
    },
    context: row(trace.context, "handed"),
  };
  const columns = data.columns.map((column) => wide(column, rows));
  const found = largestWeight(side.query, rows, trace.weights);
  return { ...data, about: found, findings: [found], places, largest, columns, sides: [own] };
}

/** Return the column, with its scale extended to the numbers of all rows. */
function wide(column, rows) {
  if (column.kind === "strip") return column;
  const texts = rows.map(({ cells }) => cells[column.id]);
  const [{ ends, digits }, all] = [column, texts.map(read)];
  return {
    ...column,
    ends: [Math.min(ends[0], ...all), Math.max(ends[1], ...all)],
    digits: Math.max(digits, ...texts.map((text) => text.length)),
  };
}

/** Describe the largest weight, as kernel_view.py does. */
function largestWeight(query, rows, weights) {
  const [most, n, asks] = [Math.max(...weights), weights.length, quoted(query.text)];
  const alike = weights.filter((each) => each >= most - ALIKE).length;
  if (alike > 1) {
    const [tokens, end] = alike < n ? [`${alike} tokens`, ", the largest"] : ["every token", ""];
    return `${asks} gives ${tokens} the same weight${end}: ${weight(most)}.`;
  }
  const { at, text } = rows[weights.indexOf(most)];
  const much = most >= 0.5 ? "most of its weight" : "its largest weight";
  return `${asks} gives ${at === query.at ? "itself" : quoted(text)} ${much}: ${weight(most)}.`;
}

function cellsAt({ scores, scaled, exponentials, weights }, i) {
  const share = (value) => weight(value).replace("under ", "<");
  return {
    score: decimal(scores[i], CELL),
    scaled: decimal(scaled[i], CELL),
    exponential: share(exponentials[i]),
    weight: share(weights[i]),
  };
}

/** Return a pair [column, text] for each calculation in a token's row. */
function stepsAt({ scores, scaled, maximum, exponentials, total, weights }, i, symbol, scale) {
  const [power, sum, share] = division(exponentials[i], total, weights[i]);
  const x = fewest(power, (places) => Math.exp(Math.min(asPrinted(scaled[i], places) - asPrinted(maximum, places), 0)));
  const largest = decimal(maximum, x);
  const after = decimal(scaled[i], x);
  const score = decimal(
    scores[i],
    fewest(after, (places) => asPrinted(scores[i], places) * scale),
  );
  return [
    ["score", `query · key = ${score}`],
    ["scaled", `${score} ${symbol} = ${after}`],
    ["exponential", `e^(${after} − ${largest.startsWith("−") ? `(${largest})` : largest}) = ${power}`],
    ["weight", `${power} ÷ ${sum} = ${share}`],
  ];
}

/** Return e^x, the total and the weight, with enough decimals that the printed division is correct. */
function division(exponential, total, share) {
  const wanted = weight(share);
  let power = weight(exponential);
  const first = Math.max(CELL, places(power));
  for (let more = 0; ; more++) {
    const sum = decimal(total, CELL + more);
    const enough = power.startsWith("under") || weight(read(power) / read(sum)) === wanted;
    if (enough || more === 7) return [power, sum, wanted];
    power = decimal(exponential, first + more + 1);
  }
}

/** Return the smallest number of decimals for which computed(decimals) prints as `wanted`. */
function fewest(wanted, computed) {
  const text = wanted.startsWith("under") ? weight : (value) => decimal(value, places(wanted));
  for (let places = CELL; places < 12; places++) {
    if ([-1e-9, 1e-9].every((near) => text(computed(places) + near) === wanted)) return places;
  }
  return CELL;
}

function asPrinted(value, places) {
  return read(decimal(value, places));
}

function places(text) {
  return (text.split(".")[1] ?? "").length;
}

/** Return value * 10 ** places, rounded half away from zero. */
function whole(value, places) {
  return Math.sign(value) * Math.floor(Math.abs(value) * 10 ** places + 0.5);
}

/** Return how many decimals these values need, at most `most`. */
function decimalsOf(values, most) {
  const fit = (places) => values.every((value) => Math.abs(value - Number(value.toFixed(places))) <= 1e-6);
  return [...Array(most).keys()].find(fit) ?? most;
}
