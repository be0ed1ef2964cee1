/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One function for several targets: which variant runs, and when the processor's runs in the place of a device's. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/runtime/cpu.h>
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

/* ---- processors ---------------------------------------------------------------------------------------------------- */

static const char kNotAsked[] = "";                    /* the environment has not been read */
static _Atomic(const char*) forced_target = kNotAsked; /* the only target that may run; NULL: the best does */

static const char* forced(void) {
  const char* name = atomic_load_explicit(&forced_target, memory_order_acquire);
  if (name != kNotAsked) return name;
  const char* wanted = getenv("ASHLAR_TARGET");
  wanted = wanted == NULL || *wanted == '\0' ? NULL : ashlar_keep(wanted);
  atomic_compare_exchange_strong_explicit(&forced_target, &name, wanted, memory_order_acq_rel, memory_order_acquire);
  return atomic_load_explicit(&forced_target, memory_order_acquire); /* that of ashlar_set_target, if it came in between */
}

void ashlar_set_target(const char* name) {
  atomic_store_explicit(&forced_target, name == NULL || *name == '\0' ? NULL : ashlar_keep(name), memory_order_release);
}

static bool runs_here(const ashlar_abi1_desc* d) { return d->features == 0 || ashlar_cpu_missing(d->features) == 0; }

/* The processor's variant that runs: of those that it can execute the first, which asks for most. NULL: none. */
static const ashlar_abi1_variant* for_host(const ashlar_abi1_library* l) {
  const char* only = forced();
  for (int32_t k = 0; k < l->count; ++k) {
    const ashlar_abi1_variant* v = &l->variants[k];
    if (v->desc->device_type == kHost && (only == NULL || strcmp(only, v->target) == 0) && runs_here(v->desc)) return v;
  }
  return NULL;
}

/* "f: no variant runs on this processor: zen4 needs avx512vnni, avx512bf16; x86-64-v4 needs ...", of those that may run. */
static int no_processor(const ashlar_abi1_library* l, ashlar_error* error) {
  char text[900], names[300];
  size_t at = 0;
  const char* only = forced();
  uint64_t needed = 0, lacking = 0;
  text[0] = '\0';
  for (int32_t k = 0; k < l->count; ++k) {
    const ashlar_abi1_variant* v = &l->variants[k];
    if (v->desc->device_type != kHost || (only != NULL && strcmp(only, v->target) != 0)) continue;
    needed = v->desc->features, lacking = ashlar_cpu_missing(needed);
    ashlar_cpu_list(lacking, names, sizeof names);
    const int written = snprintf(text + at, sizeof text - at, "%s%s needs %s", at > 0 ? "; " : "", v->target, names);
    if (written < 0 || (size_t)written >= sizeof text - at) break;
    at += (size_t)written;
  }
  if (at > 0)
    return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, (int64_t)needed, (int64_t)(needed & ~lacking),
                               "%s: %s, which this processor lacks", l->name, text);
  list_targets(l, text, sizeof text);
  return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, 0, 0,
                             "%s: %s is asked for (ASHLAR_TARGET, ashlar_set_target), and the targets are %s", l->name, only,
                             text);
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

/* Whether a device takes the next variant after this failure of one: it lacks what that one needs, and nothing has happened. */
static bool takes_next(int rc) { return rc == ASHLAR_E_TARGET && !*ashlar_device_touched(); }

/* Where none of several variants for a device fits: the error of the last one, and what all of them are for. */
static void name_all(const ashlar_abi1_library* l, int32_t device_type, ashlar_error* error) {
  char all[300];
  size_t at = 0;
  int32_t count = 0;
  for (int32_t k = 0; k < l->count && at + 1 < sizeof all; ++k) {
    if (l->variants[k].desc->device_type != device_type) continue;
    const int written = snprintf(all + at, sizeof all - at, "%s%s", count++ > 0 ? ", " : "", l->variants[k].target);
    if (written < 0) return;
    at += (size_t)written;
  }
  if (count < 2 || error->what == NULL || error->what[0] == '\0') return;
  const ashlar_error e = *error;
  (void)ashlar_error_record(error, e.code, e.argument, e.dimension, e.expected, e.found, "%s (none of %s fits)", e.what, all);
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
                     const ashlar_context* ctx, ashlar_error* failed, bool prepare) {
  const ashlar_abi1_variant* host = for_host(l);
  Shadows s;
  if (host == NULL || !shadow(host->desc, arguments, &s)) return failed->code;
  if (s.on_a_device && v->settle != NULL) {
    const int rc = v->settle(ctx->stream != NULL ? ctx->stream : s.queue, failed, l->name);
    if (rc != ASHLAR_OK) return rc;
  }
  const ashlar_context c = for_processor(ctx);
  ashlar_error error;
  const int rc = ashlar_call(host->desc, s.arguments, &c, &error, prepare);
  if (rc != ASHLAR_OK)
    *failed = error;
  else
    ashlar_deliver(ctx, failed);
  return rc;
}

static int call(const ashlar_abi1_library* l, const void* const* arguments, const ashlar_context* ctx, ashlar_error* error,
                bool prepare) {
  int rc = check_library(l, error);
  if (rc != ASHLAR_OK) return rc;
  const ashlar_abi1_desc* any = l->variants[0].desc;
  const uint32_t flags = flags_of(ctx);
  int32_t wanted = (int32_t)(flags & 0xFF), argument = -1;
  for (int32_t n = 0; wanted == 0 && argument < 0 && n < any->argument_count; ++n)
    if (ashlar_is_tensor(&any->arguments[n])) argument = n;
  if (argument >= 0) {
    const ashlar_tensor* t = arguments[argument];
    if (t == NULL) return ashlar_call(any, arguments, ctx, error, prepare); /* which says so */
    wanted = memory_of(t->device_type);
    if (!has(l, wanted)) return no_variant(l, error, argument, t->device_type);
  }
  if (wanted == 0) wanted = any->device_type;
  if (!has(l, wanted)) return no_variant(l, error, -1, wanted);
  if (wanted == kHost) {
    const ashlar_abi1_variant* v = for_host(l);
    return v != NULL ? ashlar_call(v->desc, arguments, ctx, error, prepare) : no_processor(l, error);
  }
  *ashlar_device_touched() = false;
  const ashlar_abi1_variant* last = NULL;
  for (int32_t k = 0; k < l->count; ++k) {
    if (l->variants[k].desc->device_type != wanted) continue;
    last = &l->variants[k];
    rc = ashlar_call(last->desc, arguments, ctx, error, prepare);
    if (!takes_next(rc)) break;
  }
  if (takes_next(rc)) name_all(l, wanted, error);
  return rc != ASHLAR_OK && may_take_over(flags, rc) ? take_over(l, last, arguments, ctx, error, prepare) : rc;
}

static int deliver_call(const ashlar_abi1_library* l, const void* const* arguments, const ashlar_context* ctx, bool prepare) {
  ashlar_error error = {0, -1, -1, 0, 0, ""};
  const int rc = call(l, arguments, ctx, &error, prepare);
  if (rc != ASHLAR_OK) ashlar_deliver(ctx, &error);
  return rc;
}

int ashlar_abi1_library_call(const ashlar_abi1_library* l, const void* const* arguments, const ashlar_context* ctx) {
  return deliver_call(l, arguments, ctx, false);
}

int ashlar_abi1_library_prepare(const ashlar_abi1_library* l, const void* const* arguments, const ashlar_context* ctx) {
  return deliver_call(l, arguments, ctx, true);
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
  return v != NULL ? v->run(args, ctx) : no_processor(l, error);
}

/* The host's part of a device's variant takes a processor too. */
static int run_on_device(const ashlar_abi1_library* l, const ashlar_abi1_variant* v, const void* args,
                         const ashlar_context* ctx, ashlar_error* error) {
  if (runs_here(v->desc)) return v->run(args, ctx);
  char names[600];
  const uint64_t needed = v->desc->features, lacking = ashlar_cpu_missing(needed);
  ashlar_cpu_list(lacking, names, sizeof names);
  return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, (int64_t)needed, (int64_t)(needed & ~lacking),
                             "%s: %s needs %s, which this processor lacks", l->name, v->target, names);
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
    rc = run_on_device(l, last, args, ctx, error);
    if (!takes_next(rc)) break;
  }
  if (takes_next(rc)) name_all(l, wanted, error);
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
