"use strict";
// The page of a report: which charts its rows make, and the table.

const kMostBars = 30;
const kMostCharts = 12;
const kRowPixels = 22;

function options(select, entries) {
  fill(select, ...entries.map(([name, text]) => make("option", { value: name }, text)));
}
const pairs = (list) => list.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text)));
const collectiveRows = allRows.filter((row) => isOk(row) && value("collective_time_ps", row) !== null);
const trainingRows = allRows.filter((row) => isOk(row) && value("training_time_ps", row) !== null);

/** Rows by the text of some columns, in order of the first. */
function groupBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}
const distinct = (name, rows) => new Set(rows.map((row) => value(name, row))).size;
const textOf = (name, row) => {
  const column = columnOf.get(name);
  return column === undefined ? "" : shown(column, row);
};

function rowWords(row) {
  const time = columnOf.get(value("training_time_ps", row) !== null ? "training_time_ps" : "collective_time_ps");
  const lines = [nameOfRow(row, [])];
  if (time !== undefined) lines.push("time " + shown(time, row));
  for (const [name, label] of [["bound_ps", "bound"], ["efficiency", "bound / time"], ["busbw_bytes_per_s", "busbw"]])
    if (value(name, row) !== null) lines.push(label + " " + textOf(name, row));
  return lines.join("\n");
}

/** The number of a value among those of a column, so that it has one colour in all charts. */
function styleOf(name, text) {
  const column = columnOf.get(name);
  return column === undefined ? 0 : Math.max(0, column.values.map((each) => shownValue(column, each)).indexOf(text));
}

// Curves over size.

function showCurves() {
  const sizes = distinct("size", collectiveRows);
  if (sizes < 2) return;
  byId("curves").hidden = false;
  if (byId("curve-value").children.length === 0)
    options(byId("curve-value"), [["busbw_bytes_per_s", "bus bandwidth"], ["collective_time_ps", "time"],
        ["algbw_bytes_per_s", "algorithm bandwidth"]]);
  const name = byId("curve-value").value;
  const column = columnOf.get(name);
  const bySeries = distinct("algorithm", collectiveRows) > 1 ? "algorithm" : "topology";
  const facets = bySeries === "algorithm" ? ["collective", "topology"] : ["collective"];
  const groups = groupBy(collectiveRows, (row) => facets.map((facet) => textOf(facet, row)).join(" on "));
  const charts = [];
  for (const [caption, rows] of groups) {
    if (distinct("size", rows) < 2) continue;
    if (charts.length === kMostCharts) break;
    charts.push(curveOf(caption, rows, column, bySeries));
  }
  if (groups.size > kMostCharts) charts.push(make("p", { class: "muted" }, "The first " + kMostCharts + " of "
      + groups.size + " charts."));
  fill(byId("curve-charts"), ...charts);
}

function curveOf(caption, rows, column, bySeries) {
  const better = (a, b) => (column.maximize ? a > b : a < b);
  const best = (list) => list.reduce((found, row) =>
    (found === null || better(cell(column, row), cell(column, found)) ? row : found), null);
  const points = (list) => Array.from(groupBy(list, (row) => value("size", row)))
    .map(([x, same]) => ({ x, row: best(same) })).sort((a, b) => a.x - b.x)
    .map(({ x, row }) => ({ x, y: cell(column, row), row, words: rowWords(row) }));
  const series = Array.from(groupBy(rows, (row) => textOf(bySeries, row)))
    .map(([name, list]) => ({ name, style: styleOf(bySeries, name), points: points(list) }));
  // What the bound allows: the time times bound / time, or the bandwidth over it; of several bounds the loosest.
  const bounded = rows.filter((row) => value("efficiency", row) > 0);
  const limit = (row) => (column.maximize ? cell(column, row) / value("efficiency", row) : value("bound_ps", row));
  const bound = Array.from(groupBy(bounded, (row) => value("size", row)))
    .map(([x, same]) => ({ x, y: same.map(limit).reduce((a, b) => (better(a, b) ? a : b)) })).sort((a, b) => a.x - b.x);
  const format = column.units === "ps" ? time : rate;
  return curveChart(caption, series, bound, byId("curve-scale").value === "log", format, explain);
}

// Rankings.

function showRanking() {
  if (collectiveRows.length < 2) return;
  byId("ranking").hidden = false;
  const groups = groupBy(collectiveRows, (row) => [textOf("collective", row), textOf("size", row)].join(" of "));
  const names = Array.from(groups.keys());
  if (byId("ranking-of").children.length === 0) {
    options(byId("ranking-of"), names.map((name) => [name, name]));
    byId("ranking-of").value = names[names.length - 1];
  }
  const rows = (groups.get(byId("ranking-of").value) || []).slice();
  rows.sort((a, b) => value("collective_time_ps", a) - value("collective_time_ps", b));
  const bars = rows.slice(0, kMostBars).map((row) => {
    const length = value("collective_time_ps", row);
    const bound = value("bound_ps", row) || 0;
    const colour = kPalette[styleOf("algorithm", textOf("algorithm", row)) % kPalette.length];
    return {
      name: nameOfRow(row, ["collective", "size"]), parts: [{ length, colour, words: rowWords(row) }], tick: bound, row,
      note: time(length) + (bound > 0 ? ", +" + (100 * (length / bound - 1)).toFixed(1) + " %" : ""),
    };
  });
  const chart = barChart("ranking by time", bars, byId("ranking").clientWidth, time, explain);
  const more = rows.length > kMostBars ? make("p", { class: "muted" }, "The " + kMostBars + " fastest of "
      + rows.length + ".") : null;
  fill(byId("ranking-chart"), chart, more);
}

// Training.

const kTrainingParts = [
  ["forward_compute_ps", "forward compute", "#7a8794"], ["input_gradient_compute_ps", "gradients of inputs", "#98a4af"],
  ["weight_gradient_compute_ps", "gradients of weights", "#b7c0c8"], ["forward_exposed_ps", "exposed: forward",
      "#0072b2"],
  ["input_gradient_exposed_ps", "exposed: gradients of inputs", "#56b4e9"],
  ["weight_gradient_exposed_ps", "exposed: gradients of weights", "#d55e00"], ["bubble_ps", "pipeline bubble",
      "#e69f00"],
];

function showTraining() {
  if (trainingRows.length === 0) return;
  byId("training").hidden = false;
  const rows = trainingRows.slice().sort((a, b) => value("training_time_ps", a) - value("training_time_ps", b));
  const parts = kTrainingParts.filter(([name]) => rows.some((row) => value(name, row) > 0));
  const bars = rows.slice(0, kMostBars).map((row) => ({
    name: nameOfRow(row, []), row, note: time(value("training_time_ps", row)), tick: value("bound_ps", row) || 0,
    parts: parts.map(([name, label, colour]) => ({ length: value(name, row) || 0, colour, words: label + ": "
        + textOf(name, row) })),
  }));
  const key = parts.map(([, label, colour]) => {
    const mark = d3.create("svg").attr("width", 16).attr("height", 10).attr("aria-hidden", "true");
    mark.append("rect").attr("width", 14).attr("height", 10).attr("fill", colour);
    return make("label", {}, mark.node(), " " + label);
  });
  fill(byId("training-key"), ...key);
  const more = rows.length > kMostBars ? make("p", { class: "muted" }, "The " + kMostBars + " fastest of "
      + rows.length + ".") : null;
  fill(byId("training-chart"), barChart("training time by part", bars, byId("training").clientWidth, time, explain),
      more);
}

// Fronts.

function showFront() {
  const numbers = columns.filter((column) => column.source === "metric" && column.cells &&
    allRows.some((row) => isOk(row) && typeof cell(column, row) === "number") && differs(column, allRows.filter(isOk)));
  const names = numbers.map((column) => column.name);
  const wanted = data.front.filter((name) => names.includes(name));
  if (!columnOf.has("pareto") && wanted.length < 2 && !names.includes("network_cost_usd")) return;
  if (numbers.length < 2) return;
  byId("front").hidden = false;
  if (byId("front-x").children.length === 0) {
    for (const id of ["front-x", "front-y"]) options(byId(id), numbers.map((column) => [column.name, column.short]));
    const first = wanted[0] || (names.includes("training_time_ps") ? "training_time_ps" : names[0]);
    byId("front-y").value = first;
    byId("front-x").value = wanted[1] || (names.includes("network_cost_usd") ? "network_cost_usd"
        : names.find((name) => name !== first));
  }
  const [x, y] = [columnOf.get(byId("front-x").value), columnOf.get(byId("front-y").value)];
  const rows = allRows.filter((row) => isOk(row) && cell(x, row) !== null && cell(y, row) !== null);
  const points = rows.map((row) => ({ x: cell(x, row), y: cell(y, row), row, words: rowWords(row) + "\n" + x.short
      + " " + shown(x, row) + "\n" + y.short + " " + shown(y, row), front: false }));
  const told = columnOf.get("pareto");
  if (told !== undefined && data.front.includes(x.name) && data.front.includes(y.name)) {
    for (const point of points) point.front = cell(told, point.row) === 1;
  } else {
    markFront(points, x.maximize, y.maximize);
  }
  fill(byId("front-chart"), frontChart("Pareto front", points, [x.short, y.short],
    [(number) => shownValue(x, number), (number) => shownValue(y, number)], explain));
}

/** Marks the points of which no other one is better in one and no worse in the other. */
function markFront(points, moreX, moreY) {
  const sign = (more) => (more ? -1 : 1);
  const order = points.slice().sort((a, b) => sign(moreX) * (a.x - b.x) || sign(moreY) * (a.y - b.y));
  let best = Infinity;
  for (const point of order) {
    if (sign(moreY) * point.y >= best) continue;
    best = sign(moreY) * point.y;
    point.front = true;
  }
}

function showFailures() {
  const rows = allRows.filter((row) => !isOk(row));
  if (rows.length === 0) return;
  byId("failures").hidden = false;
  const groups = Array.from(groupBy(rows, (row) => value("status", row) + "\n" + (value("reason", row) || "")))
    .sort((a, b) => b[1].length - a[1].length);
  const lines = groups.slice(0, 100).map(([text, same]) => {
    const button = make("button", {}, nameOfRow(same[0], []));
    button.addEventListener("click", () => explain(same[0]));
    return [text.split("\n")[0], String(same.length), text.split("\n").slice(1).join(" "), button];
  });
  fill(byId("failure-table"), tableOf(counted(rows.length, "row"), ["status", "rows", "reason", "such as"], lines,
      [1]));
}

// The table.

const table = { rows: allRows, columns: [], sort: null, descending: false, chosen: -1, first: -1 };

function usualColumns() {
  const key = columns.filter((column) => column.source === "key");
  const tabled = columns.filter((column) => column.tabled > 0 && (column.name !== "status" || differs(column, allRows)))
    .sort((a, b) => a.tabled - b.tabled);
  return key.concat(differing, tabled, columns.filter((column) => column.source === "pareto"));
}

function chooseColumns() {
  table.columns = byId("columns-shown").value === "all" ? columns : usualColumns();
  filterRows();
}

function filterRows() {
  const text = byId("filter").value;
  const { holds, problem } = conditionOf(text);
  table.rows = text.trim() === "" ? allRows.slice() : allRows.filter((row) => holds(row, table.columns));
  sortRows();
  const groups = data.all_rows > data.rows ? ", each the fastest of a group; " + counted(data.all_rows, "row")
      + " in all" : "";
  byId("rows-text").textContent = problem || grouped(table.rows.length) + " of " + counted(data.rows, "row") + groups;
}

function sortRows() {
  if (table.sort === null) {
    table.rows.sort((a, b) => a - b);
  } else {
    const way = table.descending ? -1 : 1;
    table.rows.sort((a, b) => {
      const [left, right] = [cell(table.sort, a), cell(table.sort, b)];
      if (left === null || right === null) return (left === null) - (right === null) || a - b;
      return (left < right ? -way : left > right ? way : 0) || a - b;
    });
  }
  byId("table-frame").scrollTop = 0;
  drawTable(true);
}

function headingOf(column) {
  const button = make("button", { title: column.meaning || column.name }, column.short);
  button.addEventListener("click", () => {
    table.descending = table.sort === column ? !table.descending : column.maximize;
    table.sort = column;
    sortRows();
    const again = byId("table-frame").querySelector("th[aria-sort] button");
    if (again !== null) again.focus();
  });
  const sorted = table.sort === column ? (table.descending ? "descending" : "ascending") : null;
  if (sorted !== null) button.append(table.descending ? " \u25be" : " \u25b4");
  return make("th", { scope: "col", "aria-sort": sorted, class: isNumeric(column) ? "number" : null }, button);
}
const isNumeric = (column) => column.units !== "" || column.percent || (column.cells !== undefined
    && column.source !== "key");

/** Only rows in sight are elements; two rows stand for those above and below. */
function drawTable(anew) {
  const frame = byId("table-frame");
  const printing = window.matchMedia("print").matches;
  const first = printing ? 0 : Math.max(0, Math.floor(frame.scrollTop / kRowPixels) - 10);
  const count = printing ? Math.min(table.rows.length, 1000) : Math.ceil(frame.clientHeight / kRowPixels) + 20;
  if (!anew && first === table.first) return;
  table.first = first;
  const last = Math.min(table.rows.length, first + count);
  const filler = (rows) => {
    const empty = make("td", { colspan: String(table.columns.length) });
    empty.style.height = rows * kRowPixels + "px";
    return make("tr", { class: "filler", "aria-hidden": "true" }, empty);
  };
  const lines = table.rows.slice(first, last).map((row) => {
    const line = make("tr", { "data-row": String(row), "aria-selected": String(row === table.chosen) },
      ...table.columns.map((column) => make("td", { class: isNumeric(column) ? "number" : null },
        column.source === "key" ? cell(column, row).slice(0, 8) : shown(column, row))));
    return line;
  });
  const body = make("tbody", {}, first > 0 ? filler(first) : null, ...lines,
    last < table.rows.length ? filler(table.rows.length - last) : null);
  let element = frame.querySelector("table");
  if (element === null || anew) {
    element = make("table", { "aria-rowcount": String(table.rows.length) },
      make("thead", {}, make("tr", {}, ...table.columns.map(headingOf))), body);
    fill(frame, element);
  } else {
    element.tBodies[0].replaceWith(body);
  }
}

/** Explains a row under the table, as `tenex show DIR KEY` does. */
function explain(row) {
  table.chosen = row;
  drawTable(true);
  fill(byId("why"), make("h2", {}, "Row " + value("key", row).slice(0, 8) + ": " + nameOfRow(row, [])),
    make("pre", { id: "explanation" }, explanation(row)));
  byId("why").scrollIntoView({ block: "nearest" });
}

function prepareTable() {
  const frame = byId("table-frame");
  byId("filter").addEventListener("input", filterRows);
  byId("columns-shown").addEventListener("change", chooseColumns);
  frame.addEventListener("scroll", () => drawTable(false));
  frame.addEventListener("click", (event) => {
    const line = event.target.closest("tr[data-row]");
    if (line !== null) explain(Number(line.dataset.row));
  });
  frame.addEventListener("keydown", (event) => {
    if (event.target !== frame || !["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) return;
    event.preventDefault();
    const at = table.rows.indexOf(table.chosen);
    const next = Math.max(0, Math.min(at + { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[event.key], table.rows.length - 1));
    if (table.rows.length === 0) return;
    if ((next + 2) * kRowPixels > frame.scrollTop + frame.clientHeight) frame.scrollTop = (next
        + 2) * kRowPixels - frame.clientHeight;
    if (next * kRowPixels < frame.scrollTop) frame.scrollTop = next * kRowPixels;
    explain(table.rows[next]);
  });
  window.addEventListener("beforeprint", () => drawTable(true));
  window.addEventListener("afterprint", () => drawTable(true));
  chooseColumns();
}

function showCharts() {
  showCurves();
  showRanking();
  showTraining();
  showFront();
}

function begin() {
  document.title = data.title;
  byId("title").textContent = data.title;
  fill(byId("facts"), ...pairs(data.asked));
  fill(byId("run"), ...pairs(data.run));
  byId("study").textContent = data.study;
  byId("study-text").hidden = data.study === "";
  byId("asked").hidden = data.study === "" && data.run.length === 0;
  for (const id of ["curve-value", "curve-scale"]) byId(id).addEventListener("change", showCurves);
  byId("ranking-of").addEventListener("change", showRanking);
  for (const id of ["front-x", "front-y"]) byId(id).addEventListener("change", showFront);
  showCharts();
  showFailures();
  prepareTable();
  const parts = Array.from(document.querySelectorAll("main > section")).filter((part) => !part.hidden
      && part.querySelector("h2") !== null);
  fill(byId("places"), ...parts.map((part) => make("a", { href: "#" + part.id }, part.querySelector("h2")
      .textContent)));
  schemeListeners.push(showCharts);
  window.addEventListener("resize", () => {
    showRanking();
    showTraining();
  });
  document.body.setAttribute("data-ready", "yes");
}

try {
  begin();
} catch (error) {
  byId("problem").hidden = false;
  byId("problem").textContent = "The page cannot be shown: " + error.message;
  throw error;
}
