"use strict";
// The schedule of a view: its sends by link, by NPU and by chunk, what links and NPUs do at a time, and words for it.

class ScheduleModel {
  constructor(columns) {
    Object.assign(this, {
      mode: data.mode, now: 0, columns, start: columns.start, arrival: columns.arrival, ready: columns.ready,
      link: columns.link, chunk: columns.chunk, cause: columns.cause, reduces: columns.reduces,
    });
    const { paths } = data;
    this.alphaOfLink = paths ? columns.path_alpha : columns.alpha;
    this.links = paths ? columns.path_first.length - 1 : columns.source.length;
    if (this.mode === "use") {
      Object.assign(this, { spans: data.spans, end: data.end, useReduce: columns.use_reduce,
          useCopy: columns.use_copy });
    } else {
      this.count = this.start.length;
      this.arrivals = Float64Array.from(this.arrival).sort();
      this.end = this.count > 0 ? this.arrivals[this.count - 1] : 1;
      this.byLink = this.sortInto(this.links, (send) => this.link[send]);
      this.linkStart = Float64Array.from(this.byLink.list, (send) => this.start[send]);
      this.byNpu = this.sortInto(data.vertices, (send) => this.target(this.link[send]));
      this.sumUp();
    }
  }

  /** Sends by a number, each list in order of start. */
  sortInto(size, keyOf) {
    const first = new Uint32Array(size + 1);
    for (let i = 0; i < this.count; ++i) ++first[keyOf(i) + 1];
    for (let i = 0; i < size; ++i) first[i + 1] += first[i];
    const next = first.slice();
    const list = new Uint32Array(this.count);
    for (let i = 0; i < this.count; ++i) list[next[keyOf(i)]++] = i;
    return { first, list };
  }

  /** The links of the drawing that a link of the schedule takes. */
  path(link) {
    if (!data.paths) return [link];
    return Array.from(this.columns.path_link.subarray(this.columns.path_first[link], this.columns.path_first[link
        + 1]));
  }
  source(link) {
    return this.columns.source[data.paths ? this.columns.path_link[this.columns.path_first[link]] : link];
  }
  target(link) {
    return this.columns.target[data.paths ? this.columns.path_link[this.columns.path_first[link + 1] - 1] : link];
  }

  busyUntil(send) {
    return this.arrival[send] - (data.occupancy === "transfer" ? 0 : this.alphaOfLink[this.link[send]]);
  }

  /** Per link: time busy with sums and copies, and idle by reason. */
  sumUp() {
    const make = () => new Float64Array(this.links);
    Object.assign(this, { busyReduce: make(), busyCopy: make(), waits: make(), late: make(), nothing: make() });
    const { first, list } = this.byLink;
    for (let link = 0; link < this.links; ++link) {
      let before = 0;
      for (let i = first[link]; i < first[link + 1]; ++i) {
        const send = list[i];
        const until = this.busyUntil(send);
        const known = Math.max(before, Math.min(this.ready[send], this.start[send]));
        this.waits[link] += Math.max(0, known - before);
        this.late[link] += Math.max(0, this.start[send] - known);
        (this.reduces[send] ? this.busyReduce : this.busyCopy)[link] += until - this.start[send];
        before = Math.max(before, until);
      }
      this.nothing[link] = Math.max(0, this.end - before);
    }
  }

  /** The share of the time for which a link of the drawing is busy. */
  useOfDrawn() {
    const use = new Float32Array(this.columns.source.length);
    for (let link = 0; link < this.links; ++link) {
      const share = this.mode === "use" ? this.meanUse(link) : (this.busyReduce[link] + this.busyCopy[link]) / this.end;
      for (const drawn of this.path(link)) use[drawn] = Math.min(1, use[drawn] + share);
    }
    return use;
  }
  meanUse(link) {
    let sum = 0;
    for (let i = link * this.spans; i < (link + 1) * this.spans; ++i) sum += this.useReduce[i] + this.useCopy[i];
    return sum / 255 / this.spans;
  }

  /** The position in a link's list of the first send that is busy after a time. */
  firstOnLink(link, at) {
    const { first, list } = this.byLink;
    let i = firstAbove(this.linkStart, at, first[link], first[link + 1]);
    while (i > first[link] && this.busyUntil(list[i - 1]) > at) --i;
    return i;
  }

  /** Calls visit(send) for each send that is on its way at a time, until its last byte has arrived. */
  visitUnderWay(at, visit) {
    const { first, list } = this.byLink;
    for (let link = 0; link < this.links; ++link) {
      let i = firstAbove(this.linkStart, at, first[link], first[link + 1]) - 1;
      for (; i >= first[link] && this.arrival[list[i]] > at; --i) visit(list[i]);
    }
  }
  /** Sends that have arrived by a time. */
  arrivedBy(at) {
    return firstAbove(this.arrivals, at, 0, this.count);
  }
  /** The next start or arrival after a time, or the one before. */
  eventAfter(at) {
    const start = firstAbove(this.start, at, 0, this.count);
    const arrival = firstAbove(this.arrivals, at, 0, this.count);
    return Math.min(start < this.count ? this.start[start] : this.end, arrival < this.count ? this.arrivals[arrival]
        : this.end);
  }
  eventBefore(at) {
    const below = (array) => {
      let [from, to] = [0, this.count];
      while (from < to) {
        const middle = (from + to) >>> 1;
        if (array[middle] < at) from = middle + 1;
        else to = middle;
      }
      return from > 0 ? array[from - 1] : 0;
    };
    return Math.max(below(this.start), below(this.arrivals));
  }

  chunksOf(send) {
    const { payload_first: first, payload_chunk: list } = this.columns;
    if (first.length === 0) return [this.chunk[send]];
    return Array.from(list.subarray(first[send], first[send + 1]));
  }
  carries(send, chunk) {
    return this.columns.payload_first.length === 0 ? this.chunk[send] === chunk : this.chunksOf(send).includes(chunk);
  }
  chunkLabel(send) {
    const { payload_first: first } = this.columns;
    if (first.length === 0 || first[send + 1] - first[send] === 1) return String(this.chunk[send]);
    return this.chunk[send] + "+" + (first[send + 1] - first[send] - 1);
  }
  /** All sends of a chunk, by start. */
  sendsOfChunk(chunk) {
    const found = [];
    for (let send = 0; send < this.count; ++send) if (this.carries(send, chunk)) found.push(send);
    return found;
  }

  vertexName(vertex) {
    if (data.group_size > 1 && vertex < data.npus) {
      const first = vertex * data.group_size;
      return first + "-" + (Math.min(first + data.group_size, data.all_npus) - 1);
    }
    return vertex < data.npus ? String(vertex) : "switch " + vertex;
  }
  linkName(link) {
    return this.vertexName(this.source(link)) + " \u2192 " + this.vertexName(this.target(link));
  }
  rowName(row, kind) {
    return kind === "npus" ? (row < data.npus ? "to NPU " : "to ") + this.vertexName(row) : this.linkName(row);
  }
  sendsOfRow(row, kind) {
    const { first, list } = kind === "npus" ? this.byNpu : this.byLink;
    return [list, first[row], first[row + 1]];
  }
  /** The send of a row at a time, or within `near` of it; -1: none. */
  sendAt(row, kind, at, near) {
    const [list, from, to] = this.sendsOfRow(row, kind);
    let best = -1;
    for (let i = kind === "npus" ? from : Math.max(from, this.firstOnLink(row, at - near) - 1); i < to; ++i) {
      if (this.start[list[i]] > at + near) break;
      const until = kind === "npus" ? this.arrival[list[i]] : this.busyUntil(list[i]);
      if (until >= at - near) best = list[i];
    }
    return best;
  }

  sendWords(send) {
    const kind = this.reduces[send] ? "partial sum of " : "";
    const chunks = this.chunksOf(send);
    return kind + (chunks.length === 1 ? "chunk " : "chunks ") + ranges(chunks, 8);
  }
  /** What a send waited for. */
  causeWords(send) {
    const cause = this.cause[send];
    const held = this.start[send] - Math.max(this.ready[send], cause < this.count
        && this.link[cause] === this.link[send]
      ? this.busyUntil(cause) : 0);
    const planned = held > 0 ? ", starts " + time(held) + " later" : "";
    if (cause >= this.count) return this.start[send] > 0 ? "nothing before it" + planned : "starts at once";
    const onLink = this.link[cause] === this.link[send] && this.busyUntil(cause) > this.ready[send] - 0.5;
    return (onLink ? "the link is busy with chunk " + this.chunkLabel(cause)
      : "chunk " + this.chunkLabel(cause) + " arrives from " + this.vertexName(this.source(this.link[cause])))
      + planned;
  }
  rowTip({ row, send, at }, kind) {
    if (send < 0) return this.rowName(row, kind) + "\n" + time(Math.max(0, at)) + (this.mode === "use" ? "" : ": idle");
    return this.linkName(this.link[send]) + "\n" + this.sendWords(send) + "\nstarts " + time(this.start[send]) +
      ", arrives " + time(this.arrival[send]) + "\nwaited for: " + this.causeWords(send);
  }
}
