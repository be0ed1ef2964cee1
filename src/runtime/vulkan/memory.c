/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory that shaders reach by address. */
#include <string.h>

#include "queue.h"

/* What types of memory a use takes: all of `must`, and first those with most of `likes`, in the order in which the driver lists
 * types of equal rank, which is by speed. A type is refused that has what no feature is enabled for, or that holds no buffers.
 */
typedef struct Wish {
  VkMemoryPropertyFlags must, likes[3], dislikes;
} Wish;

enum {
  kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
  kSeen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
  kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
  kUnusable = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
              VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD |
              VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV
};

static Wish wish_of(const ashlar_vulkan_queue* q, MemoryUse use) {
  const bool apart = q->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU || q->staging;
  switch (use) {
    case kMemoryOfUploads: /* written once, front to back: what the host caches it may read, what it does not it writes faster
                            */
      return (Wish){kSeen, {0, 0, 0}, kLocal | kCached};
    case kMemoryOfDownloads: /* read by the host: uncached, that takes a hundred times as long */
      return (Wish){kSeen, {kCached, 0, 0}, kLocal};
    case kMemoryOfBoth:
      return (Wish){kSeen, {kCached, 0, 0}, 0};
    default: /* one memory for both sides, if there is; the host reads it through a stage where it is not cached */
      return apart ? (Wish){0, {kLocal, 0, 0}, kSeen} : (Wish){0, {kLocal, kSeen, kCached}, 0};
  }
}

static int rank_of(const Wish* w, VkMemoryPropertyFlags has) {
  int rank = 0;
  for (int k = 0; k < 3; ++k)
    if (w->likes[k] != 0 && (has & w->likes[k]) == w->likes[k]) rank += 8 >> k;
  return (has & w->dislikes) == 0 ? rank + 1 : rank; /* at most 15 */
}

/* The best type among `allowed`; UINT32_MAX where none is left. */
static uint32_t best_type(const ashlar_vulkan_queue* q, uint32_t allowed, const Wish* w) {
  uint32_t best = UINT32_MAX;
  int most = -1;
  for (uint32_t k = 0; k < q->memory.memoryTypeCount; ++k) {
    const VkMemoryPropertyFlags has = q->memory.memoryTypes[k].propertyFlags;
    if ((allowed >> k & 1) == 0 || (has & w->must) != w->must || (has & kUnusable) != 0) continue;
    if (rank_of(w, has) > most) most = rank_of(w, has), best = k;
  }
  return best;
}

/* Memory of the best type that has room: what one heap has no room for comes from the next. */
static VkResult allocate(ashlar_vulkan_queue* q, const VkMemoryRequirements* needs, MemoryUse use, Memory* m, uint32_t* type) {
  const Wish w = wish_of(q, use);
  uint32_t allowed = needs->memoryTypeBits;
  VkResult r = VK_ERROR_FEATURE_NOT_PRESENT; /* no type will do */
  while ((*type = best_type(q, allowed, &w)) != UINT32_MAX) {
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex = *type};
    r = q->vk.AllocateMemory(q->device, &info, NULL, &m->memory);
    if (r != VK_ERROR_OUT_OF_DEVICE_MEMORY && r != VK_ERROR_OUT_OF_HOST_MEMORY) return r;
    const uint32_t full = q->memory.memoryTypes[*type].heapIndex;
    for (uint32_t k = 0; k < q->memory.memoryTypeCount; ++k)
      if (q->memory.memoryTypes[k].heapIndex == full) allowed &= ~(UINT32_C(1) << k);
  }
  return r;
}

int ashlar_vulkan_make_memory(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, uint64_t bytes, MemoryUse use,
                              Memory* m) {
  memset(m, 0, sizeof *m);
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
                                   .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkResult r = q->vk.CreateBuffer(q->device, &info, NULL, &m->buffer);
  const char* function = "vkCreateBuffer";
  if (r == VK_SUCCESS) {
    VkMemoryRequirements needs;
    uint32_t type = UINT32_MAX;
    q->vk.GetBufferMemoryRequirements(q->device, m->buffer, &needs);
    r = allocate(q, &needs, use, m, &type), function = "vkAllocateMemory";
    if (r == VK_ERROR_FEATURE_NOT_PRESENT && type == UINT32_MAX) {
      ashlar_vulkan_drop_memory(q, m);
      return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0, "%s: the device has no memory of the kind",
                                 who);
    }
    if (r == VK_SUCCESS) r = q->vk.BindBufferMemory(q->device, m->buffer, m->memory, 0), function = "vkBindBufferMemory";
    const VkMemoryPropertyFlags kind = type == UINT32_MAX ? 0 : q->memory.memoryTypes[type].propertyFlags;
    m->cached = (kind & kCached) != 0;
    if (r == VK_SUCCESS && (kind & kSeen) == kSeen && (use != kMemoryOfKernels || !q->staging))
      r = q->vk.MapMemory(q->device, m->memory, 0, VK_WHOLE_SIZE, 0, &m->mapped), function = "vkMapMemory";
  }
  if (r != VK_SUCCESS) {
    ashlar_vulkan_drop_memory(q, m);
    return ashlar_vulkan_failed(q, error, who, function, r);
  }
  const VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = m->buffer};
  m->address = q->vk.GetBufferDeviceAddress(q->device, &address);
  m->bytes = bytes;
  return ASHLAR_OK;
}

void ashlar_vulkan_drop_memory(ashlar_vulkan_queue* q, Memory* m) {
  if (m->buffer != VK_NULL_HANDLE) q->vk.DestroyBuffer(q->device, m->buffer, NULL);
  if (m->memory != VK_NULL_HANDLE) q->vk.FreeMemory(q->device, m->memory, NULL); /* unmaps */
  memset(m, 0, sizeof *m);
}
