/* A Vulkan loader that is there and fails: vkCreateInstance returns VK_ERROR_INITIALIZATION_FAILED. */
#define VK_NO_PROTOTYPES
#include <string.h>

#include <vulkan/vulkan_core.h>

static VkResult fail(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* callbacks, VkInstance* instance) {
  (void)info, (void)callbacks, (void)instance;
  return VK_ERROR_INITIALIZATION_FAILED;
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char* name);
PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char* name) {
  return instance == NULL && strcmp(name, "vkCreateInstance") == 0 ? (PFN_vkVoidFunction)fail : NULL;
}
