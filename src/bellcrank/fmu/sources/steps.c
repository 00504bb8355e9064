/* The run of a mechanism with impacts by steps, as Bellcrank itself makes them.
 *
 * model.c brings the scene of each partition, with the memory it begins with: first what contacts
 * remember, then the words that `bc_advance` takes, then the other arrays to which some of them point.
 */

/* What `bc_advance` does; see moreau.py. */
enum What { STEP, LOOK, CLEAR };

/* The programs of a scene before those of its rules. */
enum Program { RATES, FRAMES, PROJECT, LOADS };

static char *words_of(Run *run) {
  const Scene *scene = &SCENES[run->partition];
  int k;
  for (k = 0; k < scene->pointers; ++k)
    run->memory[scene->near[2 * k]] = (long long)(size_t)(run->memory + scene->near[2 * k + 1]);
  for (k = 0; k < scene->kernels; ++k)
    run->memory[scene->kernel_at[k]] = scene->kernel[k] ? (long long)(size_t)scene->kernel[k] : 0;
  return (char *)(run->memory + BC_KEPT_END);
}

/* Up to so many steps, or a look at the state; the number made. */
static long long advance(Run *run, long long what, double h, long long steps) {
  const double least = BC_UNFIT;
  long long *last = run->memory + BC_KEPT_END + BC_WORDS_OF_STEPS - 4;
  char *words = words_of(run);
  last[0] = what;
  memcpy(last + 1, &h, sizeof h);
  last[2] = steps;
  memcpy(last + 3, &least, sizeof least);
  return bc_advance(words);
}

static double *array_of(Run *run, int which) { return (double *)(run->memory + SCENES[run->partition].array[which]); }
static long long *counts_of(Run *run, int which) { return run->memory + SCENES[run->partition].array[which]; }

/* The memory of a partition as it begins; keeps: but for what contacts remember, which lies at the same place in all. */
static void load_scene(Run *run, int partition, int keeps) {
  const Scene *scene = &SCENES[partition];
  int k, from = keeps ? BC_KEPT_END : 0;
  memset(run->memory + from, 0, sizeof(long long) * (BC_MEMORY - from));
  for (k = 0; k < scene->entries; ++k)
    if (scene->at[k] >= from) run->memory[scene->at[k]] = scene->value[k];
  run->partition = partition;
}

/* Take the partition that describes the motion best; whether that is another one. */
static int change_partition(Run *run) {
  if (!better_partition(run)) return 0;
  load_scene(run, run->partition, 1);
  return 1;
}

static void set_tolerance(Run *run, double tolerance) { run->tolerance = tolerance; }

static void run_reset(Run *run) {
  memset(run, 0, sizeof *run);
  load_struck(run);
  load_scene(run, 0, 0);
  run->t = BC_START_TIME;
  run->tolerance = BC_TOLERANCE;
  memcpy(run->motion, BC_START, sizeof BC_START);
  memcpy(run->p, BC_VALUES, sizeof BC_VALUES);
  run->stale = NEW_MOTION;
}

/* Loads that follow the reactions of joints change the forces that they follow: their values at a start are found by
 * repeating, and left as they are where that does not end. */
static void settle_loads(const Run *run, double *x) {
  Kernel loads = SCENES[run->partition].kernel[LOADS];
  double given[INPUTS + BC_FORCES], found[BC_LOADS + 1];
  int round, k, settled = 0;
  if (!BC_LOADS) return;
  memcpy(given, x, INPUTS * sizeof(double));
  memcpy(given + INPUTS, run->forces, BC_FORCES * sizeof(double));
  for (round = 0; round < 50 && !settled; ++round) {
    loads(given, found);
    settled = 1;
    for (k = 0; k < BC_LOADS; ++k) {
      settled = settled && fabs(found[k] - given[1 + LOAD_AT[k]]) <= 1e-12 * fabs(found[k]);
      given[1 + LOAD_AT[k]] = found[k];
    }
  }
  for (k = 0; k < BC_LOADS && settled; ++k) x[1 + LOAD_AT[k]] = given[1 + LOAD_AT[k]];
}

static void write_memory(Run *run) {
  double x[INPUTS], *own = array_of(run, AT_X);
  inputs_of(run, run->partition, x);
  if (run->stale == NEW_MOTION) {
    settle_loads(run, x);
    memcpy(own, x, sizeof x);
  }
  else memcpy(own + 1 + BC_STATES, x + 1 + BC_STATES, BC_PARAMETERS * sizeof(double));
  run->stale = FRESH;
}

/* Impacts and changes of contacts that nobody reads. */
static void drop_records(Run *run) {
  counts_of(run, AT_COUNTERS)[AT_IMPACTS] = counts_of(run, AT_COUNTERS)[AT_STRUCK] = 0;
  counts_of(run, AT_CHANGES)[AT_LOGGED] = 0;
}

/* Forces of the contacts that last: of those of the model, then the wrenches on the places of colliding groups. */
static void take_forces(Run *run) {
  const double *wrenches = array_of(run, AT_WRENCHES);
  int k, i;
  memset(run->forces, 0, sizeof run->forces);
  memcpy(run->forces, array_of(run, AT_FORCES), 3 * BC_PAIRS * sizeof(double));
  for (k = 0; k < BC_FRAMES; ++k)
    for (i = 0; i < 6 && PLACE_OF[k] >= 0; ++i) run->forces[3 * BC_PAIRS + 6 * PLACE_OF[k] + i] += wrenches[6 * k + i];
}

/* The motion of the memory, less the overlaps that steps leave. */
static void show_motion(Run *run, double h) {
  double kept[INPUTS], *x = array_of(run, AT_X);
  memcpy(kept, x, sizeof kept);
  take_forces(run);
  advance(run, CLEAR, h, 0);
  take_motion(run, x);
  memcpy(x, kept, sizeof kept);
}

/* Contacts in the continuous treatment are looked at after every step, in the motion as it is. */
static void see_touches(Run *run) {
  double *x = array_of(run, AT_X);
  take_motion(run, x);
  look_for_touches(run);
  memcpy(x + 1 + BC_STATES, run->p, BC_PARAMETERS * sizeof(double));
}

/* Other independent speeds, where the present ones are about to fail. */
static void choose_speeds(Run *run) {
  double x[INPUTS];
  take_motion(run, array_of(run, AT_X));
  if (change_partition(run)) {
    inputs_of(run, run->partition, x);
    memcpy(array_of(run, AT_X), x, sizeof x);
  }
  array_of(run, AT_STATISTICS)[AT_MARGIN] = 1.0;
}

static const char *failure_of(Run *run, double h) {
  const double *x = array_of(run, AT_X);
  int k;
  if (counts_of(run, AT_COUNTERS)[AT_FULL])
    return "more contacts are near at once than there is room for: export with a duration in which a run meets as many";
  if (array_of(run, AT_STATISTICS)[AT_FASTEST] * h > 2.0)
    return "a first-order state moves faster with what it pushes than steps can follow: export with a shorter step";
  for (k = 0; k < INPUTS; ++k)
    if (!isfinite(x[k])) return "the motion is not finite any more: export with a shorter step";
  return 0;
}

/* Steps of equal length, at most that of the export, up to a time; 0, or why that was not possible. */
static const char *run_to(Run *run, double end) {
  double begin = run->t, h;
  long long left;
  if (!(end > begin)) return 0;
  lead_signals(run, end);
  if (run->stale) write_memory(run);
  left = (long long)ceil((end - begin) / BC_STEP * (1.0 - 1e-9));
  if (left < 1) left = 1;
  h = (end - begin) / (double)left;
  while (left > 0) {
    const char *why;
    long long chunk = BC_CONTACTS || left == 1 ? 1 : left - 1;
    left -= advance(run, STEP, h, chunk < BC_CHUNK ? chunk : BC_CHUNK);
    why = failure_of(run, h);
    if (why) {
      take_motion(run, array_of(run, AT_X));
      return why;
    }
    drop_records(run);
    if (left == 0) array_of(run, AT_X)[0] = end;
    if (BC_CONTACTS) see_touches(run);
    if (array_of(run, AT_STATISTICS)[AT_MARGIN] < BC_UNFIT) choose_speeds(run);
  }
  show_motion(run, h);
  return 0;
}
