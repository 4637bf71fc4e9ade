/* Downloads: tables as CSV, plots as SVG or PNG. They are made here, without network. */

function saveFile(name, blob) {
  const url = URL.createObjectURL(blob), stem = clean(DATA.title).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 40);
  element("a", { href: url, download: (stem || "report") + "-" + name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
function saveText(name, type, text) { saveFile(name, new Blob([text], { type: type + ";charset=utf-8" })); }

/* Buttons beside a heading: a text such as CSV, what it holds, and what makes it. */
function offerDownloads(id, offers) {
  const heading = byId(id), head = element("div", { className: "head" });
  const buttons = offers.map(([text, what, act]) => {
    const button = element("button", { type: "button", textContent: "↓ " + text, "aria-label": "Download " + what + " as " + text, title: "Download " + what + " as " + text });
    button.addEventListener("click", act);
    return button;
  });
  heading.replaceWith(head);
  head.append(heading, element("span", { className: "downloads" }, ...buttons));
}

function offerAllDownloads() {
  const table = (id, name, what) => ["CSV", what, () => { const { headings, rows } = TABLES.get(id); saveText(name + ".csv", "text/csv", csvOf([headings, ...rows])); }];
  const picture = (name, what, holders) => ["SVG", what, () => saveText(name + ".svg", "image/svg+xml", standaloneSvg(holders.map((id) => byId(id).querySelector("svg")), what))];
  offerDownloads("h-distances", [["CSV", "the distances", () => saveText("distances.csv", "text/csv", heatmapCsv(page.state))],
    ["SVG", "the heat map", () => saveText("distances.svg", "image/svg+xml", standaloneSvg([heatmapSvg(page.state)], "the heat map"))]]);
  offerDownloads("h-map", [picture("map", "the map", ["map"])]);
  offerDownloads("h-flow", [picture("flow", "the flows", ["flow"]), table("flow-table", "flows", "the flows")]);
  offerDownloads("h-points", [["PNG", "the three plots", savePlots], table("difference-table", "differences", "the differences by cluster")]);
  offerDownloads("h-drift", [table("drift-table", "drift", "the distances of the samples")]);
  offerDownloads("h-consensus", [table("consensus-table", "consensus", "the clusters of the consensus")]);
  offerDownloads("h-trust", [table("trust-table", "stability", "the stability of the clusters")]);
  offerDownloads("h-tree", [picture("tree", "the tree", ["tree-names", "tree"]), table("tree-table", "tree", "the tree")]);
  offerDownloads("h-measures", [table("measures-table", "measures", "all measures")]);
  offerDownloads("h-clusterings", [table("clusterings-table", "clusterings", "the clusterings")]);
  offerDownloads("h-run", [table("settings-table", "settings", "the settings")]);
}

/* Rows as CSV with a byte order mark, by which spreadsheets know UTF-8. */
function csvOf(rows) { return "\ufeff" + rows.map((row) => row.map(csvField).join(",") + "\r\n").join(""); }

/* Text that a spreadsheet would take for a formula gets a quote in front; numbers stay as they are. */
function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  let text = String(value).replace(/[\u2066-\u2069]/g, "");
  if (/^\s*[=+\-@\t\r\n|%]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) text = "'" + text;
  return /[",;\r\n\t]|^\s|\s$/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

function heatmapCsv(state) {
  const order = orderOf(state), { values } = DATA.measures[state.measure];
  return csvOf([[state.measure, ...order.map(nameOf)], ...order.map((i) => [nameOf(i), ...order.map((j) => values[i][j])])]);
}

/* The heat map as a picture: its table is none. */
function heatmapSvg(state) {
  const order = orderOf(state), m = order.length, { values } = DATA.measures[state.measure];
  const top = Math.max(...values.flat().filter((v) => v !== null), 1e-12);
  const cell = m > 40 ? 12 : m > 12 ? 24 : 48, size = Math.min(13, cell - 2), names = order.map((i) => fitText(labelOf(i), 150, size));
  const room = Math.max(...names.map((name) => widthOf(name, size))) + 10, width = room + Math.max(m * cell + 8, 126 + widthOf(displayName(state.measure) + " 0.000", 11) + 12), height = room + m * cell + 30;
  const text = (content, attributes) => { const made = svgElement("text", { fill: css(inkColour()), "font-size": size, ...attributes }); made.textContent = content; return made; };
  const parts = names.flatMap((name, r) => [
    text(name, { x: room - 6, y: room + (r + 0.5) * cell + size * 0.35, "text-anchor": "end" }),
    text(name, { transform: "translate(" + (room + (r + 0.5) * cell + size * 0.35) + " " + (room - 6) + ") rotate(-90)" })]);
  order.forEach((i, r) => order.forEach((j, c) => {
    if (i === j) return;
    const value = values[i][j], colour = ramp("distance", value === null ? 0 : value / top), title = svgElement("title");
    title.textContent = clean(nameOf(i)) + " and " + clean(nameOf(j)) + ": " + decimals(value);
    parts.push(svgElement("rect", { x: room + c * cell + 0.5, y: room + r * cell + 0.5, width: cell - 1, height: cell - 1, fill: css(colour) }, title));
    if (cell === 48) parts.push(text(decimals(value), { x: room + (c + 0.5) * cell, y: room + (r + 0.5) * cell + 4, "text-anchor": "middle", fill: textColourOn(colour) }));
  }));
  for (let s = 0; s < 40; s++) parts.push(svgElement("rect", { x: room + 3 * s, y: height - 18, width: 3.2, height: 8, fill: css(ramp("distance", s / 39)) }));
  parts.push(text("0", { x: room - 6, y: height - 10, "text-anchor": "end", "font-size": 11 }), text(decimals(top) + " " + displayName(state.measure), { x: room + 126, y: height - 10, "font-size": 11 }));
  return svgElement("svg", { viewBox: "0 0 " + width + " " + height }, ...parts);
}
function inkColour() { return rgb(isDark() ? "#e8ebf1" : "#1b2230"); }

/* Pictures side by side as a file of its own: styles of the page become attributes. */
const STYLED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "paint-order", "font-size", "font-weight", "text-anchor"];
function standaloneSvg(pictures, what) {
  const boxes = pictures.map((picture) => picture.getAttribute("viewBox").split(" ").map(Number));
  const [width, height] = [boxes.reduce((sum, box) => sum + box[2], 0), Math.max(...boxes.map((box) => box[3]))];
  const title = svgElement("title");
  title.textContent = clean(DATA.title) + ": " + what;
  const whole = svgElement("svg", { viewBox: "0 0 " + width + " " + height, width, height, "font-family": "system-ui, sans-serif" }, title,
    svgElement("rect", { width, height, fill: css(backgroundColour()) }));
  let left = 0;
  pictures.forEach((picture, i) => {
    whole.append(svgElement("g", { transform: "translate(" + left + " 0)" }, ...[...picture.children].map(styledCopy)));
    left += boxes[i][2];
  });
  return new XMLSerializer().serializeToString(whole).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}
function styledCopy(node) {
  const copy = node.cloneNode(true), originals = [node, ...node.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((made, i) => {
    for (const { name } of [...made.attributes]) if (/^(class|tabindex|role|aria-|data-)/.test(name)) made.removeAttribute(name);
    if (!node.isConnected || made.tagName === "title") return;
    const style = getComputedStyle(originals[i]);
    for (const name of STYLED) made.setAttribute(name, style.getPropertyValue(name));
  });
  return copy;
}

/* The three plots with their titles and legends as one picture. */
function savePlots() {
  const plots = page.panels.map((panel) => panel.canvas), ratio = page.panels[0].size().ratio, gap = 16 * ratio, line = 20 * ratio;
  const rows = 8, width = plots.reduce((sum, plot) => sum + plot.width + gap, gap), height = Math.max(...plots.map((plot) => plot.height)) + (rows + 2) * line + gap;
  const canvas = element("canvas", { width, height }), pen = canvas.getContext("2d");
  pen.fillStyle = css(backgroundColour());
  pen.fillRect(0, 0, width, height);
  let left = gap, used = 0;
  page.panels.forEach((panel) => {
    pen.save();
    pen.translate(left, gap);
    pen.scale(ratio, ratio);
    used = Math.max(used, drawPlotText(pen, panel, panel.canvas.width / ratio, panel.canvas.height / ratio, rows));
    pen.restore();
    pen.drawImage(panel.canvas, left, gap + line);
    left += panel.canvas.width + gap;
  });
  const kept = element("canvas", { width, height: height - (rows - used) * line });
  kept.getContext("2d").drawImage(canvas, 0, 0);
  kept.toBlob((blob) => saveFile("points.png", blob), "image/png");
}

/* The title above a plot and its legend below, in up to some rows, whose number is returned. */
function drawPlotText(pen, { coloured }, width, height, rows) {
  const say = (text, x, y) => { pen.fillStyle = css(inkColour()); pen.fillText(text, x, y); };
  pen.font = "13px system-ui, sans-serif";
  say(fitText(coloured.title, width, 13), 0, 12);
  const below = height + 40;
  if (coloured.ramp) {
    const start = widthOf(coloured.low, 13) + 8;
    say(coloured.low, 0, below);
    for (let s = 0; s < 100; s++) { pen.fillStyle = css(ramp(coloured.ramp, s / 99)); pen.fillRect(start + s, below - 9, 1.5, 9); }
    say(coloured.high, start + 108, below);
    return 1;
  }
  const { colours } = coloured, names = coloured.item ? coloured.item.names.slice(0, colours.length) : CLUSTERINGS[coloured.clustering].clusters;
  let [x, row] = [0, 0];
  for (let c = 0; c < names.length; c++) {
    const name = fitText(names[c], 120, 13), needed = 30 + widthOf(name, 13);
    if (x && x + needed > width) [x, row] = [0, row + 1];
    if (row >= rows - 1) { say("and " + count(names.length - c) + " more", x, below + 20 * row); break; }
    pen.save();
    pen.translate(x, below + 20 * row - 11);
    pen.fillStyle = css(clusterColour(colours[c]));
    pen.fill(new Path2D(SHAPES[clusterMarker(colours[c])]));
    pen.restore();
    say(name, x + 17, below + 20 * row);
    x += needed;
  }
  return row + 1;
}
