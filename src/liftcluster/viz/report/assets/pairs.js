/* What the page knows of two clusterings: flows, moves in words, and where they differ. */

/* The flows of all pairs one after the other: arrays, and where those of each pair begin. */
const FLOWS = unpackFlows(DATA.pairs);
function unpackFlows(packed) {
  const columns = ["sources", "targets", "masses", "distances", "moves"].map((key) => unpack(packed[key]));
  const begin = [0];
  for (const n of unpack(packed.counts)) begin.push(begin[begin.length - 1] + n);
  return { columns, begin, leftOut: unpack(packed.left_out_of) };
}
/* The distances between clusters that share points, and where those of each pair begin. */
const CELLS = unpackCells(DATA.pairs);
function unpackCells(packed) {
  const begin = [0];
  for (const n of unpack(packed.cell_counts)) begin.push(begin[begin.length - 1] + n);
  return { levels: unpack(packed.cell_distances), step: packed.cell_distances.high / 255, begin };
}
function pairNumber(i, j) { return i * CLUSTERINGS.length - (i * (i + 1)) / 2 + j - i - 1; }

/* The results for two clusterings, in the given order. */
const pairCache = new Map();
function pairOf(first, second) {
  const key = first + "," + second;
  if (!pairCache.has(key)) pairCache.set(key, newPair(first, second));
  return pairCache.get(key);
}
function newPair(first, second) {
  const [low, high] = first < second ? [first, second] : [second, first], number = pairNumber(low, high);
  const flows = [], moves = [], [from, to, mass, distance, move] = FLOWS.columns;
  for (let f = FLOWS.begin[number]; f < FLOWS.begin[number + 1]; f++) {
    flows.push(first < second ? [from[f], to[f], mass[f], distance[f]] : [to[f], from[f], mass[f], distance[f]]);
    moves.push(move[f]);
  }
  return { flows, moves: movesOf(flows, moves, DATA.pairs.kinds[number], first, second),
    leftOut: DATA.pairs.left_out[FLOWS.leftOut[number]] };
}

/* What became of the clusters, as Python's Move: the flows of each move, and its kind in this direction. */
const KINDS = ["stayed", "moved", "split", "merged", "rearranged", "spilled"];
function movesOf(flows, moveOfFlow, kinds, first, second) {
  const moves = Array.from(kinds, (letter) => ({ kind: KINDS[Number(letter)], sources: new Set(), targets: new Set(), mass: 0, cost: 0 }));
  flows.forEach(([i, j, mass, distance], f) => {
    const move = moves[moveOfFlow[f]];
    move.sources.add(i);
    move.targets.add(j);
    move.mass += mass;
    move.cost += mass * distance;
  });
  for (const move of moves) {
    if (move.kind === "split" || move.kind === "merged") move.kind = move.sources.size === 1 ? "split" : "merged";
    [move.sources, move.targets] = [[move.sources, first], [move.targets, second]].map(([clusters, c]) =>
      [...clusters].sort((a, b) => a - b).map((cluster) => CLUSTERINGS[c].clusters[cluster]));
  }
  return moves;
}

/* Moves in words, small flows summed up. */
const MOST_LINES = 12;
function moveLines(moves) {
  const lines = moves.filter((move) => move.kind !== "spilled").map(moveText);
  const spilled = moves.filter((move) => move.kind === "spilled");
  if (spilled.length) {
    const [mass, cost] = ["mass", "cost"].map((key) => spilled.reduce((sum, move) => sum + move[key], 0));
    lines.push(spilled.length + " small flows between others (" + (100 * mass).toFixed(1) + " % of the mass, mean distance " + (cost / mass).toFixed(3) + ")");
  }
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), "… and " + more + " more"] : lines;
}
function moveText({ kind, sources, targets, mass, cost }) {
  const preposition = { stayed: "as", moved: "to" }[kind] || "into", mean = kind === "stayed" || kind === "moved" ? "" : "mean ";
  return namesText(sources) + " " + kind + " " + preposition + " " + namesText(targets) + " (" + (100 * mass).toFixed(1) +
    " % of the mass, " + mean + "distance " + (cost / mass).toFixed(3) + ")";
}
function namesText(names) {
  const shown = names.slice(0, 12).map((name) => inSentence(name)).join(", ");
  return names.length > 12 ? shown + " and " + (names.length - 12) + " more" : shown;
}
/* A short name; right-to-left ones are isolated. */
function inSentence(name) {
  const letters = Array.from(clean(name)), short = letters.length <= 24 ? letters.join("") : letters.slice(0, 23).join("") + "…";
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(short) ? "\u2068" + short + "\u2069" : short;
}
function mainMove(moves) {
  const changes = moves.filter((move) => move.kind !== "stayed" && move.kind !== "spilled" && move.cost > 1e-9);
  return changes.reduce((best, move) => (best === null || move.cost > best.cost ? move : best), null);
}

/* Where two clusterings differ: for each point the distance between its two clusters, NaN if it is in none of one.
   The page has the distances of clusters that share points, in order. Of two samples, how far the point's cluster moves. */
function differencesOf(first, second) {
  const n = POINTS.compared, values = new Float32Array(n).fill(NaN);
  const [A, B] = [first, second].map(labelsOf), [k, l] = [first, second].map((c) => CLUSTERINGS[c].k);
  if (DATA.drift) {
    const [from, to] = [0, 1].map((side) => meanDistances(pairOf(first, second).flows, side, [k, l][side]));
    for (let p = 0; p < n; p++) values[p] = A[p] < k ? from[A[p]] : B[p] < l ? to[B[p]] : NaN;
    return values;
  }
  const swapped = first > second, number = swapped ? pairNumber(second, first) : pairNumber(first, second);
  const cells = new Float64Array(n).fill(-1);
  for (let p = 0; p < n; p++) if (A[p] < k && B[p] < l) cells[p] = swapped ? B[p] * k + A[p] : A[p] * l + B[p];
  const rank = new Map();
  Float64Array.from(new Set(cells.filter((c) => c >= 0))).sort().forEach((cell, i) => rank.set(cell, i));
  const { levels, step, begin } = CELLS;
  for (let p = 0; p < n; p++) if (cells[p] >= 0) values[p] = step * levels[begin[number] + rank.get(cells[p])];
  return values;
}
function meanDistances(flows, side, k) {
  const mass = new Float64Array(k), cost = new Float64Array(k);
  for (const flow of flows) { mass[flow[side]] += flow[2]; cost[flow[side]] += flow[2] * flow[3]; }
  return cost.map((c, i) => c / mass[i]);
}
