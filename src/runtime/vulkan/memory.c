/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory that shaders reach by address. */
#include <string.h>

#include "queue.h"

/* A type of memory among `allowed` with the flags; UINT32_MAX where there is none. */
static uint32_t find_type(const ashlar_vulkan_queue* q, uint32_t allowed, VkMemoryPropertyFlags flags) {
  for (uint32_t k = 0; k < q->memory.memoryTypeCount; ++k)
    if ((allowed >> k & 1) != 0 && (q->memory.memoryTypes[k].propertyFlags & flags) == flags) return k;
  return UINT32_MAX;
}

static uint32_t pick_type(const ashlar_vulkan_queue* q, uint32_t allowed, bool host) {
  const VkMemoryPropertyFlags seen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                              local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const bool discrete = q->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU || q->staging;
  uint32_t type = UINT32_MAX;
  if (host) {
    type = find_type(q, allowed, seen | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    return type != UINT32_MAX ? type : find_type(q, allowed, seen);
  }
  if (!discrete) type = find_type(q, allowed, seen | local); /* one memory for both */
  return type != UINT32_MAX ? type : find_type(q, allowed, local);
}

int ashlar_vulkan_make_memory(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, uint64_t bytes, bool host,
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
    q->vk.GetBufferMemoryRequirements(q->device, m->buffer, &needs);
    const uint32_t type = pick_type(q, needs.memoryTypeBits, host);
    if (type == UINT32_MAX) {
      ashlar_vulkan_drop_memory(q, m);
      return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0, "%s: the device has no memory of the kind",
                                 who);
    }
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = needs.size,
                                           .memoryTypeIndex = type};
    r = q->vk.AllocateMemory(q->device, &allocate, NULL, &m->memory);
    function = "vkAllocateMemory";
    if (r == VK_SUCCESS) r = q->vk.BindBufferMemory(q->device, m->buffer, m->memory, 0), function = "vkBindBufferMemory";
    const VkMemoryPropertyFlags kind = q->memory.memoryTypes[type].propertyFlags;
    const bool seen = (kind & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 && (kind & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    if (r == VK_SUCCESS && seen && (host || !q->staging))
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
