"use strict";
// The network: vertices and links on one canvas, which changes with the choice of colours, and what moves on another
// one over it.

/** Beyond so many busy links that are no bars, vertices are drawn in their place (NetworkMap.drawSending). */
const kMostCurves = 4000;

class NetworkMap {
  constructor(columns) {
    this.columns = columns;
    this.canvas = byId("map");
    this.moving = byId("moving");
    this.links = columns.source.length;
    this.use = new Float32Array(this.links);  // what colours links: 0 to 1
    this.marked = null;                       // a bound: { inside: Set, weights }
    this.chosen = { vertex: -1, link: -1, links: null };
    this.findLanes();
  }

  /** Links that join the same vertices stand side by side. */
  findLanes() {
    const seen = new Map();
    this.lane = new Uint16Array(this.links);
    for (let l = 0; l < this.links; ++l) {
      const key = this.columns.source[l] * data.vertices + this.columns.target[l];
      const count = seen.get(key) || 0;
      this.lane[l] = count;
      seen.set(key, count + 1);
    }
  }

  /** Fits the drawing into the canvas. */
  place(width, height) {
    const { x, y } = this.columns;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let v = 0; v < x.length; ++v) {
      left = Math.min(left, x[v]);
      right = Math.max(right, x[v]);
      top = Math.min(top, y[v]);
      bottom = Math.max(bottom, y[v]);
    }
    const margin = 34;
    const wide = Math.max(right - left, 0.001);
    const high = Math.max(bottom - top, 0.001);
    let across = (width - 2 * margin) / wide;
    let down = (height - 2 * margin) / high;
    const least = Math.min(across, down, 150);
    // A drawing that is much wider than high, or higher than wide, is stretched.
    const stretch = data.form === "levels" ? 2.5 : 1.3;
    across = Math.min(across, stretch * least, 150);
    down = Math.min(down, stretch * least, 150);
    if (data.form !== "levels" && data.form !== "grid") across = down = least;
    this.unit = Math.min(across, down);
    const shiftX = (width - wide * across) / 2 - left * across;
    const shiftY = (height - high * down) / 2 - top * down;
    this.px = x.map((value) => value * across + shiftX);
    this.py = y.map((value) => value * down + shiftY);
    this.radius = Math.max(1.2, Math.min(13, 0.3 * this.unit));
    this.findCurves();
  }

  /** The ends and the middle of each link's curve: six numbers per link; and which are bars, along an axis. */
  findCurves() {
    this.curves = new Float32Array(6 * this.links);
    this.isBar = new Uint8Array(this.links);
    for (let link = 0; link < this.links; ++link) {
      const a = this.columns.source[link];
      const b = this.columns.target[link];
      const dx = this.px[b] - this.px[a];
      const dy = this.py[b] - this.py[a];
      const length = Math.hypot(dx, dy) || 1;
      const [nx, ny] = [dy / length, -dx / length];
      const aside = -(Math.min(5, this.radius * 0.38) + this.lane[link] * Math.min(4, this.radius * 0.4));
      const away = aside + 2 * this.columns.bend[link] * this.unit;
      const cut = Math.min(this.radius, length / 3) / length;
      this.curves.set([
        this.px[a] + dx * cut + nx * aside, this.py[a] + dy * cut + ny * aside,
        (this.px[a] + this.px[b]) / 2 + nx * away, (this.py[a] + this.py[b]) / 2 + ny * away,
        this.px[b] - dx * cut + nx * aside, this.py[b] - dy * cut + ny * aside], 6 * link);
      this.isBar[link] = this.columns.bend[link] === 0 && Math.min(Math.abs(dx), Math.abs(dy)) < 0.01;
    }
  }
  curve(link) {
    const [x0, y0, cx, cy, x1, y1] = this.curves.subarray(6 * link, 6 * link + 6);
    return { x0, y0, cx, cy, x1, y1 };
  }

  /** Adds a link to the path that is drawn next. */
  add(context, link) {
    const { curves } = this;
    const at = 6 * link;
    context.moveTo(curves[at], curves[at + 1]);
    if (this.columns.bend[link] === 0) context.lineTo(curves[at + 4], curves[at + 5]);
    else context.quadraticCurveTo(curves[at + 2], curves[at + 3], curves[at + 4], curves[at + 5]);
  }
  /** A link along an axis as a rectangle, which is drawn several times faster than a stroke; whether it is one. */
  fillBar(context, link) {
    if (!this.isBar[link]) return false;
    const { curves } = this;
    const at = 6 * link;
    const [wide, high] = [curves[at + 4] - curves[at], curves[at + 5] - curves[at + 1]];
    const width = Math.max(1, Math.round(context.lineWidth));
    const [x, y] = [Math.round(curves[at]), Math.round(curves[at + 1])];
    if (Math.abs(high) < Math.abs(wide)) context.fillRect(x, y - (width >> 1), Math.round(wide), width);
    else context.fillRect(x - (width >> 1), y, width, Math.round(high));
    return true;
  }
  /** Of a long curve the beginning and the end alone: curves take long to draw, and a torus is known to close. */
  traceEnds(context, link) {
    const c = this.curve(link);
    const share = 0.04;
    context.beginPath();
    context.moveTo(c.x0, c.y0);
    context.lineTo(c.x0 + 2 * share * (c.cx - c.x0), c.y0 + 2 * share * (c.cy - c.y0));
    context.moveTo(c.x1 + 2 * share * (c.cx - c.x1), c.y1 + 2 * share * (c.cy - c.y1));
    context.lineTo(c.x1, c.y1);
    context.stroke();
  }
  trace(context, link) {
    context.beginPath();
    this.add(context, link);
    context.stroke();
  }

  /** The network with its colours, marks and choices. */
  draw() {
    const { context, width, height } = contextOf(this.canvas);
    this.place(width, height);
    this.drawFailed(context);
    const weak = this.chosen.links !== null;
    let slow = 0;
    for (let l = 0; l < this.links; ++l) slow += 1 - this.isBar[l];
    const opacity = Math.max(0.05, Math.min(1, kMostCurves / slow));  // many slanted links would be a blot
    for (let l = 0; l < this.links; ++l) {
      const share = this.use[l];
      const steps = Math.round(share * 12) / 12;
      context.strokeStyle = between(colours.line, colours.busy, steps);
      context.lineWidth = Math.max(0.6, Math.min(this.radius * 0.4, 0.7 + 2.2 * share));
      context.globalAlpha = weak ? Math.min(0.35, opacity) : opacity;
      this.trace(context, l);
    }
    context.globalAlpha = 1;
    this.drawBound(context);
    this.drawChosen(context);
    this.drawVertices(context);
  }

  drawFailed(context) {
    context.setLineDash([4, 4]);
    context.strokeStyle = colours.reduce;
    context.lineWidth = 1.2;
    for (const [a, b] of data.failed) {
      context.beginPath();
      context.moveTo(this.px[a], this.py[a]);
      context.lineTo(this.px[b], this.py[b]);
      context.stroke();
      const [x, y] = [(this.px[a] + this.px[b]) / 2, (this.py[a] + this.py[b]) / 2];
      context.setLineDash([]);
      context.beginPath();
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x + 4, y - 4);
      context.lineTo(x - 4, y + 4);
      context.stroke();
      context.setLineDash([4, 4]);
    }
    context.setLineDash([]);
  }

  drawBound(context) {
    if (this.marked === null) return;
    const { source, target } = this.columns;
    const { inside, weights } = this.marked;
    const most = Math.max(1, ...weights.slice(0, 65536));
    context.strokeStyle = colours.cut;
    for (let l = 0; l < this.links; ++l) {
      const leaves = inside.size > 0 && inside.has(source[l]) && !inside.has(target[l]);
      const weight = weights.length === this.links ? weights[l] / most : 0;
      if (!leaves && weight === 0) continue;
      context.lineWidth = Math.max(1.2, Math.min(this.radius * 0.6, leaves ? 3.5 : 1 + 2.5 * weight));
      this.trace(context, l);
    }
  }

  drawChosen(context) {
    if (this.chosen.links === null) return;
    for (const [link, colour] of this.chosen.links) {
      context.strokeStyle = colours[colour];
      context.lineWidth = Math.max(1.4, Math.min(3, this.radius * 0.5));
      this.trace(context, link);
      this.arrow(context, link);
    }
  }

  arrow(context, link) {
    const c = this.curve(link);
    const [dx, dy] = [c.x1 - c.cx, c.y1 - c.cy];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const size = Math.min(8, 3 + this.radius * 0.5);
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.moveTo(c.x1, c.y1);
    context.lineTo(c.x1 - ux * size - uy * size * 0.5, c.y1 - uy * size + ux * size * 0.5);
    context.lineTo(c.x1 - ux * size + uy * size * 0.5, c.y1 - uy * size - ux * size * 0.5);
    context.fill();
  }

  drawVertices(context) {
    const r = this.radius;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const font = Math.min(12, r * 0.95);
    context.font = font + "px system-ui, 'DejaVu Sans', sans-serif";
    for (let v = 0; v < data.vertices; ++v) {
      const inside = this.marked !== null && this.marked.inside.has(v);
      context.lineWidth = v === this.chosen.vertex ? 2.6 : r > 3 ? 1.1 : 0.6;
      context.strokeStyle = v === this.chosen.vertex ? colours.mark : inside ? colours.cut : colours.ink;
      context.fillStyle = inside ? between(colours.paper, colours.cut, 0.25) : v < data.npus ? colours.paper
          : colours.fill;
      context.beginPath();
      if (v < data.npus) context.arc(this.px[v], this.py[v], r, 0, 2 * Math.PI);
      else context.rect(this.px[v] - r, this.py[v] - 0.8 * r, 2 * r, 1.6 * r);
      context.fill();
      context.stroke();
      if (font < 6.5) continue;
      context.fillStyle = colours.ink;
      context.fillText(String(v), this.px[v], this.py[v] + 0.5);
    }
  }

  /**
   * What is on its way. `busy`: lists of links, by colour and opacity; `dots`: by colour, a flat list of link, share of
   * the way and send for each; `label`: the words of a send.
   */
  drawMoving(busy, dots, label) {
    const { context } = contextOf(this.moving);
    context.lineWidth = Math.max(1.2, Math.min(3, this.radius * 0.45));
    for (const { colour, alpha, links } of busy) {
      context.strokeStyle = context.fillStyle = colours[colour];
      context.globalAlpha = alpha;
      const crowd = links.length > 1000;
      for (const link of links) {
        if (this.fillBar(context, link)) continue;
        if (crowd && this.columns.bend[link] !== 0) this.traceEnds(context, link);
        else this.trace(context, link);
      }
    }
    context.globalAlpha = 1;
    let count = 0;
    for (const { list } of dots) count += list.length / 3;
    const labels = this.radius >= 9 && count <= 96;
    const size = labels ? 6.5 : Math.max(1.3, Math.min(5, this.radius * 0.42));
    for (const { colour, list } of dots) this.drawDots(context, colours[colour], list, size, labels ? label : null);
  }

  /** Whether so many links are busy that drawing them takes longer than a frame and shows a blot. */
  isCrowd(busy) {
    let slow = 0;
    for (const { links } of busy) for (const link of links) slow += 1 - this.isBar[link];
    return slow > kMostCurves;
  }
  /** Of a crowd of busy links: each vertex filled by the share of its links that send, sums over results. `busy` as for drawMoving(). */
  drawSending(busy) {
    const { context } = contextOf(this.moving);
    const { source } = this.columns;
    const all = new Uint32Array(data.vertices);
    for (let l = 0; l < this.links; ++l) ++all[source[l]];
    for (const colour of new Set(busy.map((each) => each.colour))) {
      const sending = new Float32Array(data.vertices);
      for (const each of busy)
        if (each.colour === colour) for (const link of each.links) sending[source[link]] += each.alpha;
      context.fillStyle = colours[colour];
      for (let v = 0; v < data.vertices; ++v) {
        if (sending[v] === 0) continue;
        context.globalAlpha = Math.min(1, sending[v] / all[v]);
        context.beginPath();
        context.arc(this.px[v], this.py[v], this.radius, 0, 2 * Math.PI);
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  drawDots(context, colour, list, size, label) {
    const { curves } = this;
    context.font = "10px system-ui, 'DejaVu Sans', sans-serif";
    context.textAlign = "center";
    context.fillStyle = colour;
    for (let i = 0; i < list.length; i += 3) {
      const at = 6 * list[i];
      const share = list[i + 1];
      const rest = 1 - share;
      const [a, b, c] = [rest * rest, 2 * rest * share, share * share];
      const x = a * curves[at] + b * curves[at + 2] + c * curves[at + 4];
      const y = a * curves[at + 1] + b * curves[at + 3] + c * curves[at + 5];
      if (size < 2.5) {
        context.fillRect(x - size, y - size, 2 * size, 2 * size);
        continue;
      }
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fill();
      if (label === null) continue;
      context.fillStyle = colours.paper;
      context.fillText(label(list[i + 2]), x, y + 3.5);
      context.fillStyle = colour;
    }
  }

  /** The vertex at a place of the canvas, or -1. */
  vertexAt(x, y) {
    let best = -1;
    let least = Math.max(this.radius + 3, 6) ** 2;
    for (let v = 0; v < data.vertices; ++v) {
      const distance = (this.px[v] - x) ** 2 + (this.py[v] - y) ** 2;
      if (distance < least) [least, best] = [distance, v];
    }
    return best;
  }

  /** The link that passes nearest, within 5 pixels, or -1. */
  linkAt(x, y) {
    let best = -1;
    let least = 25;
    for (let l = 0; l < this.links; ++l) {
      const c = this.curve(l);
      const near = 2 * this.columns.bend[l] * this.unit + 6;
      if (x < Math.min(c.x0, c.x1) - Math.abs(near) || x > Math.max(c.x0, c.x1) + Math.abs(near)) continue;
      if (y < Math.min(c.y0, c.y1) - Math.abs(near) || y > Math.max(c.y0, c.y1) + Math.abs(near)) continue;
      for (let i = 0; i <= 24; ++i) {
        const share = i / 24;
        const rest = 1 - share;
        const dx = rest * rest * c.x0 + 2 * rest * share * c.cx + share * share * c.x1 - x;
        const dy = rest * rest * c.y0 + 2 * rest * share * c.cy + share * share * c.y1 - y;
        if (dx * dx + dy * dy < least) [least, best] = [dx * dx + dy * dy, l];
      }
    }
    return best;
  }

  /** The vertex next to another one in a direction of the keyboard. */
  neighbour(from, dx, dy) {
    let best = from;
    let least = Infinity;
    for (let v = 0; v < data.vertices; ++v) {
      const [x, y] = [this.px[v] - this.px[from], this.py[v] - this.py[from]];
      const along = x * dx + y * dy;
      const beside = Math.abs(x * dy - y * dx);
      if (v === from || along <= 0 || beside > 1.5 * along) continue;
      if (along + 2 * beside < least) [least, best] = [along + 2 * beside, v];
    }
    return best;
  }
}
