/* What both versions of the interface share: variables by number, their derivatives, saved states.
 *
 * Numbers of variables: 0 is time, then the parameters and inputs, the motion, its rates, the outputs, the event
 * indicators: gaps of contacts whose forces are continuous, then two of every rigid contact.
 */
#include <stdlib.h>

#define FIRST_PARAMETER 1
#define FIRST_MOTION (FIRST_PARAMETER + BC_VISIBLE)
#define FIRST_RATE (FIRST_MOTION + MOTION)
#define FIRST_OUTPUT (FIRST_RATE + (BC_EXCHANGE ? MOTION : 0))
#define FIRST_INDICATOR (FIRST_OUTPUT + BC_OUTPUTS)
#define INDICATORS (BC_EXCHANGE ? BC_CONTACTS + 2 * BC_STRUCK : 0)
#define VARIABLES (FIRST_INDICATOR + INDICATORS)

typedef struct Component {
  Run run;
  int exchange;      /* model exchange: the environment integrates */
  int drifted;       /* the loops are to be closed in the next event mode */
  int known;         /* rates and outputs below belong to the present motion */
  double rates[MOTION + 1];
  double outputs[BC_OUTPUTS + 1];
  void *environment;
  void (*report)(struct Component *, const char *);
  void *logger;
  char *name;
} Component;

static void changed(Component *c, int what) {
  c->known = 0;
  if (c->run.stale < what) c->run.stale = what;
}

static void evaluate(Component *c) {
  double x[INPUTS + BC_FORCES];
  if (c->known) return;
  inputs_of(&c->run, c->run.partition, x);
  if (BC_EXCHANGE) PARTITIONS[c->run.partition].motion(x, c->rates);
  if (c->exchange && BC_STRUCK) held_rates(&c->run, c->rates);
  inputs_of(&c->run, c->run.partition, x);
  memcpy(x + INPUTS, c->run.forces, BC_FORCES * sizeof(double));
  if (BC_OUTPUTS) PARTITIONS[c->run.partition].outputs(x, c->outputs);
  c->known = 1;
}

/* The event indicators. */
static void indicators_of(Component *c, double *values) {
  double x[INPUTS], out[2 * BC_CONTACTS + 1];
  if (BC_CONTACTS) {
    inputs_of(&c->run, c->run.partition, x);
    PARTITIONS[c->run.partition].gaps(x, out);
    memcpy(values, out, BC_CONTACTS * sizeof(double));
  }
  indicate(&c->run, values + BC_CONTACTS);
}

/* Whether there is such a variable; its value. */
static int get_variable(Component *c, unsigned number, double *value) {
  if (number >= VARIABLES) return 0;
  if (number == 0) *value = c->run.t;
  else if (number < FIRST_MOTION) *value = c->run.p[number - FIRST_PARAMETER];
  else if (number < FIRST_RATE) *value = c->run.motion[number - FIRST_MOTION];
  else if (number >= FIRST_INDICATOR) {
    double indicators[BC_CONTACTS + 2 * BC_STRUCK + 1];
    indicators_of(c, indicators);
    *value = indicators[number - FIRST_INDICATOR];
  } else {
    evaluate(c);
    *value = number < FIRST_OUTPUT ? c->rates[number - FIRST_RATE] : c->outputs[number - FIRST_OUTPUT];
  }
  return 1;
}

static int set_variable(Component *c, unsigned number, double value) {
  double *place;
  if (number < FIRST_PARAMETER || number >= FIRST_RATE || !isfinite(value)) {
    if (c->report)
      c->report(c, number < FIRST_RATE && number ? "a value is not finite" : "only parameters, inputs and states can be set");
    return 0;
  }
  place = number < FIRST_MOTION ? &c->run.p[number - FIRST_PARAMETER] : &c->run.motion[number - FIRST_MOTION];
  /* The same value again is no change: a run goes on with its step. */
  if (*place != value) {
    *place = value;
    changed(c, number < FIRST_MOTION ? NEW_PARAMETERS : NEW_MOTION);
  }
  if (number < FIRST_MOTION && SIGNAL_OF[number - FIRST_PARAMETER] >= 0) {
    signal_set(&c->run, SIGNAL_OF[number - FIRST_PARAMETER], c->exchange || !c->run.begun);
    changed(c, NEW_PARAMETERS);
  }
  return 1;
}

static int all_finite(const double *values, int count) {
  int k;
  for (k = 0; k < count; ++k)
    if (!isfinite(values[k])) return 0;
  return 1;
}

/* Close the loops, make quaternions unit, note where contacts stand. */
static int begin_motion(Component *c) {
  double residual;
  int closes, k;
  for (k = 0; k < BC_SIGNALS; ++k) signal_set(&c->run, k, 1);
  c->run.begun = 1;
  if (margin_of(&c->run, c->run.partition, &residual) < BC_LEAST_MARGIN) change_partition(&c->run);
  closes = project_motion(&c->run);
  look_for_touches(&c->run);
  changed(c, NEW_MOTION);
  if (!closes && c->report) c->report(c, "the loops cannot be closed from this start");
  return closes;
}

/* After a step of the environment: whether loops or contacts have opened, or another partition is due. */
static void step_completed(Component *c) {
  double residual, indicators[2 * BC_STRUCK + 1];
  if (margin_of(&c->run, c->run.partition, &residual) < BC_LEAST_MARGIN && better_partition(&c->run)) c->known = 0;
  if (lasting(&c->run)) residual = held_residual(&c->run);
  c->drifted = residual > BC_DRIFT || indicate(&c->run, indicators);
}

/* In event mode: whether the motion was changed; 0, or why that failed. */
static const char *update_motion(Component *c, int *moved) {
  const char *why = 0;
  *moved = c->drifted;
  if (c->drifted && !(lasting(&c->run) ? hold_motion(&c->run) : project_motion(&c->run)))
    why = "loops or contacts cannot be closed";
  c->drifted = 0;
  if (!why) why = meet_contacts(&c->run, moved);
  look_for_touches(&c->run);
  changed(c, NEW_MOTION);
  if (why && c->report) c->report(c, why);
  return why;
}

/* Derivatives of rates and outputs along a change of motion, parameters and inputs. */
static int derivatives_along(Component *c, const unsigned *unknown, size_t unknowns, const unsigned *known,
                             size_t knowns, const double *seed, double *found) {
  const Partition *partition = &PARTITIONS[c->run.partition];
  double x[2 * INPUTS], rates[2 * MOTION + 1], outputs[2 * BC_OUTPUTS + 1];
  size_t k;
  int i, wants_rates = 0, wants_outputs = 0;
  if (!BC_EXCHANGE || !partition->motion_tangent) return 0;
  for (k = 0; k < unknowns; ++k) {
    if (unknown[k] < FIRST_RATE || unknown[k] >= FIRST_INDICATOR) return 0;
    if (unknown[k] < FIRST_OUTPUT) wants_rates = 1;
    else wants_outputs = 1;
  }
  memset(x, 0, sizeof x);
  inputs_of(&c->run, c->run.partition, x);
  for (k = 0; k < knowns; ++k) {
    double *dx = x + INPUTS;
    if (known[k] >= FIRST_RATE) return 0;
    if (known[k] == 0) dx[0] += seed[k];
    else if (known[k] < FIRST_MOTION) dx[1 + BC_STATES + known[k] - FIRST_PARAMETER] += seed[k];
    else if (known[k] < FIRST_MOTION + BC_POSITIONS) dx[1 + known[k] - FIRST_MOTION] += seed[k];
    else
      for (i = 0; i < BC_STATES - BC_POSITIONS; ++i)
        if (partition->independent[i] == (int)(known[k] - FIRST_MOTION - BC_POSITIONS)) dx[1 + BC_POSITIONS + i] += seed[k];
  }
  if (wants_rates) partition->motion_tangent(x, rates);
  if (wants_outputs) partition->outputs_tangent(x, outputs);
  for (k = 0; k < unknowns; ++k)
    found[k] = unknown[k] < FIRST_OUTPUT ? rates[MOTION + unknown[k] - FIRST_RATE]
                                         : outputs[BC_OUTPUTS + unknown[k] - FIRST_OUTPUT];
  return 1;
}

static char *copy_text(const char *text) {
  size_t length = strlen(text ? text : "") + 1;
  char *copy = (char *)malloc(length);
  if (copy) memcpy(copy, text ? text : "", length);
  return copy;
}

static Component *new_component(const char *name, int exchange) {
  Component *c = !(exchange ? BC_EXCHANGE : BC_STEPS) ? 0 : (Component *)calloc(1, sizeof *c);
  if (!c) return 0;
  run_reset(&c->run);
  c->exchange = exchange;
  c->name = copy_text(name);
  return c;
}

static void free_component(Component *c) {
  if (c) free(c->name);
  free(c);
}

/* A step of co-simulation; whether the time was reached with finite values. */
static int step_to(Component *c, double end) {
  const char *why = run_to(&c->run, end);
  c->known = 0;
  if (!why && !all_finite(c->run.motion, MOTION)) why = STATUS[NOT_FINITE];
  if (why && c->report) c->report(c, why);
  return !why;
}

/* A copy of the run in memory of its own, or in what is given; 0 where there is no memory left. */
static void *saved(const void *run, void *place) {
  if (!place) place = malloc(sizeof(Run));
  if (place) memcpy(place, run, sizeof(Run));
  return place;
}

static void restore(Component *c, const void *run) {
  memcpy(&c->run, run, sizeof(Run));
  c->known = 0;
}

static void set_motion(Component *c, const double *motion) {
  memcpy(c->run.motion, motion, MOTION * sizeof(double));
  changed(c, NEW_MOTION);
}

static void set_time(Component *c, double t) {
  c->run.t = t;
  changed(c, NEW_MOTION);
}
