/* Points that are selected with a loop, by a cluster or by a value: a list, and a file of them. */

const MOST_LISTED = 200;
let selected = null;  // { rows, mask, what }
let looping = false;  // whether dragging draws a loop

function rowsWhere(test) {
  const rows = [];
  for (let p = 0; p < POINTS.shown; p++) if (test(p)) rows.push(p);
  return rows;
}

function selectPoints(rows, what) {
  if (rows === null) selected = null;
  else {
    const mask = new Uint8Array(POINTS.shown);
    for (const p of rows) mask[p] = 1;
    selected = { rows, mask, what };
  }
  page.panels.forEach((panel) => panel.update());
  drawSelection();
}
function selectCluster({ clustering, cluster }) {
  const labels = labelsOf(clustering);
  selectPoints(rowsWhere((p) => labels[p] === cluster), "in " + isolated(CLUSTERINGS[clustering].clusters[cluster]) + " of " + isolated(nameOf(clustering)));
}

function setLooping(on) {
  looping = on;
  byId("lasso").setAttribute("aria-pressed", String(on));
  byId("panels").classList.toggle("looping", on);
}

/* A loop around points, in the coordinates of the plane; its line is drawn over the plot. */
class Loop {
  constructor(panel, event) {
    this.panel = panel;
    this.corners = [];
    this.extend(event);
  }
  extend(event) {
    const { x, y, unit, left, top, ratio } = this.panel.placeOf(event), last = this.corners[this.corners.length - 1];
    if (last && Math.hypot(x - last.x, y - last.y) * unit < 3) return;
    this.corners.push({ x, y, left: left * ratio, top: top * ratio });
    if (!last) return;
    const pen = this.panel.canvas.getContext("2d"), next = this.corners[this.corners.length - 1];
    pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
    pen.lineWidth = 2 * ratio;
    pen.beginPath();
    pen.moveTo(last.left, last.top);
    pen.lineTo(next.left, next.top);
    pen.stroke();
  }
  close() {
    if (this.corners.length < 3) { this.panel.draw(); return; }
    selectPoints(rowsWhere((p) => isInside(POSITIONS.x[p], POSITIONS.y[p], this.corners)), "inside the loop");
  }
}

/* Whether a line from the point crosses the closed loop an odd number of times. */
function isInside(x, y, corners) {
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const [a, b] = [corners[i], corners[j]];
    if (a.y > y !== b.y > y && x < a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x)) inside = !inside;
  }
  return inside;
}

function drawSelection() {
  const box = byId("selection");
  box.hidden = selected === null;
  if (selected === null) { byId("selection-count").textContent = ""; return; }
  const { rows, what } = selected, sample = POINTS.shown < POINTS.n ? ", of the " + count(POINTS.shown) + " that are drawn" : "";
  byId("selection-count").textContent = count(rows.length) + (rows.length === 1 ? " point " : " points ") + what + sample + ".";
  const { first, second } = page.state;
  byId("selection-clusters").replaceChildren(...[first, second].map((i) => compositionOfRows(rows, i)));
  const order = unpackOnce(POINTS.order);
  const listed = rows.slice(0, MOST_LISTED).map((p) => ({ cells: [String(order[p]), ...(TABLE.ids ? [nameElement(TABLE.ids[p])] : []),
    ...[first, second].map((i) => nameElement(clusterAt(i, p) ?? "in no cluster")), ...TABLE.hover.map((i) => valueText(TABLE.items[i], p))] }));
  fill("selection-table", ["point", ...(TABLE.ids ? ["id"] : []), shorten(nameOf(first)), shorten(nameOf(second)), ...TABLE.hover.map((i) => shorten(TABLE.items[i].name))],
    listed, rows.length > MOST_LISTED ? "The first " + MOST_LISTED + " of " + count(rows.length) + " points; the file has all" : "");
  byId("selection-save").disabled = !rows.length;
}

function clusterAt(i, p) {
  const label = labelsOf(i)[p];
  return label < CLUSTERINGS[i].k ? CLUSTERINGS[i].clusters[label] : null;
}

/* How many of the points each cluster has, the largest first. */
function compositionOfRows(rows, i) {
  const found = CLUSTERINGS[i], counts = new Array(found.k + 1).fill(0), labels = labelsOf(i);
  for (const p of rows) counts[Math.min(labels[p], found.k)]++;
  const order = counts.map((_, c) => c).filter((c) => counts[c]).sort((a, b) => counts[b] - counts[a]);
  const parts = order.slice(0, 12).flatMap((c, at) => [at ? ", " : "", ...(c < found.k ? [swatch(found.colours[c]), nameElement(found.clusters[c])] : ["in no cluster"]),
    ": " + count(counts[c]) + " (" + percent(counts[c] / rows.length) + ")"]);
  return element("p", {}, nameElement(found.name), " – ", ...parts, order.length > 12 ? ", …" : "");
}

function selectionAsCsv(rows) {
  const order = unpackOnce(POINTS.order);
  const columns = [["point", (p) => order[p]], ...(TABLE.ids ? [["id", (p) => TABLE.ids[p]]] : []),
    ...CLUSTERINGS.map((c, i) => [c.name, (p) => clusterAt(i, p)]),
    ...TABLE.items.map((item) => [item.name + (item.kind === "number" && !item.exact ? " (rounded)" : ""), (p) => selectedCell(item, p)])];
  return csvOf([columns.map(([name]) => name), ...rows.map((p) => columns.map(([, get]) => get(p)))]);
}
function selectedCell(item, p) {
  const level = levelAt(item, p);
  if (level === null) return null;
  if (item.kind !== "number") return item.names[level];
  return item.exact ? numberAt(item, p) : rounded(numberAt(item, p), item.high - item.low, item.top > 255 ? 2000 : 250);
}

/* A button that lists the points of the highlighted cluster. */
function offerList(highlight) { byId("list-highlighted").hidden = highlight === null; }

function startSelecting() {
  byId("lasso").addEventListener("click", () => setLooping(!looping));
  byId("list-highlighted").addEventListener("click", () => { selectCluster(page.state.highlight); byId("selection").focus(); });
  byId("selection-save").addEventListener("click", () => saveText("points.csv", "text/csv", selectionAsCsv(selected.rows)));
  byId("selection-clear").addEventListener("click", () => { selectPoints(null); byId("lasso").focus(); });
  const left = TABLE.n_features - TABLE.features.length;
  const notes = left > 0 ? ["Of " + count(TABLE.n_features) + " features, points can be coloured by the " + TABLE.features.length + " that separate the clusters most."] : [];
  byId("columns-note").textContent = [...notes, ...TABLE.notes].join(" ");
}
