/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles of kernels that were made with --profile: times, calls and bytes of their stages, as a trace that Perfetto opens
 * (docs/profiling.md).
 *
 *   ashlar_profile_start();
 *   matmul(&A, &B, &C);
 *   if (ashlar_profile_write("trace.json") != ASHLAR_OK) ...       // the message is that of ashlar_last_error()
 *
 * With ASHLAR_PROFILE=trace.json in the environment, a program does this without a call: it records from the first call on and
 * writes the file when it exits. */
#ifndef ASHLAR_RUNTIME_PROFILE_H
#define ASHLAR_RUNTIME_PROFILE_H
#include <ashlar/runtime/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records from now on. */
ASHLAR_API void ashlar_profile_start(void);
/* Writes the records of all threads and then forgets them; recording goes on. Returns ASHLAR_E_LAUNCH, and keeps the records,
 * if the file cannot be written. Do not call it while a kernel runs. */
ASHLAR_CHECKED ASHLAR_API int ashlar_profile_write(const char* path);

/* ---- what generated code calls -------------------------------------------------------------------------------------- */

enum {
  ASHLAR_ABI1_SITE_CALL = 0,   /* a call of the kernel */
  ASHLAR_ABI1_SITE_STAGE = 1,  /* a stage that stands in no loop */
  ASHLAR_ABI1_SITE_WORKER = 2, /* what one thread does of a parallel loop */
  ASHLAR_ABI1_SITE_INSIDE = 3  /* a stage that is computed in a loop of another: all its runs there are one event */
};

typedef struct ashlar_abi1_site {
  const char* name;   /* of the stage */
  const char* kernel; /* the function */
  const char* line;   /* "blur.cpp:12", of the definition; "": none */
  const char* loop;   /* of the step that made the loop */
  int32_t kind, reserved;
} ashlar_abi1_site;

/* Around what is measured, on one thread. Leaving a site leaves what is open inside of it. */
ASHLAR_API void ashlar_abi1_profile_enter(const ashlar_abi1_site*);
ASHLAR_API void ashlar_abi1_profile_leave(const ashlar_abi1_site*, int64_t bytes_read, int64_t bytes_written);

#ifdef __cplusplus
}
#endif
#endif
