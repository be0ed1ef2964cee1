/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hosted entries: check everything, then fill the kernel's arguments and run it. Nothing is written to any argument unless
 * every check has passed. */
#include <string.h>

#include <ashlar/runtime/vulkan.h>

#include "internal.h"
#include "marks.h"

static int fail_abi(Call* call, int64_t expected, int64_t found, const char* what) {
  return ashlar_error_record(call->error, ASHLAR_E_ABI, -1, -1, expected, found, "%s: %s is {found}, expected %s{expected}",
                             call->desc->name, what, expected < found ? "at most " : "at least ");
}

/* The fields of the context that the caller's version has; the defaults where there is no context. */
static int take_context(Call* call, const ashlar_context* given, ashlar_context* ctx) {
  if (given == NULL) {
    ashlar_default_context(ctx);
  } else {
    if (given->size < sizeof *ctx) return fail_abi(call, (int64_t)sizeof *ctx, given->size, "the context's size");
    *ctx = *given;
    ctx->size = sizeof *ctx;
  }
  if (ctx->parallel_for == NULL || ctx->parallelism < 1) ctx->parallelism = 1;
  ctx->error = call->error;
  ctx->flags &= ~(uint32_t)(ASHLAR_ABI1_WAIT | ASHLAR_ABI1_PREPARE | ASHLAR_ABI1_DEVICE_MASK);
  return ASHLAR_OK;
}

static int check_descriptor(Call* call) {
  const ashlar_abi1_desc* d = call->desc;
  if (d->abi != 1)
    return ashlar_error_record(call->error, ASHLAR_E_ABI, -1, -1, 1, d->abi,
                               "%s: made for abi {found}, expected abi {expected}, the runtime's", d->name);
  if (d->size < sizeof *d) return fail_abi(call, (int64_t)sizeof *d, d->size, "the descriptor's size");
  const struct {
    int64_t most, found;
    const char* what;
  } limits[] = {{ASHLAR_ABI1_MAX_ARGUMENTS, d->argument_count, "the number of arguments"},
                {ASHLAR_ABI1_MAX_SYMBOLS, d->symbol_count, "the number of symbols"},
                {ASHLAR_ABI1_MAX_COMPUTED, d->computed_count, "the number of computed extents"},
                {ASHLAR_ABI1_MAX_ARGS_BYTES, d->args_bytes, "the size of the argument structure"}};
  for (size_t k = 0; k < sizeof limits / sizeof *limits; ++k)
    if (limits[k].found > limits[k].most) return fail_abi(call, limits[k].most, limits[k].found, limits[k].what);
  for (int32_t n = 0; n < d->argument_count; ++n)
    if (ashlar_is_tensor(&d->arguments[n]) && d->arguments[n].rank > ASHLAR_ABI1_MAX_RANK)
      return fail_abi(call, ASHLAR_ABI1_MAX_RANK, d->arguments[n].rank, "the rank of an argument");
  return ASHLAR_OK;
}

static int check_cpu(Call* call) {
  const uint64_t needed = call->desc->features, lacking = needed == 0 ? 0 : ashlar_cpu_lacks(needed);
  if (lacking == 0) return ASHLAR_OK;
  char names[600];
  ashlar_cpu_list(lacking, names, sizeof names);
  return ashlar_error_record(call->error, ASHLAR_E_TARGET, -1, -1, (int64_t)needed, (int64_t)(needed & ~lacking),
                             "%s: made for a processor with %s, which this one lacks", call->desc->name, names);
}

static bool nothing_to_write(const Call* call) {
  for (int32_t n = 0; n < call->desc->argument_count; ++n)
    if (ashlar_is_written(&call->desc->arguments[n]) && !call->views[n].empty) return false;
  return true;
}

static void fill_args(const Call* call, const void* const* arguments, unsigned char* args) {
  const ashlar_abi1_desc* desc = call->desc;
  memset(args, 0, (size_t)desc->args_bytes);
  for (int32_t n = 0; n < desc->argument_count; ++n) {
    const ashlar_abi1_argument* a = &desc->arguments[n];
    if (!ashlar_is_tensor(a)) {
      memcpy(args + a->field, arguments[n], (size_t)a->scalar_bytes);
      continue;
    }
    const View* v = &call->views[n];
    const void* data = v->tensor->data == NULL ? NULL : (const void*)v->address;
    memcpy(args + a->field, &data, sizeof data);
    for (int d = 0; a->stride_fields != NULL && d < v->rank; ++d)
      if (a->stride_fields[d] >= 0) memcpy(args + a->stride_fields[d], &v->strides[d], sizeof v->strides[d]);
  }
  for (int32_t k = 0; k < desc->symbol_count; ++k)
    if (desc->symbols[k].field >= 0) memcpy(args + desc->symbols[k].field, &call->symbols[k], sizeof call->symbols[k]);
}

/* A workspace that was given is checked; otherwise one is allocated and *owned says so. */
static int take_workspace(Call* call, const void* args, ashlar_context* ctx, bool* owned) {
  const ashlar_abi1_desc* desc = call->desc;
  *owned = false;
  const size_t bytes = desc->workspace_bytes == NULL ? 0 : desc->workspace_bytes(args, ctx);
  const size_t align = desc->workspace_align > 0 ? desc->workspace_align : 1;
  if (bytes == 0) return ASHLAR_OK;
  if (ctx->workspace != NULL) {
    if (ctx->workspace_bytes < bytes)
      return ashlar_error_record(call->error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, (int64_t)ctx->workspace_bytes,
                                 "%s: the workspace has {found} bytes, expected at least {expected}", desc->name);
    if ((uintptr_t)ctx->workspace % align != 0)
      return ashlar_error_record(
          call->error, ASHLAR_E_ALIGN, -1, -1, (int64_t)align, (int64_t)((uintptr_t)ctx->workspace % align),
          "%s: the workspace begins {found} bytes past a multiple of {expected} bytes, expected a multiple of "
          "{expected}",
          desc->name);
    return ASHLAR_OK;
  }
  ctx->workspace = ashlar_allocate(ctx, bytes, align);
  if (ctx->workspace == NULL) {
    const char* stages = desc->workspace_stages;
    return ashlar_error_record(call->error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0,
                               "%s: no memory for a workspace of {expected} bytes%s%s", desc->name,
                               stages != NULL ? ", which is for " : "", stages != NULL ? stages : "");
  }
  ctx->workspace_bytes = bytes;
  *owned = true;
  return ASHLAR_OK;
}

/* The queue on which a Vulkan kernel runs: the context's, else that of the first buffer that has one, and then the call waits.
 * All buffers must be of its device; the first field of a queue tells which that is. */
static int take_queue(Call* call, ashlar_context* ctx) {
  const ashlar_abi1_desc* desc = call->desc;
  for (int32_t n = 0; n < desc->argument_count; ++n) {
    const ashlar_vulkan_buffer* b = ashlar_is_tensor(&desc->arguments[n]) ? call->views[n].tensor->data : NULL;
    if (b == NULL || b->queue == NULL) continue;
    if (ctx->stream == NULL) {
      ctx->stream = b->queue, ctx->flags |= ASHLAR_ABI1_WAIT;
      continue;
    }
    if (memcmp(ctx->stream, b->queue, sizeof(void*)) != 0)
      return ashlar_error_record(call->error, ASHLAR_E_DEVICE, n, -1, kVulkan, kVulkan,
                                 "%s: %s lies on another device than the queue of the call", desc->name,
                                 desc->arguments[n].name);
  }
  return ASHLAR_OK;
}

/* The device of the tensors, for a CUDA kernel to hold against that of its context. */
static void tell_device(const Call* call, ashlar_context* ctx) {
  for (int32_t n = 0; n < call->desc->argument_count; ++n) {
    if (!ashlar_is_tensor(&call->desc->arguments[n])) continue;
    const int32_t id = call->views[n].tensor->device_id;
    if (id >= 0 && id < 255) ctx->flags |= (uint32_t)(id + 1) << ASHLAR_ABI1_DEVICE_SHIFT;
    return;
  }
}

static int check_and_run(Call* call, const void* const* arguments, const ashlar_context* given, bool prepare) {
  const ashlar_abi1_desc* desc = call->desc;
  int rc = check_descriptor(call);
  ashlar_context ctx;
  if (rc == ASHLAR_OK) rc = take_context(call, given, &ctx);
  if (rc != ASHLAR_OK) return rc;
  for (int32_t n = 0; n < desc->argument_count; ++n)
    if (ashlar_is_tensor(&desc->arguments[n])) call->views[n].tensor = (const ashlar_tensor*)arguments[n];
  rc = ashlar_inspect_kinds(call);
  if (rc == ASHLAR_OK) rc = ashlar_solve_symbols(call);
  if (rc == ASHLAR_OK) rc = ashlar_inspect_memory(call);
  if (rc == ASHLAR_OK) rc = ashlar_check_overlap(call);
  if (rc == ASHLAR_OK) rc = check_cpu(call);
  if (rc != ASHLAR_OK || nothing_to_write(call)) return rc;
  if (prepare && desc->device_type == kHost) return ASHLAR_OK; /* its code is loaded */
  if (prepare) ctx.flags |= ASHLAR_ABI1_PREPARE;

  _Alignas(16) unsigned char args[ASHLAR_ABI1_MAX_ARGS_BYTES];
  fill_args(call, arguments, args);
  bool owned = false;
  if (desc->device_type == kVulkan) /* its workspace is the device's memory, which the kernel takes as it begins */
    rc = take_queue(call, &ctx);
  else if (desc->device_type == kCuda) /* and so here */
    tell_device(call, &ctx);
  else
    rc = take_workspace(call, args, &ctx, &owned);
  if (rc != ASHLAR_OK) return rc;
  rc = desc->run(args, &ctx);
  if (owned) ashlar_release(&ctx, ctx.workspace);
  if (rc != ASHLAR_OK && call->error->code != rc)
    return ashlar_error_record(call->error, rc, -1, -1, 0, rc, "%s: the kernel returned {found}, expected {expected}",
                               desc->name);
  return rc;
}

int ashlar_call(const ashlar_abi1_desc* desc, const void* const* arguments, const ashlar_context* ctx, ashlar_error* error,
                bool prepare) {
  *error = (ashlar_error){0, -1, -1, 0, 0, ""};
  Call call;
  call.desc = desc, call.error = error;
  return check_and_run(&call, arguments, ctx, prepare);
}

void ashlar_deliver(const ashlar_context* ctx, const ashlar_error* error) {
  ASHLAR_MARK3(error, error->code, error->argument, error->what);
  /* a context whose size says that it is another one is not read any further */
  ashlar_error* target = ctx == NULL || ctx->size < sizeof *ctx ? ashlar_last_error_slot() : ctx->error;
  if (target != NULL) *target = *error;
}

static int deliver_call(const ashlar_abi1_desc* desc, const void* const* arguments, const ashlar_context* ctx, bool prepare) {
  ashlar_error error;
  const int rc = ashlar_call(desc, arguments, ctx, &error, prepare);
  if (rc != ASHLAR_OK) ashlar_deliver(ctx, &error);
  return rc;
}

int ashlar_abi1_call(const ashlar_abi1_desc* desc, const void* const* arguments, const ashlar_context* ctx) {
  return deliver_call(desc, arguments, ctx, false);
}

int ashlar_abi1_prepare(const ashlar_abi1_desc* desc, const void* const* arguments, const ashlar_context* ctx) {
  return deliver_call(desc, arguments, ctx, true);
}
