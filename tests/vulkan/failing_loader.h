/* A Vulkan loader that passes every call on to the real one, fails where it is told to, and shows another device than there is:
 * other types of memory, limits, behaviors of floats, extensions. The runtime opens it through ASHLAR_VULKAN_LIBRARY; a test
 * opens the same file for what stands here. With LOADER_FAILS in the environment the first call of that function returns
 * LOADER_RESULT. Where there is no real loader, no instance can be created.
 *
 * Types of memory that are shown all lie in the one real type 0, which the host sees. */
#ifndef ASHLAR_TESTS_VULKAN_FAILING_LOADER_H
#define ASHLAR_TESTS_VULKAN_FAILING_LOADER_H
#include <stdint.h>

/* X(name, result, parameters) */
#define LOADER_FUNCTIONS(X)                                                                                             \
  X(loader_reset, void, (void))                                                                                         \
  X(loader_fail, void, (const char* function, int nth, int result)) /* its nth call from now on, 1 being the next */    \
  X(loader_room, void, (int blocks))           /* no memory while so many blocks are in use; 0: there is always room */ \
  X(loader_calls, int, (const char* function)) /* since the last reset */                                               \
  X(loader_memory, void, (const uint32_t* flags, const uint32_t* heaps, int count))                                     \
  X(loader_heap_is_full, void, (uint32_t heap)) /* allocations fail with VK_ERROR_OUT_OF_DEVICE_MEMORY */               \
  X(loader_allocations, int, (void))            /* that succeeded, since the last reset */                              \
  X(loader_allocation, uint32_t, (int n))       /* the type of memory that was shown */                                 \
  X(loader_blocks_in_use, int, (void))          /* of memory */                                                         \
  X(loader_device_type, void, (int))            /* VkPhysicalDeviceType */                                              \
  X(loader_limits, void, (uint32_t threads, uint32_t shared_bytes))                                                     \
  X(loader_floats, void, (int independence, int preserves64)) /* of denorms; whether they are preserved in f64 */       \
  X(loader_portable, void, (int))                             /* the device has VK_KHR_portability_subset */            \
  X(loader_instance_flags, uint32_t, (void))                  /* of the last vkCreateInstance */                        \
  X(loader_enables, int, (const char* extension))             /* whether the last instance or device enables it */      \
  X(loader_recordings, int, (void))                           /* command buffers that were begun and not ended */       \
  X(loader_words, const uint32_t*, (uint32_t* count))         /* of the last shader module */

#endif
