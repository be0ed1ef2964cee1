/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Workspaces that simple entries are done with: they are kept for the next call, whose pages are then there already.
 *
 *   void* block = ashlar_block_take(bytes, align);  ...  ashlar_block_give(block);
 *
 * A few blocks of the process, the latest first, together at most ASHLAR_WORKSPACE_MB (256) MiB; smaller ones are malloc's.
 * Invariant: a block is held by one call, or lies here. A thread that finds the list in use goes to malloc, so that nobody
 * waits, and the child of a fork() does not either. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "internal.h"
#include "system.h"

enum { kKept = 8, kLeast = 1 << 16, kUsualMiB = 256 };

typedef struct Block { /* in front of what the caller has */
  void* base;
  size_t bytes; /* behind it */
} Block;

static atomic_int in_use;
static Block* kept[kKept]; /* the latest first; the rest is NULL */

size_t ashlar_kept_bytes(void) {
  const char* text = getenv("ASHLAR_WORKSPACE_MB");
  char* end = NULL;
  const long mib = text == NULL || *text == '\0' ? kUsualMiB : strtol(text, &end, 10);
  return mib < 0 || (end != NULL && *end != '\0') ? (size_t)kUsualMiB << 20
         : mib > (long)(SIZE_MAX >> 21)           ? SIZE_MAX
                                                  : (size_t)mib << 20;
}

static bool enter(void) { return atomic_exchange_explicit(&in_use, 1, memory_order_acquire) == 0; }
static void leave(void) { atomic_store_explicit(&in_use, 0, memory_order_release); }

static Block* unlist(int n) {
  Block* b = kept[n];
  for (; n + 1 < kKept; ++n) kept[n] = kept[n + 1];
  kept[kKept - 1] = NULL;
  return b;
}

void* ashlar_block_take(size_t bytes, size_t align) {
  if (align < sizeof(Block)) align = sizeof(Block);
  if (bytes >= kLeast && enter()) {
    int best = -1;
    for (int n = 0; n < kKept && kept[n] != NULL; ++n)
      if (kept[n]->bytes >= bytes && (uintptr_t)(kept[n] + 1) % align == 0 && (best < 0 || kept[n]->bytes < kept[best]->bytes))
        best = n;
    Block* b = best < 0 ? NULL : unlist(best);
    leave();
    if (b != NULL) return b + 1;
  }
  void* base = bytes > SIZE_MAX - align ? NULL : ashlar_aligned_take(bytes + align, align);
  if (base == NULL) return NULL;
  Block* b = (Block*)(void*)((char*)base + align) - 1;
  *b = (Block){base, bytes};
  return b + 1;
}

void ashlar_block_give(void* block) {
  if (block == NULL) return;
  Block* b = (Block*)block - 1;
  Block* out[kKept + 1]; /* what goes: released once the list is left */
  int leaving = 0;
  const size_t most = b->bytes < kLeast ? 0 : ashlar_kept_bytes();
  if (b->bytes > most || b->bytes < kLeast || !enter()) {
    ashlar_aligned_give(b->base);
    return;
  }
  if (kept[kKept - 1] != NULL) out[leaving++] = unlist(kKept - 1);
  for (int n = kKept - 1; n > 0; --n) kept[n] = kept[n - 1];
  kept[0] = b;
  size_t bytes = 0;
  for (int n = 0; n < kKept && kept[n] != NULL;) {
    if (kept[n]->bytes > most - bytes)
      out[leaving++] = unlist(n);
    else
      bytes += kept[n++]->bytes;
  }
  leave();
  while (leaving > 0) ashlar_aligned_give(out[--leaving]->base);
}

__attribute__((destructor)) static void release_kept(void) {
  if (!enter()) return;
  while (kept[0] != NULL) ashlar_aligned_give(unlist(0)->base);
  leave();
}
