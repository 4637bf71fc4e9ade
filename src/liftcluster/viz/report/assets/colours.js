/* Colours in both themes. Matching clusters have the same number in all clusterings; beyond the
   palette, colours repeat with another marker. */

const MARKERS = ["circle", "square", "triangle", "diamond", "cross"];
const RAMPS = {
  light: {
    distance: ["#edf2f8", "#a9cbe4", "#4f97c8", "#14609c", "#08306b"],
    differences: ["#dde1e8", "#f3cf9f", "#ec8a3a", "#c24700", "#6b1d00"],
    confidence: ["#a03400", "#e08a3c", "#d8d3c8", "#7fb0cf", "#00568a"],
    value: ["#b9dcae", "#5cb8a2", "#2c86a0", "#2f5390", "#2a1a5e"],
  },
  dark: {
    distance: ["#232b39", "#25486b", "#2f78ad", "#63b0e4", "#c9e9ff"],
    differences: ["#2e3542", "#6b4526", "#bd6a20", "#ff9d3d", "#ffe3a8"],
    confidence: ["#ffb066", "#b8743a", "#5a5f6b", "#4384b3", "#8fd0ff"],
    value: ["#4b3b8f", "#3a6ea8", "#2f9e9b", "#7ccb7f", "#f1f3a0"],
  },
};

let printing = false;  // print in the light theme
function isDark() {
  if (printing) return false;
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function rgb(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }
function css(colour) { return "rgb(" + colour.map(Math.round).join(",") + ")"; }
function mixed(a, b, share) { return a.map((v, i) => v + (b[i] - v) * share); }

const PALETTE = DATA.palette.map(rgb);
function clusterColour(number) {
  const colour = PALETTE[number % PALETTE.length];
  return isDark() ? mixed(colour, [255, 255, 255], 0.22) : colour;
}
function clusterMarker(number) { return MARKERS[Math.floor(number / PALETTE.length) % MARKERS.length]; }
function backgroundColour() { return rgb(isDark() ? "#191e28" : "#ffffff"); }
function noiseColour() { return isDark() ? [84, 92, 106] : [190, 195, 204]; }

function ramp(name, share) {
  const stops = RAMPS[isDark() ? "dark" : "light"][name].map(rgb);
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(place), stops.length - 2);
  return mixed(stops[i], stops[i + 1], place - i);
}

function luminance(colour) {
  const [r, g, b] = colour.map((v) => {
    const s = v / 255;
    return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
/* Black or white, whichever has more contrast. */
function textColourOn(colour) { return luminance(colour) > 0.179 ? "#000000" : "#ffffff"; }

const SHAPES = {
  circle: "M6 1A5 5 0 1 1 6 11A5 5 0 1 1 6 1Z",
  square: "M1.5 1.5H10.5V10.5H1.5Z",
  triangle: "M6 0.5L11.5 10.5H0.5Z",
  diamond: "M6 0L12 6L6 12L0 6Z",
  cross: "M4 0.5H8V4H11.5V8H8V11.5H4V8H0.5V4H4Z",
};
function swatch(number) {
  return svgElement("svg", { viewBox: "0 0 12 12", class: "swatch", "aria-hidden": "true" },
    svgElement("path", { d: SHAPES[clusterMarker(number)], fill: css(clusterColour(number)) }));
}

/* A colour bar between two labels. */
function rampBar(name, low, high) {
  const canvas = element("canvas", { width: 128, height: 1 });
  const pen = canvas.getContext("2d");
  for (let i = 0; i < 128; i++) {
    pen.fillStyle = css(ramp(name, i / 127));
    pen.fillRect(i, 0, 1, 1);
  }
  return element("div", { className: "scale" }, low, canvas, high);
}
