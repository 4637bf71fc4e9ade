/* The selection in the address of the page: #first=…&second=…&measure=…&order=…&view=…, by names. */

const DEFAULT_ORDER = "similarity";

/* URLSearchParams escapes any text, and replaces what is not valid Unicode. */
function linkOf(state) {
  const link = new URLSearchParams([["first", nameOf(state.first)], ["second", nameOf(state.second)], ["measure", state.measure]]);
  if (state.order !== DEFAULT_ORDER) link.set("order", state.order);
  const whole = wholeView();
  if (["x", "y", "zoom"].some((key) => Math.abs(camera[key] - whole[key]) > 1e-6)) {
    link.set("view", ["x", "y", "zoom"].map((key) => Number(camera[key].toFixed(5))).join(","));
  }
  return "#" + link;
}

/* What an address selects; values that this page does not know are ignored. An empty address is the first state,
   another one, such as that of the link to the selection, is none of ours. */
function stateOfLink(hash) {
  const link = new URLSearchParams(hash.slice(1)), state = {};
  if (hash.length > 1 && !["first", "second", "measure", "order", "view"].some((key) => link.has(key))) return null;
  for (const key of ["first", "second"]) {
    const number = CLUSTERINGS.findIndex((c) => new URLSearchParams([["name", c.name]]).get("name") === link.get(key));
    if (number >= 0) state[key] = number;
  }
  if (Object.prototype.hasOwnProperty.call(DATA.measures, link.get("measure"))) state.measure = link.get("measure");
  if (["similarity", "given"].includes(link.get("order"))) state.order = link.get("order");
  const start = startingState(), { first = start.first, second = start.second } = state;
  if (first === second) { delete state.first; delete state.second; }
  return { state, camera: cameraOf(link.get("view")) };
}

function cameraOf(text) {
  const [x, y, zoom, more] = (text || "").split(",").map((part) => (part.trim() ? Number(part) : NaN));
  if (more !== undefined || ![x, y, zoom].every(Number.isFinite) || zoom < 0.5 || zoom > 200) return null;
  return { x, y, zoom };
}

/* Keep the selection in the address: a new entry of the history, or the current one changed. A frame without an
   address of its own, such as that of a notebook, refuses. */
function rememberState(state, inPlace = false) {
  const link = linkOf(state);
  if (link === location.hash) return;
  try {
    history[inPlace ? "replaceState" : "pushState"](null, "", link);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
