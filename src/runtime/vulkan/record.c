/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A call under construction: a barrier and a dispatch for each launch, in one command buffer. */
#include <string.h>

#include "queue.h"

static int check_launches(ashlar_vulkan_queue* q, ashlar_error* error, const ashlar_abi1_vulkan_module* m) {
  const VkPhysicalDeviceLimits* l = &q->properties.limits;
  for (uint32_t k = 0; k < m->launch_count; ++k) {
    const ashlar_abi1_vulkan_launch* what = &m->launches[k];
    const uint32_t pushed =
        kFirstParameter + ((what->flags & ASHLAR_VULKAN_PARAMETERS_IN_MEMORY) != 0 ? 8 : what->parameter_bytes);
    const uint32_t threads = l->maxComputeWorkGroupInvocations < l->maxComputeWorkGroupSize[0]
                                 ? l->maxComputeWorkGroupInvocations
                                 : l->maxComputeWorkGroupSize[0];
    const struct {
      uint32_t wanted, most;
      const char* what;
    } limits[] = {{what->threads, threads, "threads"},
                  {what->shared_bytes, l->maxComputeSharedMemorySize, "bytes of shared memory"},
                  {pushed, l->maxPushConstantsSize, "bytes of push constants"}};
    for (size_t n = 0; n < 3; ++n)
      if (limits[n].wanted > limits[n].most)
        return ashlar_error_record(error, ASHLAR_E_LAUNCH, -1, -1, limits[n].most, limits[n].wanted,
                                   "%s: a block of launch `%s` takes {found} %s, %s has {expected}", m->name, what->entry,
                                   limits[n].what, q->properties.deviceName);
    if ((what->flags & ASHLAR_VULKAN_USES_SUBGROUPS) == 0) continue;
    const bool right = q->sizes_subgroups ? what->subgroup >= q->subgroup_least && what->subgroup <= q->subgroup_most
                                          : what->subgroup == q->subgroup;
    if (!right)
      return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, what->subgroup, q->subgroup,
                                 "%s: launch `%s` needs subgroups of {expected} lanes, %s has {found}", m->name, what->entry,
                                 q->properties.deviceName);
  }
  return ASHLAR_OK;
}

int ashlar_vulkan_start(ashlar_vulkan_queue* q, const ashlar_abi1_vulkan_module* m, int variant, ashlar_error* error, bool wait,
                        ashlar_abi1_vulkan_call** result) {
  Loaded* loaded = NULL;
  Submission* s = NULL;
  int rc = check_launches(q, error, m);
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_load(q, error, m, variant, &loaded);
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_take_submission(q, error, m->name, &s);
  if (rc != ASHLAR_OK) return rc;
  s->call = (ashlar_abi1_vulkan_call){q, m, s, loaded, error, ASHLAR_OK, wait};
  *result = &s->call;
  return ASHLAR_OK;
}

enum { kParameterBytes = 64 << 10 };

/* A block of parameters that do not fit the push constants: memory that the device reads and the host has written. */
static int park(ashlar_abi1_vulkan_call* call, const void* parameters, uint32_t bytes, uint64_t* address) {
  Submission* s = call->submission;
  if (s->parameters.buffer == VK_NULL_HANDLE) {
    const int rc =
        ashlar_vulkan_make_memory(call->queue, call->error, call->module->name, kParameterBytes, true, &s->parameters);
    if (rc != ASHLAR_OK) return rc;
  }
  const uint64_t at = s->parameters_used;
  if (at + bytes > kParameterBytes)
    return ashlar_error_record(call->error, ASHLAR_E_LAUNCH, -1, -1, kParameterBytes, (int64_t)(at + bytes),
                               "%s: the launches of one call have {found} bytes of parameters, expected at most {expected}",
                               call->module->name);
  memcpy((char*)s->parameters.mapped + at, parameters, bytes);
  s->parameters_used = (at + bytes + 15) / 16 * 16;
  *address = s->parameters.address + at;
  return ASHLAR_OK;
}

static int record_launch(ashlar_abi1_vulkan_call* call, uint32_t launch, const int64_t grid[3], const void* parameters) {
  ashlar_vulkan_queue* q = call->queue;
  const ashlar_abi1_vulkan_launch* what = &call->module->launches[launch];
  const uint32_t* most = q->properties.limits.maxComputeWorkGroupCount;
  for (int d = 0; d < 3; ++d)
    if (grid[d] <= 0) return ASHLAR_OK; /* no block runs */
  /* the number of a block along x is 32 bits wide in the shader */
  const int64_t limits[3] = {UINT32_MAX, most[1], most[2]};
  for (int d = 0; d < 3; ++d)
    if (grid[d] > limits[d])
      return ashlar_error_record(call->error, ASHLAR_E_LAUNCH, -1, -1, limits[d], grid[d],
                                 "%s: launch `%s` has {found} blocks along %c, %s has at most {expected}", call->module->name,
                                 what->entry, "xyz"[d], q->properties.deviceName);
  VkPipeline pipeline = VK_NULL_HANDLE;
  int rc = ashlar_vulkan_pipeline(q, call->error, call->module, call->loaded, launch, &pipeline);
  if (rc != ASHLAR_OK) return rc;
  _Alignas(8) unsigned char push[kPushBytes] = {0};
  uint32_t bytes = kFirstParameter;
  if ((what->flags & ASHLAR_VULKAN_PARAMETERS_IN_MEMORY) != 0) {
    uint64_t address = 0;
    rc = park(call, parameters, what->parameter_bytes, &address);
    if (rc != ASHLAR_OK) return rc;
    memcpy(push + kFirstParameter, &address, sizeof address);
    bytes += 8;
  } else {
    memcpy(push + kFirstParameter, parameters, what->parameter_bytes);
    bytes += what->parameter_bytes;
  }
  VkCommandBuffer commands = call->submission->commands;
  ashlar_vulkan_barrier(q, commands, false);
  q->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  for (int64_t base = 0; base < grid[0]; base += most[0]) { /* past the device's limit: several dispatches side by side */
    const uint32_t first = (uint32_t)base;
    const uint32_t count = grid[0] - base < (int64_t)most[0] ? (uint32_t)(grid[0] - base) : most[0];
    memcpy(push, &first, sizeof first);
    q->vk.CmdPushConstants(commands, q->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, push);
    q->vk.CmdDispatch(commands, count, (uint32_t)grid[1], (uint32_t)grid[2]);
  }
  return ASHLAR_OK;
}

int ashlar_vulkan_record(ashlar_abi1_vulkan_call* call, uint32_t launch, const int64_t grid[3], const void* parameters) {
  if (call->code == ASHLAR_OK) call->code = record_launch(call, launch, grid, parameters);
  return call->code;
}
