"use strict";
// The charts of a report: SVG made with d3's scales, axes and lines.

const kPalette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f"];
const kDashes = ["", "6 3", "2 3", "8 3 2 3"];

/** An empty chart with room for axes. */
function chartOf(width, height, label) {
  return d3.create("svg").attr("viewBox", "0 0 " + width + " " + height).attr("role", "img").attr("aria-label", label);
}

/** Shows a tip over an element of a chart, by pointer and by keyboard. */
function tell(selection, words) {
  const show = (event, x, y) => tip.show(words, x, y);
  selection.attr("tabindex", 0).attr("aria-label", words)
    .on("pointermove", function () { show(d3.event, d3.event.clientX, d3.event.clientY); })
    .on("pointerleave blur", () => tip.hide())
    .on("focus", function () {
      const box = this.getBoundingClientRect();
      show(null, box.right, box.bottom);
    });
}

/** The first of the series before the i-th whose curve it covers: equal sizes, values that differ by less than a line. */
function coveredBy(series, i) {
  const mine = series[i].points;
  return series.slice(0, i).find((other) => other.points.length === mine.length && mine.every((point, k) =>
    other.points[k].x === point.x && Math.abs(other.points[k].y - point.y) <= 0.004 * point.y));
}

/**
 * Curves over size. `series`: { name, style, points: [{ x, y, row, words }] }, `style` a number of a colour and a dash;
 * `bound`: points of the bound, dashed.
 */
function curveChart(caption, series, bound, logarithmic, format, pick) {
  const [width, height, left, right, top, bottom] = [460, 250, 64, 24, 8, 28];
  const all = series.flatMap((each) => each.points).concat(bound);
  const svg = chartOf(width, height, caption);
  const [least, most] = d3.extent(all, (point) => point.x);
  const x = d3.scaleLog().base(2).domain(least === most ? [least / 2, most * 2] : [least, most]).range([left,
      width - right]);
  const [low, high] = d3.extent(all, (point) => point.y);
  const y = (logarithmic ? d3.scaleLog().domain([low / 1.1, high * 1.1]) : d3.scaleLinear().domain([0, high * 1.05]))
    .range([height - bottom, top]);
  const sizes = Array.from(new Set(all.map((point) => point.x))).sort((a, b) => a - b);
  const every = Math.ceil(sizes.length / 6);
  svg.append("g").attr("transform", "translate(0," + (height - bottom) + ")")
    .call(d3.axisBottom(x).tickValues(sizes.filter((_, i) => i % every === 0)).tickFormat(sizeText));
  const ticks = logarithmic ? logTicks(y) : y.ticks(5);
  svg.append("g").attr("transform", "translate(" + left + ",0)").call(d3.axisLeft(y).tickValues(ticks)
      .tickFormat(format));
  const line = d3.line().x((point) => x(point.x)).y((point) => y(point.y));
  const covered = series.map((_, place) => coveredBy(series, place));
  series.forEach((each, place) => {
    const i = each.style;
    const colour = kPalette[i % kPalette.length];
    const over = covered[place];  // drawn with gaps, through which the one below is seen
    svg.append("path").attr("d", line(each.points)).attr("fill", "none").attr("stroke", colour).attr("stroke-width",
        1.8)
      .attr("stroke-dasharray", over ? "9 9" : kDashes[Math.floor(i / kPalette.length) % kDashes.length]);
    for (const point of each.points) {
      const dot = svg.append("circle").attr("cx", x(point.x)).attr("cy", y(point.y)).attr("r", 3.2).attr("fill",
          colour);
      tell(dot, point.words);
      dot.on("click", () => pick(point.row)).on("keydown", () => d3.event.key === "Enter" && pick(point.row));
    }
  });
  // Above the curves, which hide it where they reach it.
  svg.append("path").attr("d", line(bound)).attr("fill", "none").attr("stroke", colours.ink).attr("stroke-dasharray",
      "5 4").attr("pointer-events", "none");
  const key = make("div", { class: "key" });
  series.forEach((each, place) => {
    const i = each.style;
    const over = covered[place];
    const mark = d3.create("svg").attr("width", 22).attr("height", 10).attr("aria-hidden", "true");
    mark.append("line").attr("x2", 20).attr("y1", 5).attr("y2", 5).attr("stroke-width", 2.5)
      .attr("stroke", kPalette[i % kPalette.length])
      .attr("stroke-dasharray", kDashes[Math.floor(i / kPalette.length) % kDashes.length]);
    key.append(make("label", {}, mark.node(), " " + each.name + (over ? " (as " + over.name + ")" : "")));
  });
  return make("figure", {}, make("figcaption", {}, caption), svg.node(), key);
}

/** The ticks of a logarithmic axis: 1, 2 and 5 of each decade, or decades alone. */
function logTicks(scale) {
  const [low, high] = scale.domain();
  const found = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); ++decade)
    for (const digit of [1, 2, 5]) found.push({ digit, at: digit * 10 ** decade });
  const inside = found.filter((each) => each.at >= low && each.at <= high);
  const sparse = inside.length > 8 ? inside.filter((each) => each.digit === 1) : inside;
  return sparse.map((each) => each.at);
}

/**
 * Bars, one under the other. `bars`: { name, parts: [{ length, colour, words }], tick, note, row };
 * `room`: the width that there is.
 */
function barChart(label, bars, room, format, pick) {
  const names = d3.max(bars, (bar) => bar.name.length);
  const [width, row, top] = [Math.max(460, Math.min(room, 1300)), 22, 22];
  const left = Math.min(0.45 * width, 12 + 6.6 * names);
  const height = top + row * bars.length + 6;
  const svg = chartOf(width, height, label).attr("width", width).attr("height", height);
  const most = d3.max(bars, (bar) => Math.max(bar.tick || 0, d3.sum(bar.parts, (part) => part.length)));
  const x = d3.scaleLinear().domain([0, most]).range([left, width - 125]);
  svg.append("g").attr("transform", "translate(0," + top + ")").call(d3.axisTop(x).ticks(6).tickFormat(format));
  bars.forEach((bar, i) => {
    const y = top + row * i;
    const group = svg.append("g");
    group.append("text").attr("x", left - 8).attr("y", y + 15).attr("text-anchor", "end").text(
      bar.name.length * 6.6 > left ? bar.name.slice(0, Math.floor(left / 6.6) - 2) + "\u2026" : bar.name);
    let at = 0;
    for (const part of bar.parts) {
      if (part.length <= 0) continue;
      const rect = group.append("rect").attr("x", x(at)).attr("y", y + 4).attr("height", row - 7)
        .attr("width", Math.max(0.5, x(at + part.length) - x(at))).attr("fill", part.colour);
      rect.on("pointermove", () => tip.show(part.words, d3.event.clientX, d3.event.clientY))
        .on("pointerleave", () => tip.hide());
      at += part.length;
    }
    if (bar.tick > 0)
      group.append("line").attr("x1", x(bar.tick)).attr("x2", x(bar.tick)).attr("y1", y + 1).attr("y2", y + row - 1)
        .attr("stroke", colours.ink).attr("stroke-width", 2);
    group.append("text").attr("x", x(at) + 6).attr("y", y + 15).attr("fill", colours.muted).text(bar.note || "");
    group.attr("tabindex", 0).attr("role", "button").attr("aria-label", bar.name + ": " + format(at) + " " + (bar.note
        || ""))
      .on("click", () => pick(bar.row)).on("keydown", () => d3.event.key === "Enter" && pick(bar.row));
  });
  return svg.node();
}

/** Points of two metrics; those on the front are filled and joined. */
function frontChart(label, points, names, formats, pick) {
  const [width, height, left, bottom] = [760, 380, 76, 36];
  const svg = chartOf(width, height, label);
  const range = (get) => {
    const [low, high] = d3.extent(points, get);
    const room = (high - low || high || 1) * 0.06;
    return [Math.max(0, low - room), high + room];
  };
  const x = d3.scaleLinear().domain(range((point) => point.x)).range([left, width - 14]);
  const y = d3.scaleLinear().domain(range((point) => point.y)).range([height - bottom, 10]);
  svg.append("g").attr("transform", "translate(0," + (height - bottom) + ")").call(d3.axisBottom(x).ticks(6)
      .tickFormat(formats[0]));
  svg.append("g").attr("transform", "translate(" + left + ",0)").call(d3.axisLeft(y).ticks(6).tickFormat(formats[1]));
  svg.append("text").attr("x", width - 14).attr("y", height - 3).attr("text-anchor", "end").text(names[0]);
  svg.append("text").attr("x", 4).attr("y", 12).text(names[1]);
  const front = points.filter((point) => point.front).sort((a, b) => a.x - b.x);
  svg.append("path").attr("d", d3.line().x((p) => x(p.x)).y((p) => y(p.y))(front)).attr("fill", "none")
    .attr("stroke", kPalette[0]).attr("stroke-width", 1.2);
  for (const point of points) {
    const dot = svg.append("circle").attr("cx", x(point.x)).attr("cy", y(point.y)).attr("r", point.front ? 4 : 2.6)
      .attr("fill", point.front ? kPalette[0] : "none").attr("stroke", point.front ? kPalette[0] : colours.muted);
    tell(dot, point.words);
    dot.on("click", () => pick(point.row)).on("keydown", () => d3.event.key === "Enter" && pick(point.row));
  }
  return svg.node();
}
