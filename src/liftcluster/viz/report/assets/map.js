/* Map of the clusterings by multidimensional scaling of LiftEMD. */

function drawMap(state, choose) {
  const holder = byId("map");
  const width = Math.max(holder.clientWidth, 260);
  const places = mapPositions(width), height = places.height;
  const picture = svgElement("svg", { viewBox: "0 0 " + width + " " + height, role: "group", "aria-label": "Map of the clusterings by LiftEMD" });
  const [a, b] = [places.at[state.first], places.at[state.second]];
  picture.append(svgElement("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], stroke: "var(--mark)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }));
  const labels = placeLabels(places.at, width, height, (i) => isAlwaysNamed(i, state));
  const hovered = svgElement("text", { class: "over", "font-weight": 700, "aria-hidden": "true" });
  places.at.forEach(([x, y], i) => picture.append(mapDot(i, x, y, labels[i], state, choose, hovered)));
  picture.append(hovered);
  if (places.unit) picture.append(...scaleBar(places, height));
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.dot : undefined;
  holder.replaceChildren(picture);
  if (focused !== undefined) picture.querySelector('[data-dot="' + focused + '"]').focus();
  const stress = DATA.map.stress;
  byId("map-hint").textContent = CLUSTERINGS.length === 2 ? "Two clusterings; their distance is LiftEMD." :
    "Distances on the map are LiftEMD with a relative error of about " + percent(stress) + " (stress " + stress.toFixed(3) +
    "). Select two dots, one after the other, to compare them." + (labels.every((label) => label.shown) ? "" : " Names without room show when you point at their dots.");
}

/* Whether the label of a dot is always shown. */
function isAlwaysNamed(i, state) { return i === state.first || i === state.second || CLUSTERINGS[i].is_consensus; }

/* Positions in the given or in the rotated orientation, whichever gives the larger map. */
function mapPositions(width) {
  const Z = DATA.map.coordinates;
  const [original, rotated] = [fitPositions(Z, width), fitPositions(Z.map(([x, y]) => [y, -x]), width)];
  return rotated.unit > original.unit ? rotated : original;
}

function fitPositions(Z, width) {
  const low = [0, 1].map((d) => Math.min(...Z.map((z) => z[d])));
  const high = [0, 1].map((d) => Math.max(...Z.map((z) => z[d])));
  const span = [high[0] - low[0], high[1] - low[1]];
  const [side, top] = [Math.min(90, width * 0.2), 34];
  const unit = Math.min((width - 2 * side) / (span[0] || 1e-9), ((Z.length > MANY ? 560 : 400) - 2 * top) / (span[1] || 1e-9));
  const scale = span[0] || span[1] ? unit : 0;
  const height = Math.max(span[1] * scale + 2 * top + 24, 220);
  const at = Z.map((z) => [
    width / 2 + (z[0] - (low[0] + high[0]) / 2) * scale,
    (height - 20) / 2 - (z[1] - (low[1] + high[1]) / 2) * scale,
  ]);
  return { at, unit: scale, height };
}

function mapDot(i, x, y, label, state, choose, hovered) {
  const chosen = i === state.first || i === state.second;
  const fill = chosen ? "var(--mark)" : "var(--accent)";
  const shape = CLUSTERINGS[i].is_consensus
    ? svgElement("path", { d: "M0-9L9 0L0 9L-9 0Z", fill, transform: "translate(" + x + " " + y + ")" })
    : svgElement("circle", { cx: x, cy: y, r: CLUSTERINGS.length > 40 ? 5 : 6.5, fill });
  const text = svgElement("text", { x: label.x, y: label.y, "text-anchor": label.anchor, "font-weight": chosen ? 700 : 400 });
  if (label.shown) text.textContent = "\u2068" + label.text + "\u2069";
  const title = svgElement("title");
  title.textContent = clean(nameOf(i));
  const dot = svgElement("g", {
    class: "dot", tabindex: 0, role: "button", "data-dot": i, "aria-pressed": String(chosen),
    "aria-label": "Compare " + isolated(nameOf(i)) + " with the one selected before",
  }, title, svgElement("circle", { class: "halo", cx: x, cy: y, r: 13, fill: "transparent" }), shape, text);
  const pick = () => { if (i !== state.second) choose({ first: i === state.first ? i : state.second, second: i === state.first ? state.second : i }); };
  const name = () => showName(hovered, label);
  for (const event of ["pointerenter", "focus"]) dot.addEventListener(event, name);
  for (const event of ["pointerleave", "blur"]) dot.addEventListener(event, () => { hovered.textContent = ""; });
  dot.addEventListener("click", pick);
  dot.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); }
  });
  return dot;
}

/* Show the name of the dot under the pointer, above all others. */
function showName(hovered, label) {
  if (label.shown) return;
  for (const [key, value] of [["x", label.x], ["y", label.y], ["text-anchor", label.anchor]]) hovered.setAttribute(key, value);
  hovered.textContent = "\u2068" + label.text + "\u2069";
}

/* Place each label around its dot where it overlaps least, labels that are always shown first. The
   others are omitted if they would overlap. */
function placeLabels(at, width, height, isAlwaysNamed) {
  const taken = at.map(([x, y]) => [x - 8, y - 8, x + 8, y + 8]);
  const labels = new Array(at.length);
  for (const i of [...at.keys()].sort((i, j) => isAlwaysNamed(j) - isAlwaysNamed(i))) {
    const [x, y] = at[i];
    const text = fitText(labelOf(i), Math.min(170, width * 0.38), 13);
    const w = 1.12 * widthOf(text, 13) + 2;  // selected names are bold
    const choices = [
      { x: x + 12, y: y + 4.5, anchor: "start", box: [x + 12, y - 8, x + 12 + w, y + 8] },
      { x: x - 12, y: y + 4.5, anchor: "end", box: [x - 12 - w, y - 8, x - 12, y + 8] },
      { x, y: y - 14, anchor: "middle", box: [x - w / 2, y - 27, x + w / 2, y - 11] },
      { x, y: y + 24, anchor: "middle", box: [x - w / 2, y + 12, x + w / 2, y + 28] },
      { x: x + 8, y: y - 18, anchor: "start", box: [x + 8, y - 31, x + 8 + w, y - 15] },
      { x: x + 8, y: y + 27, anchor: "start", box: [x + 8, y + 15, x + 8 + w, y + 31] },
      { x: x - 8, y: y - 18, anchor: "end", box: [x - 8 - w, y - 31, x - 8, y - 15] },
      { x: x - 8, y: y + 27, anchor: "end", box: [x - 8 - w, y + 15, x - 8, y + 31] },
    ];
    const cost = ({ box }, rank) => taken.reduce((sum, other, j) => sum + (j === i ? 0 : overlap(box, other)), 0.1 * rank) +
      40 * (Math.max(0, -box[0]) + Math.max(0, box[2] - width) + Math.max(0, -box[1]) + Math.max(0, box[3] - height));
    const costs = choices.map(cost), least = Math.min(...costs);
    const best = choices[costs.indexOf(least)];
    const shown = isAlwaysNamed(i) || least < 2;  // 0.1 for each place that is worse
    if (shown) taken.push(best.box);
    labels[i] = { ...best, text, shown };
  }
  return labels;
}

function overlap(a, b) {
  return Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
}

function scaleBar(places, height) {
  const raw = 70 / places.unit;
  const power = 10 ** Math.floor(Math.log10(raw));
  const length = [1, 2, 5, 10].map((f) => f * power).filter((v) => v <= raw * 1.5).pop();
  const text = svgElement("text", { x: 14 + length * places.unit, y: height - 6, class: "soft" });
  text.textContent = "LiftEMD " + Number(length.toPrecision(1));
  return [svgElement("path", { d: "M8 " + (height - 14) + "v5h" + length * places.unit + "v-5", fill: "none", stroke: "var(--soft)" }), text];
}
