/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Vulkan: devices, memory and what compiled kernels call. Needs no Vulkan header: handles travel as void* and uint64_t.
 *
 *   ashlar_vulkan_queue* queue;
 *   if (ashlar_vulkan_open(NULL, &queue, &error) != ASHLAR_OK) …       the best device there is; or one that the caller made
 *   ashlar_vulkan_buffer* x;
 *   if (ashlar_vulkan_alloc(queue, bytes, &x, &error) != ASHLAR_OK) …
 *   if (ashlar_vulkan_upload(x, 0, host, bytes, &error) != ASHLAR_OK) …
 *   ashlar_tensor tx = {x, 7, 0, 2, 2, 32, 1, shape, NULL, 0};         data: the ashlar_vulkan_buffer
 *   ashlar_context context = {sizeof context};  context.stream = queue;
 *   if (f_with(&tx, …, &context) != ASHLAR_OK) …                       recorded and submitted; returns at once
 *   if (ashlar_vulkan_wait(queue, &error) != ASHLAR_OK) …              done, or what became of it
 *
 * The simple entry f(&tx, …) takes the queue of its tensors' buffers, and waits. libvulkan is opened when the first queue is:
 * where it is missing, or there is no device, that is an error like others. Every failure is a code; what the driver said (a
 * VkResult) is in `found`. Invariant: one queue is used by one thread at a time, and is told so by the caller.
 */
#ifndef ASHLAR_RUNTIME_VULKAN_H
#define ASHLAR_RUNTIME_VULKAN_H
#include <ashlar/runtime/desc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel may ask of a device; 64-bit integers and buffer device addresses are asked of all. */
enum {
  ASHLAR_VULKAN_INT8 = 1,               /* shaderInt8 */
  ASHLAR_VULKAN_INT16 = 2,              /* shaderInt16 */
  ASHLAR_VULKAN_INT64 = 4,              /* shaderInt64 */
  ASHLAR_VULKAN_FLOAT64 = 8,            /* shaderFloat64 */
  ASHLAR_VULKAN_STORAGE8 = 16,          /* storageBuffer8BitAccess */
  ASHLAR_VULKAN_STORAGE16 = 32,         /* storageBuffer16BitAccess */
  ASHLAR_VULKAN_ADDRESSES = 64,         /* bufferDeviceAddress */
  ASHLAR_VULKAN_SHUFFLE = 128,          /* subgroups: shuffle */
  ASHLAR_VULKAN_SHUFFLE_RELATIVE = 256, /* subgroups: shuffle up and down */
  ASHLAR_VULKAN_FMA32 = 512,            /* Fma of f32 rounds once; found by running it */
  ASHLAR_VULKAN_FMA64 = 1024            /* the same of f64 */
};

typedef struct ashlar_vulkan_queue ashlar_vulkan_queue;

/* What the `data` of a tensor of device type 7 points to. Made by ashlar_vulkan_alloc; or by the caller around memory of the
 * same device: then address and bytes say all, and the rest is zero. */
typedef struct ashlar_vulkan_buffer {
  uint64_t address, bytes;    /* vkGetBufferDeviceAddress */
  ashlar_vulkan_queue* queue; /* NULL: the caller's own memory */
  uint64_t buffer, memory;    /* VkBuffer, VkDeviceMemory */
  void* mapped;               /* NULL where the host cannot see the memory */
} ashlar_vulkan_buffer;

/* A device of the caller's. Vulkan does not tell which features a device was created with: the caller does. */
typedef struct ashlar_vulkan_given {
  uint32_t size; /* sizeof(ashlar_vulkan_given) */
  uint32_t queue_family;
  void* get_instance_proc_addr; /* PFN_vkGetInstanceProcAddr; NULL: libvulkan's */
  void *instance, *physical_device, *device, *queue;
  uint32_t features; /* ASHLAR_VULKAN_…, as enabled */
  uint32_t reserved;
} ashlar_vulkan_given;

/* given NULL: a device of the runtime's own: the first discrete GPU, else integrated, else any that can compute;
 * ASHLAR_VULKAN_DEVICE=N in the environment picks the Nth that the driver lists. */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_open(const ashlar_vulkan_given*, ashlar_vulkan_queue**, ashlar_error*);
/* Waits, then gives everything back but buffers, which must be gone; a device of the caller's stays. */
ASHLAR_API void ashlar_vulkan_close(ashlar_vulkan_queue*);
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_wait(ashlar_vulkan_queue*, ashlar_error*);
ASHLAR_API uint32_t ashlar_vulkan_features(const ashlar_vulkan_queue*);
ASHLAR_API const char* ashlar_vulkan_device_name(const ashlar_vulkan_queue*);
ASHLAR_API uint32_t ashlar_vulkan_subgroup(const ashlar_vulkan_queue*); /* lanes */

/* Memory that kernels read and write; aligned to 256 bytes. Upload and download wait for the queue before they copy. */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_alloc(ashlar_vulkan_queue*, uint64_t bytes, ashlar_vulkan_buffer**, ashlar_error*);
ASHLAR_API void ashlar_vulkan_free(ashlar_vulkan_buffer*); /* NULL: nothing. The caller has waited */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_upload(ashlar_vulkan_buffer* to, uint64_t offset, const void* from, uint64_t bytes,
                                                   ashlar_error*);
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_download(ashlar_vulkan_buffer* from, uint64_t offset, void* to, uint64_t bytes,
                                                     ashlar_error*);

/* What the driver made of shaders, to be kept between runs. With data NULL, *bytes becomes the size; otherwise it is the room
 * and then what was written. Load takes what save gave, before the first call; a driver ignores what another one wrote. */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_cache_save(ashlar_vulkan_queue*, void* data, size_t* bytes, ashlar_error*);
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_cache_load(ashlar_vulkan_queue*, const void* data, size_t bytes, ashlar_error*);

/* ---- the closed list: what generated code calls ------------------------------------------------------------------- */

enum { ASHLAR_VULKAN_PARAMETERS_IN_MEMORY = 1, ASHLAR_VULKAN_USES_SUBGROUPS = 2 }; /* launch.flags */

typedef struct ashlar_abi1_vulkan_launch {
  const char* entry;        /* the entry point */
  uint32_t threads;         /* of a block */
  uint32_t subgroup;        /* lanes of a warp, with USES_SUBGROUPS */
  uint32_t shared_bytes;    /* of a block */
  uint32_t parameter_bytes; /* passed to ashlar_abi1_vulkan_launch */
  uint32_t flags, reserved;
} ashlar_abi1_vulkan_launch;

/* A module in two forms: words[0] asks that Fma of f32 rounds once (FMA32 in features[0]); words[1] computes it in f64 and is
 * taken where the device does not; it is NULL in modules without such an operation. */
typedef struct ashlar_abi1_vulkan_module {
  uint32_t abi, size; /* 1, sizeof(ashlar_abi1_vulkan_module) */
  const char* name;   /* of the kernel, for sentences */
  const uint32_t* words[2];
  uint64_t word_count[2], hash[2];
  uint32_t features[2];
  uint32_t launch_count, reserved;
  const ashlar_abi1_vulkan_launch* launches;
} ashlar_abi1_vulkan_module;

/* A call: begin, any number of launches, end; all of them recorded in one command buffer that end submits. begin finds the
 * queue (ctx->stream, else that of the first buffer among `buffers`, else the runtime's own), checks the device against the
 * module, and gives `workspace_bytes` of device memory (0: none) whose address is stored in *workspace: the context's workspace
 * is an ashlar_vulkan_buffer. Grids are checked against the device's limits; along x they may exceed them. After a failure, end
 * must still be called; it returns the first code. With a queue in ctx->stream end does not wait. */
typedef struct ashlar_abi1_vulkan_call ashlar_abi1_vulkan_call;
ASHLAR_API int ashlar_abi1_vulkan_begin(const ashlar_abi1_vulkan_module*, const ashlar_context*, uint64_t workspace_bytes,
                                        uint64_t workspace_align, ashlar_abi1_vulkan_call**, uint64_t* workspace);
ASHLAR_API int ashlar_abi1_vulkan_run(ashlar_abi1_vulkan_call*, uint32_t launch, const int64_t grid[3], const void* parameters);
ASHLAR_API int ashlar_abi1_vulkan_end(ashlar_abi1_vulkan_call*);
/* Waits for the queue (NULL: for nothing); the sentence is about the function `who`. */
ASHLAR_API int ashlar_abi1_vulkan_settle(void* queue, ashlar_error*, const char* who);

#ifdef __cplusplus
}
#endif
#endif
