/* A mechanism that only others integrate. */

static void set_tolerance(Run *run, double tolerance) { run->tolerance = tolerance; }

static void run_reset(Run *run) {
  memset(run, 0, sizeof *run);
  load_struck(run);
  run->t = BC_START_TIME;
  run->tolerance = BC_TOLERANCE;
  memcpy(run->motion, BC_START, sizeof BC_START);
  memcpy(run->p, BC_VALUES, sizeof BC_VALUES);
  run->stale = NEW_MOTION;
}

static int change_partition(Run *run) { return better_partition(run); }

static const char *run_to(Run *run, double end) {
  (void)run;
  (void)end;
  return "there are no steps of co-simulation in this FMU";
}
