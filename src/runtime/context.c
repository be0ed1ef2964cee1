/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts, and the default allocator. */
#include <string.h>

#include "internal.h"

const char* ashlar_version(void) { return ASHLAR_VERSION; }

/* ---- the allocator ------------------------------------------------------------------------------------------------- */

static struct {
  void* (*allocate)(void* user, size_t bytes, size_t align, int32_t device_type, int32_t device_id);
  void (*release)(void* user, void* block, int32_t device_type, int32_t device_id);
  void* user;
} allocator; /* NULL: malloc's */

void ashlar_set_allocator(void* (*allocate)(void* user, size_t bytes, size_t align, int32_t device_type, int32_t device_id),
                          void (*release)(void* user, void* block, int32_t device_type, int32_t device_id), void* user) {
  allocator.allocate = allocate, allocator.release = release, allocator.user = user;
}

void* ashlar_allocate(const ashlar_context* ctx, size_t bytes, size_t align) {
  if (ctx != NULL && ctx->allocate != NULL) return ctx->allocate(ctx->user, bytes, align, kHost, 0);
  if (allocator.allocate != NULL) return allocator.allocate(allocator.user, bytes, align, kHost, 0);
  return ashlar_block_take(bytes, align);
}

void ashlar_release(const ashlar_context* ctx, void* block) {
  if (block == NULL) return;
  if (ctx != NULL && ctx->allocate != NULL) { /* without a release hook the allocator frees all at once, later */
    if (ctx->release != NULL) ctx->release(ctx->user, block, kHost, 0);
  } else if (allocator.allocate != NULL) {
    if (allocator.release != NULL) allocator.release(allocator.user, block, kHost, 0);
  } else {
    ashlar_block_give(block);
  }
}

/* ---- the pool of the simple entries -------------------------------------------------------------------------------- */

static struct {
  int32_t parallelism;
  int (*parallel_for)(void* user, int32_t count, int (*body)(void* closure, int32_t slot), void* closure);
  void* user;
} pool; /* parallel_for NULL: the runtime's own */

void ashlar_set_pool(int32_t parallelism,
                     int (*parallel_for)(void* user, int32_t count, int (*body)(void* closure, int32_t slot), void* closure),
                     void* user) {
  pool.parallelism = parallelism, pool.parallel_for = parallel_for, pool.user = user;
}

bool* ashlar_device_touched(void) {
  static ASHLAR_THREAD_LOCAL bool touched;
  return &touched;
}

void ashlar_default_context(ashlar_context* ctx) {
  memset(ctx, 0, sizeof *ctx);
  ctx->size = sizeof *ctx;
  const bool own = pool.parallel_for == NULL;
  ctx->parallelism = own ? ashlar_threads() : pool.parallelism;
  ctx->parallel_for = own ? ashlar_pool_run : pool.parallel_for;
  ctx->user = own ? NULL : pool.user;
}
