/* Heat map of the distances between all clusterings: a table whose cells are buttons. */

const MANY = 24;  // clusterings, from which the heat map and the map are as wide as the page

function orderOf(state) { return state.order === "given" ? [...CLUSTERINGS.keys()] : DATA.order; }

/* The table is built again only if its values, colours or sizes change: 100 clusterings have 10,000 cells. */
function drawHeatmap(state, choose) {
  const table = byId("heatmap"), measure = DATA.measures[state.measure];
  const top = Math.max(...measure.values.flat().filter((v) => v !== null), 1e-12);
  const key = [state.measure, state.order, isDark(), table.parentElement.clientWidth].join();
  if (table.dataset.key !== key) buildHeatmap(table, state, measure, top);
  table.dataset.key = key;
  table.onclick = (event) => { const cell = cellOf(event); if (cell) choose({ first: cell[0], second: cell[1] }); };
  table.onkeydown = (event) => moveFocus(event, state);
  table.onpointerover = table.onfocusin = (event) => describeCell(cellOf(event), measure);
  markPair(table, state);
  byId("heatmap-scale").replaceChildren(rampBar("distance", "0", decimals(top)));
  byId("distances-hint").textContent = distancesHint(state, measure);
  describeCell(null);
}

function distancesHint(state, measure) {
  const errors = measure.errors.flat().filter((v) => v);
  const precision = errors.length ? " " + (DATA.errors_are_random ? "Standard errors" : "Errors") + " are at most " + Number(Math.max(...errors).toPrecision(2)) + "." : "";
  return displayName(state.measure) + ": " + measure.title + (measure.is_symmetric ? "." : "; not symmetric: from row to column.") + precision +
    " Select a cell to compare the two." + (PREFIX ? " All names begin with “" + isolated(PREFIX) + "”, shown as “…”." : "");
}

function buildHeatmap(table, state, measure, top) {
  const order = orderOf(state), digits = fitHeatmap(table, order.length);
  const heading = (i, scope) => element("th", { scope, title: clean(nameOf(i)) }, element("span", { textContent: isolated(labelOf(i)) }));
  const header = element("tr", {}, element("td"), ...order.map((j) => heading(j, "col")));
  const paints = Array.from({ length: 256 }, (_, q) => ramp("distance", q / 255)).map((colour) => [css(colour), textColourOn(colour)]);
  const paint = (value) => paints[value === null ? 0 : Math.round((255 * Math.max(value, 0)) / top)];
  const rows = order.map((i) => element("tr", {}, heading(i, "row"), ...order.map((j) => heatmapCell(i, j, measure.values[i][j], paint, digits))));
  const caption = element("caption", { className: "hint", textContent: displayName(state.measure) + " between all clusterings" });
  const hadFocus = table.contains(document.activeElement);
  table.replaceChildren(caption, element("thead", {}, header), element("tbody", {}, ...rows));
  if (hadFocus) focusCell(state.first, state.second);
}

/* Set the cell width to the available space; narrow cells show fewer digits or only colours. */
function fitHeatmap(table, m) {
  const width = table.parentElement.clientWidth, names = Math.min(152, 0.27 * width);
  const room = (width - names - 14) / m, cell = Math.floor(room) - (room < 28 ? 1 : 2);
  table.classList.toggle("dense", cell < 26);
  table.classList.toggle("tight", cell < 40);
  table.style.setProperty("--names", names + "px");
  table.style.setProperty("--cell", Math.min(Math.max(cell, width < 500 ? 12 : 9), cell < 26 ? 25 : 54) + "px");
  return cell < 40 ? 2 : 3;
}

function heatmapCell(i, j, value, paint, digits) {
  if (i === j) return element("td", { className: "same", textContent: "·" });
  const button = element("button", {
    type: "button",
    textContent: value !== null && value >= 1000 ? value.toExponential(1) : decimals(value, digits),
    "aria-label": isolated(nameOf(i)) + " and " + isolated(nameOf(j)) + ": " + decimals(value),
    tabIndex: -1,
  });
  button.dataset.cell = i + "," + j;
  [button.style.background, button.style.color] = paint(value);
  return element("td", {}, button);
}

/* Mark the selected cell and the names of its row and column. */
function markPair(table, state) {
  const place = orderOf(state), chosen = cellButton(state.first, state.second);
  for (const old of table.querySelectorAll('[aria-pressed="true"]')) { old.setAttribute("aria-pressed", "false"); old.tabIndex = -1; }
  chosen.setAttribute("aria-pressed", "true");
  chosen.tabIndex = 0;
  for (const old of table.querySelectorAll("th.on")) old.classList.remove("on");
  table.tHead.rows[0].cells[1 + place.indexOf(state.second)].classList.add("on");
  table.tBodies[0].rows[place.indexOf(state.first)].cells[0].classList.add("on");
}

function cellOf(event) {
  const button = event.target.closest && event.target.closest("button[data-cell]");
  return button ? button.dataset.cell.split(",").map(Number) : null;
}
function cellButton(i, j) { return document.querySelector('#heatmap button[data-cell="' + i + "," + j + '"]'); }
function focusCell(i, j) { const cell = cellButton(i, j); if (cell) cell.focus(); }

/* Name the two clusterings under the pointer, as small cells have no room for a number. */
function describeCell(cell, measure) {
  byId("heatmap-status").textContent = cell ? isolated(nameOf(cell[0])) + " and " + isolated(nameOf(cell[1])) + ": " + decimals(measure.values[cell[0]][cell[1]]) : "";
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/* Arrow keys move between cells and skip the diagonal; the table is one tab stop. */
function moveFocus(event, state) {
  const step = STEPS[event.key], cell = cellOf(event), order = orderOf(state), m = order.length;
  if (!step || !cell) return;
  event.preventDefault();
  let [row, column] = [order.indexOf(cell[0]) + step[0], order.indexOf(cell[1]) + step[1]];
  if (row === column) [row, column] = [row + step[0], column + step[1]];
  if (row >= 0 && row < m && column >= 0 && column < m) focusCell(order[row], order[column]);
}
