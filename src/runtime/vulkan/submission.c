/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Command buffers: taken, submitted with a fence, waited for, used again. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* Frees what no submission uses any more; and where none is left, a workspace that is too large to be kept. */
static void release(ashlar_vulkan_queue* q) {
  uint64_t first = UINT64_MAX; /* that has not ended */
  for (const Submission* s = q->submissions; s != NULL; s = s->next)
    if (s->pending && s->number < first) first = s->number;
  for (Retired** at = &q->retired; *at != NULL;) {
    Retired* r = *at;
    if (r->number >= first) {
      at = &r->next;
      continue;
    }
    *at = r->next;
    ashlar_vulkan_drop_memory(q, &r->memory);
    free(r);
  }
  if (first == UINT64_MAX && q->workspace.bytes > ashlar_kept_bytes()) ashlar_vulkan_drop_memory(q, &q->workspace);
}

static int finish(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, Submission* s) {
  const VkResult r = q->vk.WaitForFences(q->device, 1, &s->fence, VK_TRUE, UINT64_MAX);
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, "vkWaitForFences", r);
  s->pending = false;
  release(q);
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

int ashlar_vulkan_wait_for(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, uint64_t number) {
  for (Submission* s = q->submissions; s != NULL; s = s->next)
    if (s->pending && s->number == number) return finish(q, error, who, s);
  return ASHLAR_OK;
}

/* ---- the workspace ------------------------------------------------------------------------------------------------------ */

/* Old memory is dropped once the submissions so far have ended. */
static int retire(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, Memory* m) {
  if (m->buffer == VK_NULL_HANDLE) return ASHLAR_OK;
  Retired* r = calloc(1, sizeof *r);
  if (r == NULL)
    return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)sizeof *r, 0, "%s: no host memory for {expected} bytes",
                               who);
  *r = (Retired){q->retired, *m, q->submitted};
  q->retired = r;
  memset(m, 0, sizeof *m);
  release(q);
  return ASHLAR_OK;
}

int ashlar_vulkan_workspace(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, uint64_t bytes, uint64_t* address) {
  int rc = ASHLAR_OK;
  if (q->workspace.bytes < bytes) {
    rc = retire(q, error, who, &q->workspace);
    if (rc == ASHLAR_OK) rc = ashlar_vulkan_make_memory(q, error, who, bytes, kMemoryOfKernels, &q->workspace);
    if (rc == ASHLAR_E_MEMORY && q->retired != NULL) { /* what is retired may leave the room */
      rc = ashlar_vulkan_wait_all(q, error, who);
      if (rc == ASHLAR_OK) rc = ashlar_vulkan_make_memory(q, error, who, bytes, kMemoryOfKernels, &q->workspace);
    }
  }
  *address = q->workspace.address;
  return rc;
}

/* ---- taking, submitting ---------------------------------------------------------------------------------------------------
 */

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
  release(q);
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  const VkResult r = q->vk.BeginCommandBuffer(found->commands, &info);
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, "vkBeginCommandBuffer", r);
  found->parameters_used = 0;
  *result = found;
  return ASHLAR_OK;
}

/* What was written before is read and overwritten after. */
void ashlar_vulkan_barrier(ashlar_vulkan_queue* q, VkCommandBuffer commands, bool to_host) {
  const VkMemoryBarrier order = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                                  VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                                  (to_host ? VK_ACCESS_HOST_READ_BIT : 0u)};
  const VkPipelineStageFlags work = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  q->vk.CmdPipelineBarrier(commands, work, work | (to_host ? VK_PIPELINE_STAGE_HOST_BIT : 0u), 0, 1, &order, 0, NULL, 0, NULL);
}

int ashlar_vulkan_submit(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, Submission* s, bool wait) {
  ashlar_vulkan_barrier(q, s->commands, true);
  const char* function = "vkEndCommandBuffer";
  VkResult r = q->vk.EndCommandBuffer(s->commands);
  if (r == VK_SUCCESS) r = q->vk.ResetFences(q->device, 1, &s->fence), function = "vkResetFences";
  if (r == VK_SUCCESS) {
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &s->commands};
    r = q->vk.QueueSubmit(q->queue, 1, &info, s->fence), function = "vkQueueSubmit";
  }
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, who, function, r);
  s->pending = true, s->number = ++q->submitted;
  return wait ? finish(q, error, who, s) : ASHLAR_OK;
}

/* Ends a recording that will not run; the next one resets it. Its only failures are of memory, and it held nothing. */
void ashlar_vulkan_abandon(ashlar_vulkan_queue* q, Submission* s) { (void)q->vk.EndCommandBuffer(s->commands); }

void ashlar_vulkan_drop_submissions(ashlar_vulkan_queue* q) {
  while (q->submissions != NULL) {
    Submission* s = q->submissions;
    q->submissions = s->next;
    ashlar_vulkan_drop_memory(q, &s->parameters);
    q->vk.DestroyFence(q->device, s->fence, NULL);
    free(s);
  }
  while (q->retired != NULL) {
    Retired* r = q->retired;
    q->retired = r->next;
    ashlar_vulkan_drop_memory(q, &r->memory);
    free(r);
  }
  ashlar_vulkan_drop_memory(q, &q->workspace);
}

int ashlar_vulkan_wait(ashlar_vulkan_queue* q, ashlar_error* error) {
  ashlar_error ignored;
  lock_take(&q->lock);
  const int rc = ashlar_vulkan_wait_all(q, error != NULL ? error : &ignored, "vulkan");
  lock_leave(&q->lock);
  return rc;
}

int ashlar_abi1_vulkan_settle(void* queue, ashlar_error* error, const char* who) {
  ashlar_vulkan_queue* q = queue;
  if (q == NULL) return ASHLAR_OK;
  lock_take(&q->lock);
  const int rc = ashlar_vulkan_wait_all(q, error, who);
  lock_leave(&q->lock);
  return rc;
}
