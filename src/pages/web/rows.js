"use strict";
// The rows of a report: cells by column, as numbers and for people, and conditions on them.

const columns = data.columns;
const columnOf = new Map(columns.map((column) => [column.name, column]));

/** A cell: a number, a text, or null. */
function cell(column, row) {
  if (column === undefined) return null;
  if (column.cells) return column.cells[row];
  return column.values[column.index ? column.index[row] : 0];
}
const value = (name, row) => cell(columnOf.get(name), row);

/** Whether a setting's cell has its default, which explains nothing. */
function isPlain(column, row) {
  return column.plain !== undefined && column.plain[column.index ? column.index[row] : 0] === 1;
}

// Units in which somebody wrote a size: the shortest exact one.
const kExactSizes = [["B", 1], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12],
  ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]];

/** size / worth with at most six digits after the point; null where it has more. */
function exactly(size, worth) {
  for (let digits = 0; digits <= 6; ++digits) {
    const scaled = Number((size / worth).toFixed(digits));
    if (Math.abs(scaled * worth - size) < 1e-6) return String(scaled);
  }
  return null;
}

function sizeText(size) {
  let best = null;  // the shortest; of equally short ones a whole number, then the smaller unit
  let bestIsWhole = false;
  for (const [name, worth] of kExactSizes) {
    const amount = exactly(size, worth);
    if (amount === null || (worth > 1 && size < worth)) continue;
    const text = amount + name;
    const whole = size % worth === 0;
    if (best !== null && (text.length > best.length || (text.length === best.length && (!whole || bestIsWhole)))) continue;
    best = text;
    bestIsWhole = whole;
  }
  const manyBytes = best !== null && /^[0-9]+B$/.test(best) && size > 9999;
  return best !== null && best.length <= 7 && !manyBytes ? best : rounded(size, kSizes);
}

function memoryText(size) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; size >= 999.5 && unit + 1 < units.length; ++unit) size /= 1024;
  return (size >= 999.5 ? String(Math.round(size)) : String(Number(size.toPrecision(3)))) + units[unit];
}

/** A real number with four significant digits, as C's %.4g prints it. */
function fourDigits(number) {
  if (number === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(Number(number.toPrecision(4)))));
  if (exponent >= -4 && exponent < 4) return String(Number(number.toPrecision(4)));
  const [mantissa, power] = number.toExponential(3).split("e");
  const digits = power.slice(1).padStart(2, "0");
  return String(Number(mantissa)) + "e" + power[0] + digits;
}

/** A cell for people, as `tenex show` prints it. */
function shown(column, row) {
  return shownValue(column, cell(column, row));
}

function shownValue(column, content) {
  if (content === null || content === undefined) return "-";
  if (typeof content === "number") {
    if (column.units === "ps") return time(content);
    if (column.units === "B") return column.memory ? memoryText(content) : sizeText(content);
    if (column.units === "B/s") return rate(content);
    if (column.units === "USD") return "$" + grouped(Math.round(content));
    if (!column.real) return String(content);
    return column.percent ? percent(content) : fourDigits(content);
  }
  if (column.units === "") return content;
  return content.split(",").map((each) => shownValue(column, Number(each))).join(", ");
}

const kUnits = new Map([["ps", 1], ["ns", 1e3], ["us", 1e6], ["ms", 1e9], ["s", 1e12], ["%", 0.01]]
  .concat(kExactSizes).concat(kExactSizes.map(([name, worth]) => [name + "/s", worth])));

/** "1MiB" as a number of base units; a text as it is. */
function parseValue(text) {
  const match = /^([0-9.eE+-]+)\s*([A-Za-z/%]*)$/.exec(text);
  if (match === null || !Number.isFinite(Number(match[1]))) return text;
  if (match[2] === "") return Number(match[1]);
  return kUnits.has(match[2]) ? Number(match[1]) * kUnits.get(match[2]) : text;
}

/** The column with this name, or with this name and a unit. */
function findColumn(name) {
  const found = columnOf.get(name) || columns.find((column) => column.short === name) ||
    ["_ps", "_bytes", "_bytes_per_s", "_seconds", "_usd", "_setting"].map((end) => columnOf.get(name + end))
        .find(Boolean);
  return found || null;
}

const kCompare = {
  "=": (a, b) => a === b, "!=": (a, b) => a !== b, "<": (a, b) => a < b, "<=": (a, b) => a <= b,
  ">": (a, b) => a > b, ">=": (a, b) => a >= b,
};

/** A test of a row from what is typed, and what is wrong with it. */
function conditionOf(text) {
  const tests = [];
  let problem = "";
  for (const word of text.trim().split(/\s+/).filter((each) => each !== "")) {
    const match = /^([A-Za-z_]+)(<=|>=|!=|<|>|=)(.+)$/.exec(word);
    const column = match === null ? null : findColumn(match[1]);
    if (match !== null && column === null) problem = "no column is called " + match[1];
    if (match !== null && column !== null) {
      const wanted = parseValue(match[3]);
      const compare = kCompare[match[2]];
      tests.push((row) => {
        const content = cell(column, row);
        if (content === null) return false;
        if (typeof content === "number") return typeof wanted === "number" && compare(content, wanted);
        return compare(content, match[3]);
      });
    } else {
      const lower = word.toLowerCase();
      tests.push((row, visible) => visible.some((each) => shown(each, row).toLowerCase().includes(lower)));
    }
  }
  return { holds: (row, visible) => tests.every((test) => test(row, visible)), problem };
}

/** Whether the values of a column differ between rows; a default and none are the same. */
function differs(column, rows) {
  const told = (row) => (isPlain(column, row) ? null : cell(column, row));
  const first = rows.length > 0 ? told(rows[0]) : null;
  return rows.some((row) => told(row) !== first);
}

const allRows = Array.from({ length: data.rows }, (_, i) => i);
const differing = columns.filter((column) => (column.source === "setting" || column.source === "seed") &&
  (column.index !== undefined) && differs(column, allRows));

/** What tells a row from others, in a few words; `without`: columns that are said elsewhere. */
function nameOfRow(row, without) {
  const parts = differing.filter((column) => !without.includes(column.name) && cell(column, row) !== null &&
    !(isPlain(column, row) && column.source === "setting" && column.name !== "algorithm"))
    .map((column) => (["topology", "algorithm", "collective", "workload"].includes(column.name) || column.units !== ""
      ? shown(column, row) : column.short + " " + shown(column, row)));
  return parts.join(", ") || value("algorithm", row) || String(value("key", row)).slice(0, 8);
}

const isOk = (row) => value("status", row) === "ok";

/** The lines that `tenex show DIR KEY` prints. */
function explanation(row) {
  const lines = [["key", value("key", row)]];
  const add = (column) => {
    if (cell(column, row) === null || isPlain(column, row)) return;
    lines.push([column.short, shown(column, row)]);
  };
  columns.filter((column) => column.answer > 0).sort((a, b) => a.answer - b.answer).forEach(add);
  const textOf = (texts) => texts.values[texts.index[row]];
  if (textOf(data.bound_meaning) !== "") lines.push(["bound_meaning", textOf(data.bound_meaning)]);
  lines.push(["limited_by", textOf(data.limited_by)]);
  columns.filter((column) => column.answer === 0 && column.source !== "key").forEach(add);
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => name.padEnd(width) + "  " + text).join("\n") + "\n";
}
