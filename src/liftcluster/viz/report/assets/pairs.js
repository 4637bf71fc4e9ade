/* What the page knows of two clusterings: flows, moves in words, and where they differ. */

/* The flows of all pairs one after the other: arrays, and where those of each pair begin. */
const FLOWS = unpackFlows(DATA.pairs);
function unpackFlows(packed) {
  const columns = ["sources", "targets", "masses", "distances", "moves"].map((key) => unpack(packed[key]));
  const begin = [0];
  for (const n of unpack(packed.counts)) begin.push(begin[begin.length - 1] + n);
  return { columns, begin, leftOut: unpack(packed.left_out_of) };
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
    witness: DATA.pairs.witnesses ? DATA.pairs.witnesses[number] : witnessFromScores(flows, first, second),
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

/* The witness of two clusterings where the page has the scores of the clusters: the sum over flows of mass times
   the difference of scores, as bytes. */
function witnessFromScores(flows, first, second) {
  const n = DATA.points.witnessed, total = new Float64Array(n);
  const [S, T] = [first, second].map((c) => ({ ...DATA.points.scores[c], levels: unpackOnce(DATA.points.scores[c]) }));
  const [s, t] = [S, T].map(({ low, high }) => (high - low) / 255);
  for (const [i, j, mass] of flows) {
    for (let p = 0; p < n; p++) total[p] += mass * Math.abs(S.low + s * S.levels[i * n + p] - T.low - t * T.levels[j * n + p]);
  }
  let [low, high] = [Infinity, -Infinity];
  for (const v of total) { low = Math.min(low, v); high = Math.max(high, v); }
  high = Math.max(high, low + 0.05);  // tiny differences look pale
  const witness = { low, high };
  unpackCache.set(witness, Uint8Array.from(total, (v) => Math.round(((v - low) * 255) / (high - low))));
  return witness;
}
