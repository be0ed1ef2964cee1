/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What generated code calls: begin, run, end. */
#include "queue.h"

static const struct {
  uint32_t bit;
  const char* text;
} kFeatures[] = {
    {ASHLAR_VULKAN_INT8, "8-bit integers (shaderInt8)"},
    {ASHLAR_VULKAN_INT16, "16-bit integers (shaderInt16)"},
    {ASHLAR_VULKAN_INT64, "64-bit integers (shaderInt64)"},
    {ASHLAR_VULKAN_FLOAT64, "f64 (shaderFloat64)"},
    {ASHLAR_VULKAN_STORAGE8, "8-bit elements in memory (storageBuffer8BitAccess)"},
    {ASHLAR_VULKAN_STORAGE16, "16-bit elements in memory (storageBuffer16BitAccess)"},
    {ASHLAR_VULKAN_ADDRESSES, "addresses of buffers (bufferDeviceAddress)"},
    {ASHLAR_VULKAN_SHUFFLE, "shuffles in a subgroup"},
    {ASHLAR_VULKAN_SHUFFLE_RELATIVE, "relative shuffles in a subgroup"},
    {ASHLAR_VULKAN_FMA32, "a fused multiply-add of f32 that rounds once"},
    {ASHLAR_VULKAN_FMA64, "a fused multiply-add of f64 that rounds once"},
    {ASHLAR_VULKAN_MEMORY_MODEL, "the memory model of Vulkan (vulkanMemoryModel)"},
    {ASHLAR_VULKAN_FLOAT16, "arithmetic on f16 that keeps subnormal numbers and rounds to nearest even (shaderFloat16)"},
    {ASHLAR_VULKAN_DOT8, "dot products of four bytes (shaderIntegerDotProduct)"}};

/* The form of the module that the device takes, in *variant. */
static int choose(ashlar_vulkan_queue* q, ashlar_error* error, const ashlar_abi1_vulkan_module* m, int* variant) {
  const uint32_t probed = ASHLAR_VULKAN_FMA32 | ASHLAR_VULKAN_FMA64;
  if (((m->features[0] | m->features[1]) & probed) != 0) {
    const int rc = ashlar_vulkan_probe(q, error);
    if (rc != ASHLAR_OK) return rc;
  }
  const uint32_t has = q->features;
  *variant = (m->features[0] & ~has) != 0 && m->words[1] != NULL;
  const uint32_t lacks = m->features[*variant] & ~has;
  if (lacks == 0) return ASHLAR_OK;
  for (size_t k = 0; k < sizeof kFeatures / sizeof *kFeatures; ++k)
    if ((lacks & kFeatures[k].bit) != 0)
      return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, kFeatures[k].bit, has, "%s: %s lacks %s", m->name,
                                 q->properties.deviceName, kFeatures[k].text);
  return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, lacks, has, "%s: %s lacks what a later runtime knows", m->name,
                             q->properties.deviceName);
}

static int take_workspace(ashlar_abi1_vulkan_call* call, const ashlar_context* ctx, uint64_t bytes, uint64_t align,
                          uint64_t* address) {
  const char* who = call->module->name;
  if (ctx->workspace != NULL) {
    const ashlar_vulkan_buffer* given = (const ashlar_vulkan_buffer*)ctx->workspace;
    if (given->bytes < bytes)
      return ashlar_error_record(call->error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, (int64_t)given->bytes,
                                 "%s: the workspace has {found} bytes, expected at least {expected}", who);
    if (align > 0 && given->address % align != 0)
      return ashlar_error_record(call->error, ASHLAR_E_ALIGN, -1, -1, (int64_t)align, (int64_t)(given->address % align),
                                 "%s: the workspace begins {found} bytes past a multiple of {expected} bytes", who);
    *address = given->address;
    return ASHLAR_OK;
  }
  if (bytes > UINT64_MAX - align)
    return ashlar_error_record(call->error, ASHLAR_E_OVERFLOW, -1, -1, INT64_MAX, INT64_MAX,
                               "%s: a workspace of more than {expected} bytes", who);
  uint64_t begin = 0;
  const int rc = ashlar_vulkan_workspace(call->queue, call->error, who, bytes + align, &begin);
  *address = align > 1 ? (begin + align - 1) / align * align : begin;
  return rc;
}

int ashlar_abi1_vulkan_begin(const ashlar_abi1_vulkan_module* m, const ashlar_context* ctx, uint64_t workspace_bytes,
                             uint64_t workspace_align, ashlar_abi1_vulkan_call** result, uint64_t* workspace) {
  static ASHLAR_THREAD_LOCAL ashlar_error nowhere; /* of a caller who wants the code alone */
  ashlar_error* error = ctx->error != NULL ? ctx->error : &nowhere;
  *result = NULL, *workspace = 0;
  if (m->abi != 1 || m->size < sizeof *m)
    return ashlar_error_record(error, ASHLAR_E_ABI, -1, -1, 1, m->abi, "%s: made for abi {found}, expected {expected}",
                               m->name);
  ashlar_vulkan_queue* q = (ashlar_vulkan_queue*)ctx->stream;
  const bool wait = q == NULL || (ctx->flags & ASHLAR_ABI1_WAIT) != 0, prepare = (ctx->flags & ASHLAR_ABI1_PREPARE) != 0;
  if (q == NULL) {
    const int rc = ashlar_vulkan_default(&q, error);
    if (rc != ASHLAR_OK) return rc;
  }
  lock_take(&q->lock);
  int variant = 0;
  int rc = choose(q, error, m, &variant);
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_start(q, m, variant, error, wait, result);
  if (rc == ASHLAR_OK) (*result)->prepare = prepare;
  if (rc == ASHLAR_OK && workspace_bytes > 0) rc = take_workspace(*result, ctx, workspace_bytes, workspace_align, workspace);
  if (rc != ASHLAR_OK) {
    if (*result != NULL) ashlar_vulkan_abandon(q, (*result)->submission);
    *result = NULL;
    lock_leave(&q->lock);
  }
  return rc;
}

int ashlar_abi1_vulkan_run(ashlar_abi1_vulkan_call* call, uint32_t launch, const int64_t grid[3], const void* parameters) {
  return ashlar_vulkan_record(call, launch, grid, parameters);
}

int ashlar_abi1_vulkan_end(ashlar_abi1_vulkan_call* call) {
  ashlar_vulkan_queue* q = call->queue;
  int rc = call->code; /* what was recorded before a failure is not submitted: the call writes nothing */
  const bool goes = rc == ASHLAR_OK && !call->prepare;
  if (goes) rc = ashlar_vulkan_submit(q, call->error, call->module->name, call->submission, call->wait);
  if (goes && (rc == ASHLAR_OK || call->submission->pending)) *ashlar_device_touched() = true;
  if (!goes) ashlar_vulkan_abandon(q, call->submission);
  lock_leave(&q->lock);
  return rc;
}
