/* The motion of a mechanism in its partitions: what every run shares, however it gets on.
 *
 * model.c, before this, brings the programs of each partition. A run is one struct without pointers to anything outside
 * it, so that copying it saves it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

enum Status {
  DONE, RUNNING, EVENT, REPARTITION, CONSTRAINTS, STEP_UNDERFLOW, NOT_FINITE, TOO_MANY_STEPS, NEWTON_FAILED, STIFF,
  NONSTIFF, INTERRUPTED, CHANGE_POINT, EVENT_NOT_FINITE, PASSED_OVER, CALLED
};

static const char *const STATUS[] = {
  "the run is done", "the run goes on", "an event was met", "the independent speeds are close to a dead centre",
  "the loops cannot be closed", "the step shrank to rounding without meeting the tolerance: a force is probably "
  "discontinuous or infinite", "the accelerations are not finite", "too many steps", "the equations of an implicit "
  "step could not be solved", "stiff", "not stiff", "interrupted", "the loops lose rank: a change point",
  "an event function is not a number", "a fixed step passes over a contact", "a function failed"
};

/* Positions, first-order states and all speeds, dependent ones included: they mean the same in every partition. */
#define MOTION (BC_POSITIONS + BC_SPEEDS)
#define INPUTS (1 + BC_STATES + BC_PARAMETERS)

/* What was changed from outside since the memory was written. */
enum Stale { FRESH, NEW_PARAMETERS, NEW_MOTION };

typedef struct {
  double t;
  double motion[MOTION + 1];
  double p[BC_PARAMETERS + 1];
  double forces[BC_FORCES + 1]; /* of contacts that last, which outputs are computed with */
  int open[BC_CONTACTS + 1]; /* which contacts were open at the last event */
  double tolerance;
  int partition;
  int method;
  int stale;
  int begun; /* whether the initialisation is over */
  double set[BC_SIGNALS + 1]; /* when the inputs of drivers were set */
  long long memory[BC_MEMORY];
  long long struck[BC_STRUCK_MEMORY]; /* of rigid contacts in model exchange */
} Run;

/* [t, y, p] of the motion in a partition. */
static void inputs_of(const Run *run, int partition, double *x) {
  const int *independent = PARTITIONS[partition].independent;
  int k;
  x[0] = run->t;
  memcpy(x + 1, run->motion, BC_POSITIONS * sizeof(double));
  for (k = 0; k < BC_STATES - BC_POSITIONS; ++k) x[1 + BC_POSITIONS + k] = run->motion[BC_POSITIONS + independent[k]];
  memcpy(x + 1 + BC_STATES, run->p, BC_PARAMETERS * sizeof(double));
}

/* The motion from [t, y, p]. */
static void take_motion(Run *run, const double *x) {
  run->t = x[0];
  memcpy(run->motion, x + 1, BC_POSITIONS * sizeof(double));
  PARTITIONS[run->partition].speeds(x, run->motion + BC_POSITIONS);
}

/* The smallest pivot against the largest entry of its row, and the residual of the loops, in a partition. */
static double margin_of(const Run *run, int partition, double *residual) {
  double x[INPUTS], out[BC_STATES + 3];
  *residual = 0.0;
  if (!PARTITIONS[partition].project) return 1.0;
  inputs_of(run, partition, x);
  out[BC_STATES + 2] = 1.0;
  PARTITIONS[partition].project(x, out);
  *residual = out[BC_STATES];
  return out[BC_STATES + 1];
}

/* Whether another of the partitions describes the motion better by far; it is taken then. */
static int better_partition(Run *run) {
  double residual, margin, best = margin_of(run, run->partition, &residual);
  int k, found = run->partition;
  for (k = 0; k < BC_PARTITIONS; ++k) {
    margin = margin_of(run, k, &residual);
    if (margin > 2.0 * best) {
      best = margin;
      found = k;
    }
  }
  if (found == run->partition) return 0;
  run->partition = found;
  return 1;
}

/* Newton's corrections of positions and dependent speeds; whether the loops close. */
static int project_motion(Run *run) {
  Kernel project = PARTITIONS[run->partition].project;
  double x[INPUTS], out[BC_STATES + 3];
  int k;
  inputs_of(run, run->partition, x);
  for (k = 0; project && k < 8; ++k) {
    project(x, out);
    memcpy(x + 1, out, BC_STATES * sizeof(double));
    /* The residual is that before the correction: the last pass confirms the one before it. */
    if (out[BC_STATES] <= BC_POSITION_TOLERANCE) break;
  }
  take_motion(run, x);
  return !project || out[BC_STATES] <= BC_POSITION_TOLERANCE;
}

/* Contacts that close keep the speed at which they do, which their forces depend on. Where they close is found up to
 * rounding, on either side of zero. */
static void look_for_touches(Run *run) {
  double x[INPUTS], out[2 * BC_CONTACTS + 1];
  int k;
  if (!BC_CONTACTS) return;
  inputs_of(run, run->partition, x);
  PARTITIONS[run->partition].gaps(x, out);
  for (k = 0; k < BC_CONTACTS; ++k) {
    double speed = out[BC_CONTACTS + k];
    int closed = out[k] <= (speed > 0.0 ? TOUCH_NEAR[k] : -TOUCH_NEAR[k]);
    if (closed && run->open[k] && TOUCH_PLACE[k] >= 0)
      run->p[TOUCH_PLACE[k]] = speed > TOUCH_SLOWEST[k] ? speed : TOUCH_SLOWEST[k];
    run->open[k] = !closed;
  }
}
