/* Rigid contacts in model exchange: what they do in event mode, and how those that last are held between events.
 *
 * model.c brings the entries and their memory: the words that they take, with room in front for the addresses of x and y,
 * then the arrays to which some of them point. `bc_meet`, `bc_indicate`, `bc_held` and `bc_hold` take the same words.
 */
#if BC_STRUCK

/* What an event did; see event_units.py. */
enum Did { SAME_MOTION, MOVED_MOTION, NO_IMPULSE, NO_END, NO_FORCE };

static const char *const DID[] = {
  0, 0, "a contact is struck that no impulse can move: the bodies are locked there",
  "friction locks a contact: no impulse lets it part or slide again",
  "friction jams contacts, so that no finite force belongs to their sliding (Painleve's paradox): use less friction, or "
  "co-simulation by steps"
};

static char *struck_words(Run *run, const double *x, double *y) {
  const Partition *partition = &PARTITIONS[run->partition];
  long long *base = run->struck, *kernels = base + STRUCK_KERNELS, *programs = base + STRUCK_PROGRAMS;
  int k;
  for (k = 0; k < STRUCK_POINTERS; ++k) base[STRUCK_NEAR[2 * k]] = (long long)(size_t)(base + STRUCK_NEAR[2 * k + 1]);
  kernels[STRUCK_RATES] = (long long)(size_t)partition->rates;
  kernels[STRUCK_IMPACT_KERNEL] = (long long)(size_t)partition->impact;
  kernels[STRUCK_FREE] = (long long)(size_t)partition->free;
  kernels[STRUCK_PROJECT] = (long long)(size_t)partition->project;
  kernels[STRUCK_CONES] = (long long)(size_t)bc_cones;
  programs[STRUCK_STRIKE] = (long long)(size_t)bc_strike;
  programs[STRUCK_ROOMS] = (long long)(size_t)partition->rooms;
  memcpy(base + STRUCK_NUMBERS + STRUCK_TOLERANCE, &run->tolerance, sizeof run->tolerance);
  base[0] = (long long)(size_t)x;
  base[1] = (long long)(size_t)y;
  return (char *)base;
}

static void load_struck(Run *run) {
  int k;
  memset(run->struck, 0, sizeof run->struck);
  for (k = 0; k < STRUCK_ENTRIES; ++k) run->struck[STRUCK_AT[k]] = STRUCK_VALUE[k];
}

/* How many contacts last. */
static int lasting(const Run *run) { return (int)run->struck[STRUCK_SIZES + STRUCK_HELD]; }

/* Rates of positions and of all speeds with the forces of contacts that last; these forces for the outputs. */
static void held_rates(Run *run, double *rates) {
  const Partition *partition = &PARTITIONS[run->partition];
  const int free = BC_STATES - BC_POSITIONS, width = (int)run->struck[STRUCK_SIZES + STRUCK_WIDTH];
  const double *force = (const double *)(run->struck + STRUCK_FORCES), *row;
  double x[INPUTS], held[BC_STATES + 1], moved[BC_SPEEDS + 1], still[BC_SPEEDS + 1];
  int i, j, k;
  memset(run->forces, 0, sizeof run->forces);
  inputs_of(run, run->partition, x);
  if (!lasting(run)) return;
  bc_held(struck_words(run, x, held));
  /* The dependent speeds follow the independent ones as speeds do. */
  for (i = 0; i < free; ++i) x[1 + BC_POSITIONS + i] = held[BC_POSITIONS + i] - rates[BC_POSITIONS + partition->independent[i]];
  partition->speeds(x, moved);
  memset(x + 1 + BC_POSITIONS, 0, free * sizeof(double));
  partition->speeds(x, still);
  for (i = 0; i < BC_SPEEDS; ++i) rates[BC_POSITIONS + i] += moved[i] - still[i];
  for (i = 0; i < lasting(run); ++i) {
    const int pair = (int)run->struck[STRUCK_LASTING + STRUCK_IDENTITY * i + STRUCK_PAIR];
    row = (const double *)(run->struck + STRUCK_IMPACT) + free * free + STRUCK_BEFORE_ROWS +
          pair * (STRUCK_BEFORE_ROWS + width * (free + STRUCK_BEHIND_ROW));
    for (j = 0; j < width; ++j, row += free + STRUCK_BEHIND_ROW)
      for (k = 0; k < 3; ++k) run->forces[3 * pair + k] += force[width * i + j] * row[free + 1 + k];
  }
}

/* Two numbers of every contact that change their signs at events; whether bodies approach within each other. */
static int indicate(Run *run, double *values) {
  double x[INPUTS];
  inputs_of(run, run->partition, x);
  return bc_indicate(struck_words(run, x, values)) != 0;
}

/* Contacts strike, come to rest, let go, slip or stick; 0, or why that was not possible. */
static const char *meet_contacts(Run *run, int *moved) {
  double x[INPUTS], after[INPUTS];
  long long did;
  inputs_of(run, run->partition, x);
  did = bc_meet(struck_words(run, x, after));
  if (did > MOVED_MOTION) return DID[did];
  if (did == SAME_MOTION) return 0;
  *moved = 1;
  memcpy(run->p, after + 1 + BC_STATES, BC_PARAMETERS * sizeof(double));
  take_motion(run, after);
  return 0;
}

/* One Newton step to closed loops, closed gaps and no speed along what holds; the residual before it. */
static double hold_once(Run *run, double *x) {
  double out[BC_STATES + 3];
  bc_hold(struck_words(run, x, out));
  memcpy(x + 1, out, BC_STATES * sizeof(double));
  return out[BC_STATES];
}

static double held_residual(Run *run) {
  double x[INPUTS];
  inputs_of(run, run->partition, x);
  return hold_once(run, x);
}

static int hold_motion(Run *run) {
  double x[INPUTS], residual = 0.0;
  int k;
  inputs_of(run, run->partition, x);
  for (k = 0; k < 8; ++k) {
    residual = hold_once(run, x);
    if (residual <= BC_POSITION_TOLERANCE) break;
  }
  take_motion(run, x);
  return residual <= BC_POSITION_TOLERANCE;
}

#else

static void load_struck(Run *run) { (void)run; }
static int lasting(const Run *run) { (void)run; return 0; }
static void held_rates(Run *run, double *rates) { (void)run; (void)rates; }
static int indicate(Run *run, double *values) { (void)run; (void)values; return 0; }
static const char *meet_contacts(Run *run, int *moved) { (void)run; (void)moved; return 0; }
static double held_residual(Run *run) { (void)run; return 0.0; }
static int hold_motion(Run *run) { (void)run; return 1; }

#endif
