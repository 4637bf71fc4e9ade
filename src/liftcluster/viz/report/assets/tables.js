/* The tables of the page. */

/* Fill a table; a heading with # is a column of numbers, one with … a column of long text. A cell is text, an
   element, a list of them, or exact(value, shown). All rows can be downloaded, also those beyond the limit. */
const TABLES = new Map();  // id: headings and rows of values

function exact(value, shown) { return { value, shown }; }
function isExact(cell) { return Object.prototype.hasOwnProperty.call(cell, "shown"); }

function fill(id, headings, rows, caption, limit = Infinity) {
  const head = element("tr", {}, ...headings.map((text, i) =>
    element("th", { scope: "col", textContent: text.replace(/^[#…]/, ""), className: text.startsWith("#") ? "number" : "" })));
  const body = rows.slice(0, limit).map(({ cells, chosen }) => element("tr", { className: chosen ? "chosen" : "" }, ...cells.map((cell, i) => {
    const made = element(i === 0 ? "th" : "td", { className: headings[i].startsWith("#") ? "number" : headings[i].startsWith("…") ? "text" : "" });
    if (i === 0) made.scope = "row";
    made.append(...[isExact(cell) ? cell.shown : cell].flat());
    return made;
  })));
  const title = caption ? [element("caption", { className: "hint", textContent: caption })] : [];
  byId(id).replaceChildren(...title, element("thead", {}, head), element("tbody", {}, ...body));
  const kept = [...headings.keys()].filter((i) => headings[i]);  // bars have no heading
  TABLES.set(id, { headings: kept.map((i) => headings[i].replace(/^[#…]/, "")), rows: rows.map(({ cells }) => kept.map((i) => cellValue(cells[i]))) });
}

/* The value of a cell for a file: full names, exact numbers. */
function cellValue(cell) {
  if (isExact(cell)) return cell.value;
  return [cell].flat().map((part) => (typeof part === "string" ? part : part.title || part.textContent)).join("");
}

function drawMeasures(state) {
  const rows = Object.entries(DATA.measures).map(([name, measure]) => {
    const value = measure.values[state.first][state.second], error = measure.errors[state.first][state.second];
    const top = Math.max(...measure.values.flat().filter((v) => v !== null), 1e-12);
    const bar = element("span", { className: "bar" });
    bar.style.width = value === null ? "0" : Math.round((90 * value) / top) + "px";
    const shown = value === null ? "–" : decimals(value) + margin(error);
    return { chosen: name === state.measure, cells: [displayName(name), exact(value, shown), exact(value === null ? null : value / top, bar), rankOf(measure, value),
      measure.needs_points ? "points" : "labels", measure.title + (measure.is_metric ? " (a metric)" : "")] };
  });
  fill("measures-table", ["measure", "#distance", "relative to the largest", "#rank", "uses", "…description"], rows);
  byId("measures-hint").replaceChildren(nameElement(nameOf(state.first)), " and ", nameElement(nameOf(state.second)),
    ". All are distances; 0 means equal. " + errorMeaning() + "Rank: 1 is the closest pair.");
  const leftOut = Object.entries(pairOf(state.first, state.second).leftOut).map(([name, why]) => displayName(name) + " (" + why + ")");
  byId("left-out").textContent = leftOut.length ? "Not computed: " + leftOut.join("; ") + "." : "";
}

function errorMeaning() {
  const some = Object.values(DATA.measures).some((measure) => measure.errors.flat().some((error) => error));
  return some ? "± is " + (DATA.errors_are_random ? "one standard error. " : "a deterministic bound on the error. ") : "";
}

function rankOf(measure, value) {
  const { rank, all } = rankAmongPairs(measure, value);
  return value === null ? "" : count(rank) + " of " + count(all) + (measure.is_symmetric ? "" : " (ordered)");
}

/* The rank of a value among all pairs; ordered pairs if the measure is not symmetric. */
function rankAmongPairs(measure, value) {
  const all = [];
  measure.values.forEach((row, i) => row.forEach((v, j) => { if (v !== null && i !== j && (i < j || !measure.is_symmetric)) all.push(v); }));
  return { rank: 1 + all.filter((v) => v < value - 1e-12).length, all: all.length };
}

function drawMoves(state) {
  const { flows, moves } = pairOf(state.first, state.second), lines = moveLines(moves);
  const [A, B] = [CLUSTERINGS[state.first], CLUSTERINGS[state.second]];
  byId("moves").replaceChildren(...lines.map((line) => element("li", { textContent: line, dir: "auto" })));
  const rows = flows.slice().sort((f, g) => g[2] - f[2]).map(([i, j, mass, distance]) => ({
    cells: [[swatch(A.colours[i]), nameElement(A.clusters[i])], [swatch(B.colours[j]), nameElement(B.clusters[j])], exact(mass, percent(mass)),
      exact(distance, decimals(distance)), exact(mass * distance, decimals(mass * distance))],
  }));
  fill("flow-table", ["from", "to", "#share of the mass", "#distance", "#cost"], rows,
    "From " + isolated(A.name) + " to " + isolated(B.name) + (flows.length > 200 ? "; the largest 200 of " + count(flows.length) + " flows" : ""), 200);
}

function drawDifferenceTable(state) {
  const values = differencesOf(state.first, state.second), labels = labelsOf(state.first), A = CLUSTERINGS[state.first];
  const sum = new Float64Array(A.k), number = new Float64Array(A.k);
  values.forEach((v, p) => { if (labels[p] < A.k && !Number.isNaN(v)) { sum[labels[p]] += v; number[labels[p]]++; } });
  const mean = (i) => (number[i] ? sum[i] / number[i] : 0);
  const rows = [...A.clusters.keys()].sort((i, j) => mean(j) - mean(i)).map((i) =>
    ({ cells: [[swatch(A.colours[i]), nameElement(A.clusters[i])], exact(A.masses[i], percent(A.masses[i])), exact(mean(i), mean(i).toFixed(3))] }));
  fill("difference-table", ["cluster", "#share of the mass", "#mean difference"], rows,
    "Clusters of " + isolated(A.name) + ", largest difference from " + isolated(nameOf(state.second)) + " first", 200);
}

function drawConsensus() {
  const found = DATA.consensus;
  if (!found) return;
  const mine = CLUSTERINGS[CLUSTERINGS.length - 1], labels = labelsOf(CLUSTERINGS.length - 1), levels = unpackOnce(POINTS.confidence);
  const sum = new Float64Array(mine.k), number = new Float64Array(mine.k);
  for (let p = 0; p < levels.length; p++) if (labels[p] < mine.k) { sum[labels[p]] += levels[p] / 255; number[labels[p]]++; }
  const rows = mine.clusters.map((name, i) => ({ cells: [[swatch(mine.colours[i]), nameElement(name)], compositionOf(found.composition[i], found.n_parts[i]),
    exact(mine.masses[i], percent(mine.masses[i])), number[i] ? exact(sum[i] / number[i], (sum[i] / number[i]).toFixed(2)) : "–"] }));
  fill("consensus-table", ["cluster", "…composition (share of the input cluster)", "#share of the mass", "#confidence"], rows);
  byId("consensus-card").hidden = false;
  const chosen = found.curve ? " Its number of clusters was chosen by the " + found.curve.criterion + " criterion." : "";
  const against = found.overruled ? " All inputs put " + count(found.overruled) + " of the points into another of its clusters." : "";
  byId("consensus-hint").textContent = found.n_clusters + " clusters by " + found.method + ". Mean distance to all inputs: by place (LiftEMD) " +
    decimals(found.mean_distance) + ", by labels (variation of information) " + decimals(found.label_distance) +
    "; the least that an input has, its own 0 included: " + decimals(found.best_input_distance) + " and " + decimals(found.best_input_label_distance) +
    ". Confidence is the share of the inputs that agree." + against + chosen + (found.reason ? " This method was taken because " + found.reason + "." : "");
}

/* Two samples, and random splits of both together. */
function drawDrift() {
  const found = DATA.drift;
  if (!found) return;
  const rows = found.measures.map(({ measure, value, mean, deviation, p_value }) => ({ cells: [displayName(measure), exact(value, decimals(value, 4)),
    exact(mean, decimals(mean, 4) + " ± " + decimals(deviation, 4)), exact(p_value, p_value.toPrecision(2))] }));
  fill("drift-table", ["measure", "#distance between the samples", "#between random splits", "#p alone"], rows);
  byId("drift-card").hidden = false;
  byId("drift-hint").textContent = "p = " + found.p_value.toPrecision(2) + " by all measures together: how often one of " + count(found.n_splits) +
    " random splits of all " + count(found.sizes[0] + found.sizes[1]) + " points into samples of these sizes is at least as far apart. " +
    "Shares of clusters are those of their own sample. In the plots the other sample is grey, and the third shows how far the clusters moved.";
}

/* The input clusters that a consensus cluster is made of: all large ones of few inputs, three of many. */
function compositionOf(parts, all) {
  const main = parts.filter(([, , share]) => share >= 0.1).slice(0, CLUSTERINGS.length > 9 ? 3 : 8);
  const shown = main.flatMap(([name, cluster, share], i) => [i ? ", " : "", labelElement(name), " ", nameElement(cluster), " (" + percent(share) + ")"]);
  return all > main.length ? [...shown, " and " + count(all - main.length) + " more"] : shown;
}

function drawClusterings() {
  const rows = CLUSTERINGS.map((c) => {
    const kind = (c.hard ? "hard" : "soft") + (c.is_consensus ? ", the consensus" : "");
    return { cells: [labelElement(c.name), exact(c.k, count(c.k)), kind, exact(c.noise_mass, percent(c.noise_mass)), percent(Math.min(...c.masses)) + " … " + percent(Math.max(...c.masses))] };
  });
  fill("clusterings-table", ["name", "#clusters", "kind", "#noise", "#sizes"], rows);
  fill("settings-table", ["setting", "…value"], DATA.settings.map(([what, value]) => ({ cells: [what, value] })));
  byId("notes").replaceChildren(...DATA.notes.map((text) => element("p", { className: "note", textContent: text })));
}
