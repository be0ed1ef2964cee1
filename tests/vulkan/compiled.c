/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a Vulkan driver makes of a module of shaders: a compute pipeline for each entry point, with the driver's statistics and
 * its machine code (VK_KHR_pipeline_executable_properties). Nothing is submitted, so a driver that can compile without a device
 * will do, as Mesa's RADV with RADV_FORCE_FAMILY.
 *
 *   RADV_FORCE_FAMILY=navi21 VK_DRIVER_FILES=radeon_icd.x86_64.json vulkan_compiled kernel.spv
 *
 * prints, for each entry point,
 *
 *   entry matmul
 *   statistic VGPRs 88
 *   …
 *   code
 *     v_fma_f32 v1, v2, v3, v1
 *   end
 *
 * after a line with the device. Returns 77 where there is no such driver. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

enum { kSkipped = 77, kPushBytes = 128, kOpEntryPoint = 15 };

#define FUNCTIONS(F)                    \
  F(EnumeratePhysicalDevices)           \
  F(GetPhysicalDeviceFeatures2)         \
  F(GetPhysicalDeviceProperties)        \
  F(GetPhysicalDeviceProperties2)       \
  F(EnumerateDeviceExtensionProperties) \
  F(CreateDevice)                       \
  F(CreateShaderModule)                 \
  F(CreatePipelineLayout)               \
  F(CreateComputePipelines)             \
  F(GetPipelineExecutablePropertiesKHR) \
  F(GetPipelineExecutableStatisticsKHR) \
  F(GetPipelineExecutableInternalRepresentationsKHR)
#define DECLARE(name) static PFN_vk##name name;
FUNCTIONS(DECLARE)

static PFN_vkGetInstanceProcAddr get;

static int absent(const char* why) {
  fprintf(stderr, "%s\n", why);
  return kSkipped;
}
static void check(VkResult r, const char* what) {
  if (r == VK_SUCCESS) return;
  fprintf(stderr, "%s returned %d\n", what, (int)r);
  exit(1);
}
static void* held(size_t count, size_t bytes) {
  void* p = calloc(count > 0 ? count : 1, bytes);
  if (p != NULL) return p;
  fprintf(stderr, "no memory\n");
  exit(1);
}

static uint32_t* read_words(const char* path, size_t* count) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  const long bytes = ftell(file);
  rewind(file);
  *count = bytes < 0 ? 0 : (size_t)bytes / 4;
  uint32_t* words = held(*count, 4);
  if (*count < 5 || fread(words, 4, *count, file) != *count || words[0] != 0x07230203) {
    fprintf(stderr, "%s is no module of SPIR-V\n", path);
    exit(1);
  }
  fclose(file);
  return words;
}

static void print_executables(VkDevice device, VkPipeline pipeline) {
  const VkPipelineInfoKHR of = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = pipeline};
  uint32_t executables = 0;
  check(GetPipelineExecutablePropertiesKHR(device, &of, &executables, NULL), "vkGetPipelineExecutablePropertiesKHR");
  for (uint32_t n = 0; n < executables; ++n) {
    const VkPipelineExecutableInfoKHR which = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline, .executableIndex = n};
    uint32_t count = 0;
    check(GetPipelineExecutableStatisticsKHR(device, &which, &count, NULL), "vkGetPipelineExecutableStatisticsKHR");
    VkPipelineExecutableStatisticKHR* statistics = held(count, sizeof *statistics);
    for (uint32_t k = 0; k < count; ++k) statistics[k].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    check(GetPipelineExecutableStatisticsKHR(device, &which, &count, statistics), "vkGetPipelineExecutableStatisticsKHR");
    for (uint32_t k = 0; k < count; ++k)
      if (statistics[k].format != VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR)
        printf("statistic %s %" PRIu64 "\n", statistics[k].name, statistics[k].value.u64);
    free(statistics);
    check(GetPipelineExecutableInternalRepresentationsKHR(device, &which, &count, NULL),
          "vkGetPipelineExecutableInternalRepresentationsKHR");
    VkPipelineExecutableInternalRepresentationKHR* forms = held(count, sizeof *forms);
    for (uint32_t k = 0; k < count; ++k) forms[k].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    for (int filled = 0; filled < 2; ++filled) { /* sizes, then texts */
      check(GetPipelineExecutableInternalRepresentationsKHR(device, &which, &count, forms),
            "vkGetPipelineExecutableInternalRepresentationsKHR");
      for (uint32_t k = 0; !filled && k < count; ++k) forms[k].pData = held(forms[k].dataSize + 1, 1);
    }
    for (uint32_t k = 0; k < count; ++k) { /* the last one is the machine's */
      if (k + 1 == count && forms[k].isText) printf("code\n%s\nend\n", (const char*)forms[k].pData);
      free(forms[k].pData);
    }
    free(forms);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: vulkan_compiled FILE.spv [SUBGROUP]\n");
    return 2;
  }
  void* library = dlopen("libvulkan.so.1", RTLD_NOW);
  if (library == NULL) return absent("libvulkan.so.1 is not here");
  *(void**)&get = dlsym(library, "vkGetInstanceProcAddr");
  const PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VkInstance instance = NULL;
  if (create == NULL || create(&info, NULL, &instance) != VK_SUCCESS) return absent("no Vulkan driver is here");
#define LOAD(name) name = (PFN_vk##name)get(instance, "vk" #name);
  FUNCTIONS(LOAD)
  VkPhysicalDevice physical = NULL;
  uint32_t count = 1;
  const VkResult found = EnumeratePhysicalDevices(instance, &count, &physical);
  if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || count == 0) return absent("the driver shows no device");
  VkPhysicalDeviceProperties properties;
  GetPhysicalDeviceProperties(physical, &properties);

  const char* const extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  uint32_t extensions = 0;
  EnumerateDeviceExtensionProperties(physical, NULL, &extensions, NULL);
  VkExtensionProperties* all = held(extensions, sizeof *all);
  EnumerateDeviceExtensionProperties(physical, NULL, &extensions, all);
  bool tells = false;
  for (uint32_t k = 0; k < extensions; ++k) tells = tells || strcmp(all[k].extensionName, extension) == 0;
  free(all);
  if (!tells || properties.apiVersion < VK_API_VERSION_1_3) return absent("the driver does not tell what it compiles to");

  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
  VkPhysicalDeviceVulkan13Features v13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, .pNext = &executable};
  VkPhysicalDeviceVulkan12Features v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &v13};
  VkPhysicalDeviceVulkan11Features v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11};
  GetPhysicalDeviceFeatures2(physical, &features);
  features.features.robustBufferAccess = VK_FALSE;
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  const VkDeviceCreateInfo with = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &features,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queue,
                                   .enabledExtensionCount = 1,
                                   .ppEnabledExtensionNames = &extension};
  VkDevice device = NULL;
  check(CreateDevice(physical, &with, NULL, &device), "vkCreateDevice");
  VkPhysicalDeviceVulkan12Properties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceProperties2 more = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
  GetPhysicalDeviceProperties2(physical, &more);
  printf("device %s, %s\n", properties.deviceName, driver.driverInfo);

  size_t words = 0;
  uint32_t* module_words = read_words(argv[1], &words);
  const VkShaderModuleCreateInfo code = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = 4 * words, .pCode = module_words};
  VkShaderModule module;
  check(CreateShaderModule(device, &code, NULL, &module), "vkCreateShaderModule");
  const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = kPushBytes};
  const VkPipelineLayoutCreateInfo parameters = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .pushConstantRangeCount = 1, .pPushConstantRanges = &range};
  VkPipelineLayout layout;
  check(CreatePipelineLayout(device, &parameters, NULL, &layout), "vkCreatePipelineLayout");
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0};
  for (size_t at = 5; at < words && module_words[at] >> 16 != 0; at += module_words[at] >> 16) {
    if ((module_words[at] & 0xFFFF) != kOpEntryPoint) continue;
    const char* name = (const char*)(module_words + at + 3);
    const VkComputePipelineCreateInfo what = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = argc > 2 ? &size : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = name},
        .layout = layout};
    VkPipeline pipeline;
    check(CreateComputePipelines(device, VK_NULL_HANDLE, 1, &what, NULL, &pipeline), "vkCreateComputePipelines");
    printf("entry %s\n", name);
    print_executables(device, pipeline);
  }
  free(module_words);
  fflush(stdout);
  _Exit(ferror(stdout) ? 1 : 0); /* the driver has no device to take down */
}
