/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the Vulkan runtime share: the queue with all that hangs on it, and the driver's functions.
 *
 *   driver.c      what a VkResult means
 *   memory.c      memory that shaders reach by address
 *   submission.c  command buffers: taken, submitted, waited for; the workspace that their calls share
 *   pipeline.c    modules and pipelines, made once a queue; the pipeline cache
 *   record.c      a call under construction
 *   probe.c       whether Fma rounds once
 *   buffers.c     buffers of the caller's, upload, download
 *   open.c        libvulkan, instances, devices, features; closing
 *   entries.c     what generated code calls: begin, run, end
 *
 * Each file uses those above it alone (the test runtime_vulkan_order reads that off the objects).
 *
 * Invariant: queue->lock is held from begin to end of a call, and inside every other function that touches the queue. */
#ifndef ASHLAR_RUNTIME_VULKAN_INTERNAL_H
#define ASHLAR_RUNTIME_VULKAN_INTERNAL_H
#include <ashlar/runtime/vulkan.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "../internal.h"
#include "../system.h"

/* The functions of the driver that are used. */
#define ASHLAR_VULKAN_OF_INSTANCE(X)        \
  X(DestroyInstance)                        \
  X(EnumeratePhysicalDevices)               \
  X(EnumerateDeviceExtensionProperties)     \
  X(GetPhysicalDeviceProperties)            \
  X(GetPhysicalDeviceProperties2)           \
  X(GetPhysicalDeviceFeatures2)             \
  X(GetPhysicalDeviceMemoryProperties)      \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(CreateDevice)                           \
  X(GetDeviceProcAddr)
#define ASHLAR_VULKAN_OF_DEVICE(X) \
  X(DestroyDevice)                 \
  X(DeviceWaitIdle)                \
  X(GetDeviceQueue)                \
  X(QueueSubmit)                   \
  X(CreateCommandPool)             \
  X(DestroyCommandPool)            \
  X(AllocateCommandBuffers)        \
  X(BeginCommandBuffer)            \
  X(EndCommandBuffer)              \
  X(CreateFence)                   \
  X(DestroyFence)                  \
  X(GetFenceStatus)                \
  X(ResetFences)                   \
  X(WaitForFences)                 \
  X(CreateBuffer)                  \
  X(DestroyBuffer)                 \
  X(GetBufferMemoryRequirements)   \
  X(GetBufferDeviceAddress)        \
  X(AllocateMemory)                \
  X(FreeMemory)                    \
  X(BindBufferMemory)              \
  X(MapMemory)                     \
  X(CreateShaderModule)            \
  X(DestroyShaderModule)           \
  X(CreatePipelineCache)           \
  X(DestroyPipelineCache)          \
  X(GetPipelineCacheData)          \
  X(MergePipelineCaches)           \
  X(CreatePipelineLayout)          \
  X(DestroyPipelineLayout)         \
  X(CreateComputePipelines)        \
  X(DestroyPipeline)               \
  X(CmdBindPipeline)               \
  X(CmdPushConstants)              \
  X(CmdDispatch)                   \
  X(CmdPipelineBarrier)            \
  X(CmdCopyBuffer)

typedef struct Driver {
#define ASHLAR_VULKAN_DECLARE(name) PFN_vk##name name;
  ASHLAR_VULKAN_OF_INSTANCE(ASHLAR_VULKAN_DECLARE)
  ASHLAR_VULKAN_OF_DEVICE(ASHLAR_VULKAN_DECLARE)
#undef ASHLAR_VULKAN_DECLARE
} Driver;

typedef struct Loaded { /* a module that this queue has seen */
  struct Loaded* next;
  uint64_t hash, word_count;
  VkShaderModule module;
  uint32_t count;
  VkPipeline pipelines[]; /* one a launch, made when it first runs */
} Loaded;

typedef enum MemoryUse {                     /* what a buffer of the runtime's own is for */
                         kMemoryOfKernels,   /* kernels read and write it; the host may see it */
                         kMemoryOfUploads,   /* the host writes, the device copies */
                         kMemoryOfDownloads, /* the device copies into it, the host reads */
                         kMemoryOfBoth       /* small things that both sides read and write */
} MemoryUse;

typedef struct Memory { /* a buffer of the runtime's own */
  VkBuffer buffer;
  VkDeviceMemory memory;
  uint64_t bytes, address;
  void* mapped;
  bool cached; /* for the host */
} Memory;

struct ashlar_abi1_vulkan_call {
  ashlar_vulkan_queue* queue;
  const ashlar_abi1_vulkan_module* module;
  struct Submission* submission;
  Loaded* loaded;
  ashlar_error* error;
  int code; /* of the first failure */
  bool wait, prepare;
};

/* A command buffer, and what its execution needs. Used again when its fence has been seen. */
typedef struct Submission {
  struct Submission* next;
  VkCommandBuffer commands;
  VkFence fence;
  bool pending;
  uint64_t number; /* of its latest submit; they are executed in this order */
  Memory parameters;
  uint64_t parameters_used;
  struct ashlar_abi1_vulkan_call call;
} Submission;

typedef struct Retired { /* memory that goes once the submissions up to `number` have ended */
  struct Retired* next;
  Memory memory;
  uint64_t number;
} Retired;

enum { kSlots = 4, kSlotBytes = 4 << 20 };

typedef struct Stage { /* pieces of a copy between host and device, one behind the other */
  Memory slots[kSlots];
  uint64_t numbers[kSlots]; /* of the submission that used each last; 0: none */
} Stage;

struct ashlar_vulkan_queue {
  VkDevice device; /* first: call.c compares devices by it */
  Driver vk;
  PFN_vkGetInstanceProcAddr get_proc;
  VkInstance instance;
  VkPhysicalDevice physical;
  VkQueue queue;
  uint32_t family;
  bool own_device, sizes_subgroups, full_subgroups, staging, probed;
  uint32_t features; /* FMA bits once probed */
  VkPhysicalDeviceProperties properties;
  VkPhysicalDeviceMemoryProperties memory;
  VkPhysicalDeviceFloatControlsProperties floats;
  uint32_t subgroup, subgroup_least, subgroup_most;
  VkResult lost; /* what the driver said when it gave the device up; VK_SUCCESS until then */
  VkCommandPool pool;
  VkPipelineCache cache;
  VkPipelineLayout layout;
  Loaded* modules;
  Submission* submissions;
  uint64_t submitted; /* the number of the last one */
  Memory workspace;   /* of all calls without one of their own: each begins with a barrier behind the one before */
  Retired* retired;
  Stage up, down;
  Lock lock;
};

enum { kPushBytes = 128, kFirstParameter = 8 };

const char* ashlar_vulkan_result(VkResult); /* "VK_ERROR_DEVICE_LOST" */
/* Records what the driver said and returns the code; a lost device is remembered. `who` names the kernel, or is "vulkan". */
int ashlar_vulkan_failed(ashlar_vulkan_queue*, ashlar_error*, const char* who, const char* function, VkResult);

int ashlar_vulkan_make_memory(ashlar_vulkan_queue*, ashlar_error*, const char* who, uint64_t bytes, MemoryUse, Memory*);
void ashlar_vulkan_drop_memory(ashlar_vulkan_queue*, Memory*);

int ashlar_vulkan_take_submission(ashlar_vulkan_queue*, ashlar_error*, const char* who, Submission**); /* recording has begun */
int ashlar_vulkan_submit(ashlar_vulkan_queue*, ashlar_error*, const char* who, Submission*, bool wait);
void ashlar_vulkan_abandon(ashlar_vulkan_queue*, Submission*);
void ashlar_vulkan_barrier(ashlar_vulkan_queue*, VkCommandBuffer, bool to_host);
int ashlar_vulkan_wait_all(ashlar_vulkan_queue*, ashlar_error*, const char* who);
int ashlar_vulkan_wait_for(ashlar_vulkan_queue*, ashlar_error*, const char* who, uint64_t number);
int ashlar_vulkan_workspace(ashlar_vulkan_queue*, ashlar_error*, const char* who, uint64_t bytes, uint64_t* address);
void ashlar_vulkan_drop_submissions(ashlar_vulkan_queue*);

int ashlar_vulkan_make_pipelines(ashlar_vulkan_queue*, ashlar_error*); /* cache and layout */
void ashlar_vulkan_drop_pipelines(ashlar_vulkan_queue*);
/* Whether the device computes with f16 as code for it does: subnormal numbers stay, and results are rounded to nearest even. */
bool ashlar_vulkan_keeps_halves(const VkPhysicalDeviceFloatControlsProperties*);
int ashlar_vulkan_load(ashlar_vulkan_queue*, ashlar_error*, const ashlar_abi1_vulkan_module*, int variant, Loaded**);
int ashlar_vulkan_pipeline(ashlar_vulkan_queue*, ashlar_error*, const ashlar_abi1_vulkan_module*, Loaded*, uint32_t launch,
                           VkPipeline*);

/* begin with the lock held, for one form of the module; run. */
int ashlar_vulkan_start(ashlar_vulkan_queue*, const ashlar_abi1_vulkan_module*, int variant, ashlar_error*, bool wait,
                        ashlar_abi1_vulkan_call**);
int ashlar_vulkan_record(ashlar_abi1_vulkan_call*, uint32_t launch, const int64_t grid[3], const void* parameters);

int ashlar_vulkan_probe(ashlar_vulkan_queue*, ashlar_error*); /* with the lock held */

int ashlar_vulkan_default(ashlar_vulkan_queue**, ashlar_error*); /* the runtime's own, opened at the first call */

#endif
