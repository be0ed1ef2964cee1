/* The loader of failing_loader.h: one function here for each that is watched, with the name of Vulkan's and a 'w' in front. */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan_core.h>

#include "tests/vulkan/failing_loader.h"

#define DECLARE(name, result, parameters) result name parameters;
LOADER_FUNCTIONS(DECLARE)
#undef DECLARE

/* What is watched, of the loader, the instance and the device alike. */
#define WATCHED(X)                                                                                                          \
  X(CreateInstance)                                                                                                         \
  X(GetInstanceProcAddr)                                                                                                    \
  X(GetDeviceProcAddr)                                                                                                      \
  X(CreateDevice) X(EnumerateDeviceExtensionProperties) X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceProperties) \
      X(GetPhysicalDeviceProperties2) X(GetBufferMemoryRequirements) X(AllocateMemory) X(FreeMemory) X(BeginCommandBuffer)  \
          X(EndCommandBuffer) X(CreateComputePipelines) X(CreateShaderModule) X(QueueSubmit)

enum { kMost = 256 };
static struct {
#define REAL(name) PFN_vk##name name;
  WATCHED(REAL)
#undef REAL
} real;
static struct {
  char function[64];
  int countdown, result;
  struct {
    char name[64];
    int times;
  } calls[32];
  uint32_t flags[8], heaps[8], full; /* full: a bit a heap */
  int types, device_type, independence, preserves64;
  uint32_t threads, shared_bytes, instance_flags;
  bool portable;
  uint32_t allocated[kMost];
  int allocations, blocks, room;
  VkCommandBuffer recording[64];
  char enabled[1024];
  uint32_t words[1 << 15], word_count;
} s;

/* Counts the call; VK_SUCCESS, or what it must return. */
static VkResult called(const char* name) {
  int k = 0;
  while (k < 31 && s.calls[k].name[0] != '\0' && strcmp(s.calls[k].name, name) != 0) ++k;
  strncpy(s.calls[k].name, name, sizeof s.calls[k].name - 1), ++s.calls[k].times;
  if (s.countdown == 0 || strcmp(name, s.function) != 0 || --s.countdown > 0) return VK_SUCCESS;
  return (VkResult)s.result;
}

/* ---- what tests say ---------------------------------------------------------------------------------------------------- */
void loader_reset(void) {
  const int blocks = s.blocks;
  memset(&s, 0, sizeof s);
  s.blocks = blocks, s.device_type = s.independence = s.preserves64 = -1;
}
__attribute__((constructor)) static void begin(void) {
  loader_reset();
  const char *function = getenv("LOADER_FAILS"), *result = getenv("LOADER_RESULT");
  if (function != NULL && result != NULL) loader_fail(function, 1, atoi(result));
}
void loader_fail(const char* function, int nth, int result) {
  strncpy(s.function, function, sizeof s.function - 1), s.countdown = nth, s.result = result;
}
void loader_room(int blocks) { s.room = blocks; }
int loader_calls(const char* function) {
  for (int k = 0; k < 32; ++k)
    if (strcmp(s.calls[k].name, function) == 0) return s.calls[k].times;
  return 0;
}
void loader_memory(const uint32_t* flags, const uint32_t* heaps, int count) {
  s.types = count;
  for (int k = 0; k < count; ++k) s.flags[k] = flags[k], s.heaps[k] = heaps[k];
}
void loader_heap_is_full(uint32_t heap) { s.full |= UINT32_C(1) << heap; }
int loader_allocations(void) { return s.allocations; }
uint32_t loader_allocation(int n) { return s.allocated[n]; }
int loader_blocks_in_use(void) { return s.blocks; }
void loader_device_type(int type) { s.device_type = type; }
void loader_limits(uint32_t threads, uint32_t shared_bytes) { s.threads = threads, s.shared_bytes = shared_bytes; }
void loader_floats(int independence, int preserves64) { s.independence = independence, s.preserves64 = preserves64; }
void loader_portable(int yes) { s.portable = yes != 0; }
uint32_t loader_instance_flags(void) { return s.instance_flags; }
int loader_enables(const char* extension) { return strstr(s.enabled, extension) != NULL; }
int loader_recordings(void) {
  int n = 0;
  for (int k = 0; k < 64; ++k) n += s.recording[k] != NULL;
  return n;
}
const uint32_t* loader_words(uint32_t* count) {
  *count = s.word_count;
  return s.words;
}

/* ---- Vulkan's ---------------------------------------------------------------------------------------------------------- */
static void enable(const char* const* names, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    strncat(s.enabled, names[k], sizeof s.enabled - strlen(s.enabled) - 2);
    strcat(s.enabled, " ");
  }
}
static VkResult VKAPI_PTR wCreateInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* a, VkInstance* made) {
  const VkResult told = called("vkCreateInstance");
  if (told != VK_SUCCESS) return told;
  if (real.CreateInstance == NULL) return VK_ERROR_INITIALIZATION_FAILED;
  s.instance_flags = info->flags;
  enable(info->ppEnabledExtensionNames, info->enabledExtensionCount);
  return real.CreateInstance(info, a, made);
}
static VkResult VKAPI_PTR wEnumerateDeviceExtensionProperties(VkPhysicalDevice d, const char* layer, uint32_t* count,
                                                              VkExtensionProperties* all) {
  const uint32_t room = *count;
  const VkResult r = real.EnumerateDeviceExtensionProperties(d, layer, count, all);
  if (!s.portable || r < VK_SUCCESS) return r;
  if (all != NULL && *count < room) {
    memset(&all[*count], 0, sizeof *all);
    strcpy(all[*count].extensionName, "VK_KHR_portability_subset");
  }
  ++*count;
  return r;
}
static VkResult VKAPI_PTR wCreateDevice(VkPhysicalDevice d, const VkDeviceCreateInfo* info, const VkAllocationCallbacks* a,
                                        VkDevice* made) {
  const VkResult told = called("vkCreateDevice");
  if (told != VK_SUCCESS) return told;
  enable(info->ppEnabledExtensionNames, info->enabledExtensionCount);
  VkDeviceCreateInfo has = *info; /* the real device lacks what is shown */
  has.enabledExtensionCount = 0;
  return real.CreateDevice(d, &has, a, made);
}
static void VKAPI_PTR wGetPhysicalDeviceMemoryProperties(VkPhysicalDevice d, VkPhysicalDeviceMemoryProperties* p) {
  real.GetPhysicalDeviceMemoryProperties(d, p);
  if (s.types == 0) return;
  p->memoryTypeCount = (uint32_t)s.types;
  for (int k = 0; k < s.types; ++k) p->memoryTypes[k].propertyFlags = s.flags[k], p->memoryTypes[k].heapIndex = s.heaps[k];
}
static void show(VkPhysicalDeviceProperties* p) {
  if (s.device_type >= 0) p->deviceType = (VkPhysicalDeviceType)s.device_type;
  if (s.threads == 0) return;
  p->limits.maxComputeWorkGroupInvocations = p->limits.maxComputeWorkGroupSize[0] = s.threads;
  p->limits.maxComputeSharedMemorySize = s.shared_bytes;
}
static void VKAPI_PTR wGetPhysicalDeviceProperties(VkPhysicalDevice d, VkPhysicalDeviceProperties* p) {
  real.GetPhysicalDeviceProperties(d, p);
  show(p);
}
static void VKAPI_PTR wGetPhysicalDeviceProperties2(VkPhysicalDevice d, VkPhysicalDeviceProperties2* p) {
  real.GetPhysicalDeviceProperties2(d, p);
  show(&p->properties);
  for (VkBaseOutStructure* next = p->pNext; next != NULL; next = next->pNext) {
    if (next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES || s.independence < 0) continue;
    VkPhysicalDeviceFloatControlsProperties* f = (VkPhysicalDeviceFloatControlsProperties*)next;
    f->denormBehaviorIndependence = (VkShaderFloatControlsIndependence)s.independence;
    f->shaderDenormPreserveFloat32 = VK_TRUE, f->shaderDenormPreserveFloat64 = (VkBool32)s.preserves64;
  }
}
static void VKAPI_PTR wGetBufferMemoryRequirements(VkDevice d, VkBuffer b, VkMemoryRequirements* needs) {
  real.GetBufferMemoryRequirements(d, b, needs);
  if (s.types > 0) needs->memoryTypeBits = (UINT32_C(1) << s.types) - 1;
}
static VkResult VKAPI_PTR wAllocateMemory(VkDevice d, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* a,
                                          VkDeviceMemory* made) {
  const VkResult told = called("vkAllocateMemory");
  if (told != VK_SUCCESS) return told;
  if (s.room > 0 && s.blocks >= s.room) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (s.types > 0 && (s.full >> s.heaps[info->memoryTypeIndex] & 1) != 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkMemoryAllocateInfo in_real = *info;
  if (s.types > 0) in_real.memoryTypeIndex = 0;
  const VkResult r = real.AllocateMemory(d, &in_real, a, made);
  if (r == VK_SUCCESS && s.allocations < kMost) s.allocated[s.allocations++] = info->memoryTypeIndex;
  s.blocks += r == VK_SUCCESS;
  return r;
}
static void VKAPI_PTR wFreeMemory(VkDevice d, VkDeviceMemory m, const VkAllocationCallbacks* a) {
  s.blocks -= m != VK_NULL_HANDLE;
  real.FreeMemory(d, m, a);
}
static VkResult VKAPI_PTR wBeginCommandBuffer(VkCommandBuffer c, const VkCommandBufferBeginInfo* info) {
  const VkResult told = called("vkBeginCommandBuffer");
  if (told != VK_SUCCESS) return told;
  for (int k = 0; k < 64; ++k)
    if (s.recording[k] == NULL) {
      s.recording[k] = c;
      break;
    }
  return real.BeginCommandBuffer(c, info);
}
static VkResult VKAPI_PTR wEndCommandBuffer(VkCommandBuffer c) {
  for (int k = 0; k < 64; ++k)
    if (s.recording[k] == c) s.recording[k] = NULL;
  const VkResult told = called("vkEndCommandBuffer"), r = real.EndCommandBuffer(c);
  return told != VK_SUCCESS ? told : r;
}
static VkResult VKAPI_PTR wCreateComputePipelines(VkDevice d, VkPipelineCache cache, uint32_t n,
                                                  const VkComputePipelineCreateInfo* info, const VkAllocationCallbacks* a,
                                                  VkPipeline* made) {
  const VkResult told = called("vkCreateComputePipelines");
  return told != VK_SUCCESS ? told : real.CreateComputePipelines(d, cache, n, info, a, made);
}
static VkResult VKAPI_PTR wCreateShaderModule(VkDevice d, const VkShaderModuleCreateInfo* info, const VkAllocationCallbacks* a,
                                              VkShaderModule* made) {
  const VkResult told = called("vkCreateShaderModule");
  if (told != VK_SUCCESS) return told;
  s.word_count = (uint32_t)(info->codeSize / 4);
  if (info->codeSize <= sizeof s.words) memcpy(s.words, info->pCode, info->codeSize);
  return real.CreateShaderModule(d, info, a, made);
}
static VkResult VKAPI_PTR wQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo* info, VkFence fence) {
  const VkResult told = called("vkQueueSubmit");
  return told != VK_SUCCESS ? told : real.QueueSubmit(q, n, info, fence);
}

static PFN_vkVoidFunction VKAPI_PTR wGetInstanceProcAddr(VkInstance instance, const char* name);
static PFN_vkVoidFunction VKAPI_PTR wGetDeviceProcAddr(VkDevice device, const char* name);

/* The function here in the place of a real one, which is kept. */
static PFN_vkVoidFunction watch(const char* name, PFN_vkVoidFunction f) {
  if (f == NULL) return NULL;
#define WATCH(function)                     \
  if (strcmp(name, "vk" #function) == 0) {  \
    real.function = (PFN_vk##function)f;    \
    return (PFN_vkVoidFunction)w##function; \
  }
  WATCHED(WATCH)
#undef WATCH
  return f;
}
static PFN_vkVoidFunction VKAPI_PTR wGetDeviceProcAddr(VkDevice device, const char* name) {
  return watch(name, real.GetDeviceProcAddr(device, name));
}
static PFN_vkVoidFunction VKAPI_PTR wGetInstanceProcAddr(VkInstance instance, const char* name) {
  static PFN_vkGetInstanceProcAddr get;
  if (get == NULL) {
    void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) *(void**)&get = dlsym(library, "vkGetInstanceProcAddr");
    if (get == NULL) return strcmp(name, "vkCreateInstance") == 0 ? (PFN_vkVoidFunction)wCreateInstance : NULL;
  }
  return watch(name, get(instance, name));
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char* name);
PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char* name) { return wGetInstanceProcAddr(instance, name); }
