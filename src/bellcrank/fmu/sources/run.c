/* The run of a mechanism: its equations, its integrators and its events, as Bellcrank itself runs them.
 *
 * model.c, before this, brings the equations of each partition, the integrators with the memory they begin with, and
 * the tables of events. A run is one struct without pointers to anything outside it, so that copying it saves it.
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

typedef struct {
  double t;
  double motion[MOTION + 1];
  double p[BC_PARAMETERS + 1];
  int open[BC_CONTACTS + 1]; /* which contacts were open at the last event */
  double tolerance;
  int partition;
  int method;
  int stale; /* whether time, motion or parameters were changed from outside since the memory was written */
  long long memory[BC_MEMORY];
} Run;

typedef struct {
  long long *ints, *words;
  double *reals, *x, *v, *g;
} View;

static View view_of(Run *run) {
  const Method *method = &METHODS[run->method];
  View view;
  long long *base = run->memory + method->begin;
  int k;
  view.ints = base + method->part[1];
  view.reals = (double *)(base + method->part[2]);
  view.x = (double *)(base + method->part[3]);
  view.v = (double *)(base + method->part[4]);
  view.g = (double *)(base + method->part[5]);
  view.words = base + method->part[9];
  for (k = 0; k < BC_WORDS_OF_A_RUN; ++k)
    if (NEAR[k]) view.words[k] = method->words[k] + (long long)(size_t)base;
  return view;
}

static void bind_partition(Run *run) {
  const Partition *partition = &PARTITIONS[run->partition];
  long long *addresses = run->memory + METHODS[run->method].begin + METHODS[run->method].part[0];
  addresses[AT_RHS] = (long long)(size_t)partition->rates;
  addresses[AT_PROJECT] = (long long)(size_t)partition->project;
  addresses[AT_JACOBIAN] = 0;
  addresses[AT_TANGENT] = (long long)(size_t)partition->tangent;
  addresses[AT_EVENTS] = (long long)(size_t)partition->events;
  addresses[AT_SEARCH] = partition->events ? (long long)(size_t)bc_search : 0;
}

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

/* The memory of a method as it begins. */
static void load_image(Run *run, int method) {
  const Method *m = &METHODS[method];
  int k;
  memset(run->memory + m->begin, 0, sizeof(long long) * m->length);
  for (k = 0; k < m->entries; ++k) run->memory[m->begin + m->at[k]] = m->value[k];
  run->method = method;
}

static void set_tolerance(Run *run, double tolerance) {
  View view = view_of(run);
  int k;
  for (k = 0; k < BC_STATES; ++k) view.v[AT_ATOL * BC_STATES + k] *= tolerance / run->tolerance;
  view.reals[AT_RTOL] = tolerance;
  run->tolerance = tolerance;
}

static void run_reset(Run *run) {
  memset(run, 0, sizeof *run);
  load_image(run, 0);
  run->t = BC_START_TIME;
  run->tolerance = BC_TOLERANCE;
  memcpy(run->motion, BC_START, sizeof BC_START);
  memcpy(run->p, BC_VALUES, sizeof BC_VALUES);
  run->stale = 1;
}

/* Go on with another method: what all methods keep in common is taken over. */
static void change_method(Run *run, int method) {
  static const int common[] = {1, 2, 3, 5, 6};
  static const int kept[] = {AT_ROWS, AT_OWN_INTS, AT_OWN_REALS, AT_ORDER};
  const Method *from = &METHODS[run->method], *to = &METHODS[method];
  const long long *before = run->memory + from->begin;
  long long *after = run->memory + to->begin, *ints = after + to->part[1], own[4];
  int k;
  load_image(run, method);
  for (k = 0; k < 4; ++k) own[k] = ints[kept[k]];
  for (k = 0; k < 5; ++k)
    memcpy(after + to->part[common[k]], before + from->part[common[k]], sizeof(long long) * from->size[common[k]]);
  memcpy(after + to->part[4], before + from->part[4], sizeof(double) * AT_OWN * BC_STATES);
  for (k = 0; k < 4; ++k) ints[kept[k]] = own[k];
  bind_partition(run);
  bc_change((char *)view_of(run).words);
}

static void restart(View *view, int hits) {
  int k;
  view->ints[AT_FRESH] = 1;
  view->ints[AT_SCANNING] = 0;
  if (!hits)
    for (k = 0; k < BC_EVENTS; ++k) view->g[AT_HIT * BC_EVENTS + k] = 0.0;
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

/* What the events just met do: whether the run ends here. */
static const char *meet_events(Run *run, View *view) {
  double values[BC_EVENTS + 1], x[INPUTS];
  double *hit = view->g + AT_HIT * BC_EVENTS;
  int k, begins = 0;
  for (k = 0; k < BC_EVENTS; ++k) {
    if (hit[k] == 0.0) continue;
    if (EVENTS[k].kind == BC_ENDS) return EVENTS[k].name;
    if (EVENTS[k].kind != BC_GOES_ON) begins = 1;
  }
  if (!begins) {
    for (k = 0; k < BC_EVENTS; ++k) hit[k] = 0.0;
    return 0;
  }
  memcpy(view->v + AT_Y * BC_STATES, view->v + AT_Y_EVENT * BC_STATES, BC_STATES * sizeof(double));
  view->reals[AT_T] = view->reals[AT_T_EVENT];
  memcpy(x, view->x, sizeof x);
  x[0] = view->reals[AT_T];
  memcpy(x + 1, view->v + AT_Y * BC_STATES, BC_STATES * sizeof(double));
  PARTITIONS[run->partition].events(x, values);
  for (k = 0; k < BC_EVENTS; ++k) {
    const Happening *event = &EVENTS[k];
    if (hit[k] == 0.0 || event->kind != BC_TOUCHES || values[k] < -event->jumped) continue;
    view->x[1 + BC_STATES + event->place] = -values[event->rate] > event->slowest ? -values[event->rate] : event->slowest;
  }
  restart(view, 1);
  return 0;
}

static void write_memory(Run *run) {
  View view = view_of(run);
  double x[INPUTS];
  inputs_of(run, run->partition, x);
  bind_partition(run);
  memcpy(view.x, x, sizeof x);
  memcpy(view.v + AT_Y * BC_STATES, x + 1, BC_STATES * sizeof(double));
  view.reals[AT_T] = run->t;
  restart(&view, 0);
  run->stale = 0;
}

static void read_memory(Run *run) {
  View view = view_of(run);
  double x[INPUTS];
  memcpy(x, view.x, sizeof x);
  x[0] = view.reals[AT_T];
  memcpy(x + 1, view.v + AT_Y * BC_STATES, BC_STATES * sizeof(double));
  memcpy(run->p, x + 1 + BC_STATES, BC_PARAMETERS * sizeof(double));
  take_motion(run, x);
}

/* Integrate up to a time; 0, or why that was not possible, with the run as far as it came. */
static const char *run_to(Run *run, double end) {
  View view;
  const char *ended = 0;
  if (run->stale) write_memory(run);
  bind_partition(run);
  for (;;) {
    long long status = RUNNING;
    view = view_of(run);
    view.reals[AT_T_STOP] = end;
    if (view.ints[AT_FRESH]) status = bc_begin((char *)view.words);
    if (status == RUNNING) {
      view.ints[AT_BUDGET] = 1000000;
      status = METHODS[run->method].advance((char *)view.words);
    }
    if (status == DONE && view.reals[AT_T] >= end) break;
    if (status == DONE || status == RUNNING) continue;
    if (status == EVENT) {
      ended = meet_events(run, &view);
      if (ended) break;
    } else if (status == REPARTITION) {
      read_memory(run);
      if (better_partition(run)) {
        double step = view.reals[AT_H];
        view.reals[AT_THRESHOLD] = view.reals[AT_THRESHOLD_USUAL];
        view.reals[AT_RANK_BEST] = 0.0;
        write_memory(run);
        view.reals[AT_H] = step;
      } else {
        view.reals[AT_THRESHOLD] = 0.1 * view.reals[AT_STEP_MARGIN];
      }
    } else if ((status == STIFF || status == NONSTIFF) && BC_METHODS == 2) {
      change_method(run, status == STIFF);
      view = view_of(run);
      restart(&view, 0);
    } else if (status == CONSTRAINTS && view.ints[AT_SCANNING] &&
               0.5 * view.reals[AT_H_STEP] > 1e-15 * fabs(view.reals[AT_T])) {
      /* The end of the step is on the constraints but not all of it: it is made again, by half. */
      view.reals[AT_H] = 0.5 * view.reals[AT_H_STEP];
      ++view.ints[AT_REJECTED];
      restart(&view, 0);
    } else {
      ended = STATUS[status >= 0 && status <= CALLED ? status : CALLED];
      break;
    }
  }
  read_memory(run);
  return ended;
}
