"use strict";
// What the scripts of all pages share: the page's data, numbers for people, elements, and colours of the style.

/** The JSON of the page. */
const data = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes, and children that are elements or texts. Texts stay texts, whatever they hold. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/** Replaces the children of an element. */
function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** The columns of the page, by name, as typed arrays: unpacked from base64 and zlib. */
async function unpackColumns(described) {
  const element = byId("columns");
  if (element === null) return {};
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot unpack the page's data (Chrome 80, Firefox 113 and Safari 16.4 can)");
  const text = atob(element.textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  element.remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const types = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, u8: Uint8Array };
  const columns = {};
  for (const each of described) columns[each.name] = new types[each.type](bytes, each.offset, each.count);
  return columns;
}

/** A number with three significant digits, as C's %.3g prints it. */
function threeDigits(value) {
  return Math.abs(value) >= 999.5 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** `count` in the largest unit in which it is at least 1. */
function rounded(count, units) {
  if (!Number.isFinite(count)) return String(count);
  if (count === 0) return "0" + units[0][0];
  let chosen = units[0];
  for (const unit of units) {
    if (unit !== units[0] && Math.abs(count / unit[1]) < 0.9995) break;
    chosen = unit;
  }
  return threeDigits(count / chosen[1]) + chosen[0];
}

const kTimes = [["ps", 1], ["ns", 1e3], ["us", 1e6], ["ms", 1e9], ["s", 1e12]];
const kSizes = [["B", 1], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]];
const kRates = kSizes.map(([name, worth]) => [name + "/s", worth]);

const time = (picoseconds) => rounded(picoseconds, kTimes);
const rate = (bytesPerSecond) => rounded(bytesPerSecond, kRates);

/** A share in percent to a tenth; less than all is never "100.0 %". */
function percent(share) {
  const text = (100 * share).toFixed(1);
  return (text === "100.0" && share < 1 ? "99.9" : text) + " %";
}

const kCounts = new Intl.NumberFormat("en");
/** "20,000". */
const grouped = (count) => kCounts.format(count);
/** "1 link", "20,000 links". */
function counted(count, noun) {
  const many = noun.endsWith("ch") ? noun + "es" : noun + "s";
  return grouped(count) + " " + (count === 1 ? noun : many);
}

/** "0-3, 8": ascending numbers, runs as first-last; at most `most` runs. */
function ranges(numbers, most) {
  const parts = [];
  for (let i = 0; i < numbers.length; ) {
    let end = i + 1;
    while (end < numbers.length && numbers[end] === numbers[end - 1] + 1) ++end;
    if (parts.length === most) return parts.join(", ") + ", ...";
    parts.push(end > i + 1 ? numbers[i] + "-" + numbers[end - 1] : String(numbers[i]));
    i = end;
  }
  return parts.join(", ");
}

/** The index of the first element that is greater than `value`, in a sorted part of an array. */
function firstAbove(array, value, from, to) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (array[middle] <= value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Colours of the style sheet, read again where the reader's scheme changes. */
const colours = {};
const kColourNames = ["ink", "paper", "muted", "line", "busy", "reduce", "copy", "mark", "cut", "wait", "late", "fill"];
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of kColourNames) colours[name] = style.getPropertyValue("--" + name).trim();
}
readColours();
const schemeListeners = [];
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  schemeListeners.forEach((redraw) => redraw());
});

/** A colour between two, both as #rrggbb. */
function between(from, to, share) {
  const part = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  let result = "#";
  for (let i = 0; i < 3; ++i) {
    const value = Math.round(part(from, i) + (part(to, i) - part(from, i)) * share);
    result += value.toString(16).padStart(2, "0");
  }
  return result;
}

/** The one tip that follows the pointer. */
const tip = {
  element: null,
  show(text, x, y) {
    if (this.element === null) {
      this.element = make("div", { id: "tip", role: "status" });
      document.body.append(this.element);
    }
    this.element.textContent = text;
    this.element.hidden = false;
    const width = this.element.offsetWidth;
    const left = x + 14 + width > window.innerWidth ? x - width - 10 : x + 14;
    this.element.style.left = Math.max(4, left) + "px";
    this.element.style.top = y + 14 + this.element.offsetHeight > window.innerHeight
      ? y - this.element.offsetHeight - 8 + "px" : y + 14 + "px";
  },
  hide() {
    if (this.element !== null) this.element.hidden = true;
  },
};

/** Gives a canvas as many pixels as it takes on the screen, and its context in CSS pixels. */
function contextOf(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** A table with a heading, of texts or elements; `numbers`: the columns that are right-aligned. */
function tableOf(caption, heading, rows, numbers) {
  const right = (i) => (numbers.includes(i) ? "number" : null);
  return make("table", {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...heading.map((text, i) => make("th", { scope: "col", class: right(i) }, text)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell, i) => make("td", { class: right(i) },
        cell))))));
}
