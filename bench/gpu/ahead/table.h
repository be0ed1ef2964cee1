// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What pack.py links to the program of a target: the functions of its cases, and case_file.h's text of them.
#include <ashlar/runtime/desc.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ahead_function {
  const char* symbol;
  const ashlar_abi1_desc* desc;
} ahead_function;

typedef struct ahead_kernel { /* of libashlar_gpu.so; the last one has no name */
  const char *name, *target;
  const ashlar_abi1_desc* desc;
} ahead_kernel;
extern const ahead_kernel ahead_kernels[];

extern const char ahead_target[];
extern const int ahead_device_type; /* 2 CUDA, 7 Vulkan */
extern const int ahead_function_count;
extern const ahead_function ahead_functions[];
extern const char ahead_cases[], ahead_cases_end[];

#ifdef __cplusplus
}
#endif
