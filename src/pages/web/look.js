"use strict";
// What is said of one NPU, link or chunk, and the tables under the drawing.

const look = { kind: "", number: -1, update: null, again: null };
const kMostRows = 200;

function lookAt(kind, number) {
  Object.assign(look, { kind, number, update: null, again: null });
  map.chosen = { vertex: kind === "npu" ? number : -1, link: -1, links: null };
  if (gantt !== null) gantt.chosenChunk = kind === "chunk" ? number : -1;
  const show = { npu: lookAtNpu, link: lookAtLink, chunk: lookAtChunk, none: lookAtNothing };
  show[kind](number);
  if (kind !== "none") {
    byId("look-kind").value = kind;
    byId("look-number").value = String(number);
  }
  map.draw();
  if (model === null) return;
  drawNow();
  gantt.draw();
}

function lookAtNothing() {
  fill(byId("detail"), make("p", { class: "muted" }, model === null
    ? "Choose a vertex or a link: click in the drawing, or give a number."
    : "Choose an NPU, a link or a chunk: click in the drawings, or give a number. Arrow keys go on to other vertices."));
}

function facts(entries) {
  return make("dl", { class: "list" }, ...entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {},
      value)]));
}

/** The links of a vertex. */
function linksOf(vertex) {
  const { source, target, bandwidth } = map.columns;
  const rows = [];
  for (let l = 0; l < map.links && rows.length < kMostRows; ++l) {
    if (source[l] !== vertex) continue;
    rows.push([nameOf(target[l]), rate(bandwidth[l]), time(map.columns.alpha[l])]);
  }
  return make("div", { class: "scroll" }, tableOf("links out", ["to", "bandwidth", "alpha"], rows, [1, 2]));
}

function lookAtNpu(vertex) {
  const title = make("h2", {}, vertexWords(vertex));
  if (model === null || model.mode === "use") return fill(byId("detail"), title, data.group_size > 1 ? ""
      : linksOf(vertex));
  const held = chunksHeld(vertex);
  const now = make("dl", { class: "list" });
  const chart = make("div", {});
  fill(byId("detail"), title, now, chart);
  look.again = () => fill(chart, holdingsChart(held));
  look.again();
  look.update = (at) => {
    const have = held.start.concat(held.finals.filter((each) => each.time <= at).map((each) => each.chunk));
    have.sort((a, b) => a - b);
    const sums = held.sums.filter((each) => each.time <= at).length;
    const rows = [["chunks at " + time(at), have.length + (held.wanted > 0 ? " of " + held.wanted : "")
        + (have.length > 0
      ? ": " + ranges(have, 10) : "")]];
    if (held.sums.length > 0) rows.push(["partial sums received", sums + " of " + held.sums.length]);
    fill(now, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    const line = chart.querySelector(".now");
    if (line !== null) line.setAttribute("transform", "translate(" + held.x(at) + ",0)");
  };
}

/** What a vertex holds over time: at the start, and the arrivals of final values and partial sums. */
function chunksHeld(vertex) {
  const { held_npu: npu, held_first: first, held_count: count, wanted } = model.columns;
  const start = [];
  const sums = [];
  const finals = [];
  const seen = new Set();
  const contributes = data.sums;
  for (let i = 0; i < npu.length && !contributes; ++i)
    for (let k = 0; npu[i] === vertex && k < count[i]; ++k) {
      start.push(first[i] + k);
      seen.add(first[i] + k);
    }
  const { list, first: of } = model.byNpu;
  const arriving = Array.from(list.subarray(of[vertex], of[vertex + 1])).sort((a,
      b) => model.arrival[a] - model.arrival[b]);
  for (const send of arriving)
    for (const chunk of model.chunksOf(send)) {
      const entry = { time: model.arrival[send], chunk };
      if (model.reduces[send]) sums.push(entry);
      else if (!seen.has(chunk)) {
        seen.add(chunk);
        finals.push(entry);
      }
    }
  return { start, sums, finals, wanted: vertex < data.npus ? wanted[vertex] : 0, x: null };
}

function holdingsChart(held) {
  const [width, height, left, bottom] = [440, 150, 40, 22];
  const most = Math.max(1, held.wanted, held.start.length + held.finals.length, held.sums.length);
  const x = d3.scaleLinear().domain([0, model.end]).range([left, width - 12]);
  const y = d3.scaleLinear().domain([0, most]).range([height - bottom, 8]);
  held.x = x;
  const svg = d3.create("svg").attr("viewBox", "0 0 " + width + " " + height).attr("role", "img")
    .attr("aria-label", "chunks held over time");
  svg.append("g").attr("transform", "translate(0," + (height - bottom) + ")").call(d3.axisBottom(x).ticks(4)
      .tickFormat(time));
  svg.append("g").attr("transform", "translate(" + left + ",0)").call(d3.axisLeft(y).ticks(4));
  const line = (entries, from, colour) => {
    const points = [[0, from]].concat(entries.map((each, i) => [each.time, from + i + 1]));
    points.push([model.end, points[points.length - 1][1]]);
    svg.append("path").attr("d", d3.line().x((p) => x(p[0])).y((p) => y(p[1])).curve(d3.curveStepAfter)(points))
      .attr("fill", "none").attr("stroke", colours[colour]).attr("stroke-width", 1.8);
  };
  if (held.sums.length > 0) line(held.sums, 0, "reduce");
  if (held.start.length + held.finals.length > 0) line(held.finals, held.start.length, "copy");
  svg.append("line").attr("class", "now").attr("y1", 4).attr("y2", height - bottom).attr("stroke", colours.mark)
    .attr("transform", "translate(" + x(model.now) + ",0)");
  return svg.node();
}

function lookAtLink(link) {
  const { bandwidth } = map.columns;
  if (model === null || model.mode === "use") {
    map.chosen.links = [[link, "mark"]];
    return fill(byId("detail"), make("h2", {}, "link " + link), make("p", {}, ...drawnLinkWords(link).split("\n")
        .flatMap((text) => [text, make("br", {})])));
  }
  map.chosen.links = model.path(link).map((drawn) => [drawn, "mark"]);
  const end = model.end;
  const entries = [
    ["bandwidth", rate(Math.min(...model.path(link).map((drawn) => bandwidth[drawn])))],
    ["busy", percent((model.busyReduce[link] + model.busyCopy[link]) / end)],
    ["idle: the chunk is not there yet", percent(model.waits[link] / end)],
    ["idle: it is there, sent later", percent(model.late[link] / end)],
    ["idle: nothing more to send", percent(model.nothing[link] / end)],
  ];
  const [list, from, to] = model.sendsOfRow(link, "links");
  const rows = Array.from(list.subarray(from, Math.min(to, from + kMostRows)),
    (send) => [time(model.start[send]), time(model.arrival[send]), model.sendWords(send), model.causeWords(send)]);
  const caption = counted(to - from, "send") + (to - from > kMostRows ? ", of which " + kMostRows + " are shown" : "");
  fill(byId("detail"), make("h2", {}, "link " + link + ": " + model.linkName(link)), facts(entries),
    make("div", { class: "scroll" }, tableOf(caption, ["starts", "arrives", "carries", "waited for"], rows, [0, 1])));
}

function lookAtChunk(chunk) {
  if (model === null || model.mode === "use") return lookAtNothing();
  const sends = model.sendsOfChunk(chunk);
  map.chosen.links = sends.flatMap((send) => model.path(model.link[send]).map((link) => [link, model.reduces[send]
      ? "reduce" : "copy"]));
  const rows = sends.slice(0, kMostRows).map((send) => [time(model.start[send]), time(model.arrival[send]),
    model.linkName(model.link[send]), model.reduces[send] ? "sum" : "copy", model.causeWords(send)]);
  const last = sends.reduce((most, send) => Math.max(most, model.arrival[send]), 0);
  const caption = counted(sends.length, "send") + (sends.length > kMostRows ? ", of which " + kMostRows + " are shown"
      : "") +
    "; the last arrives at " + time(last);
  fill(byId("detail"), make("h2", {}, "chunk " + chunk), make("div", { class: "scroll" },
    tableOf(caption, ["starts", "arrives", "link", "is a", "waited for"], rows, [0, 1])));
}

function prepareLook() {
  const kinds = model !== null && model.mode === "sends" ? [["npu", "NPU"], ["link", "link"], ["chunk", "chunk"]]
      : [["npu", "NPU"], ["link", "link"]];
  options(byId("look-kind"), kinds);
  byId("look").addEventListener("submit", (event) => {
    event.preventDefault();
    const kind = byId("look-kind").value;
    const most = { npu: data.vertices, link: model ? model.links : map.links, chunk: data.chunks }[kind];
    lookAt(kind, Math.max(0, Math.min(Math.floor(Number(byId("look-number").value)) || 0, most - 1)));
  });
  byId("look-none").addEventListener("click", () => lookAt("none", -1));
  lookAtNothing();
}

function goTo(send) {
  play(false);
  setNow((model.start[send] + model.arrival[send]) / 2);
  lookAt("chunk", model.chunk[send]);
}

/** The critical chain, and where links idle. */
function showTables() {
  if (model.mode === "use") {
    byId("tables").hidden = true;
    return;
  }
  const chain = data.chain.map((send) => {
    const button = make("button", {}, time(model.start[send]));
    button.addEventListener("click", () => goTo(send));
    return [button, time(model.arrival[send]), model.linkName(model.link[send]), model.sendWords(send),
        model.causeWords(send)];
  });
  fill(byId("chain"), make("h2", {}, "Critical chain"), make("div", { class: "scroll" },
    tableOf("from the beginning to the last arrival that is needed: what each send waited for", ["starts", "arrives",
        "link", "carries", "waited for"],
      chain, [0, 1])));
  const links = Array.from({ length: model.links }, (_, i) => i);
  const busy = (link) => (model.busyReduce[link] + model.busyCopy[link]) / model.end;
  links.sort((a, b) => busy(b) - busy(a));
  const shown = links.length > 60 ? links.slice(0, 30).concat(links.slice(-30)) : links;
  const rows = shown.map((link) => {
    const button = make("button", {}, model.linkName(link));
    button.addEventListener("click", () => lookAt("link", link));
    return [button, percent(busy(link)), percent(model.waits[link] / model.end), percent(model.late[link] / model.end),
      percent(model.nothing[link] / model.end)];
  });
  const mean = (values) => values.reduce((sum, each) => sum + each, 0) / model.links / model.end;
  rows.unshift(["all links", percent(mean(model.busyReduce) + mean(model.busyCopy)), percent(mean(model.waits)),
    percent(mean(model.late)), percent(mean(model.nothing))]);
  const caption = "share of the time" + (links.length > 60 ? "; the 30 busiest and the 30 least busy" : "");
  fill(byId("idle"), make("h2", {}, "Where links idle, and why"), make("div", { class: "scroll" },
    tableOf(caption, ["link", "busy", "chunk not there", "sent later", "nothing to send"], rows, [1, 2, 3, 4])));
}
