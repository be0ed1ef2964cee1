/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libvulkan, instances, devices; what a device can do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

static int out_of_memory(ashlar_error* error, size_t bytes) {
  return ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0, "vulkan: no host memory for {expected} bytes");
}

/* ---- the driver's functions ---------------------------------------------------------------------------------------- */

/* Under which names systems have a Vulkan loader, the first that is there; NULL ends. */
#if defined(__APPLE__) /* MoltenVK is a driver that can stand for a loader */
static const char* const kLoaders[] = {"libvulkan.dylib", "libvulkan.1.dylib", "libMoltenVK.dylib", NULL};
#elif defined(_WIN32)
static const char* const kLoaders[] = {"vulkan-1.dll", NULL};
#elif defined(__ANDROID__)
static const char* const kLoaders[] = {"libvulkan.so", NULL};
#else
static const char* const kLoaders[] = {"libvulkan.so.1", "libvulkan.so", NULL};
#endif

/* The loader's one entry. The library stays open for the life of the process: drivers start threads of their own. */
static int open_library(PFN_vkGetInstanceProcAddr* get, ashlar_error* error) {
  const char* const wanted[] = {getenv("ASHLAR_VULKAN_LIBRARY"), NULL};
  const char* const* names = wanted[0] != NULL ? wanted : kLoaders;
  void* library = NULL;
  char tried[128] = "";
  const char* name = names[0];
  for (size_t k = 0; library == NULL && names[k] != NULL; ++k) {
    name = names[k];
    library = library_open(name);
    const size_t used = strlen(tried);
    if (wanted[0] == NULL) (void)snprintf(tried + used, sizeof tried - used, "%s%s", used > 0 ? ", " : "", name);
  }
  if (library == NULL)
    return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 0, 0, "vulkan: %s cannot be opened: no Vulkan loader is here",
                               wanted[0] != NULL ? wanted[0] : tried);
  *(void**)get = library_function(library, "vkGetInstanceProcAddr");
  if (*get == NULL)
    return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 0, 0, "vulkan: %s has no vkGetInstanceProcAddr", name);
  return ASHLAR_OK;
}

static int missing(ashlar_error* error, const char* name) {
  return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 0, 0, "vulkan: the driver has no %s, which Vulkan 1.2 demands",
                             name);
}

static int instance_functions(ashlar_vulkan_queue* q, ashlar_error* error) {
#define ASHLAR_VULKAN_GET(name)                                    \
  q->vk.name = (PFN_vk##name)q->get_proc(q->instance, "vk" #name); \
  if (q->vk.name == NULL) return missing(error, "vk" #name);
  ASHLAR_VULKAN_OF_INSTANCE(ASHLAR_VULKAN_GET)
#undef ASHLAR_VULKAN_GET
  return ASHLAR_OK;
}

static int device_functions(ashlar_vulkan_queue* q, ashlar_error* error) {
#define ASHLAR_VULKAN_GET(name)                                              \
  q->vk.name = (PFN_vk##name)q->vk.GetDeviceProcAddr(q->device, "vk" #name); \
  if (q->vk.name == NULL) return missing(error, "vk" #name);
  ASHLAR_VULKAN_OF_DEVICE(ASHLAR_VULKAN_GET)
#undef ASHLAR_VULKAN_GET
  return ASHLAR_OK;
}

/* ---- what a device can do ------------------------------------------------------------------------------------------ */

typedef struct Features { /* a chain: all of the device's, then those that are switched on */
  VkPhysicalDeviceFeatures2 base;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
  VkPhysicalDeviceSubgroupSizeControlFeatures sizes; /* from here on of Vulkan 1.3 */
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot;
} Features;

static void chain(Features* f, bool later) {
  memset(f, 0, sizeof *f);
  f->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  f->sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
  f->base.pNext = &f->v11;
  f->v11.pNext = &f->v12;
  f->dot.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
  f->v12.pNext = later ? &f->sizes : NULL;
  f->sizes.pNext = &f->dot;
}

static bool is_1_3(const ashlar_vulkan_queue* q) { return q->properties.apiVersion >= VK_API_VERSION_1_3; }

static uint32_t feature_bits(const Features* f) {
  return (f->v12.shaderInt8 ? ASHLAR_VULKAN_INT8 : 0u) | (f->base.features.shaderInt16 ? ASHLAR_VULKAN_INT16 : 0u) |
         (f->base.features.shaderInt64 ? ASHLAR_VULKAN_INT64 : 0u) |
         (f->base.features.shaderFloat64 ? ASHLAR_VULKAN_FLOAT64 : 0u) |
         (f->v12.storageBuffer8BitAccess ? ASHLAR_VULKAN_STORAGE8 : 0u) |
         (f->v11.storageBuffer16BitAccess ? ASHLAR_VULKAN_STORAGE16 : 0u) |
         (f->v12.bufferDeviceAddress ? ASHLAR_VULKAN_ADDRESSES : 0u) |
         (f->v12.vulkanMemoryModel && f->v12.vulkanMemoryModelDeviceScope ? ASHLAR_VULKAN_MEMORY_MODEL : 0u) |
         (f->v12.shaderFloat16 ? ASHLAR_VULKAN_FLOAT16 : 0u) | (f->dot.shaderIntegerDotProduct ? ASHLAR_VULKAN_DOT8 : 0u);
}

static void read_properties(ashlar_vulkan_queue* q) {
  q->vk.GetPhysicalDeviceProperties(q->physical, &q->properties);
  VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties groups = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
                                               .pNext = is_1_3(q) ? &sizes : NULL};
  q->floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  q->floats.pNext = &groups;
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &q->floats};
  q->vk.GetPhysicalDeviceProperties2(q->physical, &all);
  q->floats.pNext = NULL;
  q->subgroup = q->subgroup_least = q->subgroup_most = groups.subgroupSize;
  if (is_1_3(q) && (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0)
    q->subgroup_least = sizes.minSubgroupSize, q->subgroup_most = sizes.maxSubgroupSize;
  if ((groups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
    if ((groups.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0) q->features |= ASHLAR_VULKAN_SHUFFLE;
    if ((groups.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT) != 0)
      q->features |= ASHLAR_VULKAN_SHUFFLE_RELATIVE;
  }
  q->vk.GetPhysicalDeviceMemoryProperties(q->physical, &q->memory);
}

static int check_version(const ashlar_vulkan_queue* q, ashlar_error* error) {
  if (q->properties.apiVersion >= VK_API_VERSION_1_2) return ASHLAR_OK;
  return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, VK_API_VERSION_1_2, q->properties.apiVersion,
                             "vulkan: %s has Vulkan %u.%u, expected 1.2", q->properties.deviceName,
                             VK_API_VERSION_MAJOR(q->properties.apiVersion), VK_API_VERSION_MINOR(q->properties.apiVersion));
}

/* ---- a device of the runtime's own --------------------------------------------------------------------------------- */

/* What the caller of `count` must do twice: how many there are, then those. NULL where there is no memory or the driver fails.
 */
static VkExtensionProperties* instance_extensions(ashlar_vulkan_queue* q, uint32_t* count) {
  const PFN_vkEnumerateInstanceExtensionProperties list =
      (PFN_vkEnumerateInstanceExtensionProperties)q->get_proc(NULL, "vkEnumerateInstanceExtensionProperties");
  *count = 0;
  if (list == NULL || list(NULL, count, NULL) != VK_SUCCESS || *count == 0) return NULL;
  VkExtensionProperties* all = calloc(*count, sizeof *all);
  if (all != NULL && list(NULL, count, all) >= VK_SUCCESS) return all; /* VK_INCOMPLETE: one more came in between */
  free(all);
  *count = 0;
  return NULL;
}

static VkExtensionProperties* device_extensions(ashlar_vulkan_queue* q, uint32_t* count) {
  *count = 0;
  if (q->vk.EnumerateDeviceExtensionProperties(q->physical, NULL, count, NULL) != VK_SUCCESS || *count == 0) return NULL;
  VkExtensionProperties* all = calloc(*count, sizeof *all);
  if (all != NULL && q->vk.EnumerateDeviceExtensionProperties(q->physical, NULL, count, all) >= VK_SUCCESS) return all;
  free(all);
  *count = 0;
  return NULL;
}

/* Whether an extension is among those, which are freed. */
static bool among(VkExtensionProperties* all, uint32_t count, const char* name) {
  bool found = false;
  for (uint32_t k = 0; k < count; ++k) found = found || strcmp(all[k].extensionName, name) == 0;
  free(all);
  return found;
}

static int own_instance(ashlar_vulkan_queue* q, ashlar_error* error) {
  const PFN_vkCreateInstance create = (PFN_vkCreateInstance)q->get_proc(NULL, "vkCreateInstance");
  if (create == NULL) return missing(error, "vkCreateInstance");
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pEngineName = "ashlar", .apiVersion = VK_API_VERSION_1_3};
  /* Drivers that lack a part of Vulkan, such as MoltenVK, are shown to those who ask for them. */
  static const char* const kPortable[] = {"VK_KHR_portability_enumeration"};
  uint32_t count = 0;
  VkExtensionProperties* all = instance_extensions(q, &count);
  const bool portable = among(all, count, kPortable[0]);
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .flags = portable ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
                                     .pApplicationInfo = &application,
                                     .enabledExtensionCount = portable ? 1 : 0,
                                     .ppEnabledExtensionNames = kPortable};
  const VkResult r = create(&info, NULL, &q->instance);
  if (r == VK_ERROR_INCOMPATIBLE_DRIVER) /* the loader has nothing to load */
    return ashlar_error_record(
        error, ASHLAR_E_DEVICE, -1, -1, VK_SUCCESS, r,
        "vulkan: vkCreateInstance returned {found}, VK_ERROR_INCOMPATIBLE_DRIVER: no Vulkan driver is here");
  return r == VK_SUCCESS ? ASHLAR_OK : ashlar_vulkan_failed(NULL, error, "vulkan", "vkCreateInstance", r);
}

/* The first family that computes; UINT32_MAX where there is none. */
static uint32_t compute_family(ashlar_vulkan_queue* q, VkPhysicalDevice device) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16;
  q->vk.GetPhysicalDeviceQueueFamilyProperties(device, &count, families);
  for (uint32_t k = 0; k < count; ++k)
    if (families[k].queueCount > 0 && (families[k].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) return k;
  return UINT32_MAX;
}

static int rank_of(VkPhysicalDeviceType t) {
  return t == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 4
         : t == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 3
         : t == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU    ? 2
                                                       : 1;
}

static int pick_device(ashlar_vulkan_queue* q, ashlar_error* error) {
  VkPhysicalDevice devices[16];
  uint32_t count = 16;
  const VkResult r = q->vk.EnumeratePhysicalDevices(q->instance, &count, devices);
  if (r != VK_SUCCESS && r != VK_INCOMPLETE)
    return ashlar_vulkan_failed(NULL, error, "vulkan", "vkEnumeratePhysicalDevices", r);
  const char* wanted = getenv("ASHLAR_VULKAN_DEVICE");
  const long number = wanted != NULL ? strtol(wanted, NULL, 10) : -1;
  int best = 0;
  for (uint32_t k = 0; k < count; ++k) {
    VkPhysicalDeviceProperties p;
    q->vk.GetPhysicalDeviceProperties(devices[k], &p);
    const uint32_t family = compute_family(q, devices[k]);
    const int rank = number >= 0 ? number == (long)k : rank_of(p.deviceType);
    if (family == UINT32_MAX || rank <= best) continue;
    best = rank, q->physical = devices[k], q->family = family;
  }
  if (best > 0) return ASHLAR_OK;
  return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 1, count,
                             number >= 0 ? "vulkan: ASHLAR_VULKAN_DEVICE names a device that is not among the %u there are"
                                         : "vulkan: none of the %u devices there are can compute",
                             count);
}

static int own_device(ashlar_vulkan_queue* q, ashlar_error* error) {
  q->own_device = true;
  int rc = own_instance(q, error);
  if (rc == ASHLAR_OK) rc = instance_functions(q, error);
  if (rc == ASHLAR_OK) rc = pick_device(q, error);
  if (rc != ASHLAR_OK) return rc;
  read_properties(q);
  rc = check_version(q, error);
  if (rc != ASHLAR_OK) return rc;
  Features has, on;
  chain(&has, is_1_3(q));
  q->vk.GetPhysicalDeviceFeatures2(q->physical, &has.base);
  chain(&on, is_1_3(q));
  on.base.features.shaderInt16 = has.base.features.shaderInt16;
  on.base.features.shaderInt64 = has.base.features.shaderInt64;
  on.base.features.shaderFloat64 = has.base.features.shaderFloat64;
  on.v11.storageBuffer16BitAccess = has.v11.storageBuffer16BitAccess;
  on.v12.shaderInt8 = has.v12.shaderInt8;
  on.v12.storageBuffer8BitAccess = has.v12.storageBuffer8BitAccess;
  on.v12.bufferDeviceAddress = has.v12.bufferDeviceAddress;
  on.v12.shaderFloat16 = has.v12.shaderFloat16;
  on.dot.shaderIntegerDotProduct = has.dot.shaderIntegerDotProduct;
  /* With the first alone, atomic operations on a buffer would not be allowed, which are of the device's scope. */
  on.v12.vulkanMemoryModel = on.v12.vulkanMemoryModelDeviceScope =
      has.v12.vulkanMemoryModel && has.v12.vulkanMemoryModelDeviceScope;
  on.sizes.subgroupSizeControl = has.sizes.subgroupSizeControl;
  on.sizes.computeFullSubgroups = has.sizes.computeFullSubgroups;
  q->sizes_subgroups = on.sizes.subgroupSizeControl, q->full_subgroups = on.sizes.computeFullSubgroups;
  q->features |= feature_bits(&on);
  if (!ashlar_vulkan_keeps_halves(&q->floats)) q->features &= ~(uint32_t)ASHLAR_VULKAN_FLOAT16;
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueFamilyIndex = q->family,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  static const char* const kSubset[] = {"VK_KHR_portability_subset"}; /* must be enabled where a device has it */
  uint32_t count = 0;
  VkExtensionProperties* all = device_extensions(q, &count);
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &on.base,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queue,
                                   .enabledExtensionCount = among(all, count, kSubset[0]) ? 1 : 0,
                                   .ppEnabledExtensionNames = kSubset};
  const VkResult r = q->vk.CreateDevice(q->physical, &info, NULL, &q->device);
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(NULL, error, "vulkan", "vkCreateDevice", r);
  rc = device_functions(q, error);
  if (rc == ASHLAR_OK) q->vk.GetDeviceQueue(q->device, q->family, 0, &q->queue);
  return rc;
}

static int given_device(ashlar_vulkan_queue* q, const ashlar_vulkan_given* given, ashlar_error* error) {
  if (given->size < sizeof *given)
    return ashlar_error_record(error, ASHLAR_E_ABI, -1, -1, (int64_t)sizeof *given, given->size,
                               "vulkan: the size of the ashlar_vulkan_given is {found}, expected at least {expected}");
  const void* const handles[] = {given->instance, given->physical_device, given->device, given->queue};
  static const char* const names[] = {"instance", "physical_device", "device", "queue"};
  for (size_t k = 0; k < 4; ++k)
    if (handles[k] == NULL)
      return ashlar_error_record(error, ASHLAR_E_NULL, -1, -1, 1, 0, "vulkan: the %s that was given is NULL", names[k]);
  q->instance = (VkInstance)given->instance, q->physical = (VkPhysicalDevice)given->physical_device;
  q->device = (VkDevice)given->device, q->queue = (VkQueue)given->queue, q->family = given->queue_family;
  int rc = instance_functions(q, error);
  if (rc == ASHLAR_OK) rc = device_functions(q, error);
  if (rc != ASHLAR_OK) return rc;
  read_properties(q);
  q->features |= given->features & ~(uint32_t)(ASHLAR_VULKAN_FMA32 | ASHLAR_VULKAN_FMA64 | ASHLAR_VULKAN_SHUFFLE |
                                               ASHLAR_VULKAN_SHUFFLE_RELATIVE);
  return check_version(q, error);
}

static int check_needed(const ashlar_vulkan_queue* q, ashlar_error* error) {
  if ((q->features & ASHLAR_VULKAN_ADDRESSES) != 0) return ASHLAR_OK;
  return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, 1, 0,
                             "vulkan: %s lacks bufferDeviceAddress, by which kernels reach memory", q->properties.deviceName);
}

int ashlar_vulkan_open(const ashlar_vulkan_given* given, ashlar_vulkan_queue** result, ashlar_error* error) {
  ashlar_error ignored;
  if (error == NULL) error = &ignored;
  *result = NULL;
  ashlar_vulkan_queue* q = calloc(1, sizeof *q);
  if (q == NULL) return out_of_memory(error, sizeof *q);
  q->lock = (Lock)LOCK;
  q->staging = getenv("ASHLAR_VULKAN_STAGING") != NULL;
  int rc = ASHLAR_OK;
  if (given != NULL && given->size >= sizeof *given && given->get_instance_proc_addr != NULL)
    *(void**)&q->get_proc = given->get_instance_proc_addr;
  else
    rc = open_library(&q->get_proc, error);
  if (rc == ASHLAR_OK) rc = given != NULL ? given_device(q, given, error) : own_device(q, error);
  if (rc == ASHLAR_OK) rc = check_needed(q, error);
  if (rc == ASHLAR_OK) {
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT | VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = q->family};
    const VkResult r = q->vk.CreateCommandPool(q->device, &info, NULL, &q->pool);
    if (r != VK_SUCCESS) rc = ashlar_vulkan_failed(q, error, "vulkan", "vkCreateCommandPool", r);
  }
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_make_pipelines(q, error);
  if (rc != ASHLAR_OK) {
    ashlar_vulkan_close(q);
    return rc;
  }
  *result = q;
  return ASHLAR_OK;
}

void ashlar_vulkan_close(ashlar_vulkan_queue* q) {
  if (q == NULL) return;
  if (q->device != VK_NULL_HANDLE && q->vk.CmdCopyBuffer != NULL) { /* all of the device's functions are there */
    ashlar_error ignored; /* nobody is left to be told; the fences below are waited for or the device is lost */
    if (q->submissions != NULL) (void)ashlar_vulkan_wait_all(q, &ignored, "vulkan");
    ashlar_vulkan_drop_submissions(q);
    for (int n = 0; n < kSlots; ++n)
      ashlar_vulkan_drop_memory(q, &q->up.slots[n]), ashlar_vulkan_drop_memory(q, &q->down.slots[n]);
    ashlar_vulkan_drop_pipelines(q);
    if (q->pool != VK_NULL_HANDLE) q->vk.DestroyCommandPool(q->device, q->pool, NULL);
    if (q->own_device) q->vk.DestroyDevice(q->device, NULL);
  }
  if (q->own_device && q->instance != VK_NULL_HANDLE && q->vk.DestroyInstance != NULL) q->vk.DestroyInstance(q->instance, NULL);
  free(q);
}

static Lock default_lock = LOCK;
static ashlar_vulkan_queue* default_queue; /* never closed: kernels may run until the process ends */

int ashlar_vulkan_default(ashlar_vulkan_queue** q, ashlar_error* error) {
  lock_take(&default_lock);
  const int rc = default_queue != NULL ? ASHLAR_OK : ashlar_vulkan_open(NULL, &default_queue, error);
  *q = default_queue;
  lock_leave(&default_lock);
  return rc;
}

uint32_t ashlar_vulkan_features(const ashlar_vulkan_queue* given) {
  ashlar_vulkan_queue* q = (ashlar_vulkan_queue*)given; /* the probe is done once, and only adds what is so */
  ashlar_error ignored;                                 /* where it fails the two bits stay unset */
  lock_take(&q->lock);
  (void)ashlar_vulkan_probe(q, &ignored);
  const uint32_t features = q->features;
  lock_leave(&q->lock);
  return features;
}
const char* ashlar_vulkan_device_name(const ashlar_vulkan_queue* q) { return q->properties.deviceName; }
uint32_t ashlar_vulkan_subgroup(const ashlar_vulkan_queue* q) { return q->subgroup; }
