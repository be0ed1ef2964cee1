/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the driver says: results by name, failures as errors. */
#include "queue.h"

const char* ashlar_vulkan_result(VkResult r) {
  switch (r) {
#define ASHLAR_VULKAN_NAME(name) \
  case name:                     \
    return #name;
    ASHLAR_VULKAN_NAME(VK_SUCCESS)
    ASHLAR_VULKAN_NAME(VK_NOT_READY)
    ASHLAR_VULKAN_NAME(VK_TIMEOUT)
    ASHLAR_VULKAN_NAME(VK_INCOMPLETE)
    ASHLAR_VULKAN_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    ASHLAR_VULKAN_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    ASHLAR_VULKAN_NAME(VK_ERROR_INITIALIZATION_FAILED)
    ASHLAR_VULKAN_NAME(VK_ERROR_DEVICE_LOST)
    ASHLAR_VULKAN_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    ASHLAR_VULKAN_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    ASHLAR_VULKAN_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    ASHLAR_VULKAN_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    ASHLAR_VULKAN_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    ASHLAR_VULKAN_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    ASHLAR_VULKAN_NAME(VK_ERROR_INVALID_SHADER_NV)
    ASHLAR_VULKAN_NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
#undef ASHLAR_VULKAN_NAME
    default:
      return "another VkResult";
  }
}

int ashlar_vulkan_failed(ashlar_vulkan_queue* q, ashlar_error* error, const char* who, const char* function, VkResult r) {
  if (r == VK_ERROR_DEVICE_LOST) *ashlar_device_touched() = true;
  if (q != NULL && r == VK_ERROR_DEVICE_LOST) q->lost = r;
  const bool memory = r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return ashlar_error_record(error, memory ? ASHLAR_E_MEMORY : ASHLAR_E_LAUNCH, -1, -1, VK_SUCCESS, r,
                             "%s: %s returned {found}, %s", who, function, ashlar_vulkan_result(r));
}
