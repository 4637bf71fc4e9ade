/* Features, further columns and ids of the points: their values as text, and as colours. */

const TABLE = DATA.table;
const MOST_CATEGORIES = 40;  // with a colour each

/* The level of a number, or the code of a category, at a point; null if it is missing. */
function levelAt(item, p) {
  const levels = unpackOnce(item), level = levels[p];
  return level === 2 ** (8 * levels.BYTES_PER_ELEMENT) - 1 ? null : level;
}
function numberAt(item, p) {
  const level = levelAt(item, p), share = level / item.top;
  if (level === null || item.exact) return level === null ? null : item.low + level;
  return item.low * (1 - share) + item.high * share;  // the difference of huge numbers overflows
}

/* A value with as many digits as tell it from others in its range. */
function rounded(value, range, parts) {
  const places = Math.ceil(-Math.log10(range / parts || 1));
  if (!(places <= 12) || Math.abs(value) >= 1e15) return String(Number(value.toPrecision(4)));
  const scale = 10 ** Math.max(-places, 0);
  return places > 0 ? String(Number(value.toFixed(places))) : String(Math.round(value / scale) * scale);
}
function scaleText(item, value) { return minus(rounded(value, item.to - item.from, 200)); }
function minus(text) { return text.replace(/^-/, "−"); }

function valueText(item, p) {
  const level = levelAt(item, p);
  if (level === null) return "missing";
  if (item.kind !== "number") return clean(item.names[level]);
  const value = numberAt(item, p);
  if (item.exact) return minus(String(value));
  const sign = level === 0 && item.clipped[0] ? "≤ " : level === item.top && item.clipped[1] ? "≥ " : "";
  return sign + minus(rounded(value, item.high - item.low, item.top > 255 ? 2000 : 250));
}

/* Values at a point for a tooltip: of a few columns, and of those that plots are coloured by. */
function describeValues(p, panels) {
  const lines = TABLE.ids ? ["id: " + isolated(TABLE.ids[p])] : [];
  const coloured = panels.map((panel) => itemOf(panel.choice)).filter((i) => i !== null);
  for (const i of new Set([...coloured, ...TABLE.hover])) {
    const item = TABLE.items[i];
    lines.push(isolated(fitText(item.name, 130, 13)) + ": " + isolated(fitText(valueText(item, p), 130, 13)));
  }
  return lines;
}

/* The number of a column in a choice of colours such as "column 3"; null for others. */
function itemOf(choice) { return choice.startsWith("column ") ? Number(choice.slice(7)) : null; }

/* Options of a choice of colours: features and columns. */
function columnOptions(choice) {
  return [["feature", "Features"], ["column", "Columns"]].map(([group, label]) => {
    const options = TABLE.items.map((item, i) => [item, "column " + i]).filter(([item]) => item.group === group && item.kind !== "text")
      .map(([item, value]) => element("option", { value, textContent: clean(item.name), selected: value === choice }));
    return element("optgroup", { label }, ...options);
  }).filter((group) => group.children.length);
}

/* Colours of a column: a scale for numbers, a colour for each category; key 0 is for missing values. */
const columnKeys = new Map();
function columnColouring(i) {
  const item = TABLE.items[i], title = isolated(item.name);
  if (!columnKeys.has(i)) columnKeys.set(i, keysOf(item));
  const { keys, missing } = columnKeys.get(i);
  if (item.kind === "category") {
    const k = Math.min(item.names.length, MOST_CATEGORIES);
    return { item, keys, missing, title, colours: Array.from({ length: k }, (_, code) => code) };
  }
  const ends = [item.from > item.low || item.clipped[0] ? "≤ " : "", item.to < item.high || item.clipped[1] ? "≥ " : ""];
  return { item, keys, missing, title, ramp: "value", low: ends[0] + scaleText(item, item.from), high: ends[1] + scaleText(item, item.to) };
}
function keysOf(item) {
  const n = POINTS.shown, keys = new Uint32Array(n), range = item.to - item.from || 1;
  let missing = 0;
  for (let p = 0; p < n; p++) {
    const level = levelAt(item, p);
    if (level === null) missing++;
    else if (item.kind === "number") keys[p] = 1 + Math.round(255 * Math.min(Math.max((numberAt(item, p) - item.from) / range, 0), 1));
    else keys[p] = level < MOST_CATEGORIES ? level + 1 : 0;
  }
  return { keys, missing };
}

/* Swatches of the categories, which select their points. */
function categoryChips({ item, keys, colours }) {
  return colours.map((number, code) => {
    const chip = element("button", { type: "button", title: "Select the points with this value" }, swatch(number), element("span", { textContent: isolated(item.names[code]) }));
    chip.addEventListener("click", () => selectPoints(rowsWhere((p) => keys[p] === code + 1), "with " + isolated(item.name) + ": " + isolated(item.names[code])));
    return chip;
  });
}
function columnNotes({ item, missing }) {
  const notes = [];
  if (item.kind === "category" && item.names.length > MOST_CATEGORIES) notes.push("grey: " + count(item.names.length - MOST_CATEGORIES) + " rarer values");
  if (missing) notes.push("grey: missing (" + percent(missing / POINTS.shown) + ")");
  return notes;
}
