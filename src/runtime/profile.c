/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles: what each thread has recorded, and the trace that is written of it.
 *
 * A thread has a stack of open sites and a list of records, which form trees: a record's parent is what was open when it was
 * made. Calls, stages and workers are events: each run has a record of its own. What runs inside of loops has one record for
 * each parent, which counts the runs and adds up their times, so that a trace stays small however often a loop runs.
 *
 * Records are touched by their thread alone, until ashlar_profile_write, during which no kernel may run. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <ashlar/runtime/profile.h>

#include "internal.h"
#include "marks.h"
#include "system.h"

enum { kDepth = 64, kPiece = 1024, kPieces = 1024, kNone = -1 };

typedef struct Record {
  const ashlar_abi1_site* site;
  int64_t start, time; /* nanoseconds */
  int64_t calls, read, written;
  int32_t first, last, next; /* children, and the next of the same parent */
} Record;

typedef struct Recorder {
  struct Recorder* next;
  int32_t number, depth, count;
  int64_t lost; /* runs for which there was no record */
  struct {
    const ashlar_abi1_site* site;
    int64_t start;
    int32_t record;
  } open[kDepth];
  int32_t first, last; /* records without a parent */
  Record* pieces[kPieces];
} Recorder;

static struct {
  _Atomic(bool) on;
  Lock lock;
  Recorder* threads;
  int32_t count;
  const char* path; /* to write at the end of the process */
} profile = {.lock = LOCK};

static ASHLAR_THREAD_LOCAL Recorder* mine;

/* ---- recording ------------------------------------------------------------------------------------------------------ */

static void write_at_exit(void) {
  if (ashlar_profile_write(profile.path) == ASHLAR_OK) return;
  char text[400];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  fprintf(stderr, "ashlar: %s\n", text);
}

static void read_environment(void) {
  const char* path = getenv("ASHLAR_PROFILE");
  if (path == NULL || *path == '\0') return;
  profile.path = ashlar_keep(path);
  if (atexit(write_at_exit) != 0) {
    fprintf(stderr, "ashlar: ASHLAR_PROFILE: %s will not be written, since atexit failed\n", path);
    return;
  }
  atomic_store(&profile.on, true);
}

static void ask(void) { /* once in a process */
  static _Atomic(bool) asked;
  if (atomic_load_explicit(&asked, memory_order_acquire)) return;
  lock_take(&profile.lock);
  if (!atomic_load(&asked)) {
    read_environment();
    atomic_store_explicit(&asked, true, memory_order_release);
  }
  lock_leave(&profile.lock);
}

void ashlar_profile_start(void) {
  ask();
  atomic_store(&profile.on, true);
}

static Recorder* this_thread(void) {
  if (mine != NULL) return mine;
  Recorder* t = calloc(1, sizeof *t);
  if (t == NULL) return NULL;
  t->first = t->last = kNone;
  lock_take(&profile.lock);
  t->next = profile.threads, t->number = ++profile.count;
  profile.threads = t;
  lock_leave(&profile.lock);
  return mine = t;
}

static Record* at(const Recorder* t, int32_t record) { return &t->pieces[record / kPiece][record % kPiece]; }

/* A new record under `parent` (kNone: without a parent). Returns kNone if there is no room. */
static int32_t add(Recorder* t, int32_t parent, const ashlar_abi1_site* site, int64_t start) {
  const int32_t n = t->count, piece = n / kPiece;
  if (piece == kPieces) return kNone;
  if (t->pieces[piece] == NULL && (t->pieces[piece] = malloc(kPiece * sizeof(Record))) == NULL) return kNone;
  *at(t, n) = (Record){.site = site, .start = start, .first = kNone, .last = kNone, .next = kNone};
  int32_t* const first = parent == kNone ? &t->first : &at(t, parent)->first;
  int32_t* const last = parent == kNone ? &t->last : &at(t, parent)->last;
  if (*last == kNone)
    *first = n;
  else
    at(t, *last)->next = n;
  *last = n;
  ++t->count;
  return n;
}

static int32_t record_for(Recorder* t, const ashlar_abi1_site* site, int64_t start) {
  const int32_t parent = t->depth == 0 ? kNone : t->open[t->depth - 1].record;
  if (t->depth > 0 && parent == kNone) return kNone; /* what it stands in has none */
  if (site->kind == ASHLAR_ABI1_SITE_INSIDE && parent != kNone)
    for (int32_t k = at(t, parent)->first; k != kNone; k = at(t, k)->next)
      if (at(t, k)->site == site) return k;
  return add(t, parent, site, start);
}

void ashlar_abi1_profile_enter(const ashlar_abi1_site* site) {
  ASHLAR_MARK4(enter, site->kernel, site->name, site->line, site->kind);
  ask();
  if (!atomic_load_explicit(&profile.on, memory_order_relaxed)) return;
  Recorder* t = this_thread();
  if (t == NULL) return;
  if (t->depth == kDepth) {
    ++t->lost;
    return;
  }
  const int64_t start = ashlar_nanoseconds();
  t->open[t->depth].record = record_for(t, site, start);
  t->open[t->depth].site = site;
  t->open[t->depth].start = start;
  ++t->depth;
}

void ashlar_abi1_profile_leave(const ashlar_abi1_site* site, int64_t bytes_read, int64_t bytes_written) {
  ASHLAR_MARK4(leave, site->kernel, site->name, bytes_read, bytes_written);
  Recorder* t = mine;
  if (t == NULL) return;
  int32_t d = t->depth - 1;
  while (d >= 0 && t->open[d].site != site) --d;
  if (d < 0) return; /* entered before recording began, or deeper than the stack */
  t->depth = d;
  if (t->open[d].record == kNone) {
    ++t->lost;
    return;
  }
  Record* r = at(t, t->open[d].record);
  r->time += ashlar_nanoseconds() - t->open[d].start;
  ++r->calls;
  r->read += bytes_read, r->written += bytes_written;
}

/* ---- the trace: Chrome's trace event format ------------------------------------------------------------------------- */

static void put_text(FILE* file, const char* name, const char* text) {
  fprintf(file, "\"%s\":\"", name);
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\')
      fprintf(file, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
    else
      fprintf(file, "%c", *text);
  }
  fprintf(file, "\"");
}

static void put_record(FILE* file, int32_t thread, const Record* r, int64_t start) {
  static const char* const kinds[] = {"call", "stage", "worker", "inside"};
  const ashlar_abi1_site* s = r->site;
  fprintf(file, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%lld.%03d,\"dur\":%lld.%03d,\"cat\":\"%s\",", (int)thread,
          (long long)(start / 1000), (int)(start % 1000), (long long)(r->time / 1000), (int)(r->time % 1000), kinds[s->kind]);
  put_text(file, "name", s->name);
  fprintf(file, ",\"args\":{");
  put_text(file, "kernel", s->kernel);
  if (*s->line != '\0') fprintf(file, ","), put_text(file, "line", s->line);
  if (*s->loop != '\0') fprintf(file, ","), put_text(file, "loop", s->loop);
  fprintf(file, ",\"calls\":%lld,\"bytes_read\":%lld,\"bytes_written\":%lld}}", (long long)r->calls, (long long)r->read,
          (long long)r->written);
}

/* What ran inside of loops has no time of its own: it is drawn from the start of its parent on, one after another. */
static void put_tree(FILE* file, const Recorder* t) {
  int32_t path[kDepth], depth = 0;
  int64_t free_from[kDepth]; /* where the next summed child of each record on the path begins */
  int32_t k = t->first;
  while (k != kNone || depth > 0) {
    if (k == kNone) {
      k = at(t, path[--depth])->next;
      continue;
    }
    const Record* r = at(t, k);
    int64_t start = r->start;
    if (r->site->kind == ASHLAR_ABI1_SITE_INSIDE && depth > 0) start = free_from[depth - 1], free_from[depth - 1] += r->time;
    put_record(file, t->number, r, start);
    path[depth] = k, free_from[depth] = start;
    ++depth;
    k = r->first;
  }
}

int ashlar_profile_write(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL)
    return ashlar_error_record(ashlar_last_error_slot(), ASHLAR_E_LAUNCH, -1, -1, 0, 0,
                               "ashlar_profile_write: %s cannot be opened", path);
  lock_take(&profile.lock);
  int64_t lost = 0;
  for (const Recorder* t = profile.threads; t != NULL; t = t->next) lost += t->lost;
  fprintf(file,
          "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"ashlar %s\",\"lost\":%lld},\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"ashlar\"}}",
          ashlar_version(), (long long)lost);
  for (const Recorder* t = profile.threads; t != NULL; t = t->next) {
    fprintf(file, ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"thread %d\"}}",
            (int)t->number, (int)t->number);
    put_tree(file, t);
  }
  fprintf(file, "\n]}\n");
  const bool bad = ferror(file) != 0, written = fclose(file) == 0 && !bad;
  for (Recorder* t = written ? profile.threads : NULL; t != NULL; t = t->next)
    t->count = 0, t->depth = 0, t->lost = 0, t->first = t->last = kNone;
  lock_leave(&profile.lock);
  if (written) return ASHLAR_OK;
  return ashlar_error_record(ashlar_last_error_slot(), ASHLAR_E_LAUNCH, -1, -1, 0, 0,
                             "ashlar_profile_write: %s cannot be written", path);
}
