"use strict";
(() => {
window.addEventListener("error", e => { document.documentElement.dataset.error = e.message; });
const data = JSON.parse(document.getElementById("data").textContent);
const el = id => document.getElementById(id);

// Little-endian 32-bit floats in base64.
function floats(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const view = new DataView(bytes.buffer), out = new Float32Array(bytes.length >> 2);
  for (let i = 0; i < out.length; i++) out[i] = view.getFloat32(4 * i, true);
  return out;
}
const times = floats(data.time), poses = floats(data.poses), bodies = data.bodies.length;
const t0 = times[0], t1 = times[times.length - 1];

const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
const mix = (a, b, s) => a + (b - a) * s;

// The eye: azimuth about the upward axis and elevation, looking at a target.
const up = data.up, forward0 = unit(add(data.view, up, -dot(data.view, up)));
const level = Math.hypot(...add(data.view, up, -dot(data.view, up))) > 1e-6 ? forward0 : unit(cross(up, [0.3, 0.5, 0.8]));
const side = cross(up, level);
const first = { azimuth: 0, elevation: Math.asin(Math.max(-1, Math.min(1, dot(data.view, up)))), zoom: 1, shift: [0, 0, 0] };
let eye = { ...first, shift: [0, 0, 0] };
let t = t0, playing = false, last = 0, speed = 1, dirty = true;

function basis() {
  const c = Math.cos(eye.elevation), s = Math.sin(eye.elevation), a = eye.azimuth;
  const flat = [0, 1, 2].map(i => Math.cos(a) * level[i] + Math.sin(a) * side[i]);
  const back = add([c * flat[0], c * flat[1], c * flat[2]], up, s);
  const right = unit(cross(up, flat));
  return { back, right, above: cross(back, right) };
}

function between(time) {
  let a = 0, b = times.length - 1;
  while (b - a > 1) { const m = (a + b) >> 1; if (times[m] <= time) a = m; else b = m; }
  return [a, b, b > a && times[b] > times[a] ? Math.min(1, Math.max(0, (time - times[a]) / (times[b] - times[a]))) : 0];
}
function frameAt(time) {
  const [a, b, s] = between(time), frames = [];
  for (let k = 0; k < bodies; k++) {
    const i = 7 * (a * bodies + k), j = 7 * (b * bodies + k), v = [];
    for (let n = 0; n < 7; n++) v.push(mix(poses[i + n], poses[j + n], s));
    const n = Math.hypot(v[3], v[4], v[5], v[6]) || 1, [w, x, y, z] = [v[3] / n, v[4] / n, v[5] / n, v[6] / n];
    frames.push({ p: v.slice(0, 3), R: [
      1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
      2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
      2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)] });
  }
  return frames;
}
function placed(frame, x, y, z) {
  if (!frame) return [x, y, z];
  const R = frame.R, p = frame.p;
  return [p[0] + R[0] * x + R[1] * y + R[2] * z, p[1] + R[3] * x + R[4] * y + R[5] * z, p[2] + R[6] * x + R[7] * y + R[8] * z];
}
const rgb = c => [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16));
const shade = (c, f, o) => `rgba(${Math.round(c[0] * f)},${Math.round(c[1] * f)},${Math.round(c[2] * f)},${o})`;
const deforming = data.deforming.map(d => ({ ...d, p: floats(d.p), c: rgb(d.c), s: d.s && floats(d.s) }));
const stops = { stress: data.stops.stress.map(rgb), pressure: data.stops.pressure.map(rgb) };
function shaded(share, stops) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2);
  return [0, 1, 2].map(i => mix(stops[k][i], stops[k + 1][i], at - k));
}
const patches = data.patches.map(p => ({ ...p, v: floats(p.v), p: floats(p.p) }));
const springs = data.springs.map(s => ({ ...s, ma: s.ma && floats(s.ma), mb: s.mb && floats(s.mb) }));
const solids = data.solids.map(s => ({ ...s, v: floats(s.v), c: s.c.map(rgb) }));

function coil(a, b) {
  const d = add(b, a, -1), length = Math.hypot(...d);
  if (length < 1e-9) return [a, b];
  const z = unit(d), x = unit(cross(z, Math.abs(z[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0])), y = cross(z, x), path = [];
  for (let i = 0; i <= 96; i++) {
    const s = i / 96, turn = 16 * Math.PI * Math.min(1, Math.max(0, (s - 0.12) / 0.76));
    const r = 0.012 * data.size * Math.min(1, Math.max(0, Math.min(s - 0.08, 0.92 - s) / 0.04));
    path.push(add(add(add(a, d, s), x, r * Math.cos(turn)), y, r * Math.sin(turn)));
  }
  return path;
}

const canvas = el("scene"), g = canvas.getContext("2d");
function fit(c) {
  const r = window.devicePixelRatio || 1, w = c.clientWidth, h = c.clientHeight;
  if (c.width !== Math.round(w * r) || c.height !== Math.round(h * r)) { c.width = Math.round(w * r); c.height = Math.round(h * r); }
  c.getContext("2d").setTransform(r, 0, 0, r, 0, 0);
  return [w, h];
}

function drawScene() {
  const [W, H] = fit(canvas), frames = frameAt(t), { back, right, above } = basis();
  const light = unit(add(add([0.9 * up[0], 0.9 * up[1], 0.9 * up[2]], back, 0.7), right, -0.25));
  let target = data.target;
  if (el("follow").checked && bodies) target = add(data.target, add(frames[data.anchor].p, data.anchor_start, -1));
  target = add(target, eye.shift);
  const scale = eye.zoom * Math.min(W / data.box[0], H / data.box[1]) * 0.86, far = 4 * Math.max(data.size, data.box[0]);
  const see = p => {
    const d = add(p, target, -1), z = dot(d, back), f = scale * far / Math.max(far - z, 0.05 * far);
    return [W / 2 + f * dot(d, right), H / 2 - f * dot(d, above), z];
  };
  const eyePoint = add(target, back, far), list = [];
  for (const s of solids) {
    const frame = s.b < 0 ? null : frames[s.b], n = s.v.length / 3, world = [], seen = [];
    let middle = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const p = placed(frame, s.v[3 * i], s.v[3 * i + 1], s.v[3 * i + 2]);
      world.push(p); seen.push(see(p)); middle = add(middle, p, 1 / n);
    }
    s.f.forEach((face, k) => {
      const a = world[face[0]], m = face.reduce((sum, i) => add(sum, world[i], 1 / face.length), [0, 0, 0]);
      let normal = unit(cross(add(world[face[1]], a, -1), add(world[face[2]], a, -1)));
      const outward = s.g ? dot(normal, up) : s.s === "open" ? dot(normal, add(eyePoint, m, -1)) : s.s ? 1 : dot(normal, add(m, middle, -1));
      if (outward < 0) normal = [-normal[0], -normal[1], -normal[2]];
      if (!s.g && s.o === 1 && dot(normal, add(eyePoint, m, -1)) < 0) return;
      const colour = s.c[k % s.c.length], f = 0.62 + 0.38 * Math.max(0, dot(normal, light));
      const depth = face.reduce((sum, i) => sum + seen[i][2], 0) / face.length;
      list.push({ layer: s.g ? 0 : 1, depth, points: face.map(i => seen[i]), fill: shade(colour, f, s.o),
        stroke: s.g ? "#b9c0c8" : s.o < 1 ? null : shade(colour, f, 1) });
    });
    for (const [i, j] of s.e) list.push({ layer: 1, depth: (seen[i][2] + seen[j][2]) / 2, points: [seen[i], seen[j]], stroke: shade(s.c[0], 1, 0.9), width: 1 });
  }
  const [first, next, share] = between(t), stress = (d, i) => mix(d.s[first * d.n + i], d.s[next * d.n + i], share);
  for (const d of deforming) {
    const seen = [];
    for (let i = 0; i < d.n; i++) {
      const a = 3 * (first * d.n + i), b = 3 * (next * d.n + i);
      seen.push(see([0, 1, 2].map(k => mix(d.p[a + k], d.p[b + k], share))));
    }
    for (const [i, j, k] of d.f || []) list.push({ layer: 1, depth: (seen[i][2] + seen[j][2] + seen[k][2]) / 3, points: [seen[i], seen[j], seen[k]], fill: shade(shaded((stress(d, i) + stress(d, j) + stress(d, k)) / 3, stops.stress), 1, 1), stroke: shade(shaded((stress(d, i) + stress(d, j) + stress(d, k)) / 3, stops.stress), 1, 1) });
    for (const [i, j] of d.l) list.push({ layer: 1, depth: (seen[i][2] + seen[j][2]) / 2, points: [seen[i], seen[j]], stroke: d.s ? shade(shaded(0.5 * (stress(d, i) + stress(d, j)), stops.stress), 1, 1) : shade(d.c, 0.9, 1), width: Math.max(0.5, scale * d.w), round: true });
  }
  // Patches lie between two bodies: over everything else, so that they are seen.
  for (const p of patches) {
    const frame = share < 0.5 ? first : next;
    for (let k = p.first[frame]; k < p.first[frame + 1]; k++) {
      const points = [0, 3, 6].map(i => see([p.v[9 * k + i], p.v[9 * k + i + 1], p.v[9 * k + i + 2]]));
      const fill = shade(shaded(p.p[k], stops.pressure), 1, 0.85);
      list.push({ layer: 2, depth: (points[0][2] + points[1][2] + points[2][2]) / 3, points, fill, stroke: fill });
    }
  }
  const held = (at, moving) => moving ? [0, 1, 2].map(k => mix(moving[3 * first + k], moving[3 * next + k], share)) : at;
  for (const s of springs) {
    const a = placed(frames[s.a], ...held(s.pa, s.ma)), b = placed(frames[s.b], ...held(s.pb, s.mb));
    const path = (s.plain ? [a, b] : coil(a, b)).map(see), parts = s.plain ? 1 : 6, per = (path.length - 1) / parts;
    for (let k = 0; k < parts; k++) {
      const points = path.slice(Math.floor(k * per), Math.floor((k + 1) * per) + 1);
      list.push({ layer: 1, depth: points.reduce((sum, p) => sum + p[2], 0) / points.length, points, stroke: "#4d5661", width: 1.4 });
    }
  }
  list.sort((a, b) => a.layer - b.layer || a.depth - b.depth);
  g.clearRect(0, 0, W, H);
  g.lineJoin = "round";
  for (const item of list) {
    g.beginPath(); g.lineCap = item.round ? "round" : "butt";
    item.points.forEach((p, i) => i ? g.lineTo(p[0], p[1]) : g.moveTo(p[0], p[1]));
    if (item.fill) { g.closePath(); g.fillStyle = item.fill; g.fill(); }
    if (item.stroke) { g.strokeStyle = item.stroke; g.lineWidth = item.width || 0.7; g.stroke(); }
  }
  drawAxes(right, above, W, H);
  data.scales.forEach(drawScale);
  if (el("labels").checked) {
    g.font = "12px system-ui, sans-serif"; g.textAlign = "center"; g.lineWidth = 3;
    data.bodies.forEach((body, k) => {
      const p = see(placed(frames[k], ...body.center));
      g.strokeStyle = "rgba(255,255,255,.85)"; g.strokeText(body.name, p[0], p[1] - 8);
      g.fillStyle = "#24292f"; g.fillText(body.name, p[0], p[1] - 8);
    });
  }
}
function drawScale({ label, stops }, n) {
  const top = 14 + 34 * n;
  const bar = g.createLinearGradient(16, 0, 136, 0);
  stops.forEach((c, i) => bar.addColorStop(i / (stops.length - 1), c));
  g.fillStyle = bar; g.fillRect(16, top, 120, 8);
  g.font = "11px system-ui, sans-serif"; g.textAlign = "left"; g.fillStyle = "#57606a";
  g.fillText(label, 16, top + 22);
}
function drawAxes(right, above, W, H) {
  const x0 = W - 44, y0 = H - 40;
  g.font = "11px system-ui, sans-serif"; g.textAlign = "center"; g.lineWidth = 1.5;
  ["x", "y", "z"].forEach((name, i) => {
    const e = [0, 0, 0]; e[i] = 1;
    const dx = 24 * dot(e, right), dy = -24 * dot(e, above);
    if (Math.hypot(dx, dy) < 4) return;
    g.strokeStyle = g.fillStyle = ["#c14a4f", "#3c9a52", "#3b75af"][i];
    g.beginPath(); g.moveTo(x0, y0); g.lineTo(x0 + dx, y0 + dy); g.stroke();
    g.fillText(name, x0 + 1.35 * dx, y0 + 1.35 * dy + 4);
  });
}

// Curves with a cursor at the present time.
const panels = data.panels.map(panel => {
  const box = document.createElement("div"), keys = document.createElement("div"), c = document.createElement("canvas");
  box.className = "panel"; keys.className = "keys";
  const curves = panel.curves.map(curve => {
    const key = document.createElement("span"), mark = document.createElement("i"), value = document.createElement("b");
    mark.style.background = curve.colour;
    key.append(mark, document.createTextNode(curve.name), value); keys.append(key);
    return { t: floats(curve.t), v: floats(curve.v), colour: curve.colour, value };
  });
  box.append(keys, c); el("charts").append(box);
  const seek = e => { const r = c.getBoundingClientRect(); go(t0 + (t1 - t0) * (e.clientX - r.left - 54) / (r.width - 64)); };
  c.addEventListener("pointerdown", e => { c.setPointerCapture(e.pointerId); stop(); seek(e); });
  c.addEventListener("pointermove", e => { if (e.buttons) seek(e); });
  return { ...panel, c, curves };
});
function valueAt(curve, time) {
  let a = 0, b = curve.t.length - 1;
  while (b - a > 1) { const m = (a + b) >> 1; if (curve.t[m] <= time) a = m; else b = m; }
  const d = curve.t[b] - curve.t[a];
  return d > 0 ? mix(curve.v[a], curve.v[b], Math.min(1, Math.max(0, (time - curve.t[a]) / d))) : curve.v[b];
}
const short = v => { const a = Math.abs(v); return a !== 0 && (a < 1e-3 || a >= 1e5) ? v.toExponential(3) : String(Number(v.toPrecision(4))); };
function drawPanel(panel) {
  const [W, H] = fit(panel.c), k = panel.c.getContext("2d"), L = 54, R = 10, T = 8, B = 22;
  const X = s => L + (W - L - R) * (s - t0) / ((t1 - t0) || 1), Y = v => T + (H - T - B) * (panel.high - v) / (panel.high - panel.low);
  k.clearRect(0, 0, W, H); k.font = "11px system-ui, sans-serif"; k.lineWidth = 1;
  k.fillStyle = "#57606a"; k.strokeStyle = "#e3e7eb";
  k.textAlign = "right"; k.textBaseline = "middle";
  panel.ticks.forEach((v, i) => { k.beginPath(); k.moveTo(L, Y(v)); k.lineTo(W - R, Y(v)); k.stroke(); k.fillText(panel.labels[i], L - 6, Y(v)); });
  k.textAlign = "center"; k.textBaseline = "top";
  data.ticks.forEach((v, i) => { k.beginPath(); k.moveTo(X(v), T); k.lineTo(X(v), H - B); k.stroke(); k.fillText(data.labels[i], X(v), H - B + 5); });
  k.save(); k.translate(11, T + (H - T - B) / 2); k.rotate(-Math.PI / 2); k.textBaseline = "middle"; k.fillText(panel.unit, 0, 0); k.restore();
  k.strokeStyle = "#8c959f"; k.setLineDash([4, 3]);
  for (const e of data.events) { k.beginPath(); k.moveTo(X(e), T); k.lineTo(X(e), H - B); k.stroke(); }
  k.setLineDash([]); k.lineWidth = 1.5; k.lineJoin = "round";
  for (const c of panel.curves) {
    k.strokeStyle = c.colour; k.beginPath();
    for (let i = 0; i < c.t.length; i++) i ? k.lineTo(X(c.t[i]), Y(c.v[i])) : k.moveTo(X(c.t[i]), Y(c.v[i]));
    k.stroke();
  }
  k.strokeStyle = "#24292f"; k.lineWidth = 1; k.beginPath(); k.moveTo(X(t), T); k.lineTo(X(t), H - B); k.stroke();
  for (const c of panel.curves) {
    const v = valueAt(c, t);
    c.value.textContent = short(v);
    k.fillStyle = c.colour; k.beginPath(); k.arc(X(t), Y(v), 3, 0, 7); k.fill();
  }
}

function draw() {
  dirty = false;
  drawScene(); panels.forEach(drawPanel);
  el("slider").value = t1 > t0 ? 1000 * (t - t0) / (t1 - t0) : 0;
  el("clock").textContent = t.toFixed(t1 - t0 < 1 ? 4 : 3) + " s";
  document.documentElement.dataset.ready = "1";
}
function go(time) { t = Math.min(t1, Math.max(t0, time)); dirty = true; }
function stop() { playing = false; el("play").textContent = "Play"; }
function toggle() {
  if (playing) return stop();
  if (t >= t1) t = t0;
  playing = true; last = performance.now(); el("play").textContent = "Pause";
}
function tick(now) {
  if (playing) {
    t += speed * (now - last) / 1000; last = now; dirty = true;
    if (t >= t1) { t = t1; stop(); }
  }
  if (dirty) draw();
  requestAnimationFrame(tick);
}

for (const s of data.speeds) {
  const o = document.createElement("option"); o.value = s; o.textContent = s + " ×"; if (s === data.speed) o.selected = true; el("speed").append(o);
}
speed = data.speed;
el("speed").addEventListener("change", e => { speed = Number(e.target.value); });
el("play").addEventListener("click", toggle);
el("slider").addEventListener("input", e => { stop(); go(t0 + (t1 - t0) * Number(e.target.value) / 1000); });
el("labels").addEventListener("change", () => { dirty = true; });
el("follow").checked = data.follow; el("follow-box").hidden = !data.follow;
el("follow").addEventListener("change", () => { dirty = true; });
el("reset").addEventListener("click", () => { eye = { ...first, shift: [0, 0, 0] }; dirty = true; });
canvas.addEventListener("pointerdown", e => canvas.setPointerCapture(e.pointerId));
canvas.addEventListener("pointermove", e => {
  if (!e.buttons) return;
  if (e.shiftKey || e.buttons > 1) {
    const { right, above } = basis(), s = Math.min(canvas.clientWidth / data.box[0], canvas.clientHeight / data.box[1]) * 0.86 * eye.zoom;
    eye.shift = add(add(eye.shift, right, -e.movementX / s), above, e.movementY / s);
  } else {
    eye.azimuth -= 0.008 * e.movementX;
    eye.elevation = Math.max(-1.55, Math.min(1.55, eye.elevation + 0.008 * e.movementY));
  }
  dirty = true;
});
canvas.addEventListener("contextmenu", e => e.preventDefault());
canvas.addEventListener("wheel", e => { e.preventDefault(); eye.zoom = Math.min(50, Math.max(0.05, eye.zoom * Math.exp(-0.0012 * e.deltaY))); dirty = true; }, { passive: false });
window.addEventListener("keydown", e => {
  if (/^(select|input|button)$/i.test(e.target.tagName) && e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
  const step = (t1 - t0) / Math.max(times.length - 1, 1);
  if (e.key === " ") { toggle(); e.preventDefault(); }
  else if (e.key === "ArrowRight") { stop(); go(t + step); e.preventDefault(); }
  else if (e.key === "ArrowLeft") { stop(); go(t - step); e.preventDefault(); }
  else if (e.key === "Home") go(t0);
  else if (e.key === "End") go(t1);
});
new ResizeObserver(() => { dirty = true; }).observe(canvas);
// A link may name the time it wants to show: animation.html#t=1.5
const asked = /[#&]t=([-+.\deE]+)/.exec(location.hash);
if (asked) go(Number(asked[1]) || t0);
draw();
requestAnimationFrame(tick);
})();
