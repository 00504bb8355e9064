/* Inputs that drivers follow, each by a cubic polynomial that begins at a time of its own.
 *
 * The columns of SIGNALS are places of parameters: value, rate and acceleration as they are set, then when the polynomial
 * begins, and its derivatives there, from the value on.
 */
enum Column { VALUE, RATE, ACCELERATION, SINCE, LED };

/* Value and rate of the polynomial at a time. */
static void led_at(const Run *run, int k, double t, double *value, double *rate) {
  const double *p = run->p + SIGNALS[k][LED], s = t - run->p[SIGNALS[k][SINCE]];
  *value = p[0] + s * (p[1] + s * (p[2] / 2 + s * p[3] / 6));
  *rate = p[1] + s * (p[2] + s * p[3] / 2);
}

static void lead(Run *run, int k, double value, double rate, double acceleration, double jerk) {
  double *p = run->p + SIGNALS[k][LED];
  run->p[SIGNALS[k][SINCE]] = run->t;
  p[0] = value;
  p[1] = rate;
  p[2] = acceleration;
  p[3] = jerk;
}

/* An input was set: its polynomial goes through it at once while nothing but it moves bodies. */
static void signal_set(Run *run, int k, int at_once) {
  const int *place = SIGNALS[k];
  run->set[k] = run->t;
  if (at_once) lead(run, k, run->p[place[VALUE]], run->p[place[RATE]], run->p[place[ACCELERATION]], 0.0);
}

/* From where the polynomials are, without a jump of speed, to where what was set leads at the end of a step. */
static void lead_signals(Run *run, double end) {
  const double h = end - run->t;
  int k;
  for (k = 0; k < BC_SIGNALS && h > 0.0; ++k) {
    const int *place = SIGNALS[k];
    const double s = end - run->set[k], a = run->p[place[ACCELERATION]];
    const double last = run->p[place[VALUE]] + s * (run->p[place[RATE]] + s * a / 2), rate = run->p[place[RATE]] + s * a;
    double x, v, moved, faster;
    led_at(run, k, run->t, &x, &v);
    moved = (last - x - h * v) / (h * h);
    faster = (rate - v) / h;
    lead(run, k, x, v, 6 * moved - 2 * faster, (6 * faster - 12 * moved) / h);
  }
  if (BC_SIGNALS && !run->stale) run->stale = NEW_PARAMETERS;
}
