"use strict";
// Rows of sends by time, on one canvas that shows the rows that are in sight. What does not change with the slider is
// drawn once; the time itself is a line of its own.

const kRowHeight = 16;
const kLabelWidth = 118;
const kAxisHeight = 20;

class Gantt {
  /** `model`: the schedule (view.js). */
  constructor(model) {
    this.model = model;
    this.frame = byId("rows");
    this.canvas = byId("bars");
    this.from = 0;
    this.to = model.end;
    this.rows = [];
    this.chosenChunk = -1;
    this.onPick = () => {};
    this.listen();
  }

  /** Rows as numbers of links or NPUs, and what each is called. */
  show(rows, kind) {
    this.rows = rows;
    this.kind = kind;
    byId("spacer").style.height = rows.length * kRowHeight + kAxisHeight + "px";
    const most = this.model.mode === "use" ? "spans of time" : "sends";
    byId("rows-text").textContent = counted(rows.length, kind === "npus" ? "NPU" : "link") + ", " + most;
    this.draw();
  }

  x(time) {
    return kLabelWidth + (time - this.from) / (this.to - this.from) * (this.width - kLabelWidth - 8);
  }
  timeAt(x) {
    return this.from + (x - kLabelWidth) / (this.width - kLabelWidth - 8) * (this.to - this.from);
  }

  /** Zooms about a time; keeps to the schedule. */
  zoom(factor, about) {
    const width = Math.min((this.to - this.from) * factor, this.model.end);
    const share = (about - this.from) / (this.to - this.from);
    this.move(about - width * share, width);
  }
  move(from, width) {
    this.from = Math.max(0, Math.min(from, this.model.end - width));
    this.to = this.from + Math.max(width, 1);
    this.draw();
  }

  draw() {
    const { context, width, height } = contextOf(this.canvas);
    this.width = width;
    this.drawAxis(context, width, height);
    const top = this.frame.scrollTop;
    const first = Math.floor(top / kRowHeight);
    const last = Math.min(this.rows.length, Math.ceil((top + height - kAxisHeight) / kRowHeight));
    context.save();
    context.beginPath();
    context.rect(0, kAxisHeight, width, height - kAxisHeight);
    context.clip();
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    for (let i = first; i < last; ++i) {
      const y = kAxisHeight + i * kRowHeight - top;
      context.textAlign = "right";
      context.fillStyle = colours.ink;
      context.fillText(this.model.rowName(this.rows[i], this.kind), kLabelWidth - 8, y + kRowHeight / 2,
          kLabelWidth - 12);
      if (this.model.mode === "use") this.drawUse(context, this.rows[i], y);
      else this.drawSends(context, this.rows[i], y);
    }
    context.restore();
    this.drawNow();
  }

  drawAxis(context, width, height) {
    context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    for (const tick of d3.ticks(this.from, this.to, Math.max(2, Math.floor(width / 150)))) {
      const x = this.x(tick);
      context.fillStyle = colours.muted;
      context.fillText(time(tick), Math.min(x, width - 24), 13);
      context.fillStyle = colours.line;
      context.fillRect(Math.round(x), 17, 1, height - 17);
    }
  }

  drawSends(context, row, y) {
    const { model } = this;
    const byNpu = this.kind === "npus";
    const [list, from, to] = model.sendsOfRow(row, this.kind);
    const left = kLabelWidth;
    const pixel = 1.5 * (this.to - this.from) / this.width;
    let fillColour = "";
    let covered = -1;  // the pixel up to which a bar has been drawn
    let at = byNpu ? from : model.firstOnLink(row, this.from);
    let before = at > from && !byNpu ? model.busyUntil(list[at - 1]) : 0;
    for (; at < to; ++at) {
      const send = list[at];
      const start = model.start[send];
      if (start > this.to) break;
      const until = byNpu ? model.arrival[send] : model.busyUntil(send);
      if (!byNpu && start - before > pixel && this.drawWait(context, send, before, y)) fillColour = "";
      before = until;
      const x0 = Math.max(left, this.x(start));
      const x1 = Math.max(x0 + 0.5, this.x(until) - 0.5);
      if (x1 < left) continue;
      if (x1 <= covered) {
        // What lies within a pixel is left out: go on with the first send that ends beyond it.
        if (!byNpu) {
          const next = model.firstOnLink(row, this.timeAt(covered + 0.5));
          if (next > at + 1) [at, before] = [next - 1, model.busyUntil(list[next - 1])];
        }
        continue;
      }
      const other = this.chosenChunk >= 0 && !model.carries(send, this.chosenChunk);
      if (other || byNpu) context.globalAlpha = other ? 0.18 : 0.55;
      const colour = model.reduces[send] ? colours.reduce : colours.copy;
      if (colour !== fillColour) context.fillStyle = fillColour = colour;
      context.fillRect(x0, y + 3, x1 - x0, kRowHeight - 6);
      if (x1 - x0 > 20 && !other && !byNpu) {
        context.fillStyle = fillColour = colours.paper;
        context.textAlign = "left";
        context.fillText(model.chunkLabel(send), x0 + 3, y + kRowHeight / 2 + 0.5, x1 - x0 - 5);
      }
      covered = Math.floor(x1);
    }
    context.globalAlpha = 1;
  }

  /** Why the link is idle before a send: what it carries is not there yet, or it is there and not sent. */
  drawWait(context, send, before, y) {
    const { ready, start } = this.model;
    const left = kLabelWidth;
    const bar = (from, to, colour) => {
      const x0 = Math.max(left, this.x(from));
      const x1 = this.x(to);
      if (x1 - x0 < 1.5) return;
      context.fillStyle = colours[colour];
      context.fillRect(x0 + 0.5, y + kRowHeight / 2 - 1, x1 - x0 - 1, 2);
    };
    const known = Math.max(before, Math.min(ready[send], start[send]));
    bar(before, known, "wait");
    bar(known, start[send], "late");
    return true;
  }

  drawUse(context, row, y) {
    const { model } = this;
    const width = model.end / model.spans;
    for (let span = Math.floor(this.from / width); span < model.spans && span * width < this.to; ++span) {
      const reduce = model.useReduce[row * model.spans + span];
      const copy = model.useCopy[row * model.spans + span];
      if (reduce + copy === 0) continue;
      const x0 = Math.max(kLabelWidth, this.x(span * width));
      const x1 = this.x((span + 1) * width);
      context.globalAlpha = Math.min(1, (reduce + copy) / 255);
      context.fillStyle = reduce > copy ? colours.reduce : colours.copy;
      context.fillRect(x0, y + 2, x1 - x0 + 0.3, kRowHeight - 4);
    }
    context.globalAlpha = 1;
  }

  /** The line of the present time. */
  drawNow() {
    const line = byId("now");
    const x = this.x(this.model.now);
    line.hidden = !(x >= kLabelWidth && x <= this.width);
    line.style.transform = "translateX(" + x + "px)";
  }

  /** The row and the send at a place of the canvas. */
  find(x, y) {
    const i = Math.floor((y - kAxisHeight + this.frame.scrollTop) / kRowHeight);
    if (y < kAxisHeight || i < 0 || i >= this.rows.length) return null;
    const row = this.rows[i];
    const at = this.timeAt(x);
    if (x < kLabelWidth || this.model.mode === "use") return { row, send: -1, at };
    return { row, send: this.model.sendAt(row, this.kind, at, (this.to - this.from) / this.width), at };
  }

  listen() {
    const place = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let drag = null;
    this.frame.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const [x] = place(event);
      if (event.shiftKey) this.move(this.from + event.deltaY / 1000 * (this.to - this.from), this.to - this.from);
      else this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.timeAt(x));
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => {
      drag = { x: place(event)[0], from: this.from, moved: false };
    });
    window.addEventListener("pointerup", () => { drag = null; });
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (drag !== null && event.buttons === 1) {
        drag.moved = drag.moved || Math.abs(x - drag.x) > 3;
        const width = this.to - this.from;
        if (drag.moved) this.move(drag.from - (x - drag.x) / (this.width - kLabelWidth) * width, width);
        return;
      }
      const found = this.find(x, y);
      if (found === null) return tip.hide();
      tip.show(this.model.rowTip(found, this.kind), event.clientX, event.clientY);
    });
    this.canvas.addEventListener("pointerleave", () => tip.hide());
    this.canvas.addEventListener("click", (event) => {
      if (drag !== null && drag.moved) return;
      const found = this.find(...place(event));
      if (found !== null) this.onPick(found, this.kind);
    });
    this.frame.addEventListener("keydown", (event) => {
      const width = this.to - this.from;
      const middle = (this.from + this.to) / 2;
      const actions = {
        "+": () => this.zoom(0.7, middle), "=": () => this.zoom(0.7, middle), "-": () => this.zoom(1.4, middle),
        ArrowLeft: () => this.move(this.from - width / 8, width), ArrowRight: () => this.move(this.from + width / 8,
            width),
        Home: () => this.move(0, this.model.end),
      };
      if (!(event.key in actions)) return;
      event.preventDefault();
      actions[event.key]();
    });
    byId("closer").addEventListener("click", () => this.zoom(0.6, Math.max(this.from, Math.min(this.model.now,
        this.to))));
    byId("wider").addEventListener("click", () => this.zoom(1 / 0.6, (this.from + this.to) / 2));
    byId("whole").addEventListener("click", () => this.move(0, this.model.end));
  }
}
