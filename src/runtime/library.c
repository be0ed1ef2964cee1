/* One function for several targets: which variant runs, and when the processor's runs in the place of a device's. */
#include <ashlar/runtime/vulkan.h>

#include "internal.h"

static int32_t memory_of(int32_t device_type) { /* the device type of the kernels that take it; 0 where it is unknown */
  switch (device_type) {
    case kHost:
    case kPinned:
      return kHost;
    case kCuda:
    case kCudaManaged:
      return kCuda;
    case kVulkan:
      return kVulkan;
    default:
      return 0;
  }
}

static bool runs_here(const ashlar_abi1_desc* d) { return d->x86_level <= 1 || d->x86_level <= ashlar_abi1_x86_level(); }

/* The first of the processor's variants that it can execute, else the least demanding one; NULL where there is none. */
static const ashlar_abi1_variant* for_host(const ashlar_abi1_library* l) {
  const ashlar_abi1_variant* found = NULL;
  for (int32_t k = 0; k < l->count; ++k) {
    if (l->variants[k].desc->device_type != kHost) continue;
    found = &l->variants[k];
    if (runs_here(found->desc)) break;
  }
  return found;
}

static bool has(const ashlar_abi1_library* l, int32_t device_type) {
  for (int32_t k = 0; k < l->count; ++k)
    if (l->variants[k].desc->device_type == device_type) return true;
  return false;
}

static uint32_t flags_of(const ashlar_context* ctx) {
  return ctx == NULL || ctx->size < sizeof *ctx ? 0 : ctx->flags & (ASHLAR_OR_CPU | 0xFFu);
}

static int check_library(const ashlar_abi1_library* l, ashlar_error* error) {
  if (l->abi == 1 && l->size >= sizeof *l && l->count > 0) return ASHLAR_OK;
  return ashlar_error_record(error, ASHLAR_E_ABI, -1, -1, 1, l->abi,
                             "%s: made for abi {found}, expected abi {expected}, the runtime's", l->name);
}

/* "x86-64-v3, cuda-sm_80", for sentences. */
static void list_targets(const ashlar_abi1_library* l, char* text, size_t room) {
  size_t at = 0;
  text[0] = '\0';
  for (int32_t k = 0; k < l->count && at + 1 < room; ++k) {
    if (k > 0) text[at++] = ',', text[at++] = ' ';
    for (const char* c = l->variants[k].target; *c != '\0' && at + 3 < room; ++c) text[at++] = *c;
    text[at] = '\0';
  }
}

static int no_variant(const ashlar_abi1_library* l, ashlar_error* error, int32_t argument, int32_t found) {
  char targets[200];
  list_targets(l, targets, sizeof targets);
  const int32_t expected = l->variants[0].desc->device_type;
  if (argument >= 0)
    return ashlar_error_record(error, ASHLAR_E_DEVICE, argument, -1, expected, found,
                               "%s: %s lies on {found}, and the targets are %s", l->name,
                               l->variants[0].desc->arguments[argument].name, targets);
  return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, expected, found,
                             "%s: the context asks for {found}, and the targets are %s", l->name, targets);
}

/* Whether, after this failure of a device's variant, the processor may try: nothing has happened yet, and the device is at
 * fault. */
static bool may_take_over(uint32_t flags, int rc) {
  return (flags & ASHLAR_OR_CPU) != 0 && !*ashlar_device_touched() &&
         (rc == ASHLAR_E_DEVICE || rc == ASHLAR_E_TARGET || rc == ASHLAR_E_LAUNCH);
}

/* The caller's context without what is a device's. */
static ashlar_context for_processor(const ashlar_context* ctx) {
  ashlar_context c = *ctx;
  c.flags = 0, c.stream = NULL, c.workspace = NULL, c.workspace_bytes = 0;
  return c;
}

/* ---- on tensors ---------------------------------------------------------------------------------------------------- */

typedef struct Shadows { /* the arguments as the processor's variant takes them */
  ashlar_tensor tensors[ASHLAR_ABI1_MAX_ARGUMENTS];
  const void* arguments[ASHLAR_ABI1_MAX_ARGUMENTS];
  void* queue;      /* that Vulkan buffers belong to */
  bool on_a_device; /* the device may be using some of the memory */
} Shadows;

/* False where the processor cannot reach one of the tensors. */
static bool shadow(const ashlar_abi1_desc* d, const void* const* arguments, Shadows* s) {
  s->queue = NULL, s->on_a_device = false;
  for (int32_t n = 0; n < d->argument_count; ++n) {
    s->arguments[n] = arguments[n];
    if (!ashlar_is_tensor(&d->arguments[n])) continue;
    const ashlar_tensor* t = arguments[n];
    if (t == NULL || memory_of(t->device_type) == 0 || t->device_type == kCuda) return false;
    s->tensors[n] = *t;
    s->tensors[n].device_type = kHost, s->tensors[n].device_id = 0;
    s->arguments[n] = &s->tensors[n];
    s->on_a_device = s->on_a_device || t->device_type != kHost;
    if (t->device_type != kVulkan || t->data == NULL) continue;
    const ashlar_vulkan_buffer* b = t->data;
    if (b->mapped == NULL) return false;
    s->tensors[n].data = b->mapped;
    if (s->queue == NULL) s->queue = b->queue;
  }
  return true;
}

/* The processor's variant after `failed`, the error of the device's variant `v`, which stays where there is nothing to be done.
 */
static int take_over(const ashlar_abi1_library* l, const ashlar_abi1_variant* v, const void* const* arguments,
                     const ashlar_context* ctx, ashlar_error* failed) {
  const ashlar_abi1_variant* host = for_host(l);
  Shadows s;
  if (host == NULL || !shadow(host->desc, arguments, &s)) return failed->code;
  if (s.on_a_device && v->settle != NULL) {
    const int rc = v->settle(ctx->stream != NULL ? ctx->stream : s.queue, failed, l->name);
    if (rc != ASHLAR_OK) return rc;
  }
  const ashlar_context c = for_processor(ctx);
  ashlar_error error;
  const int rc = ashlar_call(host->desc, s.arguments, &c, &error);
  if (rc != ASHLAR_OK)
    *failed = error;
  else
    ashlar_deliver(ctx, failed);
  return rc;
}

static int call(const ashlar_abi1_library* l, const void* const* arguments, const ashlar_context* ctx, ashlar_error* error) {
  int rc = check_library(l, error);
  if (rc != ASHLAR_OK) return rc;
  const ashlar_abi1_desc* any = l->variants[0].desc;
  const uint32_t flags = flags_of(ctx);
  int32_t wanted = (int32_t)(flags & 0xFF), argument = -1;
  for (int32_t n = 0; wanted == 0 && argument < 0 && n < any->argument_count; ++n)
    if (ashlar_is_tensor(&any->arguments[n])) argument = n;
  if (argument >= 0) {
    const ashlar_tensor* t = arguments[argument];
    if (t == NULL) return ashlar_call(any, arguments, ctx, error); /* which says so */
    wanted = memory_of(t->device_type);
    if (!has(l, wanted)) return no_variant(l, error, argument, t->device_type);
  }
  if (wanted == 0) wanted = any->device_type;
  if (!has(l, wanted)) return no_variant(l, error, -1, wanted);
  if (wanted == kHost) return ashlar_call(for_host(l)->desc, arguments, ctx, error);
  *ashlar_device_touched() = false;
  const ashlar_abi1_variant* last = NULL;
  for (int32_t k = 0; k < l->count; ++k) {
    if (l->variants[k].desc->device_type != wanted) continue;
    last = &l->variants[k];
    rc = ashlar_call(last->desc, arguments, ctx, error);
    if (rc != ASHLAR_E_TARGET || *ashlar_device_touched()) break; /* a device of another kind takes the next one */
  }
  return rc != ASHLAR_OK && may_take_over(flags, rc) ? take_over(l, last, arguments, ctx, error) : rc;
}

int ashlar_abi1_library_call(const ashlar_abi1_library* l, const void* const* arguments, const ashlar_context* ctx) {
  ashlar_error error = {0, -1, -1, 0, 0, ""};
  const int rc = call(l, arguments, ctx, &error);
  if (rc != ASHLAR_OK) ashlar_deliver(ctx, &error);
  return rc;
}

/* ---- on pointers --------------------------------------------------------------------------------------------------- */

/* The device type that f_run is for; 0 where the context would have to say it and does not. */
static int32_t wanted_by(const ashlar_abi1_library* l, uint32_t flags) {
  if ((flags & 0xFF) != 0) return (int32_t)(flags & 0xFF);
  if (has(l, kHost)) return kHost;
  for (int32_t k = 1; k < l->count; ++k)
    if (l->variants[k].desc->device_type != l->variants[0].desc->device_type) return 0;
  return l->variants[0].desc->device_type;
}

static int run_on_host(const ashlar_abi1_library* l, const void* args, const ashlar_context* ctx, ashlar_error* error) {
  const ashlar_abi1_variant* v = for_host(l);
  if (runs_here(v->desc)) return v->run(args, ctx);
  return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, v->desc->x86_level, ashlar_abi1_x86_level(),
                             "%s: made for x86-64-v{expected}, found a processor of x86-64-v{found}", l->name);
}

int ashlar_abi1_library_run(const ashlar_abi1_library* l, const void* args, const ashlar_context* ctx) {
  static ASHLAR_THREAD_LOCAL ashlar_error nowhere; /* of a caller who wants the code alone */
  const bool readable = ctx != NULL && ctx->size >= sizeof *ctx;
  ashlar_error* error = readable && ctx->error != NULL ? ctx->error : &nowhere;
  int rc = check_library(l, error);
  if (rc != ASHLAR_OK) return rc;
  const uint32_t flags = flags_of(ctx);
  const int32_t wanted = wanted_by(l, flags);
  if (wanted == 0)
    return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, kCuda, 0,
                               "%s: the context does not say on which device the pointers lie (ASHLAR_ON_... in its flags)",
                               l->name);
  if (!has(l, wanted)) return no_variant(l, error, -1, wanted);
  if (wanted == kHost) return run_on_host(l, args, ctx, error);
  *ashlar_device_touched() = false;
  const ashlar_abi1_variant* last = NULL;
  for (int32_t k = 0; k < l->count; ++k) {
    if (l->variants[k].desc->device_type != wanted) continue;
    last = &l->variants[k];
    rc = runs_here(last->desc)
             ? last->run(args, ctx)
             : ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, last->desc->x86_level, ashlar_abi1_x86_level(),
                                   "%s: made for x86-64-v{expected}, found a processor of x86-64-v{found}", l->name);
    if (rc != ASHLAR_E_TARGET || *ashlar_device_touched()) break;
  }
  /* pointers of CUDA are the processor's where it can reach the memory; addresses of Vulkan never are */
  if (rc == ASHLAR_OK || wanted != kCuda || !may_take_over(flags, rc) || for_host(l) == NULL) return rc;
  if (last->settle != NULL && (rc = last->settle(ctx->stream, error, l->name)) != ASHLAR_OK) return rc;
  ashlar_context c = for_processor(ctx);
  ashlar_error found = {0, -1, -1, 0, 0, ""};
  c.error = &found;
  rc = run_on_host(l, args, &c, &found);
  if (rc != ASHLAR_OK) *error = found; /* else the device's stays */
  return rc;
}

size_t ashlar_abi1_library_workspace_bytes(const ashlar_abi1_library* l, const void* args, const ashlar_context* ctx) {
  const uint32_t flags = flags_of(ctx);
  const int32_t wanted = (int32_t)(flags & 0xFF);
  size_t most = 0;
  for (int32_t k = 0; k < l->count; ++k) {
    const ashlar_abi1_variant* v = &l->variants[k];
    const int32_t on = v->desc->device_type;
    if ((wanted != 0 && on != wanted) || !runs_here(v->desc)) continue;
    const size_t bytes = v->workspace_bytes(args, ctx);
    if (bytes > most) most = bytes;
  }
  return most;
}
