/* The transport plan between two clusterings as bands from left to right. */

const GAP = 5, BAR = 14, LINE = 13.5, MOST_LABELS = 25;

function drawFlow(state) {
  const holder = byId("flow");
  const { flows } = pairOf(state.first, state.second);
  const [A, B] = [CLUSTERINGS[state.first], CLUSTERINGS[state.second]];
  const width = Math.max(holder.clientWidth, 260);
  const margin = Math.min(165, width * 0.28);
  const height = Math.min(Math.max(300, 20 * Math.max(A.k, B.k) + 40), 1600);
  const left = columnOf(A.k, flows, 0, height, null);
  const right = columnOf(B.k, flows, 1, height, left);
  const picture = svgElement("svg", { viewBox: "0 0 " + width + " " + (height + 26), role: "img",
    "aria-label": "Flow of mass from the clusters of " + isolated(A.name) + " to those of " + isolated(B.name) + "; also given in words and as a table" });
  picture.append(...bands(flows, left, right, margin + BAR, width - margin - BAR, A, B));
  picture.append(...columnBars(A, left, margin, width, "end"), ...columnBars(B, right, width - margin - BAR, width, "start"));
  holder.replaceChildren(picture);
  byId("flow-hint").replaceChildren("From ", nameElement(A.name), " (left) to ", nameElement(B.name),
    " (right): the optimal transport plan. The more opaque a band, the larger the distance.");
}

/* Bars with heights by mass; on the right ordered by the mean position of their sources. */
function columnOf(k, flows, side, height, left) {
  const mass = new Array(k).fill(0), sourceSum = new Array(k).fill(0);
  for (const flow of flows) {
    mass[flow[side]] += flow[2];
    if (left) sourceSum[flow[1]] += flow[2] * (left.top[flow[0]] + left.size[flow[0]] / 2);
  }
  const order = [...mass.keys()];
  if (left) order.sort((i, j) => sourceSum[i] / (mass[i] || 1) - sourceSum[j] / (mass[j] || 1));
  const gap = Math.min(GAP, (height * 0.4) / k);
  const unit = (height - gap * (k - 1)) / Math.max(mass.reduce((a, b) => a + b, 0), 1e-12);
  const top = new Array(k), size = mass.map((v) => v * unit);
  let y = 22;
  for (const i of order) { top[i] = y; y += size[i] + gap; }
  return { top, size, unit, order, mass };
}

function bands(flows, left, right, x0, x1, A, B) {
  const middle = (x0 + x1) / 2;
  const usedLeft = left.top.slice(), usedRight = right.top.slice();
  const rank = (order) => { const r = []; order.forEach((i, place) => { r[i] = place; }); return r; };
  const [rankLeft, rankRight] = [rank(left.order), rank(right.order)];
  const sorted = flows.slice().sort((f, g) => rankLeft[f[0]] - rankLeft[g[0]] || rankRight[f[1]] - rankRight[g[1]]);
  const starts = new Map(), ends = new Map();
  for (const f of sorted) { starts.set(f, usedLeft[f[0]]); usedLeft[f[0]] += f[2] * left.unit; }
  for (const f of sorted.slice().sort((f, g) => rankRight[f[1]] - rankRight[g[1]] || rankLeft[f[0]] - rankLeft[g[0]])) {
    ends.set(f, usedRight[f[1]]);
    usedRight[f[1]] += f[2] * right.unit;
  }
  return sorted.map((f) => {
    const [i, j, mass, distance] = f;
    const [y0, y1, h0, h1] = [starts.get(f), ends.get(f), mass * left.unit, mass * right.unit];
    const title = svgElement("title");
    title.textContent = isolated(A.clusters[i]) + " → " + isolated(B.clusters[j]) + ": " + percent(mass) + " of the mass, distance " + decimals(distance);
    return svgElement("path", {
      class: "band", fill: css(clusterColour(A.colours[i])), "fill-opacity": (0.22 + 0.63 * Math.min(distance / 1.2, 1)).toFixed(3),
      d: "M" + x0 + " " + y0 + "C" + middle + " " + y0 + " " + middle + " " + y1 + " " + x1 + " " + y1 +
        "v" + h1 + "C" + middle + " " + (y1 + h1) + " " + middle + " " + (y0 + h0) + " " + x0 + " " + (y0 + h0) + "Z",
    }, title);
  });
}

/* Label positions in the middle of the bars, shifted where labels would overlap. */
function labelPositions(column) {
  const places = column.top.map((top, i) => top + column.size[i] / 2);
  if (places.length > MOST_LABELS) return places;
  const { order } = column, last = order[order.length - 1];
  const bottom = Math.max(column.top[last] + column.size[last] - 4, 22 + LINE * order.length);
  for (let r = 1; r < order.length; r++) places[order[r]] = Math.max(places[order[r]], places[order[r - 1]] + LINE);
  places[last] = Math.min(places[last], bottom);
  for (let r = order.length - 2; r >= 0; r--) places[order[r]] = Math.min(places[order[r]], places[order[r + 1]] - LINE);
  return places;
}

/* The name above its bars, shifted inwards if it is too long. */
function headingOf(name, x, width, anchor) {
  const bold = 1.12, text = fitText(name, (width / 2 - 12) / bold, 13);
  const needed = bold * widthOf(text, 13) + 4;
  const at = anchor === "end" ? Math.max(x + BAR, needed) : Math.min(x, width - needed);
  const heading = svgElement("text", { x: at, y: 13, "text-anchor": anchor, "font-weight": 700 });
  heading.textContent = "\u2068" + text + "\u2069";
  return heading;
}

function columnBars(clustering, column, x, width, anchor) {
  const room = anchor === "end" ? x - 8 : width - x - BAR - 8;
  const at = anchor === "end" ? x - 6 : x + BAR + 6;
  const parts = [headingOf(clustering.name, x, width, anchor)], places = labelPositions(column);
  for (const i of column.order) {
    const title = svgElement("title");
    title.textContent = isolated(clustering.clusters[i]) + ": " + percent(clustering.masses[i]);
    parts.push(svgElement("rect", { x, y: column.top[i], width: BAR, height: Math.max(column.size[i], 1), rx: 2,
      fill: css(clusterColour(clustering.colours[i])) }, title));
    if (column.size[i] < 11 && clustering.k > MOST_LABELS) continue;
    const share = " " + percent(clustering.masses[i]);
    const text = svgElement("text", { x: at, y: places[i] + 4, "text-anchor": anchor });
    text.textContent = "\u2068" + fitText(clustering.clusters[i], room - widthOf(share, 11.5), 13) + "\u2069";
    const small = svgElement("tspan", { class: "soft" });
    small.textContent = share;
    text.append(small);
    parts.push(text);
  }
  return parts;
}
