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
        return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, limits[n].most, limits[n].wanted,
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
  s->call = (ashlar_abi1_vulkan_call){.queue = q, .module = m, .submission = s, .loaded = loaded, .error = error, .wait = wait};
  *result = &s->call;
  return ASHLAR_OK;
}

enum { kParameterBytes = 64 << 10 };

/* A block of parameters that do not fit the push constants: memory that the device reads and the host has written. */
static int park(ashlar_abi1_vulkan_call* call, const void* parameters, uint32_t bytes, uint64_t* address) {
  Submission* s = call->submission;
  if (s->parameters.buffer == VK_NULL_HANDLE) {
    const int rc =
        ashlar_vulkan_make_memory(call->queue, call->error, call->module->name, kParameterBytes, kMemoryOfBoth, &s->parameters);
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

enum { kPart = 65535 }; /* blocks along y and z of which every device takes as many; what FOLDED counts in */

/* How many blocks one dispatch has at most, in most; the grid may be larger along x, and along y and z if it is folded. The
 * number of a block is 32 bits wide in the shader, and the number of a part 16. */
static int check_grid(ashlar_abi1_vulkan_call* call, const ashlar_abi1_vulkan_launch* what, const int64_t grid[3],
                      int64_t most[3]) {
  const ashlar_vulkan_queue* q = call->queue;
  const bool folded = (what->flags & ASHLAR_VULKAN_FOLDED) != 0;
  for (int d = 0; d < 3; ++d) {
    most[d] = folded && d > 0 ? kPart : q->properties.limits.maxComputeWorkGroupCount[d];
    const int64_t limit = d == 0 ? (int64_t)UINT32_MAX : folded ? (int64_t)kPart * 65536 : most[d];
    if (grid[d] > limit)
      return ashlar_error_record(call->error, ASHLAR_E_LAUNCH, -1, d, limit, grid[d],
                                 "%s: launch `%s` has {found} blocks along %c, %s has at most {expected}", call->module->name,
                                 what->entry, "xyz"[d], q->properties.deviceName);
  }
  return ASHLAR_OK;
}

/* The push constants of a launch but for where its blocks begin; their size in *bytes. */
static int fill_constants(ashlar_abi1_vulkan_call* call, const ashlar_abi1_vulkan_launch* what, const void* parameters,
                          unsigned char* push, uint32_t* bytes) {
  *bytes = kFirstParameter + what->parameter_bytes;
  if ((what->flags & ASHLAR_VULKAN_PARAMETERS_IN_MEMORY) == 0) {
    memcpy(push + kFirstParameter, parameters, what->parameter_bytes);
    return ASHLAR_OK;
  }
  uint64_t address = 0;
  const int rc = park(call, parameters, what->parameter_bytes, &address);
  memcpy(push + kFirstParameter, &address, sizeof address);
  *bytes = kFirstParameter + 8;
  return rc;
}

static int record_launch(ashlar_abi1_vulkan_call* call, uint32_t launch, const int64_t grid[3], const void* parameters) {
  ashlar_vulkan_queue* q = call->queue;
  const ashlar_abi1_vulkan_launch* what = &call->module->launches[launch];
  for (int d = 0; d < 3; ++d)
    if (grid[d] <= 0) return ASHLAR_OK; /* no block runs */
  int64_t most[3] = {0, 0, 0};
  int rc = check_grid(call, what, grid, most);
  VkPipeline pipeline = VK_NULL_HANDLE;
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_pipeline(q, call->error, call->module, call->loaded, launch, &pipeline);
  if (rc != ASHLAR_OK || call->prepare) return rc;
  _Alignas(8) unsigned char push[kPushBytes] = {0};
  uint32_t bytes = 0;
  rc = fill_constants(call, what, parameters, push, &bytes);
  if (rc != ASHLAR_OK) return rc;
  VkCommandBuffer commands = call->submission->commands;
  ashlar_vulkan_barrier(q, commands, false);
  q->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  /* past the device's limits: several dispatches side by side */
  for (int64_t z = 0; z < grid[2]; z += most[2])
    for (int64_t y = 0; y < grid[1]; y += most[1])
      for (int64_t x = 0; x < grid[0]; x += most[0]) {
        const uint32_t begin[2] = {(uint32_t)x, (uint32_t)(y / kPart) << 16 | (uint32_t)(z / kPart)};
        const int64_t at[3] = {x, y, z};
        uint32_t count[3];
        for (int d = 0; d < 3; ++d) count[d] = (uint32_t)(grid[d] - at[d] < most[d] ? grid[d] - at[d] : most[d]);
        memcpy(push, begin, sizeof begin);
        q->vk.CmdPushConstants(commands, q->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, push);
        q->vk.CmdDispatch(commands, count[0], count[1], count[2]);
      }
  return ASHLAR_OK;
}

int ashlar_vulkan_record(ashlar_abi1_vulkan_call* call, uint32_t launch, const int64_t grid[3], const void* parameters) {
  if (call->code == ASHLAR_OK) call->code = record_launch(call, launch, grid, parameters);
  return call->code;
}
