/* Contexts, the default allocator, and the loop that generated code runs in parallel. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdlib.h>
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

enum { kHost = 1 };

void* ashlar_abi1_alloc(const ashlar_context* ctx, size_t bytes, size_t align) {
  if (ctx != NULL && ctx->allocate != NULL) return ctx->allocate(ctx->user, bytes, align, kHost, 0);
  if (allocator.allocate != NULL) return allocator.allocate(allocator.user, bytes, align, kHost, 0);
  void* block = NULL;
  if (align < sizeof(void*)) align = sizeof(void*);
  return posix_memalign(&block, align, bytes > 0 ? bytes : 1) == 0 ? block : NULL;
}

void ashlar_abi1_release(const ashlar_context* ctx, void* block) {
  if (block == NULL) return;
  if (ctx != NULL && ctx->allocate != NULL) { /* without a release hook the allocator frees all at once, later */
    if (ctx->release != NULL) ctx->release(ctx->user, block, kHost, 0);
  } else if (allocator.allocate != NULL) {
    if (allocator.release != NULL) allocator.release(allocator.user, block, kHost, 0);
  } else {
    free(block);
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

void ashlar_default_context(ashlar_context* ctx) {
  memset(ctx, 0, sizeof *ctx);
  ctx->size = sizeof *ctx;
  const bool own = pool.parallel_for == NULL;
  ctx->parallelism = own ? ashlar_threads() : pool.parallelism;
  ctx->parallel_for = own ? ashlar_pool_run : pool.parallel_for;
  ctx->user = own ? NULL : pool.user;
}

/* ---- parallel loops ------------------------------------------------------------------------------------------------ */

typedef struct Loop {
  int (*body)(void* closure, int64_t i, int32_t slot);
  void* closure;
  int64_t end, slots;
  _Atomic(int64_t) next;
  _Atomic(int) result;
} Loop;

/* Takes pieces of the loop until none is left: a share of what remains, so that the last pieces are single iterations. */
static int run_slot(void* closure, int32_t slot) {
  Loop* loop = closure;
  int64_t begin = atomic_load_explicit(&loop->next, memory_order_relaxed);
  while (begin < loop->end && atomic_load_explicit(&loop->result, memory_order_relaxed) == 0) {
    const int64_t share = (loop->end - begin) / (4 * loop->slots), end = begin + (share > 0 ? share : 1);
    if (!atomic_compare_exchange_weak_explicit(&loop->next, &begin, end, memory_order_relaxed, memory_order_relaxed)) continue;
    for (int64_t i = begin; i < end; ++i) {
      const int rc = loop->body(loop->closure, i, slot);
      if (rc == 0) continue;
      int none = 0;
      atomic_compare_exchange_strong_explicit(&loop->result, &none, rc, memory_order_relaxed, memory_order_relaxed);
      return rc;
    }
    begin = atomic_load_explicit(&loop->next, memory_order_relaxed);
  }
  return 0;
}

int ashlar_abi1_parallel(const ashlar_context* ctx, int64_t begin, int64_t extent,
                         int (*body)(void* closure, int64_t i, int32_t slot), void* closure) {
  int64_t slots = ctx == NULL || ctx->parallel_for == NULL || ctx->parallelism < 1 ? 1 : ctx->parallelism;
  if (slots > extent) slots = extent;
  if (slots <= 1) {
    for (int64_t i = begin; i < begin + extent; ++i) {
      const int rc = body(closure, i, 0);
      if (rc != 0) return rc;
    }
    return 0;
  }
  Loop loop = {.body = body, .closure = closure, .end = begin + extent, .slots = slots};
  atomic_init(&loop.next, begin);
  atomic_init(&loop.result, 0);
  const int rc = ctx->parallel_for(ctx->user, (int32_t)slots, run_slot, &loop);
  return rc != 0 ? rc : atomic_load_explicit(&loop.result, memory_order_relaxed);
}
