/* A stand-in for libcuda.so.1 that runs no kernel: it records every call, checks that each is one that a driver would take, and
 * fails where it is told to. The runtime opens it through ASHLAR_CUDA_LIBRARY; a test opens the same file for what stands here.
 *
 * What is wrong with a call (a handle that is not one, a stream of another context, parameters that are not those of the entry,
 * a block of another size than the entry's) is kept as a complaint, in words, and the call fails with CUDA_ERROR_INVALID_VALUE.
 *
 * Three environment variables name an entry whose launch fails as kernels on hardware do: STANDIN_HANGS never returns,
 * STANDIN_CRASHES ends the process, and after STANDIN_LOSES every call returns CUDA_ERROR_ILLEGAL_ADDRESS.
 */
#ifndef ASHLAR_TESTS_CUDA_STANDIN_H
#define ASHLAR_TESTS_CUDA_STANDIN_H
#include <stdint.h>

typedef struct StandinLaunch {
  char entry[64];
  uint32_t grid[3], threads, shared_bytes, parameter_count;
  void* stream;
  uint64_t parameters[64]; /* the first 8 bytes of each */
  uint32_t sizes[64];      /* of each, as the entry declares them */
  uint64_t maps[4]
               [16]; /* parameters of 128 bytes: address, type, extents, stride, box, swizzle; two dimensions, fastest first */
  uint32_t map_count;
  uint32_t cluster[3]; /* of cuLaunchKernelEx; 0: not told */
  int programmatic;
  int from_ptx; /* the module was PTX, else machine code, whose parameters are taken to have 8 bytes */
} StandinLaunch;

/* X(name, result, parameters) */
#define STANDIN_FUNCTIONS(X)                                                                                               \
  X(standin_reset, void, (void))        /* forgets calls, complaints and failures to come; one device of capability 9.0 */ \
  X(standin_calls, const char*, (void)) /* the names since the last reset, a space behind each */                          \
  X(standin_complaints, const char*, (void))                                                                               \
  X(standin_fail, void, (const char* function, int nth, int result))      /* its nth call from now on, 1 being the next */ \
  X(standin_fail_also, void, (const char* function, int nth, int result)) /* a second failure to come */                   \
  X(standin_lose, void, (int result))                                     /* every call from now on that could fail */     \
  X(standin_attribute, void, (int attribute, int value))                                                                   \
  X(standin_devices, void, (int count))                                                                                    \
  X(standin_takes_cubin, void, (int yes)) /* else machine code is CUDA_ERROR_NO_BINARY_FOR_GPU */                          \
  X(standin_new_context, void*, (int device))                                                                              \
  X(standin_destroy_context, void, (void*))                                                                                \
  X(standin_set_current, void, (void*))                                                                                    \
  X(standin_current, void*, (void))                                                                                        \
  X(standin_new_stream, void*, (void* context))                                                                            \
  X(standin_launches, int, (void))                                                                                         \
  X(standin_launch, const StandinLaunch*, (int))                                                                           \
  X(standin_blocks_in_use, int, (void)) /* of device memory, pools' too */                                                 \
  X(standin_forget_blocks, void, (void))                                                                                   \
  X(standin_pool_threshold, uint64_t, (void)) /* of the last pool; 0: none was made */                                     \
  X(standin_capture, void, (void* stream))    /* from now on; what allocates, loads or waits then fails with 900 */        \
  X(standin_end_capture, void*, (void))       /* the graph */                                                              \
  X(standin_destroy_graph, void, (void*))     /* and all that was instantiated from it */                                  \
  X(standin_jit_log, void, (const char* error, const char* info)) /* what the assembler of PTX says from now on */         \
  X(standin_jit_lines, int, (void))                               /* whether the last module was loaded with line tables */

#endif
