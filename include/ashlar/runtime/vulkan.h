/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Vulkan: devices, memory, and the functions that compiled kernels call. Needs no Vulkan header: handles are void* and
 * uint64_t.
 *
 *   ashlar_vulkan_queue* queue;
 *   if (ashlar_vulkan_open(NULL, &queue, &error) != ASHLAR_OK) …       the best device, or one that the caller made
 *   ashlar_vulkan_buffer* x;
 *   if (ashlar_vulkan_alloc(queue, bytes, &x, &error) != ASHLAR_OK) …
 *   if (ashlar_vulkan_upload(x, 0, host, bytes, &error) != ASHLAR_OK) …
 *   ashlar_tensor tx = {x, 7, 0, 2, 2, 32, 1, shape, NULL, 0};         data: the ashlar_vulkan_buffer
 *   ashlar_context context = {sizeof context};  context.stream = queue;
 *   if (f_with(&tx, …, &context) != ASHLAR_OK) …                       records and submits; returns at once
 *   if (ashlar_vulkan_wait(queue, &error) != ASHLAR_OK) …              done, or the error
 *
 * The simple entry f(&tx, …) uses the queue of its tensors' buffers, and waits. Opening the first queue opens libvulkan; a
 * missing library or device is reported as an ordinary error. Every failure has a code; `found` holds the driver's VkResult.
 * Only one thread at a time may use a queue; the caller must ensure this.
 */
#ifndef ASHLAR_RUNTIME_VULKAN_H
#define ASHLAR_RUNTIME_VULKAN_H
#include <ashlar/runtime/desc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Features that a kernel may require of a device. Buffer device addresses are always required. */
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
  ASHLAR_VULKAN_FMA32 = 512,            /* Fma of f32 rounds once; found by a test run */
  ASHLAR_VULKAN_FMA64 = 1024,           /* the same for f64 */
  ASHLAR_VULKAN_MEMORY_MODEL = 2048,    /* vulkanMemoryModel and its DeviceScope: threads exchange values through buffers */
  ASHLAR_VULKAN_FLOAT16 = 4096,         /* shaderFloat16; keeps subnormal numbers, and rounds to nearest even */
  ASHLAR_VULKAN_DOT8 = 8192             /* shaderIntegerDotProduct, of Vulkan 1.3 */
};

typedef struct ashlar_vulkan_queue ashlar_vulkan_queue;

/* The `data` of a tensor of device type 7 points to one. ashlar_vulkan_alloc makes them. The caller may also make one around
 * its own memory on the same device, with address and bytes set and the rest zero. */
typedef struct ashlar_vulkan_buffer {
  uint64_t address, bytes;    /* vkGetBufferDeviceAddress */
  ashlar_vulkan_queue* queue; /* NULL: the caller's own memory */
  uint64_t buffer, memory;    /* VkBuffer, VkDeviceMemory */
  void* mapped;               /* NULL if the host cannot access the memory */
} ashlar_vulkan_buffer;

/* A device that the caller created. Vulkan cannot report which features a device was created with, so the caller states them.
 * */
typedef struct ashlar_vulkan_given {
  uint32_t size; /* sizeof(ashlar_vulkan_given) */
  uint32_t queue_family;
  void* get_instance_proc_addr; /* PFN_vkGetInstanceProcAddr; NULL: libvulkan's */
  void *instance, *physical_device, *device, *queue;
  uint32_t features; /* ASHLAR_VULKAN_…, as enabled */
  uint32_t reserved;
} ashlar_vulkan_given;

/* Opens a queue. With NULL the runtime creates the device: the first discrete GPU, otherwise an integrated one, otherwise any
 * that can compute. The environment variable ASHLAR_VULKAN_DEVICE=N selects the Nth in the driver's order. */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_open(const ashlar_vulkan_given*, ashlar_vulkan_queue**, ashlar_error*);
/* Waits, then releases everything except a device that the caller created. Free all buffers first. */
ASHLAR_API void ashlar_vulkan_close(ashlar_vulkan_queue*);
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_wait(ashlar_vulkan_queue*, ashlar_error*);
ASHLAR_API uint32_t ashlar_vulkan_features(const ashlar_vulkan_queue*);
ASHLAR_API const char* ashlar_vulkan_device_name(const ashlar_vulkan_queue*);
ASHLAR_API uint32_t ashlar_vulkan_subgroup(const ashlar_vulkan_queue*); /* lanes */

/* Memory for kernels, aligned to 256 bytes; from another heap if the device's own is full. Copies run after all earlier work of
 * the queue and before all later work. When upload returns, `from` may be changed even if the device is still copying; when
 * download returns, `to` is complete. */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_alloc(ashlar_vulkan_queue*, uint64_t bytes, ashlar_vulkan_buffer**, ashlar_error*);
ASHLAR_API void ashlar_vulkan_free(ashlar_vulkan_buffer*); /* NULL does nothing. Wait for the queue first */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_upload(ashlar_vulkan_buffer* to, uint64_t offset, const void* from, uint64_t bytes,
                                                   ashlar_error*);
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_download(ashlar_vulkan_buffer* from, uint64_t offset, void* to, uint64_t bytes,
                                                     ashlar_error*);

/* Save and load the driver's compiled shaders. With data NULL, save stores the size in *bytes; otherwise *bytes is the room on
 * entry and the number of bytes written on return. Call load before the first kernel. A driver ignores data of another driver.
 * */
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_cache_save(ashlar_vulkan_queue*, void* data, size_t* bytes, ashlar_error*);
ASHLAR_CHECKED ASHLAR_API int ashlar_vulkan_cache_load(ashlar_vulkan_queue*, const void* data, size_t bytes, ashlar_error*);

/* ---- the functions that generated code calls ---------------------------------------------------------------------- */

/* launch.flags. FOLDED: the second 32 bits of the push constants tell the shader where the blocks of a dispatch begin, in units
 * of 65535: along y in the high 16 bits, along z in the low ones. This lets a grid exceed the device's limits along y and z. */
enum { ASHLAR_VULKAN_PARAMETERS_IN_MEMORY = 1, ASHLAR_VULKAN_USES_SUBGROUPS = 2, ASHLAR_VULKAN_FOLDED = 4 };

typedef struct ashlar_abi1_vulkan_launch {
  const char* entry;        /* the entry point */
  uint32_t threads;         /* in a block */
  uint32_t subgroup;        /* lanes of a warp, with USES_SUBGROUPS */
  uint32_t shared_bytes;    /* for a block */
  uint32_t parameter_bytes; /* passed to ashlar_abi1_vulkan_launch */
  uint32_t flags, reserved;
} ashlar_abi1_vulkan_launch;

/* A module in two forms. words[0] requires that Fma of f32 rounds once (FMA32 in features[0]). words[1] computes it in f64, for
 * devices without that; it is NULL if the module has no such operation. */
typedef struct ashlar_abi1_vulkan_module {
  uint32_t abi, size; /* 1, sizeof(ashlar_abi1_vulkan_module) */
  const char* name;   /* of the kernel, for messages */
  const uint32_t* words[2];
  uint64_t word_count[2], hash[2];
  uint32_t features[2];
  uint32_t launch_count, reserved;
  const ashlar_abi1_vulkan_launch* launches;
} ashlar_abi1_vulkan_module;

/* A call consists of begin, any number of launches (run), and end. They are recorded in one command buffer, which end submits.
 * begin determines the queue (ctx->stream, otherwise the runtime's own), checks the device against the module, and allocates
 * `workspace_bytes` of device memory (0: none), whose address it stores in *workspace. The workspace of a context is an
 * ashlar_vulkan_buffer. Grids are checked against the device's limits, which they may exceed along x and, if the launch is
 * FOLDED, along y and z. If begin succeeds, end must be called, even after a failure of run; it returns the first error code.
 * With a queue in ctx->stream, end does not wait. */
typedef struct ashlar_abi1_vulkan_call ashlar_abi1_vulkan_call;
ASHLAR_API int ashlar_abi1_vulkan_begin(const ashlar_abi1_vulkan_module*, const ashlar_context*, uint64_t workspace_bytes,
                                        uint64_t workspace_align, ashlar_abi1_vulkan_call**, uint64_t* workspace);
ASHLAR_API int ashlar_abi1_vulkan_run(ashlar_abi1_vulkan_call*, uint32_t launch, const int64_t grid[3], const void* parameters);
ASHLAR_API int ashlar_abi1_vulkan_end(ashlar_abi1_vulkan_call*);
/* Waits for the queue (NULL: does nothing). The message names the function `who`. */
ASHLAR_API int ashlar_abi1_vulkan_settle(void* queue, ashlar_error*, const char* who);

#ifdef __cplusplus
}
#endif
#endif
