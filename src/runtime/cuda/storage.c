/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Workspaces of calls: the caller's, its allocator's, of the runtime's pool in the order of the stream, of cuMemAlloc where the
 * device has no pools and the call waits; and those that f_prepare puts aside for calls that are captured in a graph.
 *
 * A workspace that was put aside belongs to a stream until a capture of this stream takes it. Then it is the graph's, which
 * holds a reference to it, and so does whatever is instantiated from the graph. With the last reference it is free again.
 * Invariant: work outside of the graph never uses the memory of a graph, so that the graph may be launched at any time. */
#include <stdatomic.h>
#include <stdlib.h>

#include "cuda.h"

enum { kCudaMemory = 2 };

/* ---- put aside for graphs ---------------------------------------------------------------------------------------------- */

typedef struct Aside { /* never freed: graphs hold pointers to it */
  struct Aside* next;
  const CudaPlace* place;
  CudaStream stream;
  CudaAddress address;
  uint64_t bytes, capture; /* capture: the one that has it, if a graph does */
  atomic_int of_graph;
} Aside;

static _Atomic(Aside*) asides; /* the list and its items change under the lock; whether there is any is seen without it */
static Lock lock = LOCK;

/* The graph is gone. The driver calls this, on a thread where no function of it may be called. */
static void let_go(void* aside) { atomic_store_explicit(&((Aside*)aside)->of_graph, 0, memory_order_release); }

static bool in_a_graph(Aside* a) { return atomic_load_explicit(&a->of_graph, memory_order_acquire) != 0; }

static bool is_of(const Aside* a, const CudaCall* c) { return a->place == c->loaded->place && a->stream == c->stream; }

static int put_aside_locked(CudaCall* c, uint64_t bytes) {
  const CudaDriver* cu = c->driver;
  const char* who = c->module->name;
  Aside* a = atomic_load_explicit(&asides, memory_order_relaxed);
  while (a != NULL && !(is_of(a, c) && !in_a_graph(a))) a = a->next;
  if (a != NULL && a->bytes >= bytes) return ASHLAR_OK;
  if (a == NULL) {
    a = calloc(1, sizeof *a);
    if (a == NULL)
      return ashlar_error_record(c->error, ASHLAR_E_MEMORY, -1, -1, (int64_t)sizeof *a, 0,
                                 "%s: no host memory for {expected} bytes", who);
    a->place = c->loaded->place, a->stream = c->stream;
    a->next = atomic_load_explicit(&asides, memory_order_relaxed);
    atomic_store_explicit(&asides, a, memory_order_release);
  }
  CudaAddress address = 0;
  CudaResult r = cu->MemAlloc(&address, (size_t)bytes);
  if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuMemAlloc", r);
  const CudaAddress smaller = a->address;
  a->address = address, a->bytes = bytes;
  if (smaller == 0) return ASHLAR_OK;
  r = cu->MemFree(smaller);
  return r == kCudaSuccess ? ASHLAR_OK : ashlar_cuda_failed(cu, c->error, who, "cuMemFree", r);
}

static bool knows_graphs(const CudaDriver* cu) {
  return cu->StreamGetCaptureInfo != NULL && cu->UserObjectCreate != NULL && cu->UserObjectRelease != NULL &&
         cu->GraphRetainUserObject != NULL;
}

/* Of the default stream nothing can be captured. */
static int put_aside(CudaCall* c, uint64_t bytes) {
  if (c->stream == NULL) return ASHLAR_OK;
  if (!knows_graphs(c->driver))
    return ashlar_error_record(
        c->error, ASHLAR_E_TARGET, -1, -1, 11, 11,
        "%s: the driver has no cuGraphRetainUserObject, which CUDA 11.3 brought: a workspace for a graph "
        "must come from the context",
        c->module->name);
  lock_take(&lock);
  const int rc = put_aside_locked(c, bytes);
  lock_leave(&lock);
  return rc;
}

/* Gives `a` to the graph that is being captured. */
static int give(CudaCall* c, Aside* a, CudaGraph graph, uint64_t capture) {
  const CudaDriver* cu = c->driver;
  CudaHeld held = NULL;
  a->capture = capture;
  atomic_store_explicit(&a->of_graph, 1, memory_order_release);
  CudaResult r = cu->UserObjectCreate(&held, a, let_go, 1, kCudaNoDestructorSync);
  if (r != kCudaSuccess) {
    let_go(a);
    return ashlar_cuda_failed(cu, c->error, c->module->name, "cuUserObjectCreate", r);
  }
  r = cu->GraphRetainUserObject(graph, held, 1, kCudaMoveReference);
  if (r == kCudaSuccess) return ASHLAR_OK;
  (void)cu->UserObjectRelease(held, 1); /* which lets it go; what went wrong is told here */
  return ashlar_cuda_failed(cu, c->error, c->module->name, "cuGraphRetainUserObject", r);
}

/* What was put aside for the stream, if it is being captured; *address stays 0 where nothing fits. */
static int take_aside(CudaCall* c, uint64_t bytes, uint64_t* address) {
  if (atomic_load_explicit(&asides, memory_order_acquire) == NULL || c->stream == NULL) return ASHLAR_OK;
  int status = 0;
  uint64_t capture = 0;
  CudaGraph graph = NULL;
  const CudaResult r = c->driver->StreamGetCaptureInfo(c->stream, &status, &capture, &graph, NULL, NULL);
  if (r != kCudaSuccess) return ashlar_cuda_failed(c->driver, c->error, c->module->name, "cuStreamGetCaptureInfo", r);
  if (status != kCudaCaptureActive) return ASHLAR_OK;
  int rc = ASHLAR_OK;
  lock_take(&lock);
  Aside *own = NULL, *spare = NULL;
  for (Aside* a = atomic_load_explicit(&asides, memory_order_relaxed); a != NULL; a = a->next) {
    if (!is_of(a, c) || a->bytes < bytes) continue;
    if (!in_a_graph(a))
      spare = a;
    else if (a->capture == capture) /* calls of one stream follow each other, in a graph too */
      own = a;
  }
  if (own == NULL && spare != NULL) rc = give(c, spare, graph, capture), own = spare;
  if (rc == ASHLAR_OK && own != NULL) *address = own->address;
  lock_leave(&lock);
  return rc;
}

/* ---- of a call --------------------------------------------------------------------------------------------------------- */

static int of_caller(CudaCall* c, uint64_t bytes, uint64_t* address) {
  const ashlar_context* ctx = c->ctx;
  if (ctx->workspace_bytes < bytes)
    return ashlar_error_record(c->error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, (int64_t)ctx->workspace_bytes,
                               "%s: the workspace has {found} bytes, expected at least {expected}", c->module->name);
  *address = (uint64_t)(uintptr_t)ctx->workspace;
  return ASHLAR_OK;
}

static int of_allocator(CudaCall* c, uint64_t bytes, uint64_t align, uint64_t* address) {
  if (c->prepare) return ASHLAR_OK; /* what it does while a stream is captured is its own affair */
  c->lent = c->ctx->allocate(c->ctx->user, (size_t)bytes, (size_t)align, kCudaMemory, c->device);
  *address = (uint64_t)(uintptr_t)c->lent;
  if (c->lent != NULL) return ASHLAR_OK;
  return ashlar_error_record(c->error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0,
                             "%s: no memory for a workspace of {expected} bytes", c->module->name);
}

static int of_driver(CudaCall* c, uint64_t bytes, uint64_t* address) {
  const CudaDriver* cu = c->driver;
  const char* who = c->module->name;
  int rc = take_aside(c, bytes, address);
  if (rc != ASHLAR_OK || *address != 0) return rc;
  if (c->loaded->place->has_pools) {
    CudaPool pool = NULL;
    rc = ashlar_cuda_pool(cu, c->loaded->place, c->error, who, &pool);
    if (rc != ASHLAR_OK) return rc;
    const CudaResult r = cu->MemAllocFromPoolAsync(&c->owned, (size_t)bytes, pool, c->stream);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuMemAllocFromPoolAsync", r);
    c->of_pool = true;
  } else if (c->wait) {
    const CudaResult r = cu->MemAlloc(&c->owned, (size_t)bytes);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuMemAlloc", r);
  } else {
    return ashlar_error_record(
        c->error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0,
        "%s: the workspace has {found} bytes, expected at least {expected}, the context has no allocator "
        "and the device no memory pools",
        who);
  }
  *address = c->owned;
  return ASHLAR_OK;
}

int ashlar_cuda_take_workspace(CudaCall* c, uint64_t bytes, uint64_t align, uint64_t* address) {
  const ashlar_context* ctx = c->ctx;
  int rc = ASHLAR_OK;
  if (ctx->workspace != NULL)
    rc = of_caller(c, bytes, address);
  else if (ctx->allocate != NULL)
    rc = of_allocator(c, bytes, align, address);
  else if (c->prepare)
    rc = put_aside(c, bytes);
  else
    rc = of_driver(c, bytes, address);
  if (rc != ASHLAR_OK || align <= 1 || *address % align == 0) return rc;
  return ashlar_error_record(
      c->error, ASHLAR_E_ALIGN, -1, -1, (int64_t)align, (int64_t)(*address % align),
      "%s: the workspace begins {found} bytes past a multiple of {expected} bytes, expected a multiple of "
      "{expected}",
      c->module->name);
}

int ashlar_cuda_drop_workspace(CudaCall* c, int rc) {
  if (c->lent != NULL && c->ctx->release != NULL) c->ctx->release(c->ctx->user, c->lent, kCudaMemory, c->device);
  c->lent = NULL;
  if (c->owned == 0) return rc;
  const CudaResult r = c->of_pool ? c->driver->MemFreeAsync(c->owned, c->stream) : c->driver->MemFree(c->owned);
  c->owned = 0;
  if (r == kCudaSuccess || rc != ASHLAR_OK) return rc;
  return ashlar_cuda_failed(c->driver, c->error, c->module->name, c->of_pool ? "cuMemFreeAsync" : "cuMemFree", r);
}
