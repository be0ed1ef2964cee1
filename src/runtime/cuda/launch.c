/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls: the context and the stream, launches with their tensor maps. Nothing is allocated or waited for where the caller gives
 * a stream and a workspace and the module is loaded. */
#include <stddef.h>

#include "cuda.h"

_Static_assert(sizeof(CudaCall) <= sizeof(ashlar_abi1_cuda_call), "what a call holds fits");

enum { kCudaMemory = 2 };

/* ---- the context ------------------------------------------------------------------------------------------------------ */

/* Of the stream, else the current one, else the primary one of a device; made current where it is not. */
static int enter(CudaCall* c, int32_t device, CudaContext* context) {
  const CudaDriver* cu = c->driver;
  const char* who = c->module->name;
  CudaContext current = NULL;
  CudaResult r = cu->CtxGetCurrent(&current);
  if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuCtxGetCurrent", r);
  CudaContext wanted = current;
  if ((uintptr_t)c->stream > 2) { /* no default stream, which belongs to the current context */
    r = cu->StreamGetCtx(c->stream, &wanted);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuStreamGetCtx", r);
  }
  if (wanted == NULL) {
    int count = 0;
    CudaDevice number = 0;
    r = cu->DeviceGetCount(&count);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuDeviceGetCount", r);
    if (device < 0) device = 0;
    if (device >= count)
      return ashlar_error_record(c->error, ASHLAR_E_DEVICE, -1, -1, 0, 0,
                                 "%s: device %d is not among the %d that the driver sees", who, (int)device, count);
    r = cu->DeviceGet(&number, device);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuDeviceGet", r);
    r = cu->DevicePrimaryCtxRetain(&wanted, number); /* for the process's life: the modules in it stay loaded */
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuDevicePrimaryCtxRetain", r);
  }
  if (wanted != current) {
    r = cu->CtxPushCurrent(wanted);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuCtxPushCurrent", r);
    c->pushed = true;
  }
  *context = wanted;
  CudaDevice found = 0;
  r = cu->CtxGetDevice(&found);
  if (r != kCudaSuccess) return ashlar_cuda_failed(cu, c->error, who, "cuCtxGetDevice", r);
  c->device = found;
  if (device >= 0 && device != found)
    return ashlar_error_record(c->error, ASHLAR_E_DEVICE, -1, -1, kCudaMemory | (int64_t)found << 32,
                               kCudaMemory | (int64_t)device << 32,
                               "%s: the tensors lie on {found}, the call runs on {expected}", who);
  return ASHLAR_OK;
}

static int leave(CudaCall* c, int rc) {
  if (!c->pushed) return rc;
  CudaContext popped = NULL;
  const CudaResult r = c->driver->CtxPopCurrent(&popped);
  c->pushed = false;
  return r == kCudaSuccess || rc != ASHLAR_OK ? rc
                                              : ashlar_cuda_failed(c->driver, c->error, c->module->name, "cuCtxPopCurrent", r);
}

/* ---- calls ------------------------------------------------------------------------------------------------------------ */

int ashlar_abi1_cuda_begin(const ashlar_abi1_cuda_module* m, const ashlar_context* ctx, uint64_t workspace_bytes,
                           uint64_t workspace_align, ashlar_abi1_cuda_call* call, uint64_t* workspace) {
  static ASHLAR_THREAD_LOCAL ashlar_error nowhere; /* of a caller who wants the code alone */
  CudaCall* c = (CudaCall*)call;
  *c = (CudaCall){
      .module = m, .ctx = ctx, .error = ctx->error != NULL ? ctx->error : &nowhere, .stream = (CudaStream)ctx->stream};
  c->wait = ctx->stream == NULL || (ctx->flags & ASHLAR_ABI1_WAIT) != 0;
  c->prepare = (ctx->flags & ASHLAR_ABI1_PREPARE) != 0;
  *workspace = 0;
  if (m->abi != 1 || m->size < offsetof(ashlar_abi1_cuda_module, more))
    return ashlar_error_record(c->error, ASHLAR_E_ABI, -1, -1, 1, m->abi, "%s: made for abi {found}, expected {expected}",
                               m->name);
  const int32_t device = (int32_t)((ctx->flags & ASHLAR_ABI1_DEVICE_MASK) >> ASHLAR_ABI1_DEVICE_SHIFT) - 1;
  CudaContext context = NULL;
  int rc = ashlar_cuda_driver(&c->driver, c->error, m->name);
  if (rc != ASHLAR_OK) return rc;
  rc = enter(c, device, &context);
  CudaPlace* place = NULL;
  if (rc == ASHLAR_OK) rc = ashlar_cuda_place(c->driver, context, c->device, c->error, m->name, &place);
  if (rc == ASHLAR_OK) rc = ashlar_cuda_load(c->driver, place, m, c->error, &c->loaded);
  if (rc == ASHLAR_OK && workspace_bytes > 0) rc = ashlar_cuda_take_workspace(c, workspace_bytes, workspace_align, workspace);
  return rc == ASHLAR_OK ? rc : leave(c, ashlar_cuda_drop_workspace(c, rc));
}

static int swizzle_of(uint32_t bytes) {
  return bytes == 128 ? kCudaSwizzle128 : bytes == 64 ? kCudaSwizzle64 : bytes == 32 ? kCudaSwizzle32 : kCudaSwizzleNone;
}

/* The driver counts dimensions from the fastest. Returns how many numbers the map was made of. */
static int encode(CudaCall* c, const ashlar_abi1_cuda_map* m, const uint64_t* numbers, CudaTensorMap* to) {
  uint64_t extents[5] = {0}, strides[5] = {0};
  uint32_t box[5] = {0}, ones[5] = {1, 1, 1, 1, 1};
  if (c->driver->TensorMapEncodeTiled == NULL)
    return ashlar_error_record(c->error, ASHLAR_E_TARGET, -1, -1, 12, 11,
                               "%s: the driver has no cuTensorMapEncodeTiled, which CUDA 12 demands", c->module->name);
  for (uint32_t d = 0; d < m->rank; ++d) {
    extents[m->rank - 1 - d] = numbers[1 + d], box[m->rank - 1 - d] = m->box[d];
    if (d + 1 < m->rank) strides[m->rank - 2 - d] = numbers[1 + m->rank + d];
  }
  const CudaResult r =
      c->driver->TensorMapEncodeTiled(to, (int)m->type, m->rank, (void*)(uintptr_t)numbers[0], extents, strides, box, ones,
                                      kCudaInterleaveNone, swizzle_of(m->swizzle), kCudaL2Promotion128, kCudaOutOfBoundsZero);
  return r == kCudaSuccess ? ASHLAR_OK : ashlar_cuda_failed(c->driver, c->error, c->module->name, "cuTensorMapEncodeTiled", r);
}

/* One launch of the driver's; attributes of a launch are permissions and figures that code is compiled with anyway, so a driver
 * that takes none is not asked for them. */
static int send(CudaCall* c, uint32_t number, const ashlar_abi1_cuda_launch_more* more, const uint32_t grid[3],
                void** parameters) {
  const ashlar_abi1_cuda_launch* what = &c->module->launches[number];
  const CudaFunction f = c->loaded->functions[number];
  CudaLaunchAttribute attributes[2];
  uint32_t count = 0;
  if ((uint64_t)more->cluster[0] * more->cluster[1] * more->cluster[2] > 1) {
    attributes[count] = (CudaLaunchAttribute){.id = kCudaLaunchCluster};
    attributes[count].value.cluster.x = more->cluster[0], attributes[count].value.cluster.y = more->cluster[1];
    attributes[count++].value.cluster.z = more->cluster[2];
  }
  if ((more->flags & ASHLAR_ABI1_CUDA_PROGRAMMATIC) != 0) {
    attributes[count] = (CudaLaunchAttribute){.id = kCudaLaunchProgrammatic};
    attributes[count++].value.allowed = 1;
  }
  const char* function = "cuLaunchKernel";
  CudaResult r = kCudaSuccess;
  if (count > 0 && c->driver->LaunchKernelEx != NULL) {
    const CudaLaunchConfig config = {.grid = {grid[0], grid[1], grid[2]},
                                     .block = {what->threads, 1, 1},
                                     .shared_bytes = what->shared_bytes,
                                     .stream = c->stream,
                                     .attributes = attributes,
                                     .attribute_count = count};
    r = c->driver->LaunchKernelEx(&config, f, parameters, NULL), function = "cuLaunchKernelEx";
  } else {
    r = c->driver->LaunchKernel(f, grid[0], grid[1], grid[2], what->threads, 1, 1, what->shared_bytes, c->stream, parameters,
                                NULL);
  }
  if (r == kCudaSuccess) *ashlar_device_touched() = true;
  return r == kCudaSuccess ? ASHLAR_OK : ashlar_cuda_failed(c->driver, c->error, c->module->name, function, r);
}

/* How many blocks a launch of the driver's has at most, in *most; the grid itself may be larger where the entry is told where
 * its blocks begin. */
static int check_grid(CudaCall* c, const ashlar_abi1_cuda_launch* what, const ashlar_abi1_cuda_launch_more* more,
                      const int64_t grid[3], int64_t most[3]) {
  const bool folded = (more->flags & ASHLAR_ABI1_CUDA_FOLDED) != 0;
  for (int d = 0; d < 3; ++d) {
    const int64_t cluster = more->cluster[d] > 1 ? more->cluster[d] : 1;
    const int64_t limit = d > 0 && folded ? (int64_t)INT32_MAX : c->loaded->place->most_blocks[d];
    most[d] = c->loaded->place->most_blocks[d] / cluster * cluster;
    if (grid[d] > limit)
      return ashlar_error_record(c->error, ASHLAR_E_LAUNCH, -1, d, limit, grid[d],
                                 "%s: launch `%s` has {found} blocks along %c, expected at most {expected}", c->module->name,
                                 what->entry, 'x' + d);
    if (grid[d] % cluster != 0)
      return ashlar_error_record(
          c->error, ASHLAR_E_LAUNCH, -1, d, cluster, grid[d],
          "%s: launch `%s` has {found} blocks along %c, expected a multiple of {expected}, the blocks of a "
          "cluster",
          c->module->name, what->entry, 'x' + d);
  }
  return ASHLAR_OK;
}

static int launch(CudaCall* c, uint32_t number, const int64_t grid[3], const uint64_t* numbers) {
  const ashlar_abi1_cuda_launch* what = &c->module->launches[number];
  const ashlar_abi1_cuda_launch_more more = ashlar_cuda_more(c->module, number);
  for (int d = 0; d < 3; ++d)
    if (grid[d] <= 0) return ASHLAR_OK; /* no block, no work */
  int64_t most[3] = {0, 0, 0};
  int rc = check_grid(c, what, &more, grid, most);
  if (rc != ASHLAR_OK) return rc;
  void* parameters[ASHLAR_ABI1_CUDA_MAX_PARAMETERS + ASHLAR_ABI1_CUDA_MAX_MAPS + 1];
  CudaTensorMap maps[ASHLAR_ABI1_CUDA_MAX_MAPS];
  for (uint32_t k = 0; k < what->parameter_count; ++k) parameters[k] = (void*)(uintptr_t)&numbers[k];
  const uint64_t* next = numbers + what->parameter_count;
  for (uint32_t k = 0; k < what->map_count; ++k) {
    rc = encode(c, &what->maps[k], next, &maps[k]);
    if (rc != ASHLAR_OK) return rc;
    parameters[what->parameter_count + k] = &maps[k];
    next += 2 * what->maps[k].rank;
  }
  if (c->prepare) return ASHLAR_OK;
  uint64_t begin = 0; /* of the blocks along y and z: FOLDED */
  parameters[what->parameter_count + what->map_count] = &begin;
  for (int64_t z = 0; z < grid[2] && rc == ASHLAR_OK; z += most[2])
    for (int64_t y = 0; y < grid[1] && rc == ASHLAR_OK; y += most[1]) {
      const uint32_t part[3] = {(uint32_t)grid[0], (uint32_t)(grid[1] - y < most[1] ? grid[1] - y : most[1]),
                                (uint32_t)(grid[2] - z < most[2] ? grid[2] - z : most[2])};
      begin = (uint64_t)y | (uint64_t)z << 32;
      rc = send(c, number, &more, part, parameters);
    }
  return rc;
}

int ashlar_abi1_cuda_run(ashlar_abi1_cuda_call* call, uint32_t number, const int64_t grid[3], const uint64_t* parameters) {
  CudaCall* c = (CudaCall*)call;
  if (c->code == ASHLAR_OK) c->code = launch(c, number, grid, parameters);
  return c->code;
}

int ashlar_abi1_cuda_end(ashlar_abi1_cuda_call* call) {
  CudaCall* c = (CudaCall*)call;
  int rc = c->code;
  if (c->prepare) return leave(c, rc);
  if (c->of_pool) rc = ashlar_cuda_drop_workspace(c, rc); /* behind the launches, in the order of the stream */
  if (c->wait) { /* also after a failure: earlier launches of the call may use the workspace */
    const CudaResult r = c->driver->StreamSynchronize(c->stream);
    if (r != kCudaSuccess && rc == ASHLAR_OK)
      rc = ashlar_cuda_failed(c->driver, c->error, c->module->name, "cuStreamSynchronize", r);
  }
  return leave(c, ashlar_cuda_drop_workspace(c, rc));
}

int ashlar_cuda_multiprocessors(void* stream, int* count, ashlar_error* error) {
  ashlar_error ignored;
  const ashlar_abi1_cuda_module unnamed = {.name = "cuda"};
  CudaCall c = {.module = &unnamed, .error = error != NULL ? error : &ignored, .stream = (CudaStream)stream};
  CudaContext context = NULL;
  *count = 0;
  int rc = ashlar_cuda_driver(&c.driver, c.error, unnamed.name);
  if (rc != ASHLAR_OK) return rc;
  rc = enter(&c, -1, &context);
  if (rc == ASHLAR_OK) {
    const CudaResult r = c.driver->DeviceGetAttribute(count, kCudaMultiprocessors, c.device);
    if (r != kCudaSuccess) rc = ashlar_cuda_failed(c.driver, c.error, unnamed.name, "cuDeviceGetAttribute", r);
  }
  return leave(&c, rc);
}

int ashlar_abi1_cuda_settle(void* stream, ashlar_error* error, const char* who) {
  const ashlar_abi1_cuda_module unnamed = {.name = who};
  CudaCall c = {.driver = ashlar_cuda_open_driver(), .module = &unnamed, .error = error, .stream = (CudaStream)stream};
  if (c.driver == NULL) return ASHLAR_OK;
  CudaContext context = NULL;
  CudaResult r = c.driver->CtxGetCurrent(&context);
  if (r != kCudaSuccess) return ashlar_cuda_failed(c.driver, error, who, "cuCtxGetCurrent", r);
  if (stream == NULL && context == NULL) return ASHLAR_OK;
  int rc = enter(&c, -1, &context);
  if (rc == ASHLAR_OK && (r = c.driver->StreamSynchronize(c.stream)) != kCudaSuccess)
    rc = ashlar_cuda_failed(c.driver, error, who, "cuStreamSynchronize", r);
  return leave(&c, rc);
}
