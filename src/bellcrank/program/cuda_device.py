"""CUDA text that does not depend on the mechanism: elementary functions, and integrators with one state a thread.

Sine, cosine, division and square root are written out without the slow paths of the CUDA library: a call, even
one never made, limits the registers of the whole kernel. Sine and cosine are good to two units in the last place for
arguments up to 2**28 rad in double and 4000 rad in single precision; beyond, they are NaN rather than wrong.

Arrays hold entry k of state i at ``[k * n + i]``, so that neighbouring threads read neighbouring numbers.
"""

from __future__ import annotations

from bellcrank.program.elementary import _COS, _MAGIC, _PI_HALF, _SIN

ELEMENTARY = """\
#ifdef BC_CPU
#define BC_APPROXIMATE 0
#elif defined(__CUDA_ARCH__)
#define BC_APPROXIMATE 1
#else
#define BC_APPROXIMATE 0
#endif
#define BC_DEVICE static __device__ __forceinline__
#define BC_FMA(a, b, c) fma((a), (b), (c))
#define BC_NAN bc_nan()
#define BC_INFINITY bc_infinity()
BC_DEVICE real bc_nan() { real z = 0; return z / z; }
BC_DEVICE real bc_infinity() { real z = 0; return 1 / z; }
"""

DOUBLE = f"""\
BC_DEVICE double bc_div(double a, double b) {{
#if BC_APPROXIMATE
  double r, e, q;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
  e = fma(-b, r, 1.0);
  r = fma(r, fma(e, e, e), r);
  q = a * r;
  return fma(fma(-b, q, a), r, q);
#else
  return a / b;
#endif
}}
BC_DEVICE double bc_sqrt(double x) {{
#if BC_APPROXIMATE
  double r, h, g, e;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  g = x * r;
  h = 0.5 * r;
  e = fma(-h, g, 0.5);
  g = fma(g, e, g);
  h = fma(h, e, h);
  g = fma(fma(-g, g, x), h, g);
  return x == 0.0 ? 0.0 : g;
#else
  return sqrt(x);
#endif
}}
BC_DEVICE void bc_sincos(double x, double &sine, double &cosine) {{
  const double n = fma(x, {2.0 / 3.141592653589793!r}, {_MAGIC!r}) - {_MAGIC!r};
  double r = fma(-n, {_PI_HALF[0]!r}, x);
  r = fma(-n, {_PI_HALF[1]!r}, r);
  r = fma(-n, {_PI_HALF[2]!r}, r);
  const int q = (int)n;
  const double z = r * r;
  double s = fma(z, {_SIN[5]!r}, {_SIN[4]!r}), c = fma(z, {_COS[5]!r}, {_COS[4]!r});
  s = fma(z, s, {_SIN[3]!r}); c = fma(z, c, {_COS[3]!r});
  s = fma(z, s, {_SIN[2]!r}); c = fma(z, c, {_COS[2]!r});
  s = fma(z, s, {_SIN[1]!r}); c = fma(z, c, {_COS[1]!r});
  s = fma(z, s, {_SIN[0]!r}); c = fma(z, c, {_COS[0]!r});
  s = fma(z * r, s, r);
  const double h = 0.5 * z, w = 1.0 - h;
  c = w + fma(z * z, c, (1.0 - w) - h);
  const double a = q & 1 ? c : s, b = q & 1 ? s : c;
  const bool fits = fabs(x) <= 268435456.0;
  sine = fits ? (q & 2 ? -a : a) : BC_NAN;
  cosine = fits ? ((q + 1) & 2 ? -b : b) : BC_NAN;
}}
"""

SINGLE = """\
BC_DEVICE float bc_div(float a, float b) {
#if BC_APPROXIMATE
  float r, q;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
  q = a * r;
  return fma(fma(-b, q, a), r, q);
#else
  return a / b;
#endif
}
BC_DEVICE float bc_sqrt(float x) {
#if BC_APPROXIMATE
  float r;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return sqrt(x);
#endif
}
BC_DEVICE void bc_sincos(float x, float &sine, float &cosine) {
  const float n = fma(x, 0.63661977f, 12582912.0f) - 12582912.0f;
  float r = fma(-n, 1.5707963705062866f, x);
  r = fma(-n, -4.371138828673793e-08f, r);
  r = fma(-n, -1.7151245100058819e-15f, r);
  const int q = (int)n;
  const float z = r * r;
  float s = fma(z, 2.718311493989822e-06f, -1.9839334836096632e-04f);
  float c = fma(z, 2.4390448796277409e-05f, -1.3886763774609930e-03f);
  s = fma(z, s, 8.3333293858894632e-03f);
  c = fma(z, c, 4.1666623323739063e-02f);
  s = fma(z, s, -1.6666666641626524e-01f);
  c = fma(z, c, -4.9999999725103100e-01f);
  s = fma(z * r, s, r);
  c = fma(z, c, 1.0f);
  const float a = q & 1 ? c : s, b = q & 1 ? s : c;
  const bool fits = fabs(x) <= 4000.0f;
  sine = fits ? (q & 2 ? -a : a) : BC_NAN;
  cosine = fits ? ((q + 1) & 2 ? -b : b) : BC_NAN;
}
"""

COLUMN = """\
/* Entry k of this thread's state. */
struct Column {
  real *at;
  long long n;
  __device__ __forceinline__ real &operator[](int k) const { return at[k * n]; }
};
struct Parameters {
  const real *at;
  long long n;
  __device__ __forceinline__ real operator[](int k) const { return at[k * n]; }
};
"""

EVALUATE = """\
/* out[k] = outputs of state i at (t[i], y[.][i], p[.][i]). */
extern "C" __global__ void __launch_bounds__(BC_BLOCK) bc_evaluate(
    const real *t, const real *y, const real *p, real *out, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const bool real_state = i < n;
  if (!real_state) i = n - 1;
  const Parameters yi = {y + i, n}, pi = {p + i, n};
  const Column oi = {out + i, n};
  bc_program(t[i], yi, pi, oi);
}
"""

PROJECT = """\
/* Newton corrections of y; the residual left, infinite where the loops are about to lose rank. */
static __device__ real bc_close(real t, real *y, const Parameters &p, real tolerance, int corrections) {
#if BC_PROJECTS
  real out[BC_STATES + 3];
  real residual = BC_INFINITY;
  for (int k = 0; k < corrections; ++k) {
    bc_projection(t, y, p, out);
    for (int i = 0; i < BC_STATES; ++i) y[i] = out[i];
    residual = out[BC_STATES];
    if (residual <= tolerance) break;
  }
#ifdef BC_LEAST_RANK
  if (!(out[BC_STATES + 2] >= BC_LEAST_RANK)) return BC_INFINITY;
#endif
  return residual;
#else
  return 0;
#endif
}
"""

RUNGE_KUTTA4 = """\
/* Fixed steps of h from t0, projected; every `every` steps the state goes to out[sample][k][i].
   status[i]: 0, 1 (loops cannot be closed) or 2 (not finite); a thread that fails stops. */
extern "C" __global__ void __launch_bounds__(BC_BLOCK) bc_runge_kutta4(
    real *y_all, const real *p_all, double t0, double h, int steps, int every, real tolerance, int corrections,
    real *out, int *status, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Parameters p = {p_all + i, n};
  real y[BC_STATES], k[BC_STATES], at[BC_STATES], sum[BC_STATES];
  for (int j = 0; j < BC_STATES; ++j) y[j] = y_all[j * n + i];
  int code = 0;
  for (int step = 0; step < steps && code == 0; ++step) {
    for (int stage = 0; stage < 4; ++stage) {
      const real node = stage == 0 ? 0 : stage == 3 ? 1 : (real)0.5;
      for (int j = 0; j < BC_STATES; ++j) at[j] = stage ? y[j] + node * (real)h * k[j] : y[j];
      bc_rates((real)(t0 + (step + (double)node) * h), at, p, k);
      const real weight = stage == 0 || stage == 3 ? 1 : 2;
      for (int j = 0; j < BC_STATES; ++j) sum[j] = stage ? sum[j] + weight * k[j] : k[j];
    }
    real finite = 0;
    for (int j = 0; j < BC_STATES; ++j) {
      at[j] = y[j] + (real)(h / 6) * sum[j];
      finite += 0 * at[j];
    }
    if (finite != 0) code = 2;
    else if (!(bc_close((real)(t0 + (step + 1) * h), at, p, tolerance, corrections) <= tolerance)) code = 1;
    if (code == 0) {
      for (int j = 0; j < BC_STATES; ++j) y[j] = at[j];
      if ((step + 1) % every == 0)
        for (int j = 0; j < BC_STATES; ++j) out[((step + 1) / every - 1) * BC_STATES * n + j * n + i] = y[j];
    }
  }
  for (int j = 0; j < BC_STATES; ++j) y_all[j * n + i] = y[j];
  status[i] = code;
}
"""

EMBEDDED = """\
#define BC_STAGES {stages}
__constant__ real bc_a[BC_STAGES][BC_STAGES] = {{
  {a}}};
__constant__ real bc_c[BC_STAGES + 1] = {{{c}}};
__constant__ real bc_e[BC_STAGES + 1] = {{{e}}};
/* Adaptive steps, projected, with the controller of the CPU's loops and its errors: atol[k] + rtol * |y|, lengths
   (lengths[k] = 1, otherwise 0) from where the step begins. The state at times[m] goes to out[m][k][i].
   status[i]: 0, 1 (loops cannot be closed), 2 (not finite), 3 (step underflow) or 4 (too many steps);
   counts[i]: steps made. */
extern "C" __global__ void __launch_bounds__(BC_BLOCK) bc_embedded(
    real *y_all, const real *p_all, double t0, const double *times, int samples, double first_step, real rtol,
    const real *atol, const real *lengths, int most_steps, real tolerance, int corrections, real *out, int *status,
    int *counts, long long n) {{
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Parameters p = {{p_all + i, n}};
  real y[BC_STATES], at[BC_STATES], k[BC_STAGES + 1][BC_STATES];
  for (int j = 0; j < BC_STATES; ++j) y[j] = y_all[j * n + i];
  int code = 0, made = 0, tried = 0, sample = 0;
  double t = t0, h = first_step;
  real error_old = (real)1e-4;
  bool rejected = false;
  int first_stage = 0;
  while (sample < samples && code == 0) {{
    const double rest = times[sample] - t;
    const bool hits = 1.01 * h >= rest;
    const double step = hits ? rest : h, t_new = hits ? times[sample] : t + h;
    int trouble = 3;
    for (int stage = first_stage; stage <= BC_STAGES; ++stage) {{
      for (int j = 0; j < BC_STATES; ++j) {{
        real s = 0;
        for (int m = 0; m < stage; ++m) s = fma(bc_a[stage - 1][m], k[m][j], s);
        at[j] = fma((real)step, s, y[j]);
      }}
      if (stage == BC_STAGES && !(bc_close((real)t_new, at, p, tolerance, corrections) <= tolerance)) trouble = 1;
      bc_rates((real)(stage == BC_STAGES ? t_new : t + (double)bc_c[stage] * step), at, p, k[stage]);
    }}
    real total = 0, finite = 0;
    for (int j = 0; j < BC_STATES; ++j) {{
      real e = 0;
      for (int m = 0; m <= BC_STAGES; ++m) e = fma(bc_e[m], k[m][j], e);
      const real here = lengths[j] * y[j], a = fabs(y[j] - here), b = fabs(at[j] - here);
      const real allowed = atol[j] + rtol * (a > b ? a : b) + (real){rounded} * fabs(here);
      const real ratio = (real)step * e / allowed;
      total = fma(ratio, ratio, total);
      finite += 0 * k[BC_STAGES][j];
    }}
    real error = sqrt(total / BC_STATES), factor = (real)0.2;
    if (finite != 0) trouble = 2;
    if (trouble == 3 && error < BC_INFINITY) {{
      const real held = error > (real)1e-12 ? error : (real)1e-12;
      factor = (real)0.9 * pow(held, -(real){exponent}) * pow(error_old, (real){beta});
      factor = factor < (real){shrink} ? (real){shrink} : factor > (real){grow} ? (real){grow} : factor;
    }} else error = 2;
    ++tried;
    if (!(error <= 1)) {{
      h = step * (double)(factor < (real)0.9 ? factor : (real)0.9);
      rejected = true;
      first_stage = 1;
      if (h <= 1e-15 * fabs(t) || h < 1e-30) code = trouble;
    }} else {{
      double next = step * (double)factor;
      if (rejected && next > step) next = step;
      h = step >= h || next > h ? next : h;
      rejected = false;
      error_old = error > (real)1e-4 ? error : (real)1e-4;
      t = t_new;
      ++made;
      for (int j = 0; j < BC_STATES; ++j) {{
        y[j] = at[j];
        k[0][j] = k[BC_STAGES][j];
      }}
      first_stage = 1;
      if (hits) {{
        for (int j = 0; j < BC_STATES; ++j) out[(long long)sample * BC_STATES * n + j * n + i] = y[j];
        ++sample;
      }}
    }}
    if (tried >= most_steps && sample < samples && code == 0) code = 4;
  }}
  for (int j = 0; j < BC_STATES; ++j) y_all[j * n + i] = y[j];
  status[i] = code;
  counts[i] = made;
}}
"""
