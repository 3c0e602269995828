"use strict";
// Drawing: scales, ticks, lines with gaps, bands. Knows a panel's data and an <svg>, nothing of the page around it.

const SVG = "http://www.w3.org/2000/svg";
const HEADS = [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]; // of marks on log axes
const UP = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function make(parent, tag, attributes, text) {
  const node = parent.appendChild(document.createElementNS(SVG, tag));
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  if (text !== undefined) node.textContent = text;
  return node;
}

function power(exponent) {
  return "10" + [...String(exponent)].map((c) => UP[c]).join("");
}

/** A number for people: four digits, powers of ten written as such. */
function say(value, digits = 4) {
  if (value === null) return "missing";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) {
    const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    return value.toLocaleString("en", { maximumFractionDigits: places }).replace(/,/g, "\u202f").replace("-", "−");
  }
  const [head, exponent] = value.toExponential(digits - 1).split("e");
  const mantissa = String(Number(head)).replace("-", "−");
  return (mantissa === "1" ? "" : mantissa + "·") + power(Number(exponent));
}

/** From data to pixels; `null` for what the scale cannot show. */
function scale(low, high, from, to, log) {
  const f = log ? Math.log10 : (v) => v;
  const a = f(low), span = f(high) - a;
  return (v) => (v === null || (log && v <= 0) ? null : from + ((f(v) - a) / span) * (to - from));
}

/** The range of the values with some air; `null` where there is none. */
function range(values, log, air) {
  const good = values.filter((v) => v !== null && (!log || v > 0));
  if (!good.length) return null;
  let [low, high] = good.reduce(([l, h], v) => [Math.min(l, v), Math.max(h, v)], [Infinity, -Infinity]);
  if (log) [low, high] = [Math.log10(low), Math.log10(high)];
  if (high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high), 1e-300)) {
    const half = log ? 0.5 : Math.abs(low) / 20 || 0.5;
    [low, high] = [low - half, high + half];
  }
  [low, high] = [low - air * (high - low), high + air * (high - low)];
  return log ? [10 ** low, 10 ** high] : [low, high];
}

/** Where the axis is marked: [value, text]. */
function ticks([low, high], log, most) {
  if (log) {
    const first = Math.floor(Math.log10(low)), last = Math.floor(Math.log10(high) + 1e-9);
    const every = Math.max(1, Math.ceil((last - first) / most));
    const within = ([h, e]) => h * 10 ** e >= low * 0.999 && h * 10 ** e <= high * 1.001;
    const tens = Array.from({ length: last - first + 1 }, (_, k) => first + k);
    const choices = HEADS.map((heads) => tens.flatMap((e) => heads.map((h) => [h, e])).filter(within));
    const found = choices.find((c) => c.length <= most) || choices.at(-1).filter(([, e]) => e % every === 0);
    const plain = found.every(([, e]) => e >= -3 && e <= 4);
    if (found.length > 1) return found.map(([h, e]) => [h * 10 ** e, decade(h, e, plain)]);
  }
  const raw = (high - low) / most, unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((k) => k * unit >= raw * 0.999);
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    if (log && k <= 0) continue;
    const big = Math.max(Math.abs(low), Math.abs(high)) >= 1e6 || places > 6;
    const text = big ? say(k * step, 5) : (k * step).toFixed(places).replace("-", "−");
    found.push([k * step, k === 0 ? "0" : text]);
  }
  return found;
}

function decade(head, exponent, plain) {
  if (plain) return String(Number((head * 10 ** exponent).toPrecision(2)));
  return (head === 1 ? "" : head + "·") + power(exponent);
}

/** Runs of neighbours that are all there: a missing value ends a run, it is never bridged. */
function pieces(points) {
  const found = [];
  let piece = [];
  for (const p of [...points, null]) {
    if (p) piece.push(p);
    else if (piece.length) piece = found.push(piece) && [];
  }
  return found;
}

const join = (points) => points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L");

/** All x of a panel for the chosen axis. */
const abscissas = (panel, x) => Object.values(panel.curves).flatMap((by) => (by[x] ? by[x].x : []));

/** The values of the methods that are on, for the chosen axes. */
function chosen(panel, state) {
  const lines = [];
  for (const method of panel.methods) {
    const curve = (panel.curves[method.id] || {})[state.x];
    const band = curve && curve.y[state.y];
    const there = Boolean(band) && band[0].some((v, i) => v !== null && curve.x[i] !== null);
    lines.push({ method, there, on: state.on.has(method.id), x: there ? curve.x : [], band: there ? band : [[], [], []] });
  }
  return lines;
}

/** Draw; return the points that can be pointed at, what had to be left out, and the margin that the y axis needs.
 *  `state.span`: all x of the panels that this one is aligned with; `state.left`: their margin, if it is larger. */
function draw(svg, panel, state, width) {
  const lines = chosen(panel, state), shown = lines.filter((l) => l.on && l.there);
  const height = Math.round(Math.min(460, Math.max(280, width * 0.56)));
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const fits = (v, log) => v !== null && (!log || v > 0);
  const falls = panel.xs.find((a) => a.id === state.x).falls;
  const mine = shown.flatMap((l) => l.x.filter((_, i) => fits(l.band[0][i], state.logy)));
  const full = range(state.span.length ? state.span : mine, state.logx, 0);
  const at = (share) => (state.logx ? full[0] * (full[1] / full[0]) ** share : full[0] + (full[1] - full[0]) * share);
  const beyond = (v) => state.end < 1 && (falls ? v < at(1 - state.end) : v > at(state.end));
  for (const l of shown) l.x = l.x.map((v) => (v === null || beyond(v) ? null : v));
  const inside = (l) => (v) => v.filter((_, i) => fits(l.x[i], state.logx));
  const ys = shown.flatMap((l) => l.band.slice(0, state.band ? 3 : 1).flatMap(inside(l)));
  const own = shown.flatMap((l) => l.x.filter((_, i) => fits(l.band[0][i], state.logy)));
  const xs = state.span.length ? state.span.filter((v) => v !== null && !beyond(v)) : own;
  const yr = range(ys, state.logy, 0.04), xr = range(xs, state.logx, panel.marks || panel.aligned ? 0.04 : 0.01);
  const empty = !yr || !xr;
  if (empty) {
    const why = shown.length ? "No positive values: switch the log scale off." : "No method is shown.";
    make(svg, "text", { x: width / 2, y: height / 2, "text-anchor": "middle", class: "empty" }, why);
    return { lines, points: [], hidden: 0, cut: 0, need: 0 };
  }
  const yt = ticks(yr, state.logy, 7), xt = ticks(xr, state.logx, width < 480 ? 5 : 9);
  const need = 14 + 6.6 * Math.max(...yt.map(([, t]) => t.length));
  const box = { left: Math.max(need, state.left), top: 30, right: width - 16, bottom: height - 42 };
  const [first, last] = falls ? [box.right, box.left] : [box.left, box.right];
  const sx = scale(...xr, first, last, state.logx), sy = scale(...yr, box.bottom, box.top, state.logy);
  frame(svg, panel, state, box, xt.map(([v, t]) => [sx(v), t]), yt.map(([v, t]) => [sy(v), t]));

  const points = [];
  let hidden = 0, cut = 0;
  for (const line of [...shown].reverse()) {
    const group = make(svg, "g", { class: `line ink${line.method.ink}`, "data-method": line.method.id });
    const [middle, low, high] = line.band;
    const spot = (v, i) => (sx(line.x[i]) === null || sy(v[i]) === null ? null : [sx(line.x[i]), sy(v[i])]);
    const here = middle.map((_, i) => spot(middle, i));
    hidden += middle.filter((v, i) => v !== null && line.x[i] !== null && !here[i]).length;
    if (state.band) {
      const both = low.map((_, i) => spot(low, i) && spot(high, i) && [spot(low, i), spot(high, i)]);
      cut += low.filter((v, i) => v !== null && high[i] !== null && here[i] && !both[i]).length;
      const d = pieces(both).map((p) => `M${join(p.map(([l]) => l))}L${join(p.map(([, h]) => h).reverse())}Z`).join("");
      if (d) make(group, "path", { class: "band", d });
    }
    const runs = pieces(here);
    const d = runs.filter((r) => r.length > 1).map((r) => "M" + join(r)).join("");
    if (d && line.method.joined) make(group, "path", { class: "curve", d });
    const lone = new Set(runs.filter((r) => r.length === 1).map(([p]) => p));
    const gap = (box.right - box.left) / (width < 480 ? 5 : 9);
    let next = box.left + (gap * (0.5 + panel.methods.indexOf(line.method))) / panel.methods.length;
    here.forEach((p, i) => {
      if (p) points.push({ line, i, px: p[0], py: p[1], x: line.x[i], middle: middle[i], low: low[i], high: high[i] });
    });
    for (const p of here.filter(Boolean).sort(([a], [b]) => a - b)) { // marks from left to right, whichever way x runs
      if (line.method.joined && !panel.marks && !lone.has(p) && p[0] < next) continue;
      while (p[0] >= next) next += gap;
      make(group, "use", { class: "mark", href: `#mark-${line.method.mark}`, x: p[0].toFixed(2), y: p[1].toFixed(2) });
    }
  }
  return { lines, points, hidden, cut, need };
}

function frame(svg, panel, state, box, xt, yt) {
  const g = make(svg, "g", { class: "frame" });
  for (const [y, text] of yt) {
    make(g, "path", { class: "grid", d: `M${box.left} ${y.toFixed(2)}H${box.right}` });
    make(g, "text", { class: "tick y", x: box.left - 7, y: y + 4, "text-anchor": "end" }, text);
  }
  for (const [x, text] of xt) {
    make(g, "path", { class: "grid", d: `M${x.toFixed(2)} ${box.top}V${box.bottom}` });
    make(g, "text", { class: "tick x", x, y: box.bottom + 17, "text-anchor": "middle" }, text);
  }
  make(g, "path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
  const name = (axes, id) => axes.find((a) => a.id === id).label;
  const middle = (box.left + box.right) / 2;
  for (const label of [
    make(g, "text", { class: "label y", x: 2, y: 14 }, name(panel.ys, state.y)),
    make(g, "text", { class: "label x", x: middle, y: box.bottom + 37, "text-anchor": "middle" }, name(panel.xs, state.x)),
  ]) {
    const room = (box.right - 2) / label.getComputedTextLength();
    if (room < 1) label.style.fontSize = `${(12.5 * room).toFixed(2)}px`;
  }
}
