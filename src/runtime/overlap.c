/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Do two strided sets of elements share memory? A bounded linear Diophantine question: are there indices i, j with
 *
 *   address_a + sum i_d * stride_a_d   within an element of   address_b + sum j_d * stride_b_d ?
 *
 * Searched depth first over the differences, largest stride first: what the smaller strides can still reach bounds each
 * difference. For nested strides (every slice of an array) at most two values fit at each level, so the search is exact and
 * takes a few steps; two column blocks of one matrix are told apart from two that overlap. Strides that do not nest may need
 * more; after kBudget steps the answer is that they overlap, which refuses the call. */
#include "internal.h"

enum { kBudget = 20000, kTerms = 2 * ASHLAR_ABI1_MAX_RANK };

static const int64_t kLargest = INT64_MAX / 8; /* spans up to here are added without overflow; larger ones are no real memory */

typedef struct Term {
  int64_t stride, low, high;
} Term; /* stride > 0; low <= x <= high */
typedef struct Search {
  Term terms[kTerms];
  int64_t reach_low[kTerms + 1], reach_high[kTerms + 1]; /* what terms[k..] can add up to */
  int count, budget;
} Search;

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }
static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); } /* b > 0 */
static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 && a > 0); }

static void add_term(Search* s, int64_t stride, int64_t low, int64_t high) {
  if (stride < 0) {
    const int64_t old_low = low;
    low = -high, high = -old_low, stride = -stride;
  }
  s->terms[s->count++] = (Term){stride, low, high};
}

static void merge_term(Search* s, int64_t stride, int64_t low, int64_t high) { /* x and y with one stride: x + y */
  for (int k = 0; k < s->count; ++k)
    if (s->terms[k].stride == magnitude(stride)) {
      s->terms[k].low += stride < 0 ? -high : low, s->terms[k].high += stride < 0 ? -low : high;
      return;
    }
  add_term(s, stride, low, high);
}

static void prepare(Search* s) {
  for (int k = 1; k < s->count; ++k) /* descending by stride */
    for (int m = k; m > 0 && s->terms[m].stride > s->terms[m - 1].stride; --m) {
      const Term t = s->terms[m];
      s->terms[m] = s->terms[m - 1], s->terms[m - 1] = t;
    }
  s->reach_low[s->count] = s->reach_high[s->count] = 0;
  for (int k = s->count - 1; k >= 0; --k) {
    s->reach_low[k] = s->reach_low[k + 1] + s->terms[k].stride * s->terms[k].low;
    s->reach_high[k] = s->reach_high[k + 1] + s->terms[k].stride * s->terms[k].high;
  }
  s->budget = kBudget;
}

/* Whether terms[k..] can add up to a number in [low, high]. With `trivial`, every x so far was 0 and the all-zero answer does
 * not count; by symmetry the first x that is not 0 may then be taken positive. */
static bool reaches(Search* s, int k, int64_t low, int64_t high, bool trivial) {
  if (--s->budget < 0) return true;
  if (k == s->count) return !trivial && low <= 0 && 0 <= high;
  if (low > s->reach_high[k] || high < s->reach_low[k]) return false;
  const Term* t = &s->terms[k];
  int64_t first = ceil_div(low - s->reach_high[k + 1], t->stride), last = floor_div(high - s->reach_low[k + 1], t->stride);
  if (first < t->low) first = t->low;
  if (last > t->high) last = t->high;
  if (trivial && first < 0) first = 0;
  for (int64_t x = first; x <= last; ++x)
    if (reaches(s, k + 1, low - x * t->stride, high - x * t->stride, trivial && x == 0)) return true;
  return false;
}

bool ashlar_overlaps_itself(const View* v, int* dimension, int64_t* least) {
  if (v->empty) return false;
  Search s = {.count = 0};
  int order[ASHLAR_ABI1_MAX_RANK], n = 0; /* dimensions with more than one element, ascending by stride */
  for (int d = v->rank - 1; d >= 0; --d) {
    if (v->extents[d] <= 1) continue;
    int at = n++;
    for (; at > 0 && magnitude(v->strides[order[at - 1]]) > magnitude(v->strides[d]); --at) order[at] = order[at - 1];
    order[at] = d;
  }
  int64_t span = 0;
  *dimension = -1;
  for (int k = 0; k < n; ++k) {
    const int64_t stride = magnitude(v->strides[order[k]]), extent = v->extents[order[k]];
    if (stride <= span && *dimension < 0) *dimension = order[k], *least = span + 1;
    if (stride == 0) return true;
    span += stride * (extent - 1);
    add_term(&s, stride, 1 - extent, extent - 1);
  }
  if (*dimension < 0) return false; /* nested: one element, one address */
  if (span > kLargest) return true;
  prepare(&s);
  return reaches(&s, 0, 0, 0, true);
}

bool ashlar_overlaps(const View* a, const View* b) {
  if (a->empty || b->empty) return false;
  const uintptr_t begin_a = a->address + (uintptr_t)a->low, end_a = a->address + (uintptr_t)a->high;
  const uintptr_t begin_b = b->address + (uintptr_t)b->low, end_b = b->address + (uintptr_t)b->high;
  if (end_a <= begin_b || end_b <= begin_a) return false;
  if (a->bits < 8 || b->bits < 8 || a->high - a->low > kLargest || b->high - b->low > kLargest) return true;
  const int64_t apart = (int64_t)(b->address - a->address); /* the ranges meet, so it is small */
  const int64_t bytes_a = a->bits / 8, bytes_b = b->bits / 8;
  Search s = {.count = 0};
  for (int d = 0; d < a->rank; ++d)
    if (a->extents[d] > 1 && a->strides[d] != 0) merge_term(&s, a->strides[d] * bytes_a, 0, a->extents[d] - 1);
  for (int d = 0; d < b->rank; ++d)
    if (b->extents[d] > 1 && b->strides[d] != 0) merge_term(&s, b->strides[d] * bytes_b, 1 - b->extents[d], 0);
  prepare(&s);
  return reaches(&s, 0, apart - bytes_a + 1, apart + bytes_b - 1, false);
}
