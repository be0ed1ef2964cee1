/* Calls: one command buffer each, a barrier before every launch, a fence at the end. */
#include <stdlib.h>
#include <string.h>

#include "vulkan.h"

/* ---- submissions --------------------------------------------------------------------------------------------------- */

static int finish(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, Submission* s) {
  const VkResult r = q->vk.WaitForFences(q->device, 1, &s->fence, VK_TRUE, UINT64_MAX);
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, "vkWaitForFences", r);
  s->pending = false;
  return ASHLAR_OK;
}

int ashlar_vulkan_wait_all(ashlar_vulkan_queue* q, ashlar_error* error, const char* who) {
  if (q->lost != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, "the device is lost: an earlier call", q->lost);
  for (Submission* s = q->submissions; s != NULL; s = s->next) {
    const int rc = s->pending ? finish(q, error, who, s) : ASHLAR_OK;
    if (rc != ASHLAR_OK) return rc;
  }
  return ASHLAR_OK;
}

static int new_submission(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, Submission** result) {
  Submission* s = calloc(1, sizeof *s);
  if (s == NULL)
    return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, sizeof *s, 0, "%s: no host memory for {expected} bytes", who);
  const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = q->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  const char* function = "vkAllocateCommandBuffers";
  VkResult r = q->vk.AllocateCommandBuffers(q->device, &info, &s->commands);
  if (r == VK_SUCCESS) r = q->vk.CreateFence(q->device, &fence, NULL, &s->fence), function = "vkCreateFence";
  if (r != VK_SUCCESS) {
    free(s); /* the command buffer goes with its pool */
    return ashlar_vulkan_failed(q, error, who, function, r);
  }
  s->next = q->submissions;
  q->submissions = *result = s;
  return ASHLAR_OK;
}

enum { kMostSubmissions = 16 }; /* in flight; then the calls wait for the oldest */

int ashlar_vulkan_take_submission(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, Submission** result) {
  if (q->lost != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, "the device is lost: an earlier call", q->lost);
  Submission *found = NULL, *last = NULL;
  int count = 0;
  for (Submission* s = q->submissions; s != NULL && found == NULL; s = s->next, ++count) {
    if (s->pending) {
      const VkResult r = q->vk.GetFenceStatus(q->device, s->fence);
      if (r == VK_SUCCESS)
        s->pending = false;
      else if (r != VK_NOT_READY)
        return ashlar_vulkan_failed(q, error, who, "vkGetFenceStatus", r);
    }
    if (!s->pending) found = s;
    last = s;
  }
  int rc = ASHLAR_OK;
  if (found == NULL && count >= kMostSubmissions)
    rc = finish(q, error, who, last), found = last;
  else if (found == NULL)
    rc = new_submission(q, error, who, &found);
  if (rc != ASHLAR_OK) return rc;
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  const VkResult r = q->vk.BeginCommandBuffer(found->commands, &info);
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, "vkBeginCommandBuffer", r);
  found->parameters_used = 0;
  *result = found;
  return ASHLAR_OK;
}

/* What was written before is read and overwritten after. */
static void barrier(ashlar_vulkan_queue* q, VkCommandBuffer commands, bool to_host) {
  const VkMemoryBarrier order = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                                  VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                                  (to_host ? VK_ACCESS_HOST_READ_BIT : 0u)};
  const VkPipelineStageFlags work = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  q->vk.CmdPipelineBarrier(commands, work, work | (to_host ? VK_PIPELINE_STAGE_HOST_BIT : 0u), 0, 1, &order, 0, NULL, 0, NULL);
}

int ashlar_vulkan_submit(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, Submission* s, bool wait) {
  barrier(q, s->commands, true);
  const char* function = "vkEndCommandBuffer";
  VkResult r = q->vk.EndCommandBuffer(s->commands);
  if (r == VK_SUCCESS) r = q->vk.ResetFences(q->device, 1, &s->fence), function = "vkResetFences";
  if (r == VK_SUCCESS) {
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &s->commands};
    r = q->vk.QueueSubmit(q->queue, 1, &info, s->fence), function = "vkQueueSubmit";
  }
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, function, r);
  s->pending = true;
  return wait ? finish(q, error, who, s) : ASHLAR_OK;
}

/* Ends a recording that will not run; the next one resets it. Its only failures are of memory, and it held nothing. */
static void abandon(ashlar_vulkan_queue* q, Submission* s) { (void)q->vk.EndCommandBuffer(s->commands); }

void ashlar_vulkan_drop_submissions(ashlar_vulkan_queue* q) {
  while (q->submissions != NULL) {
    Submission* s = q->submissions;
    q->submissions = s->next;
    ashlar_vulkan_drop_memory(q, &s->workspace);
    ashlar_vulkan_drop_memory(q, &s->parameters);
    q->vk.DestroyFence(q->device, s->fence, NULL);
    free(s);
  }
}

int ashlar_vulkan_wait(ashlar_vulkan_queue* q, ashlar_error* error) {
  ashlar_error ignored;
  pthread_mutex_lock(&q->lock);
  const int rc = ashlar_vulkan_wait_all(q, error != NULL ? error : &ignored, "vulkan");
  pthread_mutex_unlock(&q->lock);
  return rc;
}

/* ---- what a module asks of the device ------------------------------------------------------------------------------ */

static const struct {
  uint32_t bit;
  const char* text;
} kFeatures[] = {{ASHLAR_VULKAN_INT8, "8-bit integers (shaderInt8)"},
                 {ASHLAR_VULKAN_INT16, "16-bit integers (shaderInt16)"},
                 {ASHLAR_VULKAN_INT64, "64-bit integers (shaderInt64)"},
                 {ASHLAR_VULKAN_FLOAT64, "f64 (shaderFloat64)"},
                 {ASHLAR_VULKAN_STORAGE8, "8-bit elements in memory (storageBuffer8BitAccess)"},
                 {ASHLAR_VULKAN_STORAGE16, "16-bit elements in memory (storageBuffer16BitAccess)"},
                 {ASHLAR_VULKAN_ADDRESSES, "addresses of buffers (bufferDeviceAddress)"},
                 {ASHLAR_VULKAN_SHUFFLE, "shuffles in a subgroup"},
                 {ASHLAR_VULKAN_SHUFFLE_RELATIVE, "relative shuffles in a subgroup"},
                 {ASHLAR_VULKAN_FMA32, "a fused multiply-add of f32 that rounds once"},
                 {ASHLAR_VULKAN_FMA64, "a fused multiply-add of f64 that rounds once"}};

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

/* ---- calls --------------------------------------------------------------------------------------------------------- */

int ashlar_vulkan_begin_locked(ashlar_vulkan_queue* q, const ashlar_abi1_vulkan_module* m, ashlar_error* error, bool wait,
                               ashlar_abi1_vulkan_call** result) {
  int variant = 0;
  Loaded* loaded = NULL;
  Submission* s = NULL;
  int rc = choose(q, error, m, &variant);
  if (rc == ASHLAR_OK) rc = check_launches(q, error, m);
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_load(q, error, m, variant, &loaded);
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_take_submission(q, error, m->name, &s);
  if (rc != ASHLAR_OK) return rc;
  s->call = (ashlar_abi1_vulkan_call){q, m, s, loaded, error, ASHLAR_OK, wait};
  *result = &s->call;
  return ASHLAR_OK;
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
  Memory* w = &call->submission->workspace; /* nothing uses it: its last call has ended */
  if (w->bytes < bytes + align) {
    ashlar_vulkan_drop_memory(call->queue, w);
    const int rc = ashlar_vulkan_make_memory(call->queue, call->error, who, bytes + align, false, w);
    if (rc != ASHLAR_OK) return rc;
  }
  *address = align > 1 ? (w->address + align - 1) / align * align : w->address;
  return ASHLAR_OK;
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
  const bool wait = q == NULL || (ctx->flags & ASHLAR_ABI1_WAIT) != 0;
  if (q == NULL) {
    const int rc = ashlar_vulkan_default(&q, error);
    if (rc != ASHLAR_OK) return rc;
  }
  pthread_mutex_lock(&q->lock);
  int rc = ashlar_vulkan_begin_locked(q, m, error, wait, result);
  if (rc == ASHLAR_OK && workspace_bytes > 0) rc = take_workspace(*result, ctx, workspace_bytes, workspace_align, workspace);
  if (rc != ASHLAR_OK) {
    if (*result != NULL) abandon(q, (*result)->submission);
    *result = NULL;
    pthread_mutex_unlock(&q->lock);
  }
  return rc;
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

static int record(ashlar_abi1_vulkan_call* call, uint32_t launch, const int64_t grid[3], const void* parameters) {
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
  barrier(q, commands, false);
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

int ashlar_abi1_vulkan_run(ashlar_abi1_vulkan_call* call, uint32_t launch, const int64_t grid[3], const void* parameters) {
  if (call->code == ASHLAR_OK) call->code = record(call, launch, grid, parameters);
  return call->code;
}

int ashlar_abi1_vulkan_end(ashlar_abi1_vulkan_call* call) {
  ashlar_vulkan_queue* q = call->queue;
  int rc = call->code; /* what was recorded before a failure is not submitted: the call writes nothing */
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_submit(q, call->error, call->module->name, call->submission, call->wait);
  if (call->code == ASHLAR_OK && (rc == ASHLAR_OK || call->submission->pending)) *ashlar_device_touched() = true;
  if (call->code != ASHLAR_OK) abandon(q, call->submission);
  pthread_mutex_unlock(&q->lock);
  return rc;
}

int ashlar_abi1_vulkan_settle(void* queue, ashlar_error* error, const char* who) {
  ashlar_vulkan_queue* q = queue;
  if (q == NULL) return ASHLAR_OK;
  pthread_mutex_lock(&q->lock);
  const int rc = ashlar_vulkan_wait_all(q, error, who);
  pthread_mutex_unlock(&q->lock);
  return rc;
}
