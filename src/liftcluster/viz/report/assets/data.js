"use strict";
/* The data of the page, and helpers that create elements and format values. Names from the data are
   only ever set as text (textContent, option labels, SVG text) and never parsed as HTML. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const CLUSTERINGS = DATA.clusterings;

function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key in made && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function svgElement(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function byId(id) { return document.getElementById(id); }

/* An array of little-endian numbers from base64. */
const READERS = { uint16: [Uint16Array, "getUint16"], uint32: [Uint32Array, "getUint32"],
  float32: [Float32Array, "getFloat32"], float64: [Float64Array, "getFloat64"] };
function unpack(packed) {
  const text = atob(packed.base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  if (packed.dtype === "uint8") return bytes;
  const [type, get] = READERS[packed.dtype], view = new DataView(bytes.buffer), size = type.BYTES_PER_ELEMENT;
  return type.from({ length: bytes.length / size }, (_, i) => view[get](size * i, true));
}

const unpackCache = new Map();
function unpackOnce(packed) {
  if (!unpackCache.has(packed)) unpackCache.set(packed, unpack(packed));
  return unpackCache.get(packed);
}

/* A name on one line without direction marks; isolated() keeps right-to-left names from reordering
   the text around them. */
function clean(name) { return name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "").replace(/\s+/g, " ").trim(); }
function shorten(name) {
  const letters = Array.from(clean(name));
  return letters.length <= 40 ? letters.join("") : letters.slice(0, 39).join("") + "…";
}
function isolated(name) { return "\u2068" + shorten(name) + "\u2069"; }
function nameElement(name) { return element("bdi", { className: "name", textContent: shorten(name), title: clean(name) }); }
function nameOf(i) { return CLUSTERINGS[i].name; }

/* Words that all inputs begin with; labels of plots show the rest of the name. */
const PREFIX = commonPrefix(CLUSTERINGS.filter((c) => !c.is_consensus).map((c) => clean(c.name)));
function commonPrefix(names) {
  let prefix = names[0];
  for (const name of names) while (!name.startsWith(prefix)) prefix = prefix.slice(0, -1);
  prefix = prefix.slice(0, Math.max(...Array.from(" _-.:/,", (mark) => prefix.lastIndexOf(mark))) + 1);
  return names.length > 2 && prefix.length > 5 && names.every((name) => name.length > prefix.length) ? prefix : "";
}
function labelOf(i) { return withoutPrefix(clean(nameOf(i))); }
function withoutPrefix(name) { return PREFIX && name.startsWith(PREFIX) ? "…" + name.slice(PREFIX.length) : name; }
function labelElement(name) { return element("bdi", { className: "name", textContent: shorten(withoutPrefix(clean(name))), title: clean(name) }); }

/* Rows of a matrix, which is packed as a constant, as a triangle with its diagonal, or in full. */
function unpackMatrix(packed, m) {
  if ("constant" in packed) return Array.from({ length: m }, () => new Array(m).fill(packed.constant));
  const values = Array.from(unpack(packed.triangle || packed.full), (v) => (Number.isNaN(v) ? null : v));
  if (packed.full) return Array.from({ length: m }, (_, i) => values.slice(i * m, (i + 1) * m));
  const start = (i) => i * m - (i * (i - 1)) / 2 - i;  // values[start(i) + j] is in row i, column j >= i
  return Array.from({ length: m }, (_, i) => Array.from({ length: m }, (_, j) => values[start(Math.min(i, j)) + Math.max(i, j)]));
}
for (const measure of Object.values(DATA.measures)) {
  for (const key of ["values", "errors"]) measure[key] = unpackMatrix(measure[key], CLUSTERINGS.length);
}

function decimals(value, digits = 3) {
  if (value === null) return "–";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return value.toFixed(digits);
}
function margin(error) { return error ? " ± " + (error < 0.00005 ? error.toExponential(0) : error.toFixed(4)) : ""; }
function percent(share) { return (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %"; }
function count(n) { return n.toLocaleString("en"); }

/* Names of measures on the page; others are shown as they are. */
const DISPLAY_NAMES = { lift_emd: "LiftEMD", lift_kd: "LiftKD", lift_hausdorff: "LiftHausdorff" };
function displayName(measure) { return DISPLAY_NAMES[measure] || measure; }

const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, size) {
  ruler.font = size + "px system-ui, sans-serif";
  return ruler.measureText(text).width;
}
function fitText(name, width, size) {
  const letters = Array.from(clean(name).slice(0, 200));
  if (letters.length === clean(name).length && widthOf(letters.join(""), size) <= width) return letters.join("");
  while (letters.length > 1 && widthOf(letters.join("") + "…", size) > width) letters.pop();
  return letters.join("") + "…";
}
