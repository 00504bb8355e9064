/* The Functional Mock-up Interface 3.0. */
#include "fmi3Functions.h"

#define COMPONENT Component *c = (Component *)instance
#define ANSWER(good) ((good) ? fmi3OK : fmi3Error)

static void report3(Component *c, const char *text) {
  char message[512];
  fmi3LogMessageCallback log = (fmi3LogMessageCallback)c->logger;
  if (!log) return;
  snprintf(message, sizeof message, "%s at t = %g s: %s", c->name, c->run.t, text);
  log(c->environment, fmi3Error, "logStatusError", message);
}

static Component *instantiated(fmi3String name, fmi3String token, fmi3InstanceEnvironment environment,
                               fmi3LogMessageCallback log, int exchange) {
  Component *c = 0;
  if (token && !strcmp(token, BC_TOKEN)) c = new_component(name, exchange);
  if (c) {
    c->environment = environment;
    c->logger = (void *)log;
    c->report = report3;
  } else if (log)
    log(environment, fmi3Error, "logStatusError", "the instantiation token is not that of this FMU, it is not made for this kind of use, or there is no memory left");
  return c;
}

const char *fmi3GetVersion(void) { return fmi3Version; }

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String categories[]) {
  (void)instance; (void)on; (void)n; (void)categories;
  return fmi3OK;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log) {
  (void)resources; (void)visible; (void)logging;
  return instantiated(name, token, environment, log, 1);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean events, fmi3Boolean early,
                                         const fmi3ValueReference required[], size_t n,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback update) {
  (void)resources; (void)visible; (void)logging; (void)events; (void)early; (void)required; (void)n; (void)update;
  return instantiated(name, token, environment, log, 0);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock) {
  (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)environment; (void)log; (void)clock;
  (void)lock; (void)unlock;
  return 0;
}

void fmi3FreeInstance(fmi3Instance instance) { free_component((Component *)instance); }

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop) {
  COMPONENT;
  (void)has_stop; (void)stop;
  if (has_tolerance && tolerance > 0.0) set_tolerance(&c->run, tolerance);
  set_time(c, start);
  return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) { COMPONENT; return ANSWER(begin_motion(c)); }

#define ALLOWED(name) fmi3Status name(fmi3Instance instance) { (void)instance; return fmi3OK; }
#define NOT_HERE(name) fmi3Status name(fmi3Instance instance) { (void)instance; return fmi3Error; }
ALLOWED(fmi3EnterEventMode)
ALLOWED(fmi3Terminate)
ALLOWED(fmi3EnterContinuousTimeMode)
ALLOWED(fmi3EnterStepMode)
ALLOWED(fmi3EvaluateDiscreteStates)
NOT_HERE(fmi3EnterConfigurationMode)
NOT_HERE(fmi3ExitConfigurationMode)

fmi3Status fmi3Reset(fmi3Instance instance) {
  COMPONENT;
  run_reset(&c->run);
  c->known = c->drifted = 0;
  return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 value[], size_t m) {
  COMPONENT;
  size_t k;
  for (k = 0; k < n && n == m; ++k)
    if (!get_variable(c, vr[k], &value[k])) return fmi3Error;
  return ANSWER(n == m);
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 value[], size_t m) {
  COMPONENT;
  size_t k;
  for (k = 0; k < n && n == m; ++k)
    if (!set_variable(c, vr[k], value[k])) return fmi3Error;
  return ANSWER(n == m);
}

#define NONE_OF(kind) \
  fmi3Status fmi3Get##kind(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3##kind value[], size_t m) { \
    (void)i; (void)vr; (void)value; (void)m; return ANSWER(n == 0); } \
  fmi3Status fmi3Set##kind(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3##kind value[], size_t m) { \
    (void)i; (void)vr; (void)value; (void)m; return ANSWER(n == 0); }
NONE_OF(Float32)
NONE_OF(Int8)
NONE_OF(UInt8)
NONE_OF(Int16)
NONE_OF(UInt16)
NONE_OF(Int32)
NONE_OF(UInt32)
NONE_OF(Int64)
NONE_OF(UInt64)
NONE_OF(Boolean)
NONE_OF(String)

fmi3Status fmi3GetBinary(fmi3Instance i, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary value[], size_t m) {
  (void)i; (void)vr; (void)sizes; (void)value; (void)m;
  return ANSWER(n == 0);
}

fmi3Status fmi3SetBinary(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                         const fmi3Binary value[], size_t m) {
  (void)i; (void)vr; (void)sizes; (void)value; (void)m;
  return ANSWER(n == 0);
}

fmi3Status fmi3GetClock(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3Clock value[]) {
  (void)i; (void)vr; (void)value;
  return ANSWER(n == 0);
}

fmi3Status fmi3SetClock(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3Clock value[]) {
  (void)i; (void)vr; (void)value;
  return ANSWER(n == 0);
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance i, fmi3ValueReference vr, size_t *n) {
  (void)i; (void)vr; (void)n;
  return fmi3Error;
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance i, fmi3ValueReference vr, size_t of[], fmi3ValueReference on[],
                                       size_t elements[], fmi3DependencyKind kinds[], size_t n) {
  (void)i; (void)vr; (void)of; (void)on; (void)elements; (void)kinds; (void)n;
  return fmi3Error;
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state) {
  COMPONENT;
  return ANSWER((*state = saved(&c->run, *state)) != 0);
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state) {
  COMPONENT;
  restore(c, state);
  return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state) {
  (void)instance;
  free(*state);
  *state = 0;
  return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size) {
  (void)instance; (void)state;
  *size = sizeof(Run);
  return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  (void)instance;
  return ANSWER(size >= sizeof(Run) && saved(state, bytes));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
  (void)instance;
  return ANSWER(size == sizeof(Run) && (*state = saved(bytes, *state)) != 0);
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknown[], size_t unknowns,
                                        const fmi3ValueReference known[], size_t knowns, const fmi3Float64 seed[],
                                        size_t seeds, fmi3Float64 found[], size_t wanted) {
  COMPONENT;
  if (seeds != knowns || wanted != unknowns) return fmi3Error;
  return ANSWER(derivatives_along(c, unknown, unknowns, known, knowns, seed, found));
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance i, const fmi3ValueReference unknown[], size_t unknowns,
                                    const fmi3ValueReference known[], size_t knowns, const fmi3Float64 seed[],
                                    size_t seeds, fmi3Float64 found[], size_t wanted) {
  (void)i; (void)unknown; (void)unknowns; (void)known; (void)knowns; (void)seed; (void)seeds; (void)found; (void)wanted;
  return fmi3Error;
}

/* Clocks: there are none. */

fmi3Status fmi3GetIntervalDecimal(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3Float64 x[],
                                  fmi3IntervalQualifier q[]) { (void)i; (void)vr; (void)x; (void)q; return ANSWER(n == 0); }
fmi3Status fmi3GetIntervalFraction(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3UInt64 x[], fmi3UInt64 y[],
                                   fmi3IntervalQualifier q[]) {
  (void)i; (void)vr; (void)x; (void)y; (void)q;
  return ANSWER(n == 0);
}
fmi3Status fmi3GetShiftDecimal(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3Float64 x[]) {
  (void)i; (void)vr; (void)x;
  return ANSWER(n == 0);
}
fmi3Status fmi3GetShiftFraction(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3UInt64 x[], fmi3UInt64 y[]) {
  (void)i; (void)vr; (void)x; (void)y;
  return ANSWER(n == 0);
}
fmi3Status fmi3SetIntervalDecimal(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3Float64 x[]) {
  (void)i; (void)vr; (void)x;
  return ANSWER(n == 0);
}
fmi3Status fmi3SetIntervalFraction(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 x[],
                                   const fmi3UInt64 y[]) {
  (void)i; (void)vr; (void)x; (void)y;
  return ANSWER(n == 0);
}
fmi3Status fmi3SetShiftDecimal(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3Float64 x[]) {
  (void)i; (void)vr; (void)x;
  return ANSWER(n == 0);
}
fmi3Status fmi3SetShiftFraction(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 x[],
                                const fmi3UInt64 y[]) {
  (void)i; (void)vr; (void)x; (void)y;
  return ANSWER(n == 0);
}
fmi3Status fmi3ActivateModelPartition(fmi3Instance i, fmi3ValueReference clock, fmi3Float64 time) {
  (void)i; (void)clock; (void)time;
  return fmi3Error;
}

/* Model exchange */

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *next, fmi3Float64 *time) {
  COMPONENT;
  int moved;
  const char *why = update_motion(c, &moved);
  *values = moved != 0;
  *again = *terminate = *nominals = *next = fmi3False;
  *time = 0.0;
  return ANSWER(!why);
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean no_past, fmi3Boolean *event, fmi3Boolean *stop) {
  COMPONENT;
  (void)no_past;
  step_completed(c);
  *event = c->drifted != 0;
  *stop = fmi3False;
  return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time) {
  COMPONENT;
  set_time(c, time);
  return fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n) {
  COMPONENT;
  if (n != MOTION || !BC_EXCHANGE) return fmi3Error;
  set_motion(c, x);
  return fmi3OK;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[], size_t n) {
  COMPONENT;
  if (n != MOTION || !BC_EXCHANGE) return fmi3Error;
  evaluate(c);
  memcpy(derivatives, c->rates, n * sizeof(double));
  return all_finite(c->rates, MOTION) ? fmi3OK : fmi3Discard;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 indicators[], size_t n) {
  COMPONENT;
  if (n != INDICATORS) return fmi3Error;
  indicators_of(c, indicators);
  return fmi3OK;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n) {
  COMPONENT;
  if (n != MOTION || !BC_EXCHANGE) return fmi3Error;
  memcpy(x, c->run.motion, n * sizeof(double));
  return fmi3OK;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominal[], size_t n) {
  size_t k;
  (void)instance;
  for (k = 0; k < n; ++k) nominal[k] = 1.0;
  return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *n) {
  (void)instance;
  *n = INDICATORS;
  return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *n) {
  (void)instance;
  *n = MOTION;
  return fmi3OK;
}

/* Co-simulation */

fmi3Status fmi3GetOutputDerivatives(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3Int32 order[],
                                    fmi3Float64 value[], size_t m) {
  (void)i; (void)vr; (void)order; (void)value; (void)m;
  return ANSWER(n == 0);
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_state,
                      fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached) {
  COMPONENT;
  int done = step_to(c, time + step);
  (void)no_set_state;
  *event = *terminate = *early = fmi3False;
  *reached = c->run.t;
  return ANSWER(done);
}
