/* The run of a mechanism: its integrators and its events, as Bellcrank itself runs them.
 *
 * model.c brings the integrators with the memory they begin with, and the tables of events.
 */
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
  load_struck(run);
  load_image(run, 0);
  run->t = BC_START_TIME;
  run->tolerance = BC_TOLERANCE;
  memcpy(run->motion, BC_START, sizeof BC_START);
  memcpy(run->p, BC_VALUES, sizeof BC_VALUES);
  run->stale = NEW_MOTION;
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

/* Take the partition that describes the motion best; whether that is another one. */
static int change_partition(Run *run) { return better_partition(run); }

static void restart(View *view, int hits) {
  int k;
  view->ints[AT_FRESH] = 1;
  view->ints[AT_SCANNING] = 0;
  if (!hits)
    for (k = 0; k < BC_EVENTS; ++k) view->g[AT_HIT * BC_EVENTS + k] = 0.0;
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
  run->stale = FRESH;
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
  lead_signals(run, end);
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
