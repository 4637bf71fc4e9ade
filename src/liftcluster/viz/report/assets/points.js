/* Three scatter plots that pan and zoom together. Pixels are written directly, which is fast enough
   for 200,000 points without a GPU. While the plot moves, only a sample of the points is drawn. */

const POINTS = DATA.points;
const POSITIONS = pointPositions();
const GRID = 256;
const INDEX = gridIndex();
const camera = { x: 0.5 * POSITIONS.width, y: 0.5 * POSITIONS.height, zoom: 1 };

/* Coordinates of the points, in units of the longer axis; very different axes are scaled to equal length. */
function pointPositions() {
  const [x, y] = [unpack(POINTS.x), unpack(POINTS.y)];
  let [w, h] = [0, 1].map((d) => POINTS.high[d] - POINTS.low[d]);
  const stretched = Math.max(w, h) > 4 * Math.min(w, h) && Math.min(w, h) > 0;
  if (stretched) { w = 1; h = 1; }
  const longer = Math.max(w, h) || 1;
  const [width, height] = [w / longer, h / longer];
  return { x: Float32Array.from(x, (v) => (v / 65535) * width), y: Float32Array.from(y, (v) => (v / 65535) * height), width, height, stretched };
}

/* The points of each cell of a grid, to find the point under the pointer. */
function gridIndex() {
  const n = POINTS.shown, cells = new Uint32Array(n), begin = new Uint32Array(GRID * GRID + 1);
  for (let p = 0; p < n; p++) {
    const [i, j] = [gridCell(POSITIONS.x[p]), gridCell(POSITIONS.y[p])];
    cells[p] = j * GRID + i;
    begin[cells[p] + 1]++;
  }
  for (let c = 0; c < GRID * GRID; c++) begin[c + 1] += begin[c];
  const next = begin.slice(), inside = new Uint32Array(n);
  for (let p = 0; p < n; p++) inside[next[cells[p]]++] = p;
  return { begin, inside };
}
function gridCell(v) { return Math.min(Math.max(Math.floor(v * GRID), 0), GRID - 1); }

function labelsOf(i) { return unpackOnce(POINTS.labels[i]); }

/* The labels or the levels that a choice of colours stands for, and their legend. */
function colouring(choice, state) {
  if (choice === "differences") return differencesColouring(state);
  if (choice === "confidence") {
    return { levels: unpackOnce(POINTS.confidence), ramp: "confidence", low: "no input agrees", high: "all agree", ascending: false, title: "the share of the inputs that agree with the consensus" };
  }
  if (itemOf(choice) !== null) return columnColouring(itemOf(choice));
  const i = choice === "first" ? state.first : choice === "second" ? state.second : Number(choice);
  return { clustering: i, labels: labelsOf(i), colours: CLUSTERINGS[i].colours, title: isolated(nameOf(i)) };
}

const differenceCache = new Map();
function differencesColouring({ first, second }) {
  const key = first + "," + second;
  if (!differenceCache.has(key)) {
    const values = differencesOf(first, second), most = values.reduce((a, v) => (v > a ? v : a), 0.05);  // tiny ones look pale
    let missing = 0;
    const keys = Uint32Array.from(values, (v) => (Number.isNaN(v) ? (missing++, 0) : 1 + Math.round((255 * v) / most)));
    differenceCache.set(key, { keys, missing, most });
  }
  const { keys, missing, most } = differenceCache.get(key);
  const notes = missing ? ["grey: in no cluster of one of them (" + percent(missing / keys.length) + ")"] : [];
  return { keys, notes, ramp: "differences", low: "same place (0)", high: "far apart (" + most.toFixed(2) + ")", ascending: true,
    title: "the distance between the clusters of each point in " + isolated(nameOf(first)) + " and " + isolated(nameOf(second)) };
}

/* Pixels of a marker: offsets and coverage. */
const stampCache = new Map();
function stamp(marker, radius) {
  const key = marker + radius;
  if (!stampCache.has(key)) stampCache.set(key, newStamp(marker, radius));
  return stampCache.get(key);
}
function newStamp(marker, radius) {
  const reach = Math.ceil(radius + 0.5), fine = 4, pixels = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      let hits = 0;
      for (let sy = 0; sy < fine; sy++) for (let sx = 0; sx < fine; sx++) {
        if (insideMarker(marker, (dx + (sx + 0.5) / fine - 0.5) / radius, (dy + (sy + 0.5) / fine - 0.5) / radius)) hits++;
      }
      if (hits) pixels.push(dx, dy, Math.round((hits / (fine * fine)) * 255));
    }
  }
  return pixels;
}
function insideMarker(marker, x, y) {
  if (marker === "circle") return x * x + y * y <= 1;
  if (marker === "square") return Math.max(Math.abs(x), Math.abs(y)) <= 0.88;
  if (marker === "diamond") return Math.abs(x) + Math.abs(y) <= 1.25;
  if (marker === "triangle") return y <= 0.8 && y >= -1.1 && Math.abs(x) <= (y + 1.1) * 0.6;
  return (Math.abs(x) <= 0.38 && Math.abs(y) <= 1.1) || (Math.abs(y) <= 0.38 && Math.abs(x) <= 1.1);
}

function radiusFor(n) { return n > 100000 ? 1.0 : n > 30000 ? 1.35 : n > 8000 ? 1.8 : n > 1500 ? 2.5 : n > 300 ? 3.2 : 4.2; }

/* Colour and marker pixels by key; key 0 is for noise and for points that are not highlighted. */
function stylesFor(coloured, radius) {
  const plain = { colour: noiseColour(), pixels: stamp("circle", radius * 0.8) };
  if (coloured.ramp) {
    const pixels = stamp("circle", radius);
    return [plain, ...Array.from({ length: 256 }, (_, q) => ({ colour: ramp(coloured.ramp, q / 255), pixels }))];
  }
  return [plain, ...coloured.colours.map((number) =>
    ({ colour: clusterColour(number), pixels: stamp(clusterMarker(number), radius) }))];
}

/* The key of each point, and the drawing order: key 0 first, large differences last. */
function stylesOfPoints(coloured, highlight) {
  const n = (coloured.levels || coloured.keys || labelsOf(0)).length;
  const keys = coloured.keys ? coloured.keys.slice() : new Uint32Array(n);
  if (coloured.levels) for (let p = 0; p < n; p++) keys[p] = coloured.levels[p] + 1;
  else if (coloured.labels) {
    const k = CLUSTERINGS[coloured.clustering].k;
    for (let p = 0; p < n; p++) keys[p] = coloured.labels[p] < k ? coloured.labels[p] + 1 : 0;
  }
  if (highlight) {
    const labels = labelsOf(highlight.clustering);
    for (let p = 0; p < n; p++) if (labels[p] !== highlight.cluster) keys[p] = 0;
  }
  if (selected) for (let p = 0; p < n; p++) if (!selected.mask[p]) keys[p] = 0;
  return { keys, order: drawingOrder(keys, coloured) };
}

function drawingOrder(keys, coloured) {
  const rank = (key) => (key === 0 ? 0 : coloured.ascending === undefined ? 1 : coloured.ascending ? key : 257 - key);
  const begin = new Uint32Array(259);
  for (const key of keys) begin[rank(key) + 1]++;
  for (let r = 0; r < 258; r++) begin[r + 1] += begin[r];
  const order = new Uint32Array(keys.length);
  for (let p = 0; p < keys.length; p++) order[begin[rank(keys[p])]++] = p;
  return order;
}

class Panel {
  constructor(choice, number, page) {
    this.choice = choice;
    this.page = page;
    this.select = element("select", {});
    this.canvas = element("canvas", { className: "plot", tabIndex: 0, role: "img" });
    this.legend = element("div", { className: "legend", role: "group", "aria-label": "Legend of plot " + number });
    const axes = element("div", { className: "axes" },
      element("span", { textContent: "→ " + POINTS.axes[0] }), element("span", { textContent: "↑ " + POINTS.axes[1] }));
    this.holder = element("div", { className: "panel" },
      element("label", {}, "Colour by", this.select), this.canvas, axes, this.legend);
    this.select.addEventListener("change", () => this.choose(this.select.value));
    this.listen();
  }

  choose(choice) { this.choice = choice; this.update(); }

  listOptions() {
    const { state } = this.page;
    const options = [["first", nameOf(state.first)], ["second", nameOf(state.second)], ["differences", "where these two differ"]];
    if (POINTS.confidence) options.push(["confidence", "confidence of the consensus"]);
    const pinned = CLUSTERINGS.map((c, i) => [String(i), "always " + clean(c.name)]);
    const made = [...options, ...pinned].map(([value, text]) => element("option", { value, textContent: clean(text), selected: value === this.choice }));
    this.select.replaceChildren(...made, ...columnOptions(this.choice));
  }

  update() {
    const { state } = this.page;
    this.listOptions();
    this.coloured = colouring(this.choice, state);
    this.styled = stylesOfPoints(this.coloured, state.highlight);
    this.canvas.setAttribute("aria-label", "Points coloured by " + this.coloured.title +
      ". Arrow keys move the plot, plus and minus zoom, 0 shows all.");
    this.drawLegend();
    this.draw();
  }

  drawLegend() {
    const { state } = this.page;
    const { item, ramp: scale, low, high } = this.coloured, focused = [...this.legend.children].indexOf(document.activeElement);
    if (item || scale) {
      const made = scale ? [rampBar(scale, low, high)] : categoryChips(this.coloured);
      const notes = item ? columnNotes(this.coloured) : this.coloured.notes || [];
      this.legend.replaceChildren(...made, ...notes.map((text) => element("span", { className: "hint", textContent: text })));
      if (focused >= 0 && made[focused]) made[focused].focus();
      return;
    }
    const { clustering } = this.coloured, found = CLUSTERINGS[clustering];
    const chips = found.clusters.slice(0, 60).map((name, cluster) => {
      const on = state.highlight && state.highlight.clustering === clustering && state.highlight.cluster === cluster;
      const chip = element("button", { type: "button", "aria-pressed": String(Boolean(on)), title: clean(name) + ": " + percent(found.masses[cluster]) },
        swatch(found.colours[cluster]), element("span", { textContent: isolated(name) }));
      chip.addEventListener("click", () => this.page.highlight(on ? null : { clustering, cluster }));
      return chip;
    });
    const notes = [];
    if (found.clusters.length > 60) notes.push("and " + count(found.clusters.length - 60) + " more");
    if (DATA.drift) notes.push("grey: the other sample");
    if (found.noise_mass > 0) notes.push("grey: in no cluster (" + percent(found.noise_mass) + ")");
    if (!found.hard) notes.push("soft: coloured by largest membership");
    if (new Set(found.colours.map((number) => number % PALETTE.length)).size < found.k) notes.push("colours repeat with other markers");
    this.legend.replaceChildren(...chips, ...notes.map((text) => element("span", { className: "hint", textContent: text })));
    if (focused >= 0 && chips[focused]) chips[focused].focus();
  }

  size() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    return { ratio, width: Math.max(Math.round(box.width * ratio), 1), height: Math.max(Math.round(box.height * ratio), 1) };
  }

  /* Pixels per unit of the coordinates. */
  unit({ width, height, ratio }) {
    const room = 14 * ratio;
    return camera.zoom * Math.min((width - 2 * room) / (POSITIONS.width || 1), (height - 2 * room) / (POSITIONS.height || 1));
  }

  draw(limit = Infinity) {
    const size = this.size(), { width, height, ratio } = size;
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.image = new ImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer).fill(packedColour(backgroundColour()));
    const larger = Math.min(Math.sqrt(camera.zoom), 3);
    const styles = stylesFor(this.coloured, radiusFor(this.styled.keys.length) * ratio * larger);
    this.canvas.dataset.drawn = stampAll(pixels, width, height, this.styled, styles, this.unit(size), limit);
    this.canvas.getContext("2d", { alpha: false }).putImageData(this.image, 0, 0);
  }

  listen() {
    let from = null, loop = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (looping) {
        loop = new Loop(this, event);
        this.canvas.setPointerCapture(event.pointerId);
        return;
      }
      if (event.pointerType === "touch") { this.showTooltip(event); return; }
      from = [event.clientX, event.clientY];
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointerup", () => {
      from = null;
      if (loop) loop.close();
      loop = null;
    });
    this.canvas.addEventListener("pointercancel", () => { from = loop = null; });
    this.canvas.addEventListener("pointermove", (event) => {
      if (loop) { loop.extend(event); return; }
      if (!from) { this.showTooltip(event); return; }
      const unit = this.unit(this.size()) / this.size().ratio;
      this.page.move((from[0] - event.clientX) / unit, (event.clientY - from[1]) / unit);
      from = [event.clientX, event.clientY];
    });
    this.canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
    this.canvas.addEventListener("dblclick", () => this.page.zoom(2));
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // without Ctrl, scroll the page
      event.preventDefault();
      this.page.zoom(Math.exp(-event.deltaY / 300));
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => {
      const step = 0.15 / camera.zoom;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[event.key]) this.page.move(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.page.zoom(1.5);
      else if (event.key === "-") this.page.zoom(1 / 1.5);
      else if (event.key === "0") this.page.showAll();
      else if (event.key === "Escape" && selected) selectPoints(null);
      else return;
      event.preventDefault();
    });
  }

  /* Where the pointer is, in the plane and in the canvas, and pixels per unit. */
  placeOf(event) {
    const box = this.canvas.getBoundingClientRect(), size = this.size(), unit = this.unit(size) / size.ratio;
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    return { x: camera.x + (left - box.width / 2) / unit, y: camera.y - (top - box.height / 2) / unit, unit, left, top, ratio: size.ratio };
  }

  /* Show the labels of the point under the pointer. */
  showTooltip(event) {
    const { x, y, unit } = this.placeOf(event), tip = byId("tip");
    const p = nearest(x, y, 9 / unit);
    tip.hidden = p < 0;
    if (p < 0) return;
    tip.textContent = this.page.describe(p);
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - 240) + "px";
    tip.style.top = event.clientY + 14 + "px";
  }
}

/* Draw the points with an index below a limit: a random sample, as their order is random. */
function stampAll(pixels, width, height, { keys, order }, styles, unit, limit) {
  const bytes = new Uint8ClampedArray(pixels.buffer), { x: X, y: Y } = POSITIONS;
  const [ox, oy] = [width / 2 - camera.x * unit, height / 2 + camera.y * unit];
  const solid = Uint32Array.from(styles, ({ colour }) => packedColour(colour));
  const stamps = styles.map(({ pixels: list }) => offsets(list, width));
  let drawn = 0;
  for (let o = 0; o < order.length; o++) {
    const p = order[o];
    if (p >= limit) continue;
    const key = keys[p], { reach, full, partial, cover } = stamps[key];
    const x = Math.round(ox + X[p] * unit), y = Math.round(oy - Y[p] * unit);
    if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
    drawn++;
    const at = y * width + x, colour = styles[key].colour;
    for (let q = 0; q < full.length; q++) pixels[at + full[q]] = solid[key];
    for (let q = 0; q < partial.length; q++) {
      const b = 4 * (at + partial[q]), share = cover[q];
      bytes[b] += (colour[0] - bytes[b]) * share;
      bytes[b + 1] += (colour[1] - bytes[b + 1]) * share;
      bytes[b + 2] += (colour[2] - bytes[b + 2]) * share;
    }
  }
  return drawn;
}

function packedColour([r, g, b]) { return (255 << 24 | Math.round(b) << 16 | Math.round(g) << 8 | Math.round(r)) >>> 0; }

/* Pixels of a marker as offsets in memory from its centre. */
const offsetCache = new WeakMap();
function offsets(list, width) {
  const cached = offsetCache.get(list);
  if (cached && cached.width === width) return cached;
  const full = [], partial = [], cover = [];
  let reach = 0;
  for (let q = 0; q < list.length; q += 3) {
    reach = Math.max(reach, Math.abs(list[q]), Math.abs(list[q + 1]));
    const at = list[q + 1] * width + list[q];
    if (list[q + 2] === 255) full.push(at);
    else { partial.push(at); cover.push(list[q + 2] / 255); }
  }
  const made = { width, reach, full: Int32Array.from(full), partial: Int32Array.from(partial), cover: Float32Array.from(cover) };
  offsetCache.set(list, made);
  return made;
}

function nearest(x, y, reach) {
  let best = -1, least = reach * reach;
  for (let j = gridCell(y - reach); j <= gridCell(y + reach); j++) {
    for (let i = gridCell(x - reach); i <= gridCell(x + reach); i++) {
      for (let o = INDEX.begin[j * GRID + i]; o < INDEX.begin[j * GRID + i + 1]; o++) {
        const p = INDEX.inside[o], far = (POSITIONS.x[p] - x) ** 2 + (POSITIONS.y[p] - y) ** 2;
        if (far < least) [best, least] = [p, far];
      }
    }
  }
  return best;
}
