/* The state of the page, two selected clusterings and a measure, and what updates when it changes. */

const page = {
  state: startingState(),
  panels: [],

  choose(change) {
    const next = { ...this.state, ...change };
    if (next.first === next.second) {  // swap them instead
      if ("first" in change) next.second = this.state.first;
      else next.first = this.state.second;
    }
    const samePair = next.first === this.state.first && next.second === this.state.second;
    this.show(next, samePair);
    rememberState(this.state);
  },

  show(next, samePair) {
    this.state = next;
    if (samePair) this.updateMeasure();
    else this.update();
  },

  /* Follow the address: the selection that a link keeps, where the address has one. */
  followLink() {
    const linked = stateOfLink(location.hash);
    if (!linked) return;
    Object.assign(camera, linked.camera || wholeView());
    this.show({ ...startingState(), ...linked.state }, false);
  },

  highlight(cluster) {
    this.state = { ...this.state, highlight: cluster };
    this.panels.forEach((panel) => panel.update());
    const shown = cluster && isolated(CLUSTERINGS[cluster.clustering].clusters[cluster.cluster]) + " of " + isolated(nameOf(cluster.clustering));
    offerList(cluster);
    byId("highlighted").textContent = cluster ? "Showing only " + shown + " in colour; select it again to show all." : "";
  },

  update() {
    const { state } = this;
    this.updated = true;
    this.updateMeasure();
    drawMap(state, (change) => this.choose(change));
    drawFlow(state);
    drawMoves(state);
    drawDifferenceTable(state);
    this.panels.forEach((panel) => panel.update());
    drawClusters(state);
    drawSelection();
  },

  recolour() { this.update(); drawConsensus(); drawTrust(); },

  updateMeasure() {
    const { state } = this;
    filterNames();
    for (const key of ["measure", "order"]) byId(key).value = state[key];
    drawHeatmap(state, (change) => this.choose(change));
    drawMeasures(state);
    byId("pair-summary").replaceChildren(...pairSummary(state));
  },

  redraw() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.panels.forEach((panel) => panel.draw()); rememberState(this.state, true); }, 150);
    if (this.frameRequested) return;
    this.frameRequested = true;
    requestAnimationFrame(() => {
      this.frameRequested = false;
      this.panels.forEach((panel) => panel.draw(30000));
    });
  },
  move(dx, dy) { camera.x += dx; camera.y += dy; this.redraw(); },
  zoom(factor) { camera.zoom = Math.min(Math.max(camera.zoom * factor, 0.5), 200); this.redraw(); },
  showAll() { Object.assign(camera, wholeView()); this.redraw(); },

  describe(p) {
    const lines = ["point " + count(unpackOnce(POINTS.order)[p])];
    const { first, second } = this.state;
    const shown = [first, second, ...CLUSTERINGS.keys()].filter((i, at, all) => all.indexOf(i) === at).slice(0, 8);
    for (const i of shown) {
      const label = labelsOf(i)[p], c = CLUSTERINGS[i];
      lines.push(isolated(fitText(c.name, 130, 13)) + ": " + (label < c.k ? isolated(fitText(c.clusters[label], 130, 13)) : "in no cluster"));
    }
    if (CLUSTERINGS.length > shown.length) lines.push("and " + count(CLUSTERINGS.length - shown.length) + " other clusterings");
    return [...lines, ...describeValues(p, this.panels)].join("\n");
  },
};

function wholeView() { return { x: POSITIONS.width / 2, y: POSITIONS.height / 2, zoom: 1 }; }

/* Start with the two inputs that are farthest apart. */
function startingState() {
  const D = DATA.measures.lift_emd.values;
  let [first, second] = [0, 1];
  CLUSTERINGS.forEach((a, i) => CLUSTERINGS.forEach((b, j) => {
    if (i < j && !a.is_consensus && !b.is_consensus && D[i][j] > D[first][second] + 1e-9) [first, second] = [i, j];
  }));
  return { first, second, measure: "lift_emd", order: "similarity", highlight: null };
}

function pairSummary(state) {
  const measure = DATA.measures[state.measure];
  const value = measure.values[state.first][state.second], error = measure.errors[state.first][state.second];
  const main = mainMove(pairOf(state.first, state.second).moves);
  const parts = [nameElement(nameOf(state.first)), " and ", nameElement(nameOf(state.second))];
  if (value === null) return [...parts, " cannot be compared by " + displayName(state.measure) + "."];
  parts.push(" are " + decimals(value) + margin(error) + " apart by " + displayName(state.measure) +
    amongPairs(measure, value) + ". ");
  parts.push(main ? "Main change: " + moveText(main) + "." : "All clusters stayed in place.");
  return parts;
}

function amongPairs(measure, value) {
  const { rank, all } = rankAmongPairs(measure, value);
  if (all === 1) return "";
  const pairs = count(all) + (measure.is_symmetric ? "" : " ordered") + " pairs";
  if (rank === 1) return ", the closest of " + pairs;
  return rank === all ? ", the farthest of " + pairs : ", rank " + count(rank) + " of " + pairs + " (1 is the closest)";
}

/* With many clusterings, a field restricts both lists to the names that contain a text, and to what is selected. */
function filterNames() {
  const text = byId("filter").value.trim().toLowerCase(), { state } = page;
  for (const key of ["first", "second"]) {
    byId(key).replaceChildren(...CLUSTERINGS.map((c, i) => [i, clean(c.name)])
      .filter(([i, name]) => i === state[key] || name.toLowerCase().includes(text))
      .map(([i, name]) => element("option", { value: String(i), textContent: name.length > 24 ? labelOf(i) : name })));
    byId(key).value = String(state[key]);
  }
}

function fillChoosers() {
  filterNames();
  byId("filter-label").hidden = CLUSTERINGS.length <= 12;
  byId("filter").addEventListener("input", filterNames);
  byId("order").addEventListener("change", (event) => page.choose({ order: event.target.value }));
  for (const key of ["first", "second"]) {
    byId(key).addEventListener("change", (event) => page.choose({ [key]: Number(event.target.value) }));
  }
  byId("measure").append(...Object.keys(DATA.measures).map((name) => element("option", { value: name, textContent: displayName(name) })));
  byId("measure").addEventListener("change", (event) => page.choose({ measure: event.target.value }));
  byId("swap").addEventListener("click", () => page.choose({ first: page.state.second, second: page.state.first }));
  byId("chooser").addEventListener("submit", (event) => event.preventDefault());
  byId("zoom-in").addEventListener("click", () => page.zoom(1.5));
  byId("zoom-out").addEventListener("click", () => page.zoom(1 / 1.5));
  byId("zoom-reset").addEventListener("click", () => page.showAll());
}

/* Say above each area that is larger than its frame that it scrolls, and let the keyboard reach it. */
function watchScrolling() {
  for (const area of document.querySelectorAll(".scroll")) {
    const hint = element("p", { className: "scroll-hint hint", hidden: true }), isStop = area.hasAttribute("tabindex");
    (area.closest(".tree-grid") || area).before(hint);
    const check = () => {
      const wider = area.scrollWidth > area.clientWidth + 1, higher = area.scrollHeight > area.clientHeight + 1;
      hint.textContent = (wider && higher ? "Scroll sideways and down" : wider ? "Scroll sideways" : "Scroll down") + " to see all of it.";
      hint.hidden = !wider && !higher;
      if (isStop) return;
      if (wider || higher) area.tabIndex = 0;
      else area.removeAttribute("tabindex");
    };
    const observer = new ResizeObserver(check);
    observer.observe(area);
    for (const child of area.children) observer.observe(child);
  }
}

function pointsHint() {
  const parts = [POINTS.shown < POINTS.n ? "Showing " + count(POINTS.shown) + " of " + count(POINTS.n) + " points, drawn at random" : count(POINTS.n) + " points",
    " in " + POINTS.description + (POSITIONS.stretched ? " (axes stretched)" : "") + ". "];
  if (POINTS.compared < POINTS.shown) parts.push("Differences are shown for " + count(POINTS.compared) + " of them. ");
  parts.push("Matching clusters have the same colour; the third plot shows how far apart the two clusters of each point are. Select one in a legend to highlight it in all three plots; drag to move, double-click or Ctrl + wheel to zoom.");
  byId("points-hint").textContent = parts.join("");
}

const THEMES = ["automatic", "light", "dark"];
function setTheme(name) {
  if (name === "automatic") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId("theme").textContent = "Theme: " + name;
  page.theme = name;
}

function start() {
  fillChoosers();
  setTheme("automatic");
  byId("theme").addEventListener("click", () => {
    setTheme(THEMES[(THEMES.indexOf(page.theme) + 1) % THEMES.length]);
    page.recolour();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.recolour());
  window.addEventListener("beforeprint", () => { printing = true; page.recolour(); });
  window.addEventListener("afterprint", () => { printing = false; page.recolour(); });
  page.panels = ["first", "second", "differences"].map((choice, i) => new Panel(choice, i + 1, page));
  byId("panels").append(...page.panels.map((panel) => panel.holder));
  for (const card of ["distances-card", "map-card"]) byId(card).classList.toggle("wide", CLUSTERINGS.length > MANY);
  offerAllDownloads();
  watchScrolling();
  pointsHint();
  startSelecting();
  drawClusterings();
  drawDrift();
  drawConsensus();
  drawTrust();
  if (location.hash) page.followLink();
  if (!page.updated) page.update();
  for (const event of ["hashchange", "popstate"]) window.addEventListener(event, () => page.followLink());
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;  // phones resize when the address bar hides
    width = window.innerWidth;
    page.update();
    drawTrust();
  });
  document.documentElement.dataset.ready = "yes";
}

start();
