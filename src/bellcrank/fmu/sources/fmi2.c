/* The Functional Mock-up Interface 2.0. */
#include "fmi2Functions.h"

#define COMPONENT Component *c = (Component *)instance
#define ANSWER(good) ((good) ? fmi2OK : fmi2Error)

static void report2(Component *c, const char *text) {
  const fmi2CallbackFunctions *functions = (const fmi2CallbackFunctions *)c->logger;
  if (functions && functions->logger)
    functions->logger(functions->componentEnvironment, c->name, fmi2Error, "logStatusError", "at t = %g s: %s", c->run.t, text);
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component instance, fmi2Boolean on, size_t n, const fmi2String categories[]) {
  (void)instance; (void)on; (void)n; (void)categories;
  return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
  Component *c = 0;
  (void)resources; (void)visible; (void)logging;
  if (guid && !strcmp(guid, BC_TOKEN)) c = new_component(name, type == fmi2ModelExchange);
  if (c) {
    c->logger = (void *)functions;
    c->report = report2;
  } else if (functions && functions->logger)
    functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError",
                      "the GUID is not that of this FMU, it is not made for this kind of use, or there is no memory left");
  return c;
}

void fmi2FreeInstance(fmi2Component instance) { free_component((Component *)instance); }

fmi2Status fmi2SetupExperiment(fmi2Component instance, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop) {
  COMPONENT;
  (void)has_stop; (void)stop;
  if (has_tolerance && tolerance > 0.0) set_tolerance(&c->run, tolerance);
  set_time(c, start);
  return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component instance) { (void)instance; return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component instance) { COMPONENT; return ANSWER(begin_motion(c)); }
fmi2Status fmi2Terminate(fmi2Component instance) { (void)instance; return fmi2OK; }

fmi2Status fmi2Reset(fmi2Component instance) {
  COMPONENT;
  run_reset(&c->run);
  c->known = c->drifted = 0;
  return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component instance, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  COMPONENT;
  size_t k;
  for (k = 0; k < n; ++k)
    if (!get_variable(c, vr[k], &value[k])) return fmi2Error;
  return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component instance, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]) {
  COMPONENT;
  size_t k;
  for (k = 0; k < n; ++k)
    if (!set_variable(c, vr[k], value[k])) return fmi2Error;
  return fmi2OK;
}

#define NONE_OF(kind) \
  fmi2Status fmi2Get##kind(fmi2Component i, const fmi2ValueReference vr[], size_t n, fmi2##kind value[]) { \
    (void)i; (void)vr; (void)value; return ANSWER(n == 0); } \
  fmi2Status fmi2Set##kind(fmi2Component i, const fmi2ValueReference vr[], size_t n, const fmi2##kind value[]) { \
    (void)i; (void)vr; (void)value; return ANSWER(n == 0); }
NONE_OF(Integer)
NONE_OF(Boolean)
NONE_OF(String)

fmi2Status fmi2GetFMUstate(fmi2Component instance, fmi2FMUstate *state) {
  COMPONENT;
  return ANSWER((*state = saved(&c->run, *state)) != 0);
}

fmi2Status fmi2SetFMUstate(fmi2Component instance, fmi2FMUstate state) {
  COMPONENT;
  restore(c, state);
  return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component instance, fmi2FMUstate *state) {
  (void)instance;
  free(*state);
  *state = 0;
  return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component instance, fmi2FMUstate state, size_t *size) {
  (void)instance; (void)state;
  *size = sizeof(Run);
  return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component instance, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  (void)instance;
  return ANSWER(size >= sizeof(Run) && saved(state, bytes));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component instance, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
  (void)instance;
  return ANSWER(size == sizeof(Run) && (*state = saved(bytes, *state)) != 0);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component instance, const fmi2ValueReference unknown[], size_t unknowns,
                                        const fmi2ValueReference known[], size_t knowns, const fmi2Real seed[],
                                        fmi2Real found[]) {
  COMPONENT;
  return ANSWER(derivatives_along(c, unknown, unknowns, known, knowns, seed, found));
}

/* Model exchange */

fmi2Status fmi2EnterEventMode(fmi2Component instance) { (void)instance; return fmi2OK; }

fmi2Status fmi2NewDiscreteStates(fmi2Component instance, fmi2EventInfo *info) {
  COMPONENT;
  int moved;
  const char *why = update_motion(c, &moved);
  info->valuesOfContinuousStatesChanged = moved;
  info->newDiscreteStatesNeeded = info->terminateSimulation = fmi2False;
  info->nominalsOfContinuousStatesChanged = info->nextEventTimeDefined = fmi2False;
  info->nextEventTime = 0.0;
  return ANSWER(!why);
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component instance) { (void)instance; return fmi2OK; }

fmi2Status fmi2CompletedIntegratorStep(fmi2Component instance, fmi2Boolean no_past, fmi2Boolean *event, fmi2Boolean *stop) {
  COMPONENT;
  (void)no_past;
  step_completed(c);
  *event = c->drifted;
  *stop = fmi2False;
  return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component instance, fmi2Real time) {
  COMPONENT;
  set_time(c, time);
  return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component instance, const fmi2Real x[], size_t n) {
  COMPONENT;
  if (n != MOTION || !BC_EXCHANGE) return fmi2Error;
  set_motion(c, x);
  return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component instance, fmi2Real derivatives[], size_t n) {
  COMPONENT;
  if (n != MOTION || !BC_EXCHANGE) return fmi2Error;
  evaluate(c);
  memcpy(derivatives, c->rates, n * sizeof(double));
  return all_finite(c->rates, MOTION) ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetEventIndicators(fmi2Component instance, fmi2Real indicators[], size_t n) {
  COMPONENT;
  if (n != INDICATORS) return fmi2Error;
  indicators_of(c, indicators);
  return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component instance, fmi2Real x[], size_t n) {
  COMPONENT;
  if (n != MOTION || !BC_EXCHANGE) return fmi2Error;
  memcpy(x, c->run.motion, n * sizeof(double));
  return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component instance, fmi2Real nominal[], size_t n) {
  size_t k;
  (void)instance;
  for (k = 0; k < n; ++k) nominal[k] = 1.0;
  return fmi2OK;
}

/* Co-simulation */

fmi2Status fmi2DoStep(fmi2Component instance, fmi2Real time, fmi2Real step, fmi2Boolean no_set_state) {
  COMPONENT;
  (void)no_set_state;
  return ANSWER(step_to(c, time + step));
}

fmi2Status fmi2CancelStep(fmi2Component instance) { (void)instance; return fmi2Error; }

fmi2Status fmi2SetRealInputDerivatives(fmi2Component i, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[],
                                       const fmi2Real value[]) {
  (void)i; (void)vr; (void)order; (void)value;
  return ANSWER(n == 0);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component i, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[],
                                        fmi2Real value[]) {
  (void)i; (void)vr; (void)order; (void)value;
  return ANSWER(n == 0);
}

#define NO_STATUS(name, type) \
  fmi2Status name(fmi2Component i, const fmi2StatusKind kind, type *value) { \
    (void)i; (void)kind; (void)value; return fmi2Discard; }
NO_STATUS(fmi2GetStatus, fmi2Status)
NO_STATUS(fmi2GetIntegerStatus, fmi2Integer)
NO_STATUS(fmi2GetBooleanStatus, fmi2Boolean)
NO_STATUS(fmi2GetStringStatus, fmi2String)

fmi2Status fmi2GetRealStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2Real *value) {
  COMPONENT;
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = c->run.t;
  return fmi2OK;
}
