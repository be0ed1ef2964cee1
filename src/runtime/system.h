/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the runtime asks of the operating system: locks, threads, a clock, aligned memory, libraries that are opened while it
 * runs. POSIX, or Windows without a layer of POSIX between. A lock and a condition that these macros initialize need no call.
 *
 *   static Lock lock = LOCK;  static Condition changed = CONDITION;
 *   lock_take(&lock);  while (!ready) condition_wait(&changed, &lock);  lock_leave(&lock);
 */
#ifndef ASHLAR_RUNTIME_SYSTEM_H
#define ASHLAR_RUNTIME_SYSTEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK Lock;
typedef CONDITION_VARIABLE Condition;
typedef uintptr_t Thread;
#define LOCK SRWLOCK_INIT
#define CONDITION CONDITION_VARIABLE_INIT
static inline void lock_take(Lock* l) { AcquireSRWLockExclusive(l); }
static inline void lock_leave(Lock* l) { ReleaseSRWLockExclusive(l); }
static inline void condition_wait(Condition* c, Lock* held) { SleepConditionVariableSRW(c, held, INFINITE, 0); }
static inline void condition_wake_one(Condition* c) { WakeConditionVariable(c); }
static inline void* library_open(const char* name) { return (void*)LoadLibraryA(name); }
static inline void* library_function(void* library, const char* name) {
  void* function = NULL;
  *(FARPROC*)&function = GetProcAddress((HMODULE)library, name);
  return function;
}
#else
#include <dlfcn.h>
#include <pthread.h>
typedef pthread_mutex_t Lock;
typedef pthread_cond_t Condition;
typedef pthread_t Thread;
#define LOCK PTHREAD_MUTEX_INITIALIZER
#define CONDITION PTHREAD_COND_INITIALIZER
static inline void lock_take(Lock* l) { pthread_mutex_lock(l); }
static inline void lock_leave(Lock* l) { pthread_mutex_unlock(l); }
static inline void condition_wait(Condition* c, Lock* held) { pthread_cond_wait(c, held); }
static inline void condition_wake_one(Condition* c) { pthread_cond_signal(c); }
static inline void* library_open(const char* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static inline void* library_function(void* library, const char* name) { return dlsym(library, name); }
#endif

/* Starts up to `count` threads that nobody waits for and that take no signals. Returns how many there are. */
int32_t ashlar_start_threads(int32_t count, void (*run)(void), Thread* started);
int32_t ashlar_processors(int32_t most); /* on which this process may run; 1 where that is not known */
int64_t ashlar_nanoseconds(void);        /* of a clock that only goes forward */
void* ashlar_aligned_take(size_t bytes, size_t align);
void ashlar_aligned_give(void* block);

#endif
