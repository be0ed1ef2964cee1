/* The stand-in driver: see standin.h. What drivers may lack is in standin_later.c. STANDIN_BROKEN leaves out a function that
 * every driver has, STANDIN_NO_DEVICE the device. With STANDIN_FAILS the first call of that function returns STANDIN_RESULT. */
#include <stdarg.h>
#include <unistd.h>

#include "tests/cuda/standin_state.h"

struct Standin s;

static void append(char* to, const char* format, ...) {
  const size_t used = strlen(to);
  va_list values;
  va_start(values, format);
  vsnprintf(to + used, kBytes - used, format, values);
  va_end(values);
}

CudaResult called(const char* name) { /* 0, or what the call must return */
  append(s.calls, "%s ", name);
  if (s.lost != 0) return s.lost;
  for (int n = 0; n < 2; ++n)
    if (s.failures[n].countdown > 0 && strcmp(name, s.failures[n].function) == 0 && --s.failures[n].countdown == 0)
      return s.failures[n].result;
  if (!s.initialized && strcmp(name, "cuInit") != 0 && strcmp(name, "cuGetErrorName") != 0) return kNotInitialized;
  return 0;
}
CudaResult complain(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  append(s.complaints, "%s\n", text);
  return kInvalidValue;
}

bool valid_context(CudaContext c) { return c != NULL && c->kind == kContext; }
CudaContext current(void) { return s.depth > 0 ? s.stack[s.depth - 1] : NULL; }

/* ---- what tests say -------------------------------------------------------------------------------------------------- */
void standin_reset(void) {
  s.calls[0] = s.complaints[0] = '\0';
  memset(s.failures, 0, sizeof s.failures);
  s.lost = s.launch_count = 0;
  s.devices = 1, s.cubin = true;
  memset(s.attributes, 0, sizeof s.attributes);
  s.attributes[kCudaMaxThreadsPerBlock] = 1024;
  s.attributes[kCudaMaxGridX] = INT32_MAX, s.attributes[kCudaMaxGridY] = s.attributes[kCudaMaxGridZ] = 65535;
  s.attributes[kCudaCapabilityMajor] = 9, s.attributes[kCudaMaxSharedOptIn] = 227 << 10;
  s.attributes[kCudaMultiprocessors] = 114, s.attributes[kCudaPoolsSupported] = 1;
  s.pool = NULL, s.captured = NULL;
  s.jit_error[0] = s.jit_info[0] = '\0';
}
const char* standin_calls(void) { return s.calls; }
const char* standin_complaints(void) { return s.complaints; }
static void fail_at(int which, const char* function, int nth, int result) {
  snprintf(s.failures[which].function, sizeof s.failures[which].function, "%s", function);
  s.failures[which].countdown = nth, s.failures[which].result = result;
}
void standin_fail(const char* function, int nth, int result) { fail_at(0, function, nth, result); }
void standin_fail_also(const char* function, int nth, int result) { fail_at(1, function, nth, result); }
__attribute__((constructor)) static void begin(void) {
  standin_reset();
#ifdef STANDIN_NO_DEVICE
  s.devices = 0;
#endif
#ifdef STANDIN_FAILS
  standin_fail(STANDIN_FAILS, 1, STANDIN_RESULT);
#endif
}
void standin_lose(int result) { s.lost = result; }
void standin_attribute(int attribute, int value) { s.attributes[attribute] = value; }
void standin_devices(int count) { s.devices = count; }
void standin_takes_cubin(int yes) { s.cubin = yes != 0; }
void* standin_new_context(int device) {
  CudaContext c = calloc(1, sizeof *c);
  c->kind = kContext, c->device = device, c->id = ++s.ids;
  c->next = s.contexts, s.contexts = c;
  return c;
}
void standin_destroy_context(void* context) { ((CudaContext)context)->kind = kDead; } /* kept, so that its use is seen */
void standin_set_current(void* context) {
  s.depth = context != NULL;
  s.stack[0] = context;
}
void* standin_current(void) { return current(); }
void* standin_new_stream(void* context) {
  CudaStream stream = calloc(1, sizeof *stream);
  stream->kind = kStream, stream->context = context;
  stream->next = s.streams, s.streams = stream;
  return stream;
}
int standin_launches(void) { return s.launch_count; }
const StandinLaunch* standin_launch(int n) { return &s.launches[n]; }
int standin_blocks_in_use(void) { return s.blocks; }
void standin_forget_blocks(void) { s.blocks = 0; }
uint64_t standin_pool_threshold(void) { return s.pool != NULL ? s.pool->threshold : 0; }
void standin_capture(void* stream) {
  s.captured = stream, ++s.captures;
  s.graph = calloc(1, sizeof *s.graph);
  s.graph->kind = kGraph;
}
void* standin_end_capture(void) {
  s.captured = NULL;
  return s.graph;
}
void release(CudaHeld h) {
  if (--h->references > 0) return;
  h->destroy(h->value);
  h->kind = kDead;
}
void standin_destroy_graph(void* graph) {
  CudaGraph g = graph;
  for (CudaHeld h = g->held; h != NULL; h = h->next) release(h);
  g->kind = kDead;
}
void standin_jit_log(const char* error, const char* info) {
  snprintf(s.jit_error, sizeof s.jit_error, "%s", error);
  snprintf(s.jit_info, sizeof s.jit_info, "%s", info);
}
int standin_jit_lines(void) { return s.jit_lines; }

/* ---- the driver: devices and contexts --------------------------------------------------------------------------------- */
CudaResult cuInit(unsigned flags) {
  CALLED("cuInit");
  if (flags != 0) return complain("cuInit: flags %u", flags);
  if (s.devices == 0) return kCudaNoDevice;
  s.initialized = true;
  return 0;
}
CudaResult cuGetErrorName(CudaResult r, const char** name) {
  static const struct {
    int result;
    const char* name;
  } names[] = {{1, "CUDA_ERROR_INVALID_VALUE"},
               {2, "CUDA_ERROR_OUT_OF_MEMORY"},
               {3, "CUDA_ERROR_NOT_INITIALIZED"},
               {100, "CUDA_ERROR_NO_DEVICE"},
               {201, "CUDA_ERROR_INVALID_CONTEXT"},
               {218, "CUDA_ERROR_INVALID_PTX"},
               {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
               {400, "CUDA_ERROR_INVALID_HANDLE"},
               {500, "CUDA_ERROR_NOT_FOUND"},
               {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
               {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
               {719, "CUDA_ERROR_LAUNCH_FAILED"},
               {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
               {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}};
  for (size_t n = 0; n < sizeof names / sizeof *names; ++n)
    if (names[n].result == r) {
      *name = names[n].name;
      return 0;
    }
  return kInvalidValue;
}
CudaResult cuDeviceGetCount(int* count) {
  CALLED("cuDeviceGetCount");
  *count = s.devices;
  return 0;
}
CudaResult cuDeviceGet(CudaDevice* device, int number) {
  CALLED("cuDeviceGet");
  if (number < 0 || number >= s.devices) return kInvalidDevice;
  *device = number;
  return 0;
}
CudaResult cuDeviceGetAttribute(int* value, int attribute, CudaDevice device) {
  CALLED("cuDeviceGetAttribute");
  if (device < 0 || device >= s.devices) return complain("cuDeviceGetAttribute: device %d", device);
  if (attribute != kCudaCapabilityMinor && attribute != kCudaPoolsSupported && s.attributes[attribute] == 0)
    return complain("attribute %d is not known", attribute);
  *value = s.attributes[attribute];
  return 0;
}
CudaResult cuDeviceGetName(char* name, int room, CudaDevice device) {
  CALLED("cuDeviceGetName");
  snprintf(name, (size_t)room, "Stand-in %d", device);
  return 0;
}
CudaResult cuDevicePrimaryCtxRetain(CudaContext* context, CudaDevice device) {
  CALLED("cuDevicePrimaryCtxRetain");
  if (s.primary == NULL) s.primary = standin_new_context(device);
  *context = s.primary;
  return 0;
}
CudaResult cuCtxGetCurrent(CudaContext* context) {
  CALLED("cuCtxGetCurrent");
  *context = current();
  return 0;
}
CudaResult cuCtxPushCurrent_v2(CudaContext context) {
  CALLED("cuCtxPushCurrent");
  if (!valid_context(context)) return complain("cuCtxPushCurrent: no context");
  s.stack[s.depth++] = context;
  return 0;
}
CudaResult cuCtxPopCurrent_v2(CudaContext* context) {
  CALLED("cuCtxPopCurrent");
  if (s.depth == 0) return complain("cuCtxPopCurrent: there is none");
  *context = s.stack[--s.depth];
  return 0;
}
CudaResult cuCtxGetDevice(CudaDevice* device) {
  CALLED("cuCtxGetDevice");
  if (!valid_context(current())) return kCudaInvalidContext;
  *device = current()->device;
  return 0;
}
CudaResult cuStreamGetCtx(CudaStream stream, CudaContext* context) {
  CALLED("cuStreamGetCtx");
  if (stream->kind != kStream) return kInvalidHandle;
  *context = stream->context;
  return 0;
}
/* ---- what the runtime does not call, but measurements do ---------------------------------------------------------------- */
CudaResult cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}
CudaResult cuCtxSetCurrent(CudaContext context) {
  CALLED("cuCtxSetCurrent");
  standin_set_current(context);
  return 0;
}
CudaResult cuCtxSynchronize(void) { return s.lost; }
CudaResult cuStreamCreate(CudaStream* stream, unsigned flags) {
  CALLED("cuStreamCreate");
  if (flags > 1) return complain("cuStreamCreate: flags %u", flags);
  *stream = standin_new_stream(current());
  return 0;
}
static int event; /* all of them */
CudaResult cuEventCreate(void** e, unsigned flags) {
  *e = &event;
  return flags == 0 ? 0 : complain("cuEventCreate: flags %u", flags);
}
CudaResult cuEventRecord(void* e, CudaStream stream) { return e == &event && stream != NULL ? 0 : complain("cuEventRecord"); }
CudaResult cuEventSynchronize(void* e) { return e == &event ? 0 : complain("cuEventSynchronize"); }
CudaResult cuEventElapsedTime(float* ms, void* from, void* to) {
  *ms = 1;
  return from == &event && to == &event ? 0 : complain("cuEventElapsedTime");
}
CudaResult cuMemcpyHtoD_v2(CudaAddress to, const void* from, size_t bytes) {
  memcpy((void*)(uintptr_t)to, from, bytes);
  return 0;
}
CudaResult cuMemcpyDtoH_v2(void* to, CudaAddress from, size_t bytes) {
  memcpy(to, (const void*)(uintptr_t)from, bytes);
  return 0;
}

bool stream_of(CudaStream stream, CudaContext context) {
  return (uintptr_t)stream <= 2 || (stream->kind == kStream && stream->context == context);
}
CudaResult cuStreamSynchronize(CudaStream stream) {
  CALLED("cuStreamSynchronize");
  UNCAPTURED;
  return stream_of(stream, current()) ? 0 : complain("cuStreamSynchronize: a stream of another context");
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */
CudaResult cuMemAlloc_v2(CudaAddress* address, size_t bytes) {
  CALLED("cuMemAlloc");
  UNCAPTURED;
  void* block = NULL;
  if (!valid_context(current()) || bytes == 0 || posix_memalign(&block, 256, bytes) != 0) return complain("cuMemAlloc");
  ++s.blocks;
  *address = (CudaAddress)(uintptr_t)block;
  return 0;
}
CudaResult cuMemFree_v2(CudaAddress address) {
  const CudaResult told = called("cuMemFree"); /* of work that failed before: the block is free all the same */
  if (address == 0) return complain("cuMemFree of nothing");
  --s.blocks;
  free((void*)(uintptr_t)address);
  return told;
}

/* ---- modules ----------------------------------------------------------------------------------------------------------- */

/* ".entry NAME(" … ".param .u64 …" or ".param .align 64 .b8 NAME[128]" … ")" … ".reqntid N" */
static CudaResult parse_entry(const char* at, CudaModule m) {
  if (m->count == 16) return complain("a module of more than 16 entries");
  CudaFunction f = &m->functions[m->count++];
  f->kind = kFunction, f->module = m;
  if (sscanf(at, ".entry %63[A-Za-z0-9_$]", f->name) != 1) return complain("an entry without a name");
  const char *open = strchr(at, '('), *close = strchr(at, ')');
  if (open == NULL || close == NULL || open > close) { /* no parameters */
    open = close = at;
  }
  for (const char* p = strstr(open, ".param"); p != NULL && p < close; p = strstr(p + 1, ".param ")) {
    unsigned bytes = 8;
    const char *bracket = strchr(p, '['), *comma = strchr(p, ',');
    if (bracket != NULL && bracket < close && (comma == NULL || bracket < comma) && sscanf(bracket, "[%u]", &bytes) != 1)
      return complain("a parameter of no size");
    f->sizes[f->count++] = bytes;
  }
  const char *body = strchr(close, '{'), *threads = strstr(close, ".reqntid ");
  if (threads == NULL || threads > body || sscanf(threads, ".reqntid %u", &f->threads) != 1)
    return complain("entry %s tells no number of threads", f->name);
  return 0;
}

CudaResult load(CudaModule* module, const void* image) {
  UNCAPTURED;
  if (!valid_context(current())) return kCudaInvalidContext;
  CudaModule m = calloc(1, sizeof *m);
  m->kind = kModule, m->context = current(), m->image = image;
  CudaResult r = 0;
  if (memcmp(image, "\177ELF", 4) == 0) {
    if (!s.cubin) r = kCudaNoBinaryForGpu;
  } else {
    const char* text = image;
    m->ptx = true;
    if (strstr(text, ".version ") == NULL || strstr(text, ".target sm_") == NULL || strstr(text, ".address_size 64") == NULL)
      r = kInvalidPtx;
    for (const char* p = strstr(text, ".entry "); r == 0 && p != NULL; p = strstr(p + 1, ".entry ")) r = parse_entry(p, m);
    if (r == 0 && m->count == 0) r = kInvalidPtx;
  }
  if (r == 0)
    m->next = s.modules, s.modules = *module = m;
  else
    free(m);
  return r;
}
CudaResult cuModuleLoadData(CudaModule* module, const void* image) {
  CALLED("cuModuleLoadData");
  return load(module, image);
}
CudaResult cuModuleUnload(CudaModule m) {
  CALLED("cuModuleUnload");
  if (m->kind != kModule) return complain("cuModuleUnload: no module");
  m->kind = kDead;
  return 0;
}
CudaResult cuModuleGetFunction(CudaFunction* function, CudaModule m, const char* name) {
  CALLED("cuModuleGetFunction");
  if (m->kind != kModule || m->context != current()) return complain("cuModuleGetFunction: a module of another context");
  for (int n = 0; n < m->count; ++n)
    if (strcmp(m->functions[n].name, name) == 0) {
      *function = &m->functions[n];
      return 0;
    }
  if (m->ptx) return kNotFound;
  CudaFunction f = &m->functions[m->count++]; /* machine code is not read */
  f->kind = kFunction, f->module = m;
  snprintf(f->name, sizeof f->name, "%s", name);
  *function = f;
  return 0;
}
CudaResult cuFuncGetAttribute(int* value, int attribute, CudaFunction f) {
  CALLED("cuFuncGetAttribute");
  if (f->kind != kFunction || attribute != kCudaFuncMaxThreads) return complain("cuFuncGetAttribute %d", attribute);
  *value = s.attributes[kCudaMaxThreadsPerBlock];
  return 0;
}
CudaResult cuFuncSetAttribute(CudaFunction f, int attribute, int value) {
  CALLED("cuFuncSetAttribute");
  if (f->kind != kFunction || attribute != kCudaFuncMaxDynamicShared || value < 0 || value > s.attributes[kCudaMaxSharedOptIn])
    return complain("cuFuncSetAttribute %d to %d", attribute, value);
  f->shared = value;
  return 0;
}

static bool named(CudaFunction f, const char* variable) { /* the environment variable names the entry */
  const char* name = getenv(variable);
  return name != NULL && strcmp(name, f->name) == 0;
}

CudaResult launch(CudaFunction f, const CudaLaunchConfig* c, void** parameters, void** extra) {
  const uint32_t* grid = c->grid;
  const unsigned bx = c->block[0], by = c->block[1], bz = c->block[2], shared = c->shared_bytes;
  if (named(f, "STANDIN_HANGS")) /* until the process is ended */
    for (;;) pause();
  if (named(f, "STANDIN_CRASHES")) abort();
  if (named(f, "STANDIN_LOSES")) return s.lost = kCudaIllegalAddress;
  if (f->kind != kFunction || f->module->kind != kModule) return complain("cuLaunchKernel: no function");
  if (f->module->context != current() || !valid_context(current())) return complain("%s: of another context", f->name);
  if (!stream_of(c->stream, current())) return complain("%s: a stream of another context", f->name);
  if (s.captured != NULL && c->stream != s.captured) return kCapturing;
  if (by != 1 || bz != 1 || bx == 0 || (f->threads != 0 && f->threads != bx))
    return complain("%s: %u x %u x %u threads, the entry has %u", f->name, bx, by, bz, f->threads);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[1] > 65535 || grid[2] > 65535)
    return complain("%s: a grid of %u %u %u", f->name, grid[0], grid[1], grid[2]);
  if (shared > 48 << 10 && (unsigned)f->shared < shared) return complain("%s: %u bytes of shared memory", f->name, shared);
  if (extra != NULL) return complain("%s: extra", f->name);
  if (s.launch_count == kMost) return 0; /* the first ones are recorded */
  StandinLaunch* l = &s.launches[s.launch_count++];
  *l = (StandinLaunch){.grid = {grid[0], grid[1], grid[2]},
                       .threads = bx,
                       .shared_bytes = shared,
                       .stream = c->stream,
                       .from_ptx = f->module->ptx};
  memcpy(l->entry, f->name, sizeof l->entry);
  l->parameter_count = f->count;
  for (uint32_t n = 0; n < f->count; ++n) {
    l->sizes[n] = f->sizes[n];
    memcpy(&l->parameters[n], parameters[n], 8);
    if (f->sizes[n] == 128 && l->map_count < 4) memcpy(l->maps[l->map_count++], parameters[n], 128);
  }
  for (uint32_t n = 0; n < c->attribute_count; ++n) {
    const CudaLaunchAttribute* a = &c->attributes[n];
    if (a->id == kCudaLaunchCluster) {
      const uint32_t cluster[3] = {a->value.cluster.x, a->value.cluster.y, a->value.cluster.z};
      memcpy(l->cluster, cluster, sizeof cluster);
      for (int d = 0; d < 3; ++d)
        if (cluster[d] == 0 || grid[d] % cluster[d] != 0) return complain("%s: a cluster of %u blocks", f->name, cluster[d]);
    } else if (a->id == kCudaLaunchProgrammatic) {
      l->programmatic = a->value.allowed;
    } else {
      return complain("%s: an attribute %d", f->name, a->id);
    }
  }
  return 0;
}

#ifdef STANDIN_BROKEN
#define cuLaunchKernel standin_has_no_launch
#endif
CudaResult cuLaunchKernel(CudaFunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, CudaStream stream, void** parameters, void** extra) {
  CALLED("cuLaunchKernel");
  const CudaLaunchConfig c = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};
  return launch(f, &c, parameters, extra);
}
