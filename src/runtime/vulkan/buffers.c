/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Buffers of the caller's, and the way of bytes to and from the host: directly where the host sees the memory, else in pieces
 * through a stage, of which the device copies one while the host copies the next. An upload through the stage returns before
 * the device has copied the last pieces, which later work of the queue comes after. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* Handles that are no pointers are 64 bits wide everywhere; those that are pointers fit. */
static uint64_t from_buffer(VkBuffer b) { return (uint64_t)(uintptr_t)b; }
static VkBuffer to_buffer(uint64_t b) { return (VkBuffer)(uintptr_t)b; }

typedef struct Owned { /* what ashlar_vulkan_alloc makes */
  ashlar_vulkan_buffer buffer;
  bool cached; /* the host reads it fast */
} Owned;

int ashlar_vulkan_alloc(ashlar_vulkan_queue* q, uint64_t bytes, ashlar_vulkan_buffer** result, ashlar_error* error) {
  ashlar_error ignored;
  if (error == NULL) error = &ignored;
  *result = NULL;
  Owned* owned = calloc(1, sizeof *owned);
  if (owned == NULL)
    return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, sizeof *owned, 0, "vulkan: no host memory for {expected} bytes");
  Memory m;
  const uint64_t room = bytes > 0 ? (bytes + 3) / 4 * 4 : 4; /* copies between buffers come in whole words */
  lock_take(&q->lock);
  const int rc = bytes > (uint64_t)INT64_MAX - 4 ? ashlar_error_record(error, ASHLAR_E_OVERFLOW, -1, -1, INT64_MAX, INT64_MAX,
                                                                       "vulkan: a buffer of more than {expected} bytes")
                                                 : ashlar_vulkan_make_memory(q, error, "vulkan", room, kMemoryOfKernels, &m);
  lock_leave(&q->lock);
  if (rc != ASHLAR_OK) {
    free(owned);
    return rc;
  }
  ashlar_vulkan_buffer* b = &owned->buffer;
  owned->cached = m.cached;
  b->address = m.address, b->bytes = bytes, b->queue = q, b->mapped = m.mapped;
  b->buffer = from_buffer(m.buffer), b->memory = (uint64_t)(uintptr_t)m.memory;
  *result = b;
  return ASHLAR_OK;
}

void ashlar_vulkan_free(ashlar_vulkan_buffer* b) {
  if (b == NULL || b->queue == NULL) return; /* the caller's own */
  Memory m = {.buffer = to_buffer(b->buffer), .memory = (VkDeviceMemory)(uintptr_t)b->memory};
  lock_take(&b->queue->lock);
  ashlar_vulkan_drop_memory(b->queue, &m);
  lock_leave(&b->queue->lock);
  free(b);
}

enum { kWorthAStage = 4096 }; /* bytes: fewer are read from uncached memory before a submission has come back */

/* A slot of the stage, which the device has done with. */
static int take_slot(ashlar_vulkan_queue* q, Stage* stage, int n, MemoryUse use, ashlar_error* error) {
  if (stage->slots[n].buffer == VK_NULL_HANDLE)
    return ashlar_vulkan_make_memory(q, error, "vulkan", kSlotBytes, use, &stage->slots[n]);
  return ashlar_vulkan_wait_for(q, error, "vulkan", stage->numbers[n]);
}

/* Submits the copy of one piece, behind all that was submitted before. */
static int send_piece(ashlar_vulkan_queue* q, VkBuffer from, uint64_t from_at, VkBuffer to, uint64_t to_at, uint64_t bytes,
                      uint64_t* number, ashlar_error* error) {
  Submission* s = NULL;
  int rc = ashlar_vulkan_take_submission(q, error, "vulkan", &s);
  if (rc != ASHLAR_OK) return rc;
  const VkBufferCopy piece = {.srcOffset = from_at, .dstOffset = to_at, .size = bytes};
  ashlar_vulkan_barrier(q, s->commands, false);
  q->vk.CmdCopyBuffer(s->commands, from, to, 1, &piece);
  rc = ashlar_vulkan_submit(q, error, "vulkan", s, false);
  *number = s->number;
  return rc;
}

static uint64_t piece_at(uint64_t at, uint64_t bytes) { return bytes - at < kSlotBytes ? bytes - at : kSlotBytes; }

static int upload_staged(ashlar_vulkan_queue* q, VkBuffer to, uint64_t offset, const char* from, uint64_t bytes,
                         ashlar_error* error) {
  int rc = ASHLAR_OK, n = 0;
  for (uint64_t at = 0; at < bytes && rc == ASHLAR_OK; at += kSlotBytes, n = (n + 1) % kSlots) {
    rc = take_slot(q, &q->up, n, kMemoryOfUploads, error);
    if (rc != ASHLAR_OK) return rc;
    memcpy(q->up.slots[n].mapped, from + at, piece_at(at, bytes));
    rc = send_piece(q, q->up.slots[n].buffer, 0, to, offset + at, piece_at(at, bytes), &q->up.numbers[n], error);
  }
  return rc;
}

/* The device is kSlots pieces ahead of the host. */
static int download_staged(ashlar_vulkan_queue* q, VkBuffer from, uint64_t offset, char* to, uint64_t bytes,
                           ashlar_error* error) {
  int rc = ASHLAR_OK;
  uint64_t sent = 0;
  for (uint64_t at = 0; at < bytes && rc == ASHLAR_OK; at += kSlotBytes) {
    for (; rc == ASHLAR_OK && sent < bytes && sent < at + (uint64_t)kSlots * kSlotBytes; sent += kSlotBytes) {
      const int n = (int)(sent / kSlotBytes % kSlots);
      rc = take_slot(q, &q->down, n, kMemoryOfDownloads, error);
      if (rc == ASHLAR_OK)
        rc = send_piece(q, from, offset + sent, q->down.slots[n].buffer, 0, piece_at(sent, bytes), &q->down.numbers[n], error);
    }
    const int n = (int)(at / kSlotBytes % kSlots);
    if (rc == ASHLAR_OK) rc = ashlar_vulkan_wait_for(q, error, "vulkan", q->down.numbers[n]);
    if (rc == ASHLAR_OK) memcpy(to + at, q->down.slots[n].mapped, piece_at(at, bytes));
  }
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
  lock_take(&q->lock);
  int rc = ASHLAR_OK;
  const bool slow = !up && !((const Owned*)b)->cached && bytes >= kWorthAStage;
  if (b->mapped != NULL && !slow) {
    rc = ashlar_vulkan_wait_all(q, error, "vulkan");
    if (rc == ASHLAR_OK && up) memcpy((char*)b->mapped + offset, host, bytes);
    if (rc == ASHLAR_OK && !up) memcpy(host, (const char*)b->mapped + offset, bytes);
  } else if (up) {
    rc = upload_staged(q, to_buffer(b->buffer), offset, host, bytes, error);
  } else {
    rc = download_staged(q, to_buffer(b->buffer), offset, host, bytes, error);
  }
  lock_leave(&q->lock);
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
