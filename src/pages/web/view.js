"use strict";
// The page of a view: what is chosen, the clock, and what is said of it.

const state = { playing: false, last: 0, seconds: 12 };
let map = null;
let model = null;
let gantt = null;

function options(select, entries) {
  fill(select, ...entries.map(([value, text]) => make("option", { value }, text)));
}

// The network.

function colourLinks() {
  const by = byId("colour-by").value;
  const { bandwidth } = map.columns;
  if (by === "use") {
    map.use = model.useOfDrawn();
  } else if (by === "bandwidth") {
    let most = 0;
    for (let l = 0; l < map.links; ++l) most = Math.max(most, bandwidth[l]);
    map.use = Float32Array.from(bandwidth, (value) => value / most);
  } else {
    map.use = new Float32Array(map.links);
  }
  const bound = data.bounds[byId("bound").value];
  map.marked = bound ? { inside: new Set(bound.inside), weights: bound.weights } : null;
  map.draw();
  describeMap(by, bound);
  if (model !== null) drawNow();
}

function describeMap(by, bound) {
  const { bandwidth, alpha } = map.columns;
  const classes = new Map();
  for (let l = 0; l < map.links; ++l) {
    const name = rate(bandwidth[l]) + " after " + time(alpha[l]);
    classes.set(name, (classes.get(name) || 0) + 1);
  }
  const speeds = Array.from(classes).slice(0, 6).map(([name, count]) => counted(count, "link") + " of " + name);
  let text = speeds.join("; ") + (classes.size > 6 ? "; others" : "") + ".";
  if (data.group_size > 1)
    text += " Each circle stands for " + data.group_size + " of " + counted(data.all_npus, "NPU") + ".";
  if (data.failed.length > 0) text += " " + counted(data.failed.length, "link") + " failed.";
  if (bound) {
    text += " The bound " + bound.name + " says " + time(bound.time) + (bound.binds ? ", and binds" : "") + ": " +
      bound.meaning + ".";
    if (bound.inside.length > 0) {
      let leaving = 0;
      let sum = 0;
      for (let l = 0; l < map.links; ++l) {
        if (!map.marked.inside.has(map.columns.source[l]) || map.marked.inside.has(map.columns.target[l])) continue;
        ++leaving;
        sum += bandwidth[l];
      }
      text += " Inside are " + ranges(bound.inside, 12) + "; " + counted(leaving, "link") + " of " + rate(sum) +
        " together lead out.";
    }
  }
  byId("map-text").textContent = text;
  byId("map").setAttribute("aria-label", data.title + ": " + counted(data.npus, "NPU") + ", " +
    counted(data.vertices - data.npus, "switch") + ", " + counted(map.links, "link") + ", drawn as " + data.form);
  const key = [];
  if (by === "use") key.push(make("span", { class: "busy" }, "stronger: busy for more of the time"));
  if (by === "bandwidth" && classes.size > 1) key.push(make("span", { class: "busy" }, "stronger: more bandwidth"));
  if (model !== null && data.sums) key.push(make("span", { class: "reduce" }, "sums"));
  if (model !== null) key.push(make("span", { class: "copy" }, data.sums ? "results" : "chunks"));
  if (bound) key.push(make("span", { class: "cut" }, bound.inside.length > 0 ? "leads out of the set" : "weighed"));
  if (data.failed.length > 0) key.push(make("span", { class: "failed" }, "failed"));
  fill(byId("map-key"), ...key);
}

function prepareMap(columns) {
  map = new NetworkMap(columns);
  options(byId("colour-by"), (model ? [["use", "use"]] : []).concat([["bandwidth", "bandwidth"], ["nothing",
      "nothing"]]));
  const drawn = data.bounds.map((bound, i) => [String(i), bound.name + ", " + time(bound.time) + (bound.binds
      ? " (binds)" : "")])
    .filter(([i]) => data.bounds[i].inside.length > 0 || data.bounds[i].weights.length > 0);
  byId("bound-label").hidden = drawn.length === 0;
  options(byId("bound"), [["", "none"]].concat(drawn));
  if (model === null && drawn.length > 0) byId("bound").value = drawn[0][0];
  byId("colour-by").addEventListener("change", colourLinks);
  byId("bound").addEventListener("change", colourLinks);
  listenToMap();
}

function listenToMap() {
  const canvas = map.canvas;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const vertex = map.vertexAt(x, y);
    const link = vertex < 0 ? map.linkAt(x, y) : -1;
    if (vertex >= 0) tip.show(vertexWords(vertex), event.clientX, event.clientY);
    else if (link >= 0) tip.show(drawnLinkWords(link), event.clientX, event.clientY);
    else tip.hide();
  });
  canvas.addEventListener("pointerleave", () => tip.hide());
  canvas.addEventListener("click", (event) => {
    const [x, y] = place(event);
    const vertex = map.vertexAt(x, y);
    if (vertex >= 0) return lookAt("npu", vertex);
    const link = map.linkAt(x, y);
    if (link >= 0 && !data.paths) lookAt("link", link);
  });
  canvas.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const from = map.chosen.vertex;
    lookAt("npu", from < 0 ? 0 : map.neighbour(from, ...ways[event.key]));
  });
}

const nameOf = (vertex) => (vertex < data.npus ? "NPU " : "switch ") + vertex;

function vertexWords(vertex) {
  if (model !== null) return (vertex < data.npus ? "NPU " : "") + model.vertexName(vertex);
  return nameOf(vertex);
}

function drawnLinkWords(link) {
  const { source, target, bandwidth, alpha } = map.columns;
  const ends = nameOf(source[link]) + " \u2192 " + nameOf(target[link]);
  const use = byId("colour-by").value === "use" ? "\nbusy for " + percent(map.use[link]) + " of the time" : "";
  const count = map.columns.links_in ? "\nstands for " + counted(map.columns.links_in[link], "link") : "";
  return ends + "\n" + rate(bandwidth[link]) + ", alpha " + time(alpha[link]) + count + use;
}

// The clock.

function drawNow() {
  const now = model.now;
  byId("at").textContent = time(now);
  const slider = byId("slider");
  slider.value = String(Math.round(1e6 * now / model.end));
  slider.setAttribute("aria-valuetext", time(now));
  if (model.mode === "use") drawUseNow(now);
  else drawSendsNow(now);
  gantt.drawNow();
}

/** Beyond so many sends under way at once only the links that they keep busy are drawn. */
const kMostDots = 3000;

function drawSendsNow(now) {
  const busy = [{ colour: "copy", alpha: 1, links: [] }, { colour: "reduce", alpha: 1, links: [] }];
  const dots = [{ colour: "copy", list: [] }, { colour: "reduce", list: [] }];
  const { start, arrival, reduces, link: linkOf } = model;
  let [sums, all] = [0, 0];
  model.visitUnderWay(now, (send) => {
    ++all;
    const kind = reduces[send];
    sums += kind;
    const path = data.paths ? model.path(linkOf[send]) : null;
    if (now < model.busyUntil(send)) {
      if (path === null) busy[kind].links.push(linkOf[send]);
      else busy[kind].links.push(...path);
    }
    if (all > kMostDots) return;
    const span = arrival[send] - start[send];
    const share = span > 0 ? (now - start[send]) / span : 1;
    if (path === null) {
      dots[kind].list.push(linkOf[send], share, send);
    } else {
      const leg = Math.min(path.length - 1, Math.floor(share * path.length));
      dots[kind].list.push(path[leg], share * path.length - leg, send);
    }
  });
  const crowd = map.isCrowd(busy);
  if (crowd) map.drawSending(busy);
  else map.drawMoving(busy, all > kMostDots ? [] : dots, (send) => model.chunkLabel(send));
  const kinds = data.sums && all > 0 ? " (" + sums + " sums, " + (all - sums) + " results)" : "";
  byId("under-way").textContent = counted(all, "send") + " under way" + kinds + "; " +
    grouped(model.arrivedBy(now)) + " of " + grouped(model.count) + " have arrived" +
    (crowd ? "; stronger: more of an NPU's links send" : "");
  if (look.update !== null) look.update(now);
}

function drawUseNow(now) {
  const span = Math.min(model.spans - 1, Math.floor(now / model.end * model.spans));
  const tenths = ["copy", "reduce"].map((colour) => Array.from({ length: 10 }, (_, i) => ({ colour, alpha: (i
      + 1) / 10, links: [] })));
  let sum = 0;
  for (let link = 0; link < model.links; ++link) {
    const reduce = model.useReduce[link * model.spans + span];
    const copy = model.useCopy[link * model.spans + span];
    sum += reduce + copy;
    if (reduce + copy === 0) continue;
    const tenth = Math.min(9, Math.floor((reduce + copy) / 25.6));
    tenths[reduce > copy ? 1 : 0][tenth].links.push(...model.path(link));
  }
  if (map.isCrowd(tenths.flat())) map.drawSending(tenths.flat());
  else map.drawMoving(tenths.flat(), [], null);
  byId("under-way").textContent = "links are busy for " + percent(sum / 255 / model.links) + " of this " +
    time(model.end / model.spans);
}

function setNow(now) {
  model.now = Math.max(0, Math.min(now, model.end));
  drawNow();
}

function play(on) {
  state.playing = on;
  state.last = 0;
  const button = byId("play");
  button.textContent = on ? "pause" : "play";
  button.setAttribute("aria-pressed", String(on));
  byId("under-way").setAttribute("aria-live", on ? "off" : "polite");
  if (on && model.now >= model.end) model.now = 0;
  if (on) requestAnimationFrame(advance);
}

function advance(stamp) {
  if (!state.playing) return;
  const passed = state.last === 0 ? 0 : stamp - state.last;
  state.last = stamp;
  setNow(model.now + passed / 1000 / state.seconds * model.end);
  if (model.now >= model.end) return play(false);
  requestAnimationFrame(advance);
}

function step(way) {
  play(false);
  const width = model.end / (model.spans || 1);
  if (model.mode === "use") setNow(model.now + way * width);
  else setNow(way > 0 ? model.eventAfter(model.now) : model.eventBefore(model.now));
}

function prepareClock() {
  byId("slider").addEventListener("input", (event) => {
    play(false);
    setNow(Number(event.target.value) / 1e6 * model.end);
  });
  byId("play").addEventListener("click", () => play(!state.playing));
  byId("back").addEventListener("click", () => step(-1));
  byId("forth").addEventListener("click", () => step(1));
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, button, a, [tabindex]") || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const keys = { " ": () => play(!state.playing), ".": () => step(1), ",": () => step(-1) };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
}

// Rows by time.

function chooseRows() {
  const kind = byId("row-kind").value;
  const text = byId("find").value.trim();
  let rows = Array.from({ length: kind === "npus" ? data.vertices : model.links }, (_, i) => i);
  if (text !== "") {
    const [left, right] = text.includes(">") ? text.split(">").map((part) => part.trim()) : [null, null];
    const is = (name, wanted) => wanted === "" || name === wanted || name === "switch " + wanted;
    rows = rows.filter((row) => {
      if (kind === "npus") return is(model.vertexName(row), text);
      const [from, to] = [model.vertexName(model.source(row)), model.vertexName(model.target(row))];
      return left !== null ? is(from, left) && is(to, right) : is(from, text) || is(to, text);
    });
  }
  if (byId("order").value === "busy" && kind !== "npus") {
    const busy = (row) => (model.mode === "use" ? model.meanUse(row) : model.busyReduce[row] + model.busyCopy[row]);
    rows.sort((a, b) => busy(b) - busy(a));
  }
  byId("rows").scrollTop = 0;
  gantt.show(rows, kind);
}

function prepareGantt() {
  gantt = new Gantt(model);
  options(byId("row-kind"), model.mode === "use" ? [["links", "links"]] : [["links", "links"], ["npus",
      "arrivals at NPUs"]]);
  options(byId("order"), [["id", "by number"], ["busy", "busiest first"]]);
  for (const id of ["row-kind", "order"]) byId(id).addEventListener("change", chooseRows);
  byId("find").addEventListener("input", chooseRows);
  gantt.onPick = (found, kind) => {
    if (found.send >= 0) lookAt("chunk", model.chunk[found.send]);
    else lookAt(kind === "npus" ? "npu" : "link", found.row);
    if (found.at > 0 && found.send < 0 && kind !== "npus") setNow(found.at);
  };
  const key = data.sums ? [make("span", { class: "reduce" }, "sums"), make("span", { class: "copy" }, "results")]
    : [make("span", { class: "copy" }, "chunks")];
  if (model.mode === "sends")
    key.push(make("span", { class: "wait" }, "idle: the chunk is not there yet"),
      make("span", { class: "late" }, "idle: it is there and sent later"),
      make("span", { class: "mark" }, "now"), make("span", { class: "plain" },
          "drag, + and \u2212 to zoom, click for the chunk"));
  fill(byId("gantt-key"), ...key);
  chooseRows();
}

async function begin() {
  document.title = data.title;
  byId("title").textContent = data.title;
  fill(byId("facts"), ...data.facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {},
      value))));
  const columns = await unpackColumns(data.columns);
  if (data.mode !== "network") model = new ScheduleModel(columns);
  prepareMap(columns);
  if (model !== null) {
    prepareGantt();
    prepareClock();
    showTables();
  }
  for (const id of model === null ? ["clock", "gantt", "tables"] : []) byId(id).hidden = true;
  prepareLook();
  colourLinks();
  const again = () => {
    colourLinks();
    if (gantt !== null) gantt.draw();
    if (look.again !== null) look.again();
  };
  schemeListeners.push(again);
  new ResizeObserver(again).observe(map.canvas);
  document.body.setAttribute("data-ready", "yes");
}

begin().catch((error) => {
  byId("problem").hidden = false;
  byId("problem").textContent = "The page cannot be shown: " + error.message;
  throw error;
});
