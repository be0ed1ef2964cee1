/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Buffers of the caller's, and the way of bytes to and from the host. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* Handles that are no pointers are 64 bits wide everywhere; those that are pointers fit. */
static uint64_t from_buffer(VkBuffer b) { return (uint64_t)(uintptr_t)b; }
static VkBuffer to_buffer(uint64_t b) { return (VkBuffer)(uintptr_t)b; }

int ashlar_vulkan_alloc(ashlar_vulkan_queue* q, uint64_t bytes, ashlar_vulkan_buffer** result, ashlar_error* error) {
  ashlar_error ignored;
  if (error == NULL) error = &ignored;
  *result = NULL;
  ashlar_vulkan_buffer* b = calloc(1, sizeof *b);
  if (b == NULL)
    return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, sizeof *b, 0, "vulkan: no host memory for {expected} bytes");
  Memory m;
  const uint64_t room = bytes > 0 ? (bytes + 3) / 4 * 4 : 4; /* copies between buffers come in whole words */
  pthread_mutex_lock(&q->lock);
  const int rc = bytes > (uint64_t)INT64_MAX - 4 ? ashlar_error_record(error, ASHLAR_E_OVERFLOW, -1, -1, INT64_MAX, INT64_MAX,
                                                                       "vulkan: a buffer of more than {expected} bytes")
                                                 : ashlar_vulkan_make_memory(q, error, "vulkan", room, false, &m);
  pthread_mutex_unlock(&q->lock);
  if (rc != ASHLAR_OK) {
    free(b);
    return rc;
  }
  b->address = m.address, b->bytes = bytes, b->queue = q, b->mapped = m.mapped;
  b->buffer = from_buffer(m.buffer), b->memory = (uint64_t)(uintptr_t)m.memory;
  *result = b;
  return ASHLAR_OK;
}

void ashlar_vulkan_free(ashlar_vulkan_buffer* b) {
  if (b == NULL || b->queue == NULL) return; /* the caller's own */
  Memory m = {to_buffer(b->buffer), (VkDeviceMemory)(uintptr_t)b->memory, 0, 0, NULL};
  pthread_mutex_lock(&b->queue->lock);
  ashlar_vulkan_drop_memory(b->queue, &m);
  pthread_mutex_unlock(&b->queue->lock);
  free(b);
}

enum { kStageBytes = 16 << 20 };

/* One piece through memory that both sides see. */
static int copy_piece(ashlar_vulkan_queue* q, VkBuffer buffer, uint64_t offset, void* host, uint64_t bytes, bool up,
                      ashlar_error* error) {
  Submission* s = NULL;
  if (up) memcpy(q->stage.mapped, host, bytes);
  int rc = ashlar_vulkan_take_submission(q, error, "vulkan", &s);
  if (rc != ASHLAR_OK) return rc;
  const VkBufferCopy piece = {.srcOffset = up ? 0 : offset, .dstOffset = up ? offset : 0, .size = bytes};
  q->vk.CmdCopyBuffer(s->commands, up ? q->stage.buffer : buffer, up ? buffer : q->stage.buffer, 1, &piece);
  rc = ashlar_vulkan_submit(q, error, "vulkan", s, true);
  if (rc == ASHLAR_OK && !up) memcpy(host, q->stage.mapped, bytes);
  return rc;
}

static int copy(ashlar_vulkan_buffer* b, uint64_t offset, void* host, uint64_t bytes, bool up, ashlar_error* error) {
  ashlar_vulkan_queue* q = b->queue;
  if (q == NULL)
    return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 0, 0,
                               "vulkan: memory of the caller's own is copied by the caller");
  if (offset > b->bytes || bytes > b->bytes - offset)
    return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes,
                               (int64_t)(b->bytes - (offset < b->bytes ? offset : b->bytes)),
                               "vulkan: a copy of {expected} bytes where the buffer has {found}");
  if (bytes == 0) return ASHLAR_OK; /* and host may be null */
  pthread_mutex_lock(&q->lock);
  int rc = ashlar_vulkan_wait_all(q, error, "vulkan");
  if (rc == ASHLAR_OK && b->mapped != NULL) {
    if (up)
      memcpy((char*)b->mapped + offset, host, bytes);
    else
      memcpy(host, (const char*)b->mapped + offset, bytes);
  } else if (rc == ASHLAR_OK) {
    if (q->stage.buffer == VK_NULL_HANDLE) rc = ashlar_vulkan_make_memory(q, error, "vulkan", kStageBytes, true, &q->stage);
    for (uint64_t at = 0; at < bytes && rc == ASHLAR_OK; at += kStageBytes) {
      const uint64_t piece = bytes - at < kStageBytes ? bytes - at : kStageBytes;
      rc = copy_piece(q, to_buffer(b->buffer), offset + at, (char*)host + at, piece, up, error);
    }
  }
  pthread_mutex_unlock(&q->lock);
  return rc;
}

int ashlar_vulkan_upload(ashlar_vulkan_buffer* to, uint64_t offset, const void* from, uint64_t bytes, ashlar_error* error) {
  ashlar_error ignored;
  return copy(to, offset, (void*)(uintptr_t)from, bytes, true, error != NULL ? error : &ignored);
}

int ashlar_vulkan_download(ashlar_vulkan_buffer* from, uint64_t offset, void* to, uint64_t bytes, ashlar_error* error) {
  ashlar_error ignored;
  return copy(from, offset, to, bytes, false, error != NULL ? error : &ignored);
}
