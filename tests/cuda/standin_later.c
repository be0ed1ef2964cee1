/* The functions of the stand-in driver that a driver library may lack: attributes of launches, logs of the assembler, pools,
 * graphs, ids of contexts, tensor maps. */
#include "tests/cuda/standin_state.h"

CudaResult cuLaunchKernelEx(const CudaLaunchConfig* c, CudaFunction f, void** parameters, void** extra) {
  CALLED("cuLaunchKernelEx");
  return launch(f, c, parameters, extra);
}
CudaResult cuModuleLoadDataEx(CudaModule* module, const void* image, unsigned count, int* options, void** values) {
  CALLED("cuModuleLoadDataEx");
  s.jit_lines = false;
  char *error = NULL, *info = NULL;
  size_t error_room = 0, info_room = 0;
  for (unsigned n = 0; n < count; ++n) {
    if (options[n] == kCudaJitErrorLog) error = values[n];
    if (options[n] == kCudaJitErrorLogBytes) error_room = (size_t)(uintptr_t)values[n];
    if (options[n] == kCudaJitInfoLog) info = values[n];
    if (options[n] == kCudaJitInfoLogBytes) info_room = (size_t)(uintptr_t)values[n];
    if (options[n] == kCudaJitLineInfo) s.jit_lines = values[n] != NULL;
  }
  if (error != NULL && error_room > 0) snprintf(error, error_room, "%s", s.jit_error);
  if (info != NULL && info_room > 0) snprintf(info, info_room, "%s", s.jit_info);
  return s.jit_error[0] != '\0' || s.jit_info[0] != '\0' ? kInvalidPtx : load(module, image);
}
CudaResult cuMemPoolCreate(CudaPool* pool, const CudaPoolProperties* p) {
  CALLED("cuMemPoolCreate");
  UNCAPTURED;
  static const unsigned char zeros[sizeof p->reserved];
  if (s.attributes[kCudaPoolsSupported] == 0) return kNotSupported;
  if (p->type != kCudaPinned || p->location_type != kCudaOnDevice || p->location < 0 || p->location >= s.devices ||
      p->handles != 0 || p->security != NULL || memcmp(p->reserved, zeros, sizeof zeros) != 0)
    return complain("cuMemPoolCreate");
  *pool = s.pool = calloc(1, sizeof **pool);
  (*pool)->kind = kPool;
  return 0;
}
CudaResult cuMemPoolSetAttribute(CudaPool pool, int attribute, void* value) {
  CALLED("cuMemPoolSetAttribute");
  if (pool->kind != kPool || attribute != kCudaReleaseThreshold) return complain("cuMemPoolSetAttribute %d", attribute);
  memcpy(&pool->threshold, value, sizeof pool->threshold);
  return 0;
}
CudaResult cuMemPoolDestroy(CudaPool pool) {
  CALLED("cuMemPoolDestroy");
  if (pool->kind != kPool) return complain("cuMemPoolDestroy");
  pool->kind = kDead;
  return 0;
}
CudaResult cuMemAllocFromPoolAsync(CudaAddress* address, size_t bytes, CudaPool pool, CudaStream stream) {
  CALLED("cuMemAllocFromPoolAsync");
  void* block = NULL;
  if (pool->kind != kPool || !stream_of(stream, current()) || bytes == 0 || posix_memalign(&block, 256, bytes) != 0)
    return complain("cuMemAllocFromPoolAsync");
  ++s.blocks;
  *address = (CudaAddress)(uintptr_t)block;
  return 0;
}
CudaResult cuMemFreeAsync(CudaAddress address, CudaStream stream) {
  const CudaResult told = called("cuMemFreeAsync");
  if (address == 0 || !stream_of(stream, current())) return complain("cuMemFreeAsync");
  --s.blocks;
  free((void*)(uintptr_t)address);
  return told;
}
CudaResult cuStreamGetCaptureInfo_v2(CudaStream stream, int* status, uint64_t* id, CudaGraph* graph, const void** dependencies,
                                     size_t* count) {
  CALLED("cuStreamGetCaptureInfo");
  (void)dependencies, (void)count;
  if (!stream_of(stream, current())) return complain("cuStreamGetCaptureInfo: a stream of another context");
  *status = stream == s.captured && stream != NULL;
  if (*status != 0) *id = s.captures, *graph = s.graph;
  return 0;
}
CudaResult cuUserObjectCreate(CudaHeld* held, void* value, void (*destroy)(void*), unsigned references, unsigned flags) {
  CALLED("cuUserObjectCreate");
  if (destroy == NULL || references != 1 || flags != kCudaNoDestructorSync) return complain("cuUserObjectCreate");
  *held = calloc(1, sizeof **held);
  (*held)->kind = kHeld, (*held)->references = 1, (*held)->value = value, (*held)->destroy = destroy;
  return 0;
}
CudaResult cuUserObjectRelease(CudaHeld held, unsigned references) {
  CALLED("cuUserObjectRelease");
  if (held->kind != kHeld || references != 1) return complain("cuUserObjectRelease");
  release(held);
  return 0;
}
CudaResult cuGraphRetainUserObject(CudaGraph graph, CudaHeld held, unsigned references, unsigned flags) {
  CALLED("cuGraphRetainUserObject");
  if (graph->kind != kGraph || held->kind != kHeld || references != 1 || flags != kCudaMoveReference)
    return complain("cuGraphRetainUserObject");
  held->next = graph->held, graph->held = held;
  return 0;
}
CudaResult cuCtxGetId(CudaContext context, unsigned long long* id) {
  CALLED("cuCtxGetId");
  if (!valid_context(context)) return kCudaInvalidContext;
  *id = context->id;
  return 0;
}
CudaResult cuTensorMapEncodeTiled(CudaTensorMap* map, int type, uint32_t rank, void* address, const uint64_t* extents,
                                  const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides, int interleave,
                                  int swizzle, int promotion, int outside) {
  CALLED("cuTensorMapEncodeTiled");
  if ((uintptr_t)map % 128 != 0 || (uintptr_t)address % 16 != 0 || rank < 1 || rank > 5 || interleave != 0 || outside != 0)
    return complain("cuTensorMapEncodeTiled: map %p, address %p, rank %u", (void*)map, address, rank);
  for (uint32_t d = 0; d < rank; ++d) {
    if (extents[d] == 0 || extents[d] > UINT64_C(1) << 32 || box[d] == 0 || box[d] > 256 || element_strides[d] != 1)
      return complain("cuTensorMapEncodeTiled: dimension %u", d);
    if (d + 1 < rank && (strides[d] == 0 || strides[d] % 16 != 0 || strides[d] >= UINT64_C(1) << 40))
      return complain("cuTensorMapEncodeTiled: a stride of %llu bytes", (unsigned long long)strides[d]);
  }
  *map = (CudaTensorMap){{(uint64_t)(uintptr_t)address, (uint64_t)type, extents[0], rank > 1 ? extents[1] : 0,
                          rank > 1 ? strides[0] : 0, box[0], rank > 1 ? box[1] : 0, (uint64_t)swizzle, (uint64_t)promotion}};
  return 0;
}
