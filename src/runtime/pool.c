/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The default pool: detached threads that pull bodies from one job.
 *
 * `work` holds the number of the next body and how many there are; a thread that moves `next` on by compare-and-swap owns that
 * body. The job's other fields are written only while no body is owned (all of the last job have been counted in `done`), so a
 * thread that owns a body may read them, however long it slept before. A second kernel that comes while the pool is busy, and a
 * parallel loop inside a body, run on their own thread: every body there is, in order.
 *
 * Waiting spins for a while, so that a loop of kernels forks and joins in microseconds, and then sleeps; where there are more
 * threads than processors it sleeps at once. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "marks.h"
#include "system.h"

/* The caller waits longer before it sleeps than workers do: it waits for bodies that run, not for work that may never come. */
enum { kMostThreads = 1024, kSpinNanoseconds = 50000, kEndSpins = 40, kLine = 64 };

static struct {
  _Alignas(kLine) _Atomic(uint64_t) work; /* count << 32 | next */
  int (*body)(void* closure, int32_t slot);
  void* closure;
  _Atomic(int) result;                    /* the first that was not 0 */
  _Alignas(kLine) _Atomic(uint32_t) done; /* bodies that have returned */
  _Alignas(kLine) _Atomic(bool) busy;     /* a job has the pool */
  _Atomic(int32_t) sleepers;              /* workers that wait for `wake`, or are about to */
  _Atomic(bool) owner_sleeps;
  _Atomic(int32_t) threads; /* wanted, the caller's included; 0: not decided yet */
  _Atomic(int32_t) spin;    /* nanoseconds */
  int32_t workers;          /* started; touched by whoever made the pool busy */
  bool fork_handled;
  Lock lock;
  Condition wake, finished;
} pool = {.lock = LOCK, .wake = CONDITION, .finished = CONDITION};

static ASHLAR_THREAD_LOCAL bool inside; /* this thread runs a body */

#if defined(__linux__) && defined(__GLIBC__)
#define PLACES_WORKERS 1
enum { kPlaced = 16 };
static Thread placed[kPlaced]; /* the first workers */
#endif

/* ---- how many threads ---------------------------------------------------------------------------------------------- */

static int32_t wanted_threads(void) {
  const int32_t count = ashlar_processors(kMostThreads);
  const char* text = getenv("ASHLAR_NUM_THREADS");
  if (text == NULL) return count;
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (end != text && *end == '\0' && value >= 1 && value <= kMostThreads) return (int32_t)value;
  fprintf(stderr, "ashlar: ASHLAR_NUM_THREADS is \"%s\", expected a whole number from 1 to %d; using %d\n", text,
          (int)kMostThreads, (int)count);
  return count;
}

static void set_threads(int32_t threads) {
  atomic_store(&pool.spin, threads > ashlar_processors(kMostThreads) ? 0 : kSpinNanoseconds);
  atomic_store(&pool.threads, threads);
}

int32_t ashlar_threads(void) {
  int32_t threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
  if (threads == 0) set_threads(threads = wanted_threads());
  return threads;
}

int ashlar_set_threads(int32_t threads) {
  if (threads < 0 || threads > kMostThreads)
    return ashlar_error_record(ashlar_last_error_slot(), ASHLAR_E_LAUNCH, -1, -1, kMostThreads, threads,
                               "ashlar_set_threads: {found} threads, expected 0 to {expected}");
  set_threads(threads == 0 ? wanted_threads() : threads);
  return ASHLAR_OK;
}

/* ---- waiting ------------------------------------------------------------------------------------------------------- */

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

static bool has_work(uint64_t work) { return (uint32_t)work < (uint32_t)(work >> 32); }
static bool work_waits(void) { return has_work(atomic_load(&pool.work)); }
static bool job_is_done(uint32_t count) { return atomic_load(&pool.done) == count; }

#ifdef PLACES_WORKERS
/* Where processors share no cache that the system knows of, and in virtual machines, whose idle processors pass for busy ones,
 * a thread is woken on the processor of the caller and left there for longer than a job takes. So while they are signaled the
 * first workers may run everywhere but here; allowing it again moves nobody back. */
static void keep_away(int32_t here, int32_t workers, cpu_set_t* allowed) {
  for (int32_t k = 0; k < workers; ++k) {
    if (pthread_getaffinity_np(placed[k], sizeof allowed[k], &allowed[k]) != 0) CPU_ZERO(&allowed[k]);
    cpu_set_t others = allowed[k];
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) == 0 || pthread_setaffinity_np(placed[k], sizeof others, &others) != 0) CPU_ZERO(&allowed[k]);
  }
}
static void allow_again(int32_t workers, const cpu_set_t* allowed) {
  for (int32_t k = 0; k < workers; ++k)
    if (CPU_COUNT(&allowed[k]) > 0) (void)pthread_setaffinity_np(placed[k], sizeof allowed[k], &allowed[k]);
}
#endif

static void wake(int32_t sleepers) {
#ifdef PLACES_WORKERS
  const int32_t here = sched_getcpu(), workers = here < 0 ? 0 : pool.workers < kPlaced ? pool.workers : kPlaced;
  cpu_set_t allowed[kPlaced];
  keep_away(here, workers, allowed);
#endif
  lock_take(&pool.lock);
  while (sleepers-- > 0) condition_wake_one(&pool.wake);
  lock_leave(&pool.lock);
#ifdef PLACES_WORKERS
  allow_again(workers, allowed);
#endif
}

static void wait_for_work(void) {
  const int32_t spin = atomic_load_explicit(&pool.spin, memory_order_relaxed);
  for (int64_t start = spin > 0 ? ashlar_nanoseconds() : 0; spin > 0 && ashlar_nanoseconds() - start < spin;)
    for (int k = 0; k < 32; ++k, relax())
      if (work_waits()) return;
  lock_take(&pool.lock);
  atomic_fetch_add(&pool.sleepers,
                   1); /* before work is looked at: one who publishes work sees the sleeper, or this sees the work */
  while (!work_waits()) condition_wait(&pool.wake, &pool.lock);
  atomic_fetch_sub(&pool.sleepers, 1);
  lock_leave(&pool.lock);
}

static void wait_for_end(uint32_t count) {
  const int32_t spin = atomic_load_explicit(&pool.spin, memory_order_relaxed);
  for (int64_t start = spin > 0 ? ashlar_nanoseconds() : 0;
       spin > 0 && ashlar_nanoseconds() - start < kEndSpins * (int64_t)spin;)
    for (int k = 0; k < 32; ++k, relax())
      if (job_is_done(count)) return;
  lock_take(&pool.lock);
  atomic_store(&pool.owner_sleeps, true);
  while (!job_is_done(count)) condition_wait(&pool.finished, &pool.lock);
  atomic_store(&pool.owner_sleeps, false);
  lock_leave(&pool.lock);
}

/* ---- bodies -------------------------------------------------------------------------------------------------------- */

/* Runs bodies of the job until all are owned. Whoever counts the last one wakes the owner. */
static void run_bodies(void) {
  inside = true;
  uint64_t work = atomic_load_explicit(&pool.work, memory_order_acquire);
  while (has_work(work)) {
    if (!atomic_compare_exchange_weak_explicit(&pool.work, &work, work + 1, memory_order_acquire, memory_order_acquire))
      continue;
    const uint32_t count = (uint32_t)(work >> 32);
    const int rc = pool.body(pool.closure, (int32_t)(uint32_t)work);
    int none = 0;
    if (rc != 0) atomic_compare_exchange_strong(&pool.result, &none, rc);
    if (atomic_fetch_add(&pool.done, 1) + 1 == count && atomic_load(&pool.owner_sleeps)) {
      lock_take(&pool.lock);
      condition_wake_one(&pool.finished);
      lock_leave(&pool.lock);
    }
    work = atomic_load_explicit(&pool.work, memory_order_acquire);
  }
  inside = false;
}

static void worker(void) {
  for (;;) {
    wait_for_work();
    run_bodies();
  }
}

/* ---- threads and fork ---------------------------------------------------------------------------------------------- */

#if defined(_WIN32)
static bool handle_forks(void) { return true; } /* there are none */
#else
static void after_fork_in_child(void) { /* the workers stayed behind, perhaps with the lock */
  const Lock lock = LOCK;
  const Condition condition = CONDITION;
  pool.lock = lock, pool.wake = condition, pool.finished = condition;
  pool.workers = 0;
  atomic_store(&pool.work, 0);
  atomic_store(&pool.sleepers, 0);
  atomic_store(&pool.owner_sleeps, false);
  atomic_store(&pool.busy, false);
}
static bool handle_forks(void) { return pthread_atfork(NULL, NULL, after_fork_in_child) == 0; }
#endif

/* Starts what is missing. Fewer than wanted is no error: the caller runs the bodies that nobody else takes. */
static void start_workers(int32_t wanted) {
  if (pool.workers >= wanted) return;
  if (!pool.fork_handled) pool.fork_handled = handle_forks();
  if (!pool.fork_handled) return;
  Thread started[kMostThreads];
  const int32_t more = ashlar_start_threads(wanted - pool.workers, worker, started);
#ifdef PLACES_WORKERS
  for (int32_t k = 0; k < more && pool.workers + k < kPlaced; ++k) placed[pool.workers + k] = started[k];
#endif
  pool.workers += more;
}

static int run_here(int32_t count, int (*body)(void* closure, int32_t slot), void* closure) {
  int result = 0;
  for (int32_t slot = 0; slot < count; ++slot) {
    const int rc = body(closure, slot);
    if (result == 0) result = rc;
  }
  return result;
}

int ashlar_pool_run(void* user, int32_t count, int (*body)(void* closure, int32_t slot), void* closure) {
  (void)user;
  const int32_t threads = ashlar_threads();
  bool idle = false;
  if (count <= 1 || threads <= 1 || inside || !atomic_compare_exchange_strong(&pool.busy, &idle, true))
    return run_here(count, body, closure);
  start_workers((count < threads ? count : threads) - 1);
  ASHLAR_MARK2(parallel_begin, count, threads);
  pool.body = body, pool.closure = closure;
  atomic_store(&pool.result, 0);
  atomic_store(&pool.done, 0);
  atomic_store(&pool.work, (uint64_t)count << 32);
  int32_t sleepers = atomic_load(&pool.sleepers);
  if (sleepers > 0) {
    if (sleepers > count - 1) sleepers = count - 1;
    wake(sleepers);
  }
  run_bodies();
  wait_for_end((uint32_t)count);
  const int result = atomic_load(&pool.result);
  ASHLAR_MARK1(parallel_end, result);
  atomic_store(&pool.busy, false);
  return result;
}
