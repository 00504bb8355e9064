/* The tyre law of the full car as a passive force of MuJoCo, in C so that no interpreter is in its loop.
   See "tyres" and "road bump" in the conventions of fullcar.json. */
#include <math.h>
#include <mujoco/mujoco.h>

typedef struct {
  int body;
  double radius, stiffness, damping, c_long, c_lat, load;
} Tyre;

static Tyre tyres[8];
static int count = 0;
static double height, begin, length;

void add_tyre(int body, double radius, double stiffness, double damping, double c_long, double c_lat, double load) {
  Tyre t = {body, radius, stiffness, damping, c_long, c_lat, load};
  tyres[count++] = t;
}

void clear_tyres(double H, double x0, double L) {
  count = 0;
  height = H;
  begin = x0;
  length = L;
}

void tyre_forces(const mjModel *m, mjData *d) {
  const double pi = 3.14159265358979323846;
  for (int k = 0; k < count; k++) {
    const Tyre *t = &tyres[k];
    const double *c = d->xipos + 3 * t->body, *R = d->xmat + 9 * t->body, *V = d->cvel + 6 * t->body;
    const double *base = d->subtree_com + 3 * m->body_rootid[t->body];
    double a[3] = {R[1], R[4], R[7]}, w[3] = {V[0], V[1], V[2]}, arm[3], v[3], vp[3];
    for (int i = 0; i < 3; i++) arm[i] = c[i] - base[i];
    v[0] = V[3] + w[1] * arm[2] - w[2] * arm[1];
    v[1] = V[4] + w[2] * arm[0] - w[0] * arm[2];
    v[2] = V[5] + w[0] * arm[1] - w[1] * arm[0];
    double h = 0.0, hx = 0.0, s = (c[0] - begin) / length;
    if (s > 0.0 && s < 1.0 && c[1] > 0.0) {
      double sine = sin(pi * s), cube = sine * sine * sine;
      h = height * cube * sine;
      hx = height * 4.0 * cube * cos(pi * s) * pi / length;
    }
    double depth = t->radius + h - c[2];
    if (depth <= 0.0) continue;
    double N = t->stiffness * depth + t->damping * (hx * v[0] - v[2]);
    if (N <= 0.0) continue;
    double size = sqrt(a[0] * a[0] + a[1] * a[1]);
    double ex[2] = {a[1] / size, -a[0] / size}, ey[2] = {a[0] / size, a[1] / size};
    double P[3] = {c[0], c[1], h}, down = h - c[2];
    vp[0] = v[0] + w[1] * down;
    vp[1] = v[1] - w[0] * down;
    double along = N / t->load * t->c_long * (vp[0] * ex[0] + vp[1] * ex[1]);
    double across = N / t->load * t->c_lat * (vp[0] * ey[0] + vp[1] * ey[1]);
    double force[3] = {-along * ex[0] - across * ey[0], -along * ex[1] - across * ey[1], N}, torque[3] = {0, 0, 0};
    mj_applyFT(m, d, force, torque, P, t->body, d->qfrc_passive);
  }
}
