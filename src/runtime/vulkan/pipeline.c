/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Modules and pipelines, made once for a queue and found by the hash of their words; the driver's cache of them. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

int ashlar_vulkan_make_pipelines(ashlar_vulkan_queue* q, ashlar_error* error) {
  const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  VkResult r = q->vk.CreatePipelineCache(q->device, &cache, NULL, &q->cache);
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, "vulkan", "vkCreatePipelineCache", r);
  const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .offset = 0, .size = kPushBytes};
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .pushConstantRangeCount = 1, .pPushConstantRanges = &range};
  r = q->vk.CreatePipelineLayout(q->device, &layout, NULL, &q->layout);
  return r == VK_SUCCESS ? ASHLAR_OK : ashlar_vulkan_failed(q, error, "vulkan", "vkCreatePipelineLayout", r);
}

void ashlar_vulkan_drop_pipelines(ashlar_vulkan_queue* q) {
  while (q->modules != NULL) {
    Loaded* m = q->modules;
    q->modules = m->next;
    for (uint32_t k = 0; k < m->count; ++k)
      if (m->pipelines[k] != VK_NULL_HANDLE) q->vk.DestroyPipeline(q->device, m->pipelines[k], NULL);
    q->vk.DestroyShaderModule(q->device, m->module, NULL);
    free(m);
  }
  if (q->layout != VK_NULL_HANDLE) q->vk.DestroyPipelineLayout(q->device, q->layout, NULL);
  if (q->cache != VK_NULL_HANDLE) q->vk.DestroyPipelineCache(q->device, q->cache, NULL);
}

/* ---- how floats behave --------------------------------------------------------------------------------------------- */

enum { kOpExecutionMode = 16, kOpCapability = 17 };
enum { kDenormPreserve = 4459, kSignedZeroInfNanPreserve = 4461, kRoundingModeRTE = 4462 }; /* modes */
enum { kCapabilityDenormPreserve = 4464, kCapabilitySignedZero = 4466, kCapabilityRTE = 4467 };

static bool offers(const VkPhysicalDeviceFloatControlsProperties* f, uint32_t mode, uint32_t bits) {
  switch (mode) {
    case kDenormPreserve:
      return bits == 64   ? f->shaderDenormPreserveFloat64
             : bits == 16 ? f->shaderDenormPreserveFloat16
                          : f->shaderDenormPreserveFloat32;
    case kSignedZeroInfNanPreserve:
      return bits == 64   ? f->shaderSignedZeroInfNanPreserveFloat64
             : bits == 16 ? f->shaderSignedZeroInfNanPreserveFloat16
                          : f->shaderSignedZeroInfNanPreserveFloat32;
    case kRoundingModeRTE:
      return bits == 64   ? f->shaderRoundingModeRTEFloat64
             : bits == 16 ? f->shaderRoundingModeRTEFloat16
                          : f->shaderRoundingModeRTEFloat32;
    default:
      return true;
  }
}

/* Whether a device that offers a behavior for one width takes it beside another one for the other width: some have one setting
 * for all of them (VkShaderFloatControlsIndependence). */
static bool independent(const VkPhysicalDeviceFloatControlsProperties* f, uint32_t mode) {
  return mode == kDenormPreserve    ? f->denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE
         : mode == kRoundingModeRTE ? f->roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE
                                    : true;
}

/* Whether a module may ask for the mode at this width, with what it asks at the other one. */
static bool keeps(const VkPhysicalDeviceFloatControlsProperties* f, const uint32_t* words, size_t count, uint32_t mode,
                  uint32_t bits) {
  if (!offers(f, mode, bits)) return false;
  if (independent(f, mode)) return true;
  for (size_t at = 5; at < count && words[at] >> 16 != 0; at += words[at] >> 16)
    if ((words[at] & 0xFFFF) == kOpExecutionMode && words[at] >> 16 == 4 && words[at + 2] == mode &&
        !offers(f, mode, words[at + 3]))
      return false;
  return true;
}

static bool keeps_any(const VkPhysicalDeviceFloatControlsProperties* f, const uint32_t* words, size_t count, uint32_t mode) {
  return keeps(f, words, count, mode, 16) || keeps(f, words, count, mode, 32) || keeps(f, words, count, mode, 64);
}

bool ashlar_vulkan_keeps_halves(const VkPhysicalDeviceFloatControlsProperties* f) {
  const uint32_t modes[] = {kDenormPreserve, kSignedZeroInfNanPreserve, kRoundingModeRTE};
  for (size_t k = 0; k < sizeof modes / sizeof *modes; ++k) /* f32 stands beside f16 in such a module */
    if (!offers(f, modes[k], 16) || (!independent(f, modes[k]) && !offers(f, modes[k], 32))) return false;
  return true;
}

/* A module asks for the behavior of floats that docs/codegen.md promises; what the device does not offer is left out. Returns
 * how many words remain. */
static size_t keep_what_is_offered(const VkPhysicalDeviceFloatControlsProperties* f, const uint32_t* words, size_t count,
                                   uint32_t* kept) {
  size_t n = 5;
  memcpy(kept, words, 5 * sizeof *words);
  for (size_t at = 5; at < count && words[at] >> 16 != 0; at += words[at] >> 16) {
    const uint32_t length = words[at] >> 16, op = words[at] & 0xFFFF;
    bool keep = true;
    if (op == kOpExecutionMode && length == 4) keep = keeps(f, words, count, words[at + 2], words[at + 3]);
    if (op == kOpCapability)
      keep = words[at + 1] == kCapabilityDenormPreserve ? keeps_any(f, words, count, kDenormPreserve)
             : words[at + 1] == kCapabilitySignedZero   ? keeps_any(f, words, count, kSignedZeroInfNanPreserve)
             : words[at + 1] == kCapabilityRTE          ? keeps_any(f, words, count, kRoundingModeRTE)
                                                        : true;
    if (!keep) continue;
    memcpy(kept + n, words + at, length * sizeof *words);
    n += length;
  }
  return n;
}

/* ---- modules and pipelines ----------------------------------------------------------------------------------------- */

int ashlar_vulkan_load(ashlar_vulkan_queue* q, ashlar_error* error, const ashlar_abi1_vulkan_module* m, int variant,
                       Loaded** result) {
  const uint64_t count = m->word_count[variant];
  for (Loaded* l = q->modules; l != NULL; l = l->next)
    if (l->hash == m->hash[variant] && l->word_count == count && l->count == m->launch_count) {
      *result = l;
      return ASHLAR_OK;
    }
  const size_t bytes = sizeof(Loaded) + m->launch_count * sizeof(VkPipeline);
  Loaded* l = calloc(1, bytes);
  uint32_t* words = malloc(count * sizeof *words);
  int rc = ASHLAR_OK;
  if (l == NULL || words == NULL) {
    rc = ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)(bytes + count * sizeof *words), 0,
                             "%s: no host memory for {expected} bytes", m->name);
  } else {
    const size_t kept = keep_what_is_offered(&q->floats, m->words[variant], (size_t)count, words);
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = kept * sizeof *words, .pCode = words};
    const VkResult r = q->vk.CreateShaderModule(q->device, &info, NULL, &l->module);
    if (r != VK_SUCCESS) rc = ashlar_vulkan_failed(q, error, m->name, "vkCreateShaderModule", r);
  }
  free(words);
  if (rc != ASHLAR_OK) {
    free(l);
    return rc;
  }
  l->hash = m->hash[variant], l->word_count = count, l->count = m->launch_count;
  l->next = q->modules;
  q->modules = *result = l;
  return ASHLAR_OK;
}

int ashlar_vulkan_pipeline(ashlar_vulkan_queue* q, ashlar_error* error, const ashlar_abi1_vulkan_module* m, Loaded* l,
                           uint32_t launch, VkPipeline* result) {
  *result = l->pipelines[launch];
  if (*result != VK_NULL_HANDLE) return ASHLAR_OK;
  const ashlar_abi1_vulkan_launch* what = &m->launches[launch];
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = what->subgroup};
  const bool groups = (what->flags & ASHLAR_VULKAN_USES_SUBGROUPS) != 0;
  const bool full = groups && q->full_subgroups && q->sizes_subgroups && what->threads % what->subgroup == 0;
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = groups && q->sizes_subgroups ? &size : NULL,
                .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = l->module,
                .pName = what->entry},
      .layout = q->layout};
  const VkResult r = q->vk.CreateComputePipelines(q->device, q->cache, 1, &info, NULL, result);
  if (r != VK_SUCCESS) return ashlar_vulkan_failed(q, error, m->name, "vkCreateComputePipelines", r);
  l->pipelines[launch] = *result;
  return ASHLAR_OK;
}

/* ---- the cache of the driver --------------------------------------------------------------------------------------- */

int ashlar_vulkan_cache_save(ashlar_vulkan_queue* q, void* data, size_t* bytes, ashlar_error* error) {
  ashlar_error ignored;
  if (error == NULL) error = &ignored;
  lock_take(&q->lock);
  const VkResult r = q->vk.GetPipelineCacheData(q->device, q->cache, bytes, data);
  const int rc = r == VK_SUCCESS      ? ASHLAR_OK
                 : r == VK_INCOMPLETE ? ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, 0, (int64_t)*bytes,
                                                            "vulkan: the pipeline cache does not fit in {found} bytes")
                                      : ashlar_vulkan_failed(q, error, "vulkan", "vkGetPipelineCacheData", r);
  lock_leave(&q->lock);
  return rc;
}

int ashlar_vulkan_cache_load(ashlar_vulkan_queue* q, const void* data, size_t bytes, ashlar_error* error) {
  ashlar_error ignored;
  if (error == NULL) error = &ignored;
  const VkPipelineCacheCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = bytes, .pInitialData = data};
  VkPipelineCache loaded = VK_NULL_HANDLE;
  lock_take(&q->lock);
  const char* function = "vkCreatePipelineCache";
  VkResult r = q->vk.CreatePipelineCache(q->device, &info, NULL, &loaded);
  if (r == VK_SUCCESS) {
    r = q->vk.MergePipelineCaches(q->device, q->cache, 1, &loaded), function = "vkMergePipelineCaches";
    q->vk.DestroyPipelineCache(q->device, loaded, NULL);
  }
  const int rc = r == VK_SUCCESS ? ASHLAR_OK : ashlar_vulkan_failed(q, error, "vulkan", function, r);
  lock_leave(&q->lock);
  return rc;
}
