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
const first = { azimuth: 0, elevation: Math.asin(Math.max(-1, Math.min(1, dot(data.view, up)))), zoom: 1, shift: [0, 0, 0], box: data.box, deep: 2.5 * data.reach };
const light = unit(add(add(add([0, 0, 0], up, data.planar ? 0.6 : 0.9), data.view, data.planar ? 1.0 : 0.6), cross(up, data.view), -0.4));
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
const rgb = c => [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16) / 255);
const stops = { stress: data.stops.stress.map(rgb), pressure: data.stops.pressure.map(rgb) };
function shaded(share, stops) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2);
  return [0, 1, 2].map(i => mix(stops[k][i], stops[k + 1][i], at - k));
}

// Frames of what reaches from one point to another: z along it, turned about it as little as may be.
const links = data.links.map(l => ({ ...l, ma: l.ma && floats(l.ma), mb: l.mb && floats(l.mb), first: null }));
const across = z => { const k = [0, 1, 2].reduce((m, i) => Math.abs(z[i]) < Math.abs(z[m]) ? i : m, 0), e = [0, 0, 0]; e[k] = 1; const x = unit(cross(z, e)); return [x, cross(z, x)]; };
function turnedTo(first, d) {
  // The smallest rotation from one unit vector to another, on the columns of a frame whose z is the first.
  const [x, y] = across(first), w = 1 + dot(first, d), v = cross(first, d);
  const turn = p => w < 1e-9 ? add(p, first, -2 * dot(p, first)) : add(add(p, cross(v, p)), cross(v, cross(v, p)), 1 / w);
  return [turn(x), turn(y)];
}
function linkFrames(frames, [a, b, s]) {
  for (const l of links) {
    const at = (p, m) => m ? [0, 1, 2].map(k => mix(m[3 * a + k], m[3 * b + k], s)) : p;
    const p = placed(frames[l.a], ...at(l.pa, l.ma)), q = placed(frames[l.b], ...at(l.pb, l.mb));
    const d = add(q, p, -1), length = Math.hypot(...d), z = length > 0 ? unit(d) : l.first || [0, 0, 1];
    if (!l.first) l.first = z;
    const [x, y] = turnedTo(l.first, z), r = l.length ? length / l.length : 1;
    frames.push({ p: l.end ? q : p, R: [x[0], y[0], r * z[0], x[1], y[1], r * z[1], x[2], y[2], r * z[2]] });
  }
  return frames;
}

// Drawing by the graphics card: light from above, its shadows, edges of the parts.
const canvas = el("scene"), over = el("over"), g = over.getContext("2d");
const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
if (!gl) { el("no-webgl").hidden = false; throw new Error("this browser has no WebGL 2"); }
function program(vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, "#version 300 es\nprecision highp float;\n" + text); gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  ["at", "normal", "colour"].forEach((name, k) => gl.bindAttribLocation(made, k, name));
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const places = {};
  for (let k = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS) - 1; k >= 0; k--) { const n = gl.getActiveUniform(made, k).name; places[n] = gl.getUniformLocation(made, n); }
  return { made, places };
}
const PLACE = `in vec3 at; uniform vec3 low, span, origin; uniform mat3 turn; uniform mat4 eye; out vec3 world;
void place() { world = turn * (low + span * at) + origin; }`;
const CUT = `uniform vec4 cut; in vec3 world; void section() { if (dot(cut.xyz, world) > cut.w) discard; }`;
const SHADE = `uniform highp sampler2DShadow shadows; uniform mat4 sun; uniform vec3 light;
float lit(vec3 world, vec3 n) {
  vec4 p = sun * vec4(world, 1.0); vec3 c = 0.5 * p.xyz / p.w + 0.5;
  if (any(lessThan(c, vec3(0.0))) || any(greaterThan(c, vec3(1.0)))) return 1.0;
  float sum = 0.0, bias = 0.0012 + 0.003 * (1.0 - max(0.0, dot(n, light)));
  for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++) sum += texture(shadows, vec3(c.xy + vec2(i, j) / 2048.0, c.z - bias));
  return sum / 25.0;
}`;
const solidProgram = program(PLACE + `in vec3 normal; in vec3 colour; uniform mat3 turnNormal; out vec3 n, c;
void main() { place(); n = turnNormal * normal; c = colour; gl_Position = eye * vec4(world, 1.0); }`,
CUT + SHADE + `in vec3 n, c; uniform vec3 toEye, up, back; uniform float opacity, flat_; out vec4 pixel;
void main() {
  section();
  vec3 towards = back == vec3(0.0) ? normalize(toEye - world) : back;
  vec3 m = normalize(n); if (dot(m, towards) < 0.0) m = -m;
  float sun_ = max(0.0, dot(m, light)) * lit(world, m), sky = 0.5 + 0.5 * dot(m, up);
  vec3 h = normalize(light + towards);
  float shine = pow(max(0.0, dot(m, h)), 40.0) * 0.16 * step(0.001, sun_);
  vec3 seen = c * (mix(0.5, 0.7, sky) + 0.48 * sun_) + shine;
  pixel = vec4(mix(seen, c, flat_), 1.0) * vec4(vec3(opacity), opacity);
}`);
const depthProgram = program(PLACE + `void main() { place(); gl_Position = eye * vec4(world, 1.0); }`, CUT + `void main() { section(); }`);
const lineProgram = program(PLACE + `void main() { place(); gl_Position = eye * vec4(world, 1.0); }`,
CUT + `uniform vec4 paint; out vec4 pixel; void main() { section(); pixel = vec4(paint.rgb * paint.a, paint.a); }`);
const floorProgram = program(PLACE + `void main() { place(); gl_Position = eye * vec4(world, 1.0); }`,
CUT + SHADE + `uniform vec3 middle, up; uniform float reach; out vec4 pixel;
void main() { float r = length(world - middle) / reach, a = 0.2 * (1.0 - lit(world, up)) * clamp(1.6 - 1.6 * r, 0.0, 1.0); pixel = vec4(0.08 * a, 0.1 * a, 0.14 * a, a); }`);
const bytes = text => { const raw = atob(text), out = new Uint8Array(raw.length); for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i); return out; };
function buffer(kind, content, use = gl.STATIC_DRAW) { const made = gl.createBuffer(); gl.bindBuffer(kind, made); if (content) gl.bufferData(kind, content, use); return made; }
function attribute(place, made, size, type, normalized) { gl.bindBuffer(gl.ARRAY_BUFFER, made); gl.enableVertexAttribArray(place); gl.vertexAttribPointer(place, size, type, normalized, 0, 0); }
const solids = data.solids.map(s => {
  const span = add(s.high, s.low, -1), part = { ...s, c: rgb(s.c), span, box: [] };
  for (let k = 0; k < 8; k++) part.box.push([0, 1, 2].map(i => (k >> i) & 1 ? s.high[i] : s.low[i]));
  if (s.f) {
    const index = bytes(s.f);
    part.faces = gl.createVertexArray(); gl.bindVertexArray(part.faces);
    attribute(0, buffer(gl.ARRAY_BUFFER, bytes(s.v)), 3, gl.UNSIGNED_SHORT, true);
    attribute(1, buffer(gl.ARRAY_BUFFER, bytes(s.n)), 3, gl.BYTE, true);
    buffer(gl.ELEMENT_ARRAY_BUFFER, index);
    part.type = s.wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT; part.count = index.length / (s.wide ? 4 : 2);
  }
  if (s.e) {
    const ends = bytes(s.e);
    part.edges = gl.createVertexArray(); gl.bindVertexArray(part.edges);
    attribute(0, buffer(gl.ARRAY_BUFFER, ends), 3, gl.UNSIGNED_SHORT, true); part.ends = ends.length / 6;
  }
  gl.bindVertexArray(null);
  return part;
});
// Triangles that change with time: places, normals, colours.
function loose() {
  const made = { vao: gl.createVertexArray(), parts: [0, 1, 2].map(() => gl.createBuffer()), count: 0 };
  gl.bindVertexArray(made.vao); made.parts.forEach((b, k) => attribute(k, b, 3, gl.FLOAT, false)); gl.bindVertexArray(null);
  return made;
}
function pour(made, ...arrays) {
  arrays.forEach((a, k) => { gl.bindBuffer(gl.ARRAY_BUFFER, made.parts[k]); gl.bufferData(gl.ARRAY_BUFFER, a, gl.DYNAMIC_DRAW); });
  made.count = arrays[0].length / 3;
}
const deforming = data.deforming.map(d => ({ ...d, p: floats(d.p), c: rgb(d.c), s: d.s && floats(d.s), drawn: loose() }));
const patches = data.patches.map(p => ({ first: p.first, v: floats(p.v), p: floats(p.p), drawn: loose() }));
const traces = data.traces.map(p => { const v = floats(p.p), made = loose(); pour(made, v, v, v); return { ...p, v, c: rgb(p.c), drawn: made }; });
const arrows = data.arrows.map(a => ({ ...a, at: floats(a.at), v: floats(a.v), c: rgb(a.c) }));
// An arrow's shaft and head, round about z and one unit long.
function turnedShape(profile) {
  const made = loose(), v = [], n = [], sides = 14;
  for (let i = 0; i + 1 < profile.length; i++) for (let k = 0; k < sides; k++) {
    const [[r, z], [q, y]] = [profile[i], profile[i + 1]], [s, e] = [2 * Math.PI * k / sides, 2 * Math.PI * (k + 1) / sides];
    const slope = unit([y - z, 0, r - q]), corner = (r, z, a) => { v.push(r * Math.cos(a), r * Math.sin(a), z); n.push(slope[0] * Math.cos(a), slope[0] * Math.sin(a), slope[2]); };
    corner(r, z, s); corner(r, z, e); corner(q, y, e); corner(r, z, s); corner(q, y, e); corner(q, y, s);
  }
  pour(made, new Float32Array(v), new Float32Array(n), new Float32Array(v.length));
  return made;
}
const shaft = turnedShape([[0, 0], [1, 0], [1, 1]]), head = turnedShape([[0, 0], [2.6, 0], [0, 1]]);
const shadowMap = gl.createTexture(), shadowTarget = gl.createFramebuffer();
gl.bindTexture(gl.TEXTURE_2D, shadowMap);
gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, 2048, 2048);
for (const [name, what] of [["COMPARE_MODE", "COMPARE_REF_TO_TEXTURE"], ["MIN_FILTER", "LINEAR"], ["MAG_FILTER", "LINEAR"], ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"]]) gl.texParameteri(gl.TEXTURE_2D, gl["TEXTURE_" + name], gl[what]);
gl.bindFramebuffer(gl.FRAMEBUFFER, shadowTarget);
gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, shadowMap, 0);
gl.bindFramebuffer(gl.FRAMEBUFFER, null);
const quad = loose();
{ const v = new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0]); pour(quad, v, v, v); }

function fit(c) {
  const d = window.devicePixelRatio || 1, w = c.clientWidth, h = c.clientHeight;
  if (c.width !== Math.round(w * d) || c.height !== Math.round(h * d)) { c.width = Math.round(w * d); c.height = Math.round(h * d); }
  return [w, h, d];
}
// Row by row; what the card is given is turned into columns.
const times4 = (a, b) => a.map((row, i) => [0, 1, 2, 3].map(j => row[0] * b[0][j] + row[1] * b[1][j] + row[2] * b[2][j] + row[3] * b[3][j]));
const columns = m => { const out = []; for (let j = 0; j < m.length; j++) for (let i = 0; i < m.length; i++) out.push(m[i][j]); return out; };
const looking = (x, y, z, at) => [[...x, -dot(x, at)], [...y, -dot(y, at)], [...z, -dot(z, at)], [0, 0, 0, 1]];
const flatten = (w, h, near, far) => [[1 / w, 0, 0, 0], [0, 1 / h, 0, 0], [0, 0, -2 / (far - near), -(far + near) / (far - near)], [0, 0, 0, 1]];
const narrow = (w, h, near, far) => [[near / w, 0, 0, 0], [0, near / h, 0, 0], [0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)], [0, 0, -1, 0]];
const ONE = [1, 0, 0, 0, 1, 0, 0, 0, 1], ORIGIN = [0, 0, 0];

function skinOf(d, first, next, share) {
  const n = d.n, pts = [], s = d.s ? i => mix(d.s[first * n + i], d.s[next * n + i], share) : null;
  for (let i = 0; i < n; i++) { const a = 3 * (first * n + i), b = 3 * (next * n + i); pts.push([0, 1, 2].map(k => mix(d.p[a + k], d.p[b + k], share))); }
  const corners = [...pts], whose = pts.map((_, i) => i), faces = [...d.f], sides = 8;
  for (const path of d.paths) {
    let x = null;
    path.forEach((i, k) => {
      const z = unit(add(pts[path[Math.min(k + 1, path.length - 1)]], pts[path[Math.max(k - 1, 0)]], -1));
      x = unit(x ? add(x, z, -dot(x, z)) : across(z)[0]);
      const y = cross(z, x), start = corners.length;
      for (let j = 0; j < sides; j++) { const a = 2 * Math.PI * j / sides; corners.push(add(add(pts[i], x, 0.5 * d.w * Math.cos(a)), y, 0.5 * d.w * Math.sin(a))); whose.push(i); }
      if (k) for (let j = 0; j < sides; j++) { const m = (j + 1) % sides, b = start, a = start - sides; faces.push([a + j, a + m, b + m], [a + j, b + m, b + j]); }
    });
  }
  const normals = corners.map(() => [0, 0, 0]), place = new Float32Array(9 * faces.length), turn = new Float32Array(9 * faces.length), paint = new Float32Array(9 * faces.length);
  for (const [a, b, c] of faces) { const m = cross(add(corners[b], corners[a], -1), add(corners[c], corners[a], -1)); for (const i of [a, b, c]) for (let k = 0; k < 3; k++) normals[i][k] += m[k]; }
  const colours = s ? pts.map((_, i) => shaded(s(i), stops.stress)) : pts.map(() => d.c);
  faces.forEach((face, f) => face.forEach((i, k) => { const at = 9 * f + 3 * k; place.set(corners[i], at); turn.set(unit(normals[i]), at); paint.set(colours[whose[i]], at); }));
  pour(d.drawn, place, turn, paint);
}

function drawScene() {
  const [W, H, D] = fit(canvas); fit(over);
  g.setTransform(D, 0, 0, D, 0, 0);
  const moment = between(t), [one, next, share] = moment, frames = linkFrames(frameAt(t), moment), { right, above, back } = basis();
  let target = data.target;
  if (el("follow").checked) target = add(target, add(frames[data.anchor].p, data.anchor_start, -1));
  const middle = target;
  target = add(target, eye.shift);
  // The half height that is seen at the target, and how far the eye is away.
  const flat = el("flat").checked, whole = Math.max(eye.box[1], eye.box[0] * H / W) / (2 * 0.9), slope = Math.tan(0.26);
  // What is nearer looks larger: in perspective the front of the box is to fill the picture.
  const away = (whole / slope + 0.5 * eye.box[2]) / eye.zoom, half = flat ? whole / eye.zoom : away * slope, far = flat ? 6 * eye.deep : away;
  const where = add(target, back, far), depth = eye.deep, near = Math.max(far - depth, 0.01 * far), end = far + depth;
  const seen = times4(flat ? flatten(half * W / H, half, near, end) : narrow(near / far * half * W / H, near / far * half, near, end), looking(right, above, back, where));
  const see = p => { const q = seen.map(r => r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3]); return [W / 2 * (1 + q[0] / q[3]), H / 2 * (1 - q[1] / q[3]), q[2] / q[3]]; };
  const s = 0.62 * data.reach, [lx, ly] = across(light), sun = times4(flatten(s, s, 0, 4 * s), looking(lx, ly, light, add(middle, light, 2 * s)));
  const axis = { x: 0, y: 1, z: 2 }[el("section").value], cut = [0, 0, 0, 1];
  if (axis !== undefined) { cut[axis] = 1; cut[3] = target[axis] + (Number(el("cut").value) - 0.5) * data.reach; }
  const solidsAt = solids.map(p => { const f = p.b < 0 ? null : frames[p.b]; return { p, turn: f ? f.R : ONE, origin: f ? f.p : ORIGIN }; });
  for (const d of deforming) skinOf(d, one, next, share);
  const use = ({ made, places }, view) => {
    gl.useProgram(made);
    gl.uniformMatrix4fv(places.eye, false, columns(view)); gl.uniform4fv(places.cut, cut);
    if (places.sun) { gl.uniformMatrix4fv(places.sun, false, columns(sun)); gl.uniform3fv(places.light, light); gl.uniform1i(places.shadows, 0); }
    if (places.up) gl.uniform3fv(places.up, up);
    return places;
  };
  const put = (u, turn, origin, low, span) => {
    // The card wants columns; normals go by the inverse transpose, here of a rotation with a stretch of z.
    gl.uniformMatrix3fv(u.turn, true, turn); gl.uniform3fv(u.origin, origin); gl.uniform3fv(u.low, low); gl.uniform3fv(u.span, span);
    if (u.turnNormal) { const r = turn[2] ** 2 + turn[5] ** 2 + turn[8] ** 2 || 1; gl.uniformMatrix3fv(u.turnNormal, true, turn.map((v, i) => i % 3 === 2 ? v / r : v)); }
  };
  const body = (u, { p, turn, origin }) => { put(u, turn, origin, p.low, p.span); gl.bindVertexArray(p.faces); gl.drawElements(gl.TRIANGLES, p.count, p.type, 0); };
  const free = (u, made) => { put(u, ONE, ORIGIN, ORIGIN, [1, 1, 1]); gl.bindVertexArray(made.vao); gl.drawArrays(gl.TRIANGLES, 0, made.count); };
  gl.enable(gl.DEPTH_TEST); gl.depthMask(true); gl.disable(gl.BLEND);
  gl.bindFramebuffer(gl.FRAMEBUFFER, shadowTarget); gl.viewport(0, 0, 2048, 2048); gl.clear(gl.DEPTH_BUFFER_BIT);
  let u = use(depthProgram, sun);
  for (const a of solidsAt) if (a.p.faces && a.p.o === 1 && !a.p.g) body(u, a);
  for (const d of deforming) free(u, d.drawn);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null); gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.bindTexture(gl.TEXTURE_2D, shadowMap);
  gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  if (data.floor) {
    u = use(floorProgram, seen); gl.depthMask(false);
    const n = data.floor.normal, [fx, fy] = across(n), off = data.floor.level - dot(middle, n), at = add(middle, n, off), r = 2 * data.reach;
    gl.uniform3fv(u.middle, at); gl.uniform1f(u.reach, 1.2 * data.reach); gl.uniform3fv(u.up, n);
    put(u, [fx[0], fy[0], n[0], fx[1], fy[1], n[1], fx[2], fy[2], n[2]].map(v => v * r), at, ORIGIN, [1, 1, 1]);
    gl.bindVertexArray(quad.vao); gl.drawArrays(gl.TRIANGLES, 0, 6); gl.depthMask(true);
  }
  gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(1, 1);
  u = use(solidProgram, seen);
  gl.uniform3fv(u.toEye, where); gl.uniform3fv(u.back, flat ? back : ORIGIN); gl.uniform1f(u.flat_, 0);
  const paint = (a, o) => { gl.disableVertexAttribArray(2); gl.vertexAttrib3fv(2, a.p.c); gl.uniform1f(u.opacity, o); };
  const pass = wanted => { for (const a of solidsAt) if (a.p.faces && wanted(a.p)) { gl.bindVertexArray(a.p.faces); paint(a, a.p.o); body(u, a); } };
  pass(p => p.o === 1);
  gl.uniform1f(u.opacity, 1);
  for (const d of deforming) free(u, d.drawn);
  gl.disable(gl.POLYGON_OFFSET_FILL);
  u = use(lineProgram, seen);
  for (const a of solidsAt) if (a.p.edges && (a.p.o === 1 || a.p.f)) {
    const k = a.p.g ? 0.82 : a.p.f ? 0.42 : 1;
    gl.uniform4f(u.paint, ...a.p.c.map(v => k * v), a.p.o === 1 ? a.p.g ? 0.5 : 0.75 : 0.35);
    put(u, a.turn, a.origin, a.p.low, a.p.span); gl.bindVertexArray(a.p.edges); gl.drawArrays(gl.LINES, 0, a.p.ends);
  }
  u = use(solidProgram, seen);
  gl.uniform3fv(u.toEye, where); gl.uniform3fv(u.back, flat ? back : ORIGIN); gl.uniform1f(u.flat_, 0); gl.depthMask(false);
  pass(p => p.o < 1);
  // Patches lie between two bodies: over everything else, so that they are seen.
  gl.disable(gl.DEPTH_TEST); gl.uniform1f(u.flat_, 1); gl.uniform1f(u.opacity, 0.85);
  const now = share < 0.5 ? one : next;
  for (const p of patches) {
    const v = p.v.subarray(9 * p.first[now], 9 * p.first[now + 1]), c = new Float32Array(v.length);
    for (let k = 0; k < v.length / 3; k++) c.set(shaded(p.p[p.first[now] + Math.floor(k / 3)], stops.pressure), 3 * k);
    pour(p.drawn, v, v, c); free(u, p.drawn);
  }
  // So are traces and arrows, which hide each other.
  gl.depthMask(true); gl.enable(gl.DEPTH_TEST); gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.uniform1f(u.flat_, 0.6); gl.uniform1f(u.opacity, 1);
  drawArrows(u, one, next, share);
  u = use(lineProgram, seen);
  if (el("traces").checked) for (const p of traces) { gl.uniform4f(u.paint, ...p.c, 0.95); put(u, ONE, ORIGIN, ORIGIN, [1, 1, 1]); gl.bindVertexArray(p.drawn.vao); gl.drawArrays(gl.LINE_STRIP, 0, p.drawn.count); }
  gl.bindVertexArray(null);
  drawOver(frames, see, right, above, W, H);
}
function drawArrows(u, one, next, share) {
  const thick = 0.006 * data.size;
  for (const a of arrows) {
    if (!el("arrows-" + a.kind).checked || !(a.most > 0)) continue;
    for (let k = 0; k < a.names.length; k++) {
      const i = 3 * (one * a.names.length + k), j = 3 * (next * a.names.length + k), at = m => [0, 1, 2].map(n => mix(m[i + n], m[j + n], share));
      const v = at(a.v), size = Math.hypot(...v) / a.most, length = 0.3 * data.size * size, p = at(a.at);
      if (length < 1e-4 * data.size) continue;
      const z = unit(v), [x, y] = across(z), h = Math.min(0.5 * length, 7 * thick), r = Math.min(thick, 0.2 * length);
      const turn = s => [r * x[0], r * y[0], s * z[0], r * x[1], r * y[1], s * z[1], r * x[2], r * y[2], s * z[2]];
      const part = (made, s, origin) => {
        gl.bindVertexArray(made.vao); gl.disableVertexAttribArray(2); gl.vertexAttrib3fv(2, a.c);
        gl.uniformMatrix3fv(u.turn, true, turn(s)); gl.uniform3fv(u.origin, origin); gl.uniform3fv(u.low, ORIGIN); gl.uniform3fv(u.span, [1, 1, 1]);
        gl.uniformMatrix3fv(u.turnNormal, true, [x[0] / r, y[0] / r, z[0] / s, x[1] / r, y[1] / r, z[1] / s, x[2] / r, y[2] / r, z[2] / s]);
        gl.drawArrays(gl.TRIANGLES, 0, made.count);
      };
      part(shaft, length - h, p); part(head, h, add(p, z, length - h));
    }
  }
}
function drawOver(frames, see, right, above, W, H) {
  g.clearRect(0, 0, W, H);
  drawAxes(right, above, W, H);
  const shown = arrows.filter(a => a.most > 0 && el("arrows-" + a.kind).checked).map(a => ({ label: a.label, stops: [a.colour, a.colour] }));
  [...data.scales, ...shown].forEach(drawScale);
  if (el("labels").checked) {
    g.font = "12px system-ui, sans-serif"; g.textAlign = "center"; g.lineWidth = 3;
    data.bodies.forEach((body, k) => {
      const p = see(placed(frames[k], ...body.center));
      g.strokeStyle = "rgba(255,255,255,.85)"; g.strokeText(body.name, p[0], p[1] - 8);
      g.fillStyle = "#24292f"; g.fillText(body.name, p[0], p[1] - 8);
    });
  }
}
// How much is seen from a side: boxes of all parts but floors, over the whole run or where it is now.
function framed() {
  const { right, above, back } = basis(), low = [1e30, 1e30, 1e30], high = [-1e30, -1e30, -1e30];
  const steps = data.follow ? [t0] : Array.from({ length: 20 }, (_, k) => t0 + (t1 - t0) * k / 19);
  for (const time of steps) {
    const moment = between(time), frames = linkFrames(frameAt(time), moment);
    const take = p => [right, above, back].forEach((e, i) => { const v = dot(e, p); low[i] = Math.min(low[i], v); high[i] = Math.max(high[i], v); });
    for (const s of solids) if (!s.g) for (const c of s.box) take(placed(s.b < 0 ? null : frames[s.b], ...c));
    for (const d of deforming) for (let i = 0; i < d.n; i++) take([0, 1, 2].map(k => d.p[3 * (moment[0] * d.n + i) + k]));
  }
  const m = low.map((v, i) => (v + high[i]) / 2), at = [0, 1, 2].map(i => m[0] * right[i] + m[1] * above[i] + m[2] * back[i]);
  return { box: low.map((v, i) => high[i] - v).map(v => Math.max(v, 0.3 * data.size)), shift: add(at, data.target, -1) };
}
function lookFrom(direction) {
  if (!direction) { eye = { ...first, shift: [0, 0, 0] }; }
  else {
    eye.elevation = Math.asin(Math.max(-1, Math.min(1, dot(direction, up))));
    const flat = add(direction, up, -dot(direction, up));
    eye.azimuth = Math.hypot(...flat) > 1e-6 ? Math.atan2(dot(flat, side), dot(flat, level)) : 0;
    eye.zoom = 1;
    Object.assign(eye, framed());
  }
  dirty = true;
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
  const [W, H, D] = fit(panel.c), k = panel.c.getContext("2d"), L = 54, R = 10, T = 8, B = 22;
  const X = s => L + (W - L - R) * (s - t0) / ((t1 - t0) || 1), Y = v => T + (H - T - B) * (panel.high - v) / (panel.high - panel.low);
  k.setTransform(D, 0, 0, D, 0, 0); k.clearRect(0, 0, W, H); k.font = "11px system-ui, sans-serif"; k.lineWidth = 1;
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
el("reset").addEventListener("click", () => { el("from").value = ""; lookFrom(null); });
el("from").addEventListener("change", e => {
  const [sign, name] = e.target.value, d = [0, 0, 0];
  if (name) d["xyz".indexOf(name)] = sign === "-" ? -1 : 1;
  lookFrom(name ? d : null);
});
el("flat").checked = data.planar;
for (const name of ["flat", "section", "cut", "traces"]) el(name).addEventListener("input", () => { el("cut").hidden = !el("section").value; dirty = true; });
el("traces-box").hidden = !traces.length; el("traces").checked = true;
for (const kind of ["force", "reaction", "velocity"]) {
  el("arrows-" + kind).parentElement.hidden = !arrows.some(a => a.kind === kind && a.most > 0);
  el("arrows-" + kind).addEventListener("change", () => { dirty = true; });
}
canvas.addEventListener("pointerdown", e => canvas.setPointerCapture(e.pointerId));
canvas.addEventListener("pointermove", e => {
  if (!e.buttons) return;
  if (e.shiftKey || e.buttons > 1) {
    const { right, above } = basis(), W = canvas.clientWidth, H = canvas.clientHeight;
    const s = H / Math.max(eye.box[1], eye.box[0] * H / W) * 0.8 * eye.zoom;
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
// Before it is shown in its new size: otherwise the old picture would be stretched for a moment.
new ResizeObserver(() => draw()).observe(canvas);
// A link may name the time it wants to show: animation.html#t=1.5
const asked = /[#&]t=([-+.\deE]+)/.exec(location.hash);
if (asked) go(Number(asked[1]) || t0);
draw();
requestAnimationFrame(tick);
})();
