/* How far to trust the clusters: a table of their stability, and the tree of the clusterings. */

const ROW = 74, TOP = 22, NAMES = 96, MOST_STRETCH = 3;

function drawTrust() {
  const trust = DATA.trust;
  if (!trust) return;
  byId("trust-card").hidden = false;
  drawStability(trust);
  if (trust.tree) {
    byId("tree-part").hidden = false;
    drawTree(trust);
    drawTreeTable(trust.tree);
  }
  byId("tree-left-out").textContent = trust.too_many ? "The tree of these clusterings from coarse to fine is left out: it would have " +
    count(trust.too_many) + " clusters, and more than 600 cannot be read. A page of fewer clusterings shows it." : "";
}

function stabilityText(value) { return value === null ? "unknown" : value.toFixed(2); }

function drawStability(trust) {
  const mine = CLUSTERINGS[trust.reference], several = trust.runs > 1;
  const order = trust.clusters.slice().sort((a, b) => a.stability - b.stability);
  const rows = order.map((c) => {
    const bar = element("span", { className: "bar" });
    bar.style.width = Math.round(70 * Math.max(c.stability, 0)) + "px";
    const [low, high] = [c.low, c.high].map(stabilityText), range = several ? [exact("from " + low + " to " + high, low + " … " + high)] : [];
    return { cells: [[swatch(mine.colours[c.cluster]), nameElement(mine.clusters[c.cluster])], exact(c.stability, stabilityText(c.stability)), bar, c.verdict,
      element("span", { textContent: c.fate, dir: "auto" }), exact(c.mass, percent(c.mass)), ...range] };
  });
  const range = several ? ["#95 % of the clusterings"] : [];
  fill("trust-table", ["cluster", "#stability", "", "verdict", "…what becomes of it", "#share of the mass", ...range], rows,
    "Clusters of " + isolated(mine.name) + ", the least stable first" + (trust.clusters.length > 200 ? "; 200 of " + count(trust.clusters.length) : ""), 200);
  const which = trust.is_nearest ? ", the clustering nearest to the others, " : " ";
  const sample = trust.n_points < POINTS.n ? " Computed from " + count(trust.n_points) + " points, drawn at random." : "";
  byId("trust-hint").replaceChildren("Whether the clusters of ", nameElement(mine.name), which + "are found again in the other" +
    (several ? " " + trust.runs + " clusterings" : " clustering") + ", by where they are. 1: always in the same place, whole or divided further; " +
    "0: as in divisions into random compact regions. From 0.5 a cluster counts as stable, below 0.2 as unstable. " +
    "Clusterings that were made in the same way share their mistakes: other halves of the data would say more." + sample);
}

/* Rows from coarse to fine; the names of the clusterings stay in place while the tree scrolls. */
function drawTree(trust) {
  const { tree } = trust, holder = byId("tree");
  const names = Math.min(NAMES, 0.26 * byId("tree-part").clientWidth);
  const room = byId("tree-part").clientWidth - names - 12;
  const stretch = Math.min(Math.max(room / (tree.width + 8), 1), MOST_STRETCH);
  const width = Math.max(tree.width * stretch + 8, room), height = tree.rows.length * ROW + 6;
  const left = (width - tree.width * stretch) / 2;
  const picture = svgElement("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img",
    "aria-label": "Tree of " + tree.rows.length + " clusterings from " + tree.rows[0].clusters.length + " to " +
      tree.rows[tree.rows.length - 1].clusters.length + " clusters, which the table below gives as text" });
  const at = tree.rows.map((row, y) => row.x.map((x) => [left + x * stretch, TOP + y * ROW]));
  const largest = Math.max(...tree.rows.flatMap((row) => row.masses));
  const edges = tree.edges.map((edge) => treeEdge(edge, tree, at, largest));
  const nodes = tree.rows.flatMap((row, y) => row.clusters.map((_, i) => treeNode(tree, y, i, at[y])));
  picture.append(...edges, ...nodes);
  for (const node of nodes) node.addEventListener("click", () => pick(picture, tree, nodes, edges, node));
  holder.replaceChildren(picture);
  holder.scrollLeft = at[0][0][0] - room / 2;
  byId("tree-names").replaceChildren(svgElement("svg", { viewBox: "0 0 " + names + " " + height, width: names, height },
    ...tree.rows.map((row, y) => rowName(row, TOP + y * ROW, names, row.clustering === trust.reference))));
  byId("tree-scale").replaceChildren("stability:", rampBar("confidence", "≤\u00a00", "1"), element("span", { textContent: "dashed: unknown" }));
  byId("tree-hint").textContent = "Each row is a clustering, from few to many clusters; a circle is a cluster, its area the share of the mass, its colour " +
    "how far it is found again in the rows above and below. Lines are the optimal transport between neighbouring rows: the wider, the more mass; the stronger, the larger the distance. " +
    "Lines with less than 5 % of both clusters are left out. Select a circle to follow it.";
  byId("tree-status").textContent = "";
}

function rowName(row, y, width, chosen) {
  const text = svgElement("text", { x: 0, y: y - 3, "font-weight": chosen ? 700 : 400 });
  text.textContent = "\u2068" + fitText(nameOf(row.clustering), (width - 4) / (chosen ? 1.12 : 1), 13) + "\u2069";
  const small = svgElement("text", { x: 0, y: y + 12, class: "soft" });
  small.textContent = count(row.clusters.length) + (row.clusters.length === 1 ? " cluster" : " clusters");
  return svgElement("g", {}, text, small);
}

function treeEdge([y, i, j, mass, distance], tree, at, largest) {
  const [[x0, y0], [x1, y1]] = [at[y][i], at[y + 1][j]], middle = (y0 + y1) / 2;
  const title = svgElement("title");
  title.textContent = clusterOf(tree, y, i) + " → " + clusterOf(tree, y + 1, j) + ": " + percent(mass) + " of the mass, distance " + decimals(distance);
  const path = svgElement("path", { class: "edge", d: "M" + x0 + " " + y0 + "C" + x0 + " " + middle + " " + x1 + " " + middle + " " + x1 + " " + y1,
    "stroke-width": (1 + (14 * mass) / largest).toFixed(2), "stroke-opacity": (0.28 + 0.6 * Math.min(distance / 1.2, 1)).toFixed(3) }, title);
  path.dataset.ends = y + "," + i + " " + (y + 1) + "," + j;
  return path;
}

function treeNode(tree, y, i, places) {
  const row = tree.rows[y], [x, middle] = places[i], radius = row.sizes[i] / 2, value = row.stabilities[i];
  const title = svgElement("title");
  title.textContent = clusterOf(tree, y, i) + ": " + percent(row.masses[i]) + " of the mass, stability " + stabilityText(value);
  const circle = svgElement("circle", { cx: x, cy: middle, r: radius, class: value === null ? "unknown" : "" });
  if (value !== null) circle.setAttribute("fill", css(ramp("confidence", value)));
  const node = svgElement("g", { class: "node" }, title, circle);
  const nearest = Math.min(...places.map(([other], j) => (j === i ? Infinity : Math.abs(other - x))));
  const name = CLUSTERINGS[row.clustering].clusters[row.clusters[i]], room = Math.min(nearest - 3, 120);
  if (room >= 24 || widthOf(clean(name), 11) <= room) {
    const text = svgElement("text", { x, y: middle + radius + 11 });
    text.textContent = "\u2068" + fitText(name, room, 11) + "\u2069";
    node.append(text);
  }
  node.dataset.node = y + "," + i;
  return node;
}

function clusterOf(tree, y, i) {
  const row = tree.rows[y], c = CLUSTERINGS[row.clustering];
  return isolated(c.clusters[row.clusters[i]]) + " of " + isolated(c.name);
}

/* Highlight a cluster and its lines, or none if it is selected again. */
function pick(picture, tree, nodes, edges, node) {
  const again = node.classList.contains("on");
  for (const other of [...nodes, ...edges]) other.classList.remove("on");
  picture.classList.toggle("picked", !again);
  byId("tree-status").textContent = "";
  if (again) return;
  node.classList.add("on");
  const key = node.dataset.node, [y, i] = key.split(",").map(Number);
  for (const edge of edges) edge.classList.toggle("on", edge.dataset.ends.split(" ").includes(key));
  byId("tree-status").textContent = clusterOf(tree, y, i) + ": " + percent(tree.rows[y].masses[i]) + " of the mass, stability " +
    stabilityText(tree.rows[y].stabilities[i]) + neighboursText(tree, y, i, -1, "; made of ") + neighboursText(tree, y, i, 1, "; becomes ") + ".";
}

/* The clusters of the next row (or of the one above) that have mass in common with one. */
function neighboursText(tree, y, i, step, intro) {
  const found = tree.edges.filter((e) => (step > 0 ? e[0] === y && e[1] === i : e[0] === y - 1 && e[2] === i)).sort((a, b) => b[3] - a[3]);
  if (!found.length) return "";
  const row = tree.rows[y + step], own = tree.rows[y].masses[i], names = CLUSTERINGS[row.clustering].clusters;
  const parts = found.slice(0, 6).map((e) => isolated(names[row.clusters[step > 0 ? e[2] : e[1]]]) + " (" + percent(Math.min(e[3] / own, 1)) + ")");
  return intro + parts.join(", ") + (found.length > 6 ? " …" : "") + " of " + isolated(nameOf(row.clustering));
}

function drawTreeTable(tree) {
  const rows = tree.rows.flatMap((row, y) => row.clusters.map((cluster, i) => {
    const mine = CLUSTERINGS[row.clustering];
    return { cells: [nameElement(mine.name), nameElement(mine.clusters[cluster]), exact(row.masses[i], percent(row.masses[i])), exact(row.stabilities[i], stabilityText(row.stabilities[i])),
      neighboursText(tree, y, i, 1, "")] };
  }));
  fill("tree-table", ["clustering", "cluster", "#share of the mass", "#stability", "…becomes (share of the cluster)"], rows,
    rows.length > 1000 ? "The first 1,000 of " + count(rows.length) + " clusters" : "", 1000);
}
