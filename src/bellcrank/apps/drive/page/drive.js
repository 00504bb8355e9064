"use strict";
(() => {
window.addEventListener("error", e => { document.documentElement.dataset.error = e.message; });
const el = id => document.getElementById(id);
const HEAD = 17;

// Vectors and matrices; matrices by columns, as WebGL takes them.
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
function multiply(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++)
    for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}
function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2), d = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / d, -1, 0, 0, 2 * far * near / d, 0]);
}
function lookAt(eye, target) {
  const z = unit(sub(eye, target)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

const canvas = el("scene"), gl = canvas.getContext("webgl", { antialias: true, alpha: false, preserveDrawingBuffer: true });
if (!gl) { notice("This browser shows no WebGL."); throw new Error("no WebGL"); }
gl.getExtension("OES_element_index_uint");
const SKY = [0.82, 0.89, 0.95];
const COMMON = `precision highp float; varying vec3 place; varying vec3 normal; varying vec3 tint;
  uniform vec3 eye; uniform float opacity; const vec3 sky = vec3(${SKY.join(",")});
  vec3 lit(vec3 c, vec3 n) { vec3 s = normalize(vec3(0.35, -0.5, 0.85));
    return c * (0.52 + 0.16 * n.z + 0.42 * max(0.0, dot(n, s))); }
  vec3 fogged(vec3 c) { return mix(c, sky, smoothstep(40.0, 150.0, distance(place, eye))); }`;
const VERTEX = `attribute vec3 a_place; attribute vec3 a_normal; attribute vec3 a_tint; uniform mat4 model; uniform mat4 camera;
  varying vec3 place; varying vec3 normal; varying vec3 tint;
  void main() { vec4 p = model * vec4(a_place, 1.0); place = p.xyz; normal = mat3(model) * a_normal; tint = a_tint; gl_Position = camera * p; }`;
const BODY = COMMON + `void main() { vec3 n = normalize(normal); if (dot(n, eye - place) < 0.0) n = -n;
  gl_FragColor = vec4(fogged(lit(tint, n)), opacity); }`;
// The ground: squares of 2 m, a lane along x, what stands above its surroundings in amber; a soft shadow under the car.
const GROUND = COMMON + `uniform vec3 car; uniform float lane; void main() {
  vec2 g = abs(fract(place.xy / 2.0 - 0.5) - 0.5) * 2.0; float far = distance(place, eye);
  float w = 0.02 + 0.0016 * far, line = 1.0 - smoothstep(w, 2.0 * w, min(g.x, g.y));
  vec3 c = mix(vec3(0.80, 0.83, 0.80), vec3(0.62, 0.66, 0.66), line * (1.0 - smoothstep(30.0, 80.0, far)));
  float beside = abs(place.y) + 1e3 * (1.0 - lane); if (beside < 2.6) c = mix(c, vec3(0.70, 0.71, 0.74), 0.75);
  float edge = abs(beside - 2.6); c = mix(c, vec3(0.97), 1.0 - smoothstep(0.06, 0.09, edge));
  c = mix(c, vec3(0.95, 0.66, 0.22), 0.85 * clamp(tint.x, 0.0, 1.0));
  vec3 n = normalize(normal); float steep = clamp(1.0 - n.z, 0.0, 1.0);
  vec2 d = place.xy - car.xy; float under = exp(-dot(d, d) / 2.2);
  c = lit(c, n) * (1.05 - 2.0 * steep) * (1.0 - 0.38 * under);
  gl_FragColor = vec4(fogged(c), 1.0); }`;
function program(fragment) {
  const p = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, fragment]]) {
    const s = gl.createShader(kind); gl.shaderSource(s, source); gl.compileShader(s);
    if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
    gl.attachShader(p, s);
  }
  ["a_place", "a_normal", "a_tint"].forEach((name, i) => gl.bindAttribLocation(p, i, name));
  gl.linkProgram(p);
  if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
  const at = {};
  for (const name of ["model", "camera", "eye", "opacity", "car", "lane"]) at[name] = gl.getUniformLocation(p, name);
  return { p, at };
}
const bodyProgram = program(BODY), groundProgram = program(GROUND);
function mesh() { return { buffer: gl.createBuffer(), indices: gl.createBuffer(), count: 0 }; }
function fill(m, vertices, indices) {
  gl.bindBuffer(gl.ARRAY_BUFFER, m.buffer); gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.DYNAMIC_DRAW);
  m.count = vertices.length / 9;
  if (indices) { gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, m.indices); gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW); m.indexed = indices.length; }
}
function paint(m, mode = gl.TRIANGLES) {
  gl.bindBuffer(gl.ARRAY_BUFFER, m.buffer);
  for (let i = 0; i < 3; i++) { gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, 3, gl.FLOAT, false, 36, 12 * i); }
  if (m.indexed) { gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, m.indices); gl.drawElements(gl.TRIANGLES, m.indexed, gl.UNSIGNED_INT, 0); }
  else gl.drawArrays(mode, 0, m.count);
}

// What the server told: shapes once, then frames and the ground around the car.
let straight = true, shapes = null, offsets = null, frame = null, chase = null, cameraKind = 0;
const ground = mesh(), springs = mesh(), course = mesh();
function floats(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}
function takeShapes(told) {
  shapes = told.parts.map(part => { const m = mesh(); fill(m, floats(part.vertices)); return { ...part, m }; });
  shapes.springs = told.springs; offsets = floats(told.offsets);
  straight = told.straight;
  if (told.course) fill(course, floats(told.course));
  el("lapping").hidden = !told.course;
}
function takeGround(told) {
  const n = offsets.length, x0 = told[1], y0 = told[2], h = (i, j) => told[3 + Math.max(0, Math.min(n - 1, i)) * n + Math.max(0, Math.min(n - 1, j))];
  const vertices = new Float32Array(9 * n * n), at = i => offsets[Math.max(0, Math.min(n - 1, i))];
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    const sx = (h(i + 1, j) - h(i - 1, j)) / (at(i + 1) - at(i - 1)), sy = (h(i, j + 1) - h(i, j - 1)) / (at(j + 1) - at(j - 1));
    const nn = Math.hypot(sx, sy, 1), k = 9 * (i * n + j), above = told[3 + n * n + i * n + j];
    vertices.set([x0 + offsets[i], y0 + offsets[j], h(i, j), -sx / nn, -sy / nn, 1 / nn, Math.min(1, above / 0.045), 0, 0], k);
  }
  let indices = null;
  if (!ground.indexed) {
    indices = new Uint32Array(6 * (n - 1) * (n - 1)); let k = 0;
    for (let i = 0; i + 1 < n; i++) for (let j = 0; j + 1 < n; j++) {
      const a = i * n + j; indices.set([a, a + n, a + n + 1, a, a + n + 1, a + 1], k); k += 6;
    }
  }
  fill(ground, vertices, indices);
}
const pose = body => frame.subarray(HEAD + 12 * body, HEAD + 12 * body + 12);
function matrix(body) {
  const p = pose(body);
  return new Float32Array([p[3], p[6], p[9], 0, p[4], p[7], p[10], 0, p[5], p[8], p[11], 0, p[0], p[1], p[2], 1]);
}
function placed(body, v) {
  if (body < 0) return v;
  const p = pose(body);
  return [0, 1, 2].map(i => p[i] + p[3 + 3 * i] * v[0] + p[4 + 3 * i] * v[1] + p[5 + 3 * i] * v[2]);
}
function coils() {
  const rows = [];
  for (const s of shapes.springs) {
    const a = placed(s.a, s.pa), b = placed(s.b, s.pb), d = sub(b, a), z = unit(d);
    const x = unit(cross(z, Math.abs(z[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0])), y = cross(z, x), ring = [];
    for (let i = 0; i <= 120; i++) {
      const q = i / 120, turn = 14 * Math.PI * Math.min(1, Math.max(0, (q - 0.1) / 0.8)), r = 0.05 * Math.min(1, Math.max(0, Math.min(q - 0.06, 0.94 - q) / 0.05));
      ring.push([0, 1, 2].map(k => a[k] + q * d[k] + r * (Math.cos(turn) * x[k] + Math.sin(turn) * y[k])));
    }
    for (let i = 0; i < 120; i++) for (const p of [ring[i], ring[i + 1]]) rows.push(...p, 0, 0, 1, 0.85, 0.25, 0.2);
  }
  fill(springs, new Float32Array(rows));
}

function draw() {
  const r = Math.min(window.devicePixelRatio || 1, 2), W = Math.round(canvas.clientWidth * r), H = Math.round(canvas.clientHeight * r);
  if (canvas.width !== W || canvas.height !== H) { canvas.width = W; canvas.height = H; }
  gl.viewport(0, 0, W, H); gl.clearColor(...SKY, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  if (!shapes || !frame || !ground.indexed) return;
  const c = pose(0), heading = Math.atan2(c[6], c[3]);
  // The camera turns after the car, the shortest way round.
  if (chase === null) chase = heading;
  chase += 0.06 * Math.atan2(Math.sin(heading - chase), Math.cos(heading - chase));
  const [back, side, up, ahead] = [[7.2, 2.2, 2.7, 1.6], [3.4, 3.6, 1.1, 0.2], [1.2, -15, 8.5, 2]][cameraKind];
  const cos = Math.cos(chase), sin = Math.sin(chase);
  const eye = [c[0] - back * cos + side * sin, c[1] - back * sin - side * cos, c[2] + up - 0.2];
  const target = [c[0] + ahead * cos, c[1] + ahead * sin, c[2] + 0.1];
  const camera = multiply(perspective(0.82, W / H, 0.2, 400), lookAt(eye, target));
  gl.enable(gl.DEPTH_TEST); gl.disable(gl.BLEND);
  const same = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  const use = (q, model, opacity) => {
    gl.useProgram(q.p); gl.uniformMatrix4fv(q.at.model, false, model); gl.uniformMatrix4fv(q.at.camera, false, camera);
    gl.uniform3fv(q.at.eye, eye); gl.uniform1f(q.at.opacity, opacity); if (q.at.car) { gl.uniform3f(q.at.car, c[0], c[1], c[2]); gl.uniform1f(q.at.lane, straight && !course.count ? 1 : 0); }
  };
  use(groundProgram, same, 1); paint(ground);
  // The lane lies on the ground, whose grid is coarser far away.
  if (course.count) { gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(-4, -40); use(bodyProgram, same, 1); paint(course); gl.disable(gl.POLYGON_OFFSET_FILL); }
  for (const part of shapes) if (part.opacity === 1) { use(bodyProgram, matrix(part.body), 1); paint(part.m); }
  coils(); use(bodyProgram, same, 1); paint(springs, gl.LINES);
  gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA); gl.depthMask(false);
  for (const part of shapes) if (part.opacity < 1) { use(bodyProgram, matrix(part.body), part.opacity); paint(part.m); }
  gl.depthMask(true);
  document.documentElement.dataset.ready = "1";
}

const lapTime = s => s > 0 ? Math.floor(s / 60) + ":" + (s % 60).toFixed(2).padStart(5, "0") : "–";
const microseconds = s => s < 1e-3 ? (1e6 * s).toFixed(0) + " µs" : (1e3 * s).toFixed(1) + " ms";
function write() {
  if (!frame) return;
  const [, time, speed, , , , median, p99, worst, share, late, now, back, lap, last, best, laps] = frame;
  el("speed").textContent = (3.6 * speed).toFixed(0);
  el("clock").textContent = time.toFixed(1) + " s";
  el("lap").textContent = lapTime(lap); el("last").textContent = lapTime(last); el("best").textContent = lapTime(best); el("laps").textContent = laps.toFixed(0);
  el("median").textContent = microseconds(median); el("p99").textContent = microseconds(p99);
  el("worst").textContent = microseconds(worst); el("share").textContent = (100 * share).toFixed(1) + " %";
  el("late").textContent = late.toFixed(0); el("lag").textContent = microseconds(now);
  ["steer", "throttle", "brake"].forEach((name, i) => {
    const v = name === "steer" ? -frame[3] : frame[3 + i], m = el("is-" + name).style, whole = name === "brake";
    m.left = (whole ? 0 : 50 + 50 * Math.min(0, v)) + "%"; m.width = (whole ? 100 : 50) * Math.abs(v) + "%";
  });
  el("bar").style.width = Math.min(100, 100 * share) + "%";
  el("bar").style.background = share < 0.5 ? "#3c9a52" : share < 0.9 ? "#c9a227" : "#c14a4f";
  document.documentElement.dataset.x = pose(0)[0].toFixed(3);
  document.documentElement.dataset.time = time.toFixed(3);
  if (back) notice("The car turned over or left the model's range, and was put back."); else if (performance.now() > noticeUntil) el("notice").hidden = true;
}
let noticeUntil = 0;
function notice(words) { el("notice").textContent = words; el("notice").hidden = false; }

// A gamepad by the standard layout: left stick steers, right trigger throttle, left trigger brake, A drives back, B puts
// back, Y camera. Others steer by their first axis and have pedals where buttons 7 and 6 are.
const DEAD = 0.08;
let padUsed = false, padHeld = [false, false];
function pad() {
  const found = navigator.getGamepads ? Array.from(navigator.getGamepads()).find(p => p && p.connected) : null;
  if (!found) { padUsed = false; return null; }
  const value = i => found.buttons[i] ? found.buttons[i].value : 0, x = found.axes[0] || 0;
  const steer = Math.abs(x) < DEAD ? 0 : -Math.sign(x) * ((Math.abs(x) - DEAD) / (1 - DEAD)) ** 1.5;
  const pressed = [value(1) > 0.5, value(3) > 0.5];
  [putBack, nextCamera].forEach((act, i) => { if (pressed[i] && !padHeld[i]) act(); });
  padHeld = pressed;
  const back = value(0) > 0.5 ? -0.6 : 0, asked = { steer, throttle: value(7) || back, brake: value(6) };
  padUsed = padUsed || asked.steer !== 0 || asked.throttle !== 0 || asked.brake !== 0;
  return padUsed ? asked : null;
}
window.addEventListener("gamepadconnected", e => { notice("Gamepad: " + e.gamepad.id); noticeUntil = performance.now() + 4000; });

// The hum of the motors, silent until asked for.
let sound = null;
function sounding() {
  if (sound) { sound.context.close(); sound = null; return; }
  const context = new AudioContext(), hum = context.createOscillator(), loud = context.createGain();
  hum.type = "sawtooth"; loud.gain.value = 0;
  const soft = context.createBiquadFilter(); soft.type = "lowpass"; soft.frequency.value = 600;
  hum.connect(soft).connect(loud).connect(context.destination); hum.start();
  sound = { context, hum, loud };
}
function hear() {
  el("sound").setAttribute("aria-pressed", String(!!sound));
  if (!sound || !frame) return;
  const t = sound.context.currentTime;
  sound.hum.frequency.setTargetAtTime(45 + 9 * frame[2], t, 0.05);
  sound.loud.gain.setTargetAtTime(0.02 + 0.10 * Math.abs(frame[4]), t, 0.05);
}

// Keys while they are down, then a gamepad that is used, sliders otherwise.
const down = new Set(), KEYS = { ArrowLeft: "left", a: "left", ArrowRight: "right", d: "right", ArrowUp: "go", w: "go", ArrowDown: "stop", s: "stop", " ": "brake" };
function wish() {
  const played = pad();
  if (played && !down.size) return played;
  const steer = down.has("left") || down.has("right") ? down.has("left") - down.has("right") : -Number(el("steer").value);
  let throttle = Number(el("throttle").value), brake = Number(el("brake").value);
  if (down.has("go")) throttle = 1;
  if (down.has("stop")) { if (frame && frame[2] > 0.6 && frame[4] >= -0.05) { brake = 1; throttle = 0; } else throttle = -0.6; }
  if (down.has("brake")) { brake = 1; throttle = 0; }
  return { steer, throttle, brake };
}
let socket = null, sent = "";
function tell(more = {}) {
  const text = JSON.stringify({ ...wish(), ...more });
  if (text === sent || !socket || socket.readyState !== 1) return;
  sent = more.reset ? "" : text; socket.send(text);
}
window.addEventListener("keydown", e => {
  const name = KEYS[e.key.length === 1 ? e.key.toLowerCase() : e.key];
  if (name) { down.add(name); e.preventDefault(); tell(); }
  else if (e.repeat) return;
  else if (/^r$/i.test(e.key)) putBack();
  else if (/^c$/i.test(e.key)) nextCamera();
  else if (/^m$/i.test(e.key)) sounding();
});
window.addEventListener("keyup", e => { const name = KEYS[e.key.length === 1 ? e.key.toLowerCase() : e.key]; if (name) { down.delete(name); tell(); } });
window.addEventListener("blur", () => { down.clear(); tell(); });
function putBack() { for (const id of ["steer", "throttle", "brake"]) el(id).value = 0; chase = null; tell({ reset: true }); }
function nextCamera() { cameraKind = (cameraKind + 1) % 3; }
for (const id of ["steer", "throttle", "brake"]) {
  el(id).addEventListener("input", () => tell());
  el(id).addEventListener("dblclick", () => { el(id).value = 0; tell(); });
}
for (const [id, act] of [["reset", putBack], ["camera", nextCamera], ["sound", sounding]]) el(id).addEventListener("click", () => { act(); el(id).blur(); });

function connect() {
  socket = new WebSocket(`ws://${location.host}/socket`); socket.binaryType = "arraybuffer";
  socket.onmessage = e => {
    if (typeof e.data === "string") { takeShapes(JSON.parse(e.data)); return; }
    const told = new Float32Array(e.data);
    if (told[0] === 1) takeGround(told); else frame = told;
  };
  socket.onclose = () => notice("The drive has ended; start it again with bellcrank drive.");
}
function tick() { tell(); draw(); write(); hear(); requestAnimationFrame(tick); }
const asked = /[#&]camera=(\d)/.exec(location.hash);
if (asked) cameraKind = Number(asked[1]) % 3;
connect();
requestAnimationFrame(tick);
})();
