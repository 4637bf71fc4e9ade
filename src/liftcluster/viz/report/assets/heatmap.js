/* Heat map of the distances between all clusterings: a table whose cells are buttons. */

function drawHeatmap(state, choose) {
  const table = byId("heatmap");
  const measure = DATA.measures[state.measure];
  const all = measure.values.flat().filter((v) => v !== null);
  const top = Math.max(...all, 1e-12);
  const m = CLUSTERINGS.length;
  const digits = fitHeatmap(table, m);
  const header = element("tr", {}, element("td"));
  for (let j = 0; j < m; j++) {
    header.append(element("th", { scope: "col", title: clean(nameOf(j)), className: j === state.second ? "on" : "" },
      element("span", { textContent: isolated(nameOf(j)) })));
  }
  const body = element("tbody");
  for (let i = 0; i < m; i++) {
    const row = element("tr", {}, element("th", { scope: "row", title: clean(nameOf(i)), className: i === state.first ? "on" : "" },
      element("span", { textContent: isolated(nameOf(i)) })));
    for (let j = 0; j < m; j++) row.append(heatmapCell(i, j, measure.values[i][j], top, digits, state, choose));
    body.append(row);
  }
  const caption = element("caption", { className: "hint", textContent: displayName(state.measure) + " between all clusterings" });
  const hadFocus = table.contains(document.activeElement);
  table.replaceChildren(caption, element("thead", {}, header), body);
  if (hadFocus) focusCell(state.first, state.second);
  byId("heatmap-scale").replaceChildren(rampBar("distance", "0", decimals(top)));
  byId("distances-hint").textContent = displayName(state.measure) + ": " + measure.title +
    (measure.is_symmetric ? "." : "; not symmetric: from row to column.") + " Select a cell to compare the two.";
}

/* Set the cell width to the available space; narrow cells show fewer digits or only colours. */
function fitHeatmap(table, m) {
  const width = table.parentElement.clientWidth, names = Math.min(152, 0.27 * width);
  const cell = Math.floor((width - names - 14) / m) - 2;
  table.classList.toggle("dense", cell < 26);
  table.classList.toggle("tight", cell < 40);
  table.style.setProperty("--names", names + "px");
  table.style.setProperty("--cell", Math.min(Math.max(cell, 12), cell < 26 ? 25 : 54) + "px");
  return cell < 40 ? 2 : 3;
}

function heatmapCell(i, j, value, top, digits, state, choose) {
  if (i === j) return element("td", { className: "same", textContent: "·" });
  const colour = ramp("distance", value === null ? 0 : value / top);
  const chosen = i === state.first && j === state.second;
  const button = element("button", {
    type: "button",
    textContent: value !== null && value >= 1000 ? value.toExponential(1) : decimals(value, digits),
    "aria-pressed": String(chosen),
    "aria-label": isolated(nameOf(i)) + " and " + isolated(nameOf(j)) + ": " + decimals(value),
    title: clean(nameOf(i)) + " – " + clean(nameOf(j)) + ": " + decimals(value),
    tabIndex: chosen ? 0 : -1,
  });
  button.dataset.cell = i + "," + j;
  button.style.background = css(colour);
  button.style.color = textColourOn(colour);
  button.addEventListener("click", () => choose({ first: i, second: j }));
  button.addEventListener("keydown", (event) => moveFocus(event, i, j));
  return element("td", {}, button);
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/* Arrow keys move between cells and skip the diagonal; the table is one tab stop. */
function moveFocus(event, i, j) {
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  const m = CLUSTERINGS.length;
  let [row, column] = [i + step[0], j + step[1]];
  if (row === column) [row, column] = [row + step[0], column + step[1]];
  if (row >= 0 && row < m && column >= 0 && column < m) focusCell(row, column);
}

function focusCell(i, j) {
  const cell = document.querySelector('#heatmap button[data-cell="' + i + "," + j + '"]');
  if (cell) cell.focus();
}
