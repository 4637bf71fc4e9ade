/* What each cluster is like: the features and columns that set it apart from all other points. */

const PROFILES = DATA.profiles;
const MOST_PROFILES = 60;

function drawClusters(state) {
  const card = byId("clusters-card"), mine = CLUSTERINGS[state.first];
  card.hidden = !TABLE.items.length;
  if (card.hidden) return;
  const found = PROFILES.clusterings[state.first].slice().sort((a, b) => mine.masses[b.cluster] - mine.masses[a.cluster]);
  const sample = PROFILES.n_points < POINTS.n ? " Computed from " + count(PROFILES.n_points) + " points, drawn at random." : "";
  byId("clusters-hint").replaceChildren("The clusters of ", nameElement(mine.name), ", the first of the two selected above, and what sets each apart from all other points: " +
    "the cluster in its colour, all points in grey. Select a name to colour the third plot by it." + sample);
  const shown = found.slice(0, MOST_PROFILES).map((profile) => profileOf(profile, state.first));
  const more = mine.k - shown.length;
  if (more > 0) shown.push(element("p", { className: "hint", textContent: "… and " + count(more) + " smaller clusters." }));
  byId("profiles").replaceChildren(...shown);
}

function profileOf({ cluster, size, in_words, entries }, clustering) {
  const mine = CLUSTERINGS[clustering], name = mine.clusters[cluster], colour = css(clusterColour(mine.colours[cluster]));
  const heading = element("h3", {}, swatch(mine.colours[cluster]), nameElement(name), " ",
    element("span", { className: "hint", textContent: count(size) + (size === 1 ? " point, " : " points, ") + percent(mine.masses[cluster]) }));
  const words = in_words || (mine.k === 1 ? "all points" : "much like the other points in every feature");
  const rows = entries.map((entry) => {
    const column = PROFILES.columns[entry.column];
    return element("tr", {}, element("th", { scope: "row" }, columnButton(column)), element("td", {}, pictureOf(entry, column, colour)),
      element("td", {}, ...entryText(entry, column)), element("td", { className: "number", textContent: (entry.effect > 0 ? "+" : "−") + Math.abs(entry.effect).toFixed(2) }));
  });
  const head = element("tr", {}, ...["", "distribution", "median (of all)", "effect"].map((text, i) => element("th", { scope: "col", textContent: text, className: i === 3 ? "number" : "" })));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  const highlight = element("button", { type: "button", className: "quiet", textContent: "Highlight", "aria-label": "Highlight " + isolated(name) + " in the plots" });
  highlight.addEventListener("click", () => { page.highlight({ clustering, cluster }); byId("h-points").scrollIntoView(); });
  const list = element("button", { type: "button", className: "quiet", textContent: "List its points", "aria-label": "List the points of " + isolated(name) });
  list.addEventListener("click", () => { selectCluster({ clustering, cluster }); byId("selection").focus(); });
  return element("article", { className: "profile", "aria-label": clean(name) }, heading, element("p", { textContent: words, dir: "auto" }),
    ...(rows.length ? [table] : []), element("div", { className: "tools" }, highlight, list));
}

/* The name of a column; a button if the plots can be coloured by it. */
function columnButton(column) {
  const i = TABLE.items.findIndex((item) => item.name === column.name && item.group === column.group);
  const shown = nameElement(column.name);  // which may break after an underscore
  shown.replaceChildren(...shown.textContent.split(/(?<=_)/).flatMap((part, at) => at ? [element("wbr"), part] : [part]));
  if (i < 0) return shown;
  const button = element("button", { type: "button", className: "link", title: "Colour the third plot by " + clean(column.name) }, shown);
  button.addEventListener("click", () => { page.panels[2].choose("column " + i); byId("h-points").scrollIntoView(); });
  return button;
}

function entryText(entry, column) {
  if (entry.kind !== "often") return [entry.kind + ": " + scaleText(column, entry.median) + " (" + scaleText(column, column.median) + ")"];
  return entry.values.flatMap(([name, inside, rest], i) => [...(i ? [element("br")] : []), nameElement(name), " " + percent(inside) + " (others " + percent(rest) + ")"]);
}

/* Two histograms over each other, or bars of the shares. */
function pictureOf(entry, column, colour) {
  const width = 96, height = 30;
  const picture = svgElement("svg", { viewBox: "0 0 " + width + " " + height, class: "strip", role: "img" });
  if (entry.kind === "often") {
    picture.setAttribute("aria-label", "Shares of the values");
    const start = 15 - 5 * entry.values.length;
    entry.values.forEach(([, inside, rest], i) => {
      picture.append(svgElement("rect", { x: 0, y: start + 10 * i + 1, width: width * inside, height: 8, fill: colour }),
        svgElement("rect", { x: width * rest - 1, y: start + 10 * i, width: 2, height: 10, class: "mark" }));
    });
    return picture;
  }
  picture.setAttribute("aria-label", "Histogram from " + scaleText(column, column.from) + " to " + scaleText(column, column.to));
  const [all, own] = [column, entry].map(({ bins, peak }) => Array.from(unpack({ dtype: "uint8", base64: bins }), (v) => (v / 255) * peak));
  const top = Math.max(...all, ...own);
  const steps = (shares) => shares.map((share, b) => {
    const y = (height - (height - 1) * (share / top)).toFixed(1);
    return "H" + ((b * width) / shares.length).toFixed(1) + "V" + y + "H" + (((b + 1) * width) / shares.length).toFixed(1);
  }).join("");
  const outline = (shares) => "M0 " + height + steps(shares) + "V" + height + "Z";
  const title = svgElement("title");
  title.textContent = scaleText(column, column.from) + " … " + scaleText(column, column.to);
  picture.append(title, svgElement("path", { d: outline(all), class: "all" }), svgElement("path", { d: outline(own), fill: colour, "fill-opacity": 0.45, stroke: colour }));
  return picture;
}
