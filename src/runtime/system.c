/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The larger half of system.h: threads, processors, the clock, aligned memory. */
#define _GNU_SOURCE
#include "system.h"

#if defined(_WIN32)
#include <malloc.h>
#include <process.h>

static unsigned __stdcall thread_main(void* run) {
  ((void (*)(void))(uintptr_t)run)();
  return 0;
}

int32_t ashlar_start_threads(int32_t count, void (*run)(void), Thread* started) {
  for (int32_t k = 0; k < count; ++k) {
    started[k] = _beginthreadex(NULL, 0, thread_main, (void*)(uintptr_t)run, 0, NULL);
    if (started[k] == 0) return k;
    CloseHandle((HANDLE)started[k]); /* nobody waits for it */
  }
  return count;
}

int32_t ashlar_processors(int32_t most) {
  DWORD_PTR mine = 0, all = 0;
  int64_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all)) count = __builtin_popcountll((unsigned long long)mine);
  if (count == 0) count = (int64_t)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); /* in several groups the mask is 0 */
  return count > 0 && count <= most ? (int32_t)count : count > most ? most : 1;
}

int64_t ashlar_nanoseconds(void) {
  enum { kSecond = 1000000000 };
  LARGE_INTEGER ticks, second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&second);
  return ticks.QuadPart / second.QuadPart * kSecond + ticks.QuadPart % second.QuadPart * kSecond / second.QuadPart;
}

void* ashlar_aligned_take(size_t bytes, size_t align) { return _aligned_malloc(bytes, align); }
void ashlar_aligned_give(void* block) { _aligned_free(block); }

#else
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void* thread_main(void* run) {
  void (*body)(void) = NULL;
  *(void**)&body = run;
  body();
  return NULL;
}

int32_t ashlar_start_threads(int32_t count, void (*run)(void), Thread* started) {
  int32_t k = 0;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's own threads */
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (k < count && pthread_create(&started[k], &attributes, thread_main, *(void**)&run) == 0) ++k;
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return k;
}

int32_t ashlar_processors(int32_t most) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) < most ? CPU_COUNT(&set) : most;
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 && online <= most ? (int32_t)online : 1;
}

int64_t ashlar_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void* ashlar_aligned_take(size_t bytes, size_t align) {
  void* block = NULL;
  return posix_memalign(&block, align, bytes) == 0 ? block : NULL;
}
void ashlar_aligned_give(void* block) { free(block); }
#endif
