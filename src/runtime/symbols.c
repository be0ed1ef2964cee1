/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Symbols from shapes. The dimensions are gone through in the order of declaration: one that has a single unknown symbol gives
 * it; when nothing more can be found, facts, the other dimensions and the assumptions are checked, in this order. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* constant + known terms; *unknown is the term whose symbol is not known yet, NULL if there is none; *unknowns counts them. */
static bool evaluate(const Call* call, const ashlar_abi1_dim* dim, int64_t* value, const ashlar_abi1_term** unknown,
                     int* unknowns) {
  *value = dim->constant, *unknown = NULL, *unknowns = 0;
  for (int32_t k = 0; k < dim->term_count; ++k) {
    const ashlar_abi1_term* term = &dim->terms[k];
    if (call->from_argument[term->symbol] < 0) {
      *unknown = term, ++*unknowns;
      continue;
    }
    int64_t product = 0;
    if (__builtin_mul_overflow(term->coefficient, call->symbols[term->symbol], &product) ||
        __builtin_add_overflow(*value, product, value))
      return false;
  }
  return true;
}

static int overflow(Call* call, int32_t n, int d) {
  const ashlar_abi1_argument* a = &call->desc->arguments[n];
  return ashlar_error_record(call->error, ASHLAR_E_OVERFLOW, n, d, INT64_MAX, call->views[n].extents[d],
                             "%s: %s.shape[%d] is {found}: %s does not fit 63 bits", call->desc->name, a->name, d,
                             a->dims[d].text);
}

/* One pass over all dimensions; *progress is set when it found a symbol. */
static int solve_pass(Call* call, bool* progress) {
  const ashlar_abi1_desc* desc = call->desc;
  *progress = false;
  for (int32_t n = 0; n < desc->argument_count; ++n) {
    const ashlar_abi1_argument* a = &desc->arguments[n];
    if (!ashlar_is_tensor(a)) continue;
    for (int32_t d = 0; d < a->rank; ++d) {
      const ashlar_abi1_dim* dim = &a->dims[d];
      if (dim->computed >= 0) continue;
      int64_t known = 0, rest = 0;
      const ashlar_abi1_term* term = NULL;
      int unknowns = 0;
      if (!evaluate(call, dim, &known, &term, &unknowns)) return overflow(call, n, d);
      if (unknowns != 1) continue;
      const int64_t extent = call->views[n].extents[d], c = term->coefficient;
      if (__builtin_sub_overflow(extent, known, &rest)) return overflow(call, n, d);
      if (rest % c != 0)
        return ashlar_error_record(call->error, ASHLAR_E_SHAPE, n, d, extent - rest % c, extent,
                                   "%s: %s.shape[%d] is {found}, expected %s for a whole %s, as {expected}", desc->name,
                                   a->name, d, dim->text, desc->symbols[term->symbol].name);
      call->symbols[term->symbol] = rest / c;
      call->from_argument[term->symbol] = n, call->from_dim[term->symbol] = d;
      *progress = true;
    }
  }
  return ASHLAR_OK;
}

static int check_facts(Call* call) {
  const ashlar_abi1_desc* desc = call->desc;
  for (int32_t k = 0; k < desc->symbol_count; ++k) {
    const ashlar_abi1_symbol* symbol = &desc->symbols[k];
    const int32_t n = call->from_argument[k], d = call->from_dim[k];
    if (n < 0)
      return ashlar_error_record(call->error, ASHLAR_E_ABI, -1, -1, 1, 0,
                                 "%s: no shape gives %s, expected a dimension that does", desc->name, symbol->name);
    const int64_t value = call->symbols[k];
    const char* relation = NULL;
    int64_t bound = 0;
    if (value < symbol->min)
      relation = "at least", bound = symbol->min;
    else if (value > symbol->max)
      relation = "at most", bound = symbol->max;
    else if (symbol->multiple_of > 1 && value % symbol->multiple_of != 0)
      relation = "a multiple of", bound = symbol->multiple_of;
    if (relation == NULL) continue;
    const ashlar_abi1_argument* a = &desc->arguments[n];
    const char* text = a->dims[d].text;
    const bool plain = strcmp(text, symbol->name) == 0;
    return ashlar_error_record(call->error, ASHLAR_E_FACT, n, d, bound, value,
                               "%s: %s is {found}, expected %s {expected} (from %s.shape[%d]%s%s)", desc->name, symbol->name,
                               relation, a->name, d, plain ? "" : ", which is ", plain ? "" : text);
  }
  return ASHLAR_OK;
}

/* " (K, from A.shape[1])", " (N + 4, N from A.shape[0])"; nothing for a number. */
static void origin(const Call* call, const ashlar_abi1_dim* dim, char* text, size_t room) {
  text[0] = '\0';
  if (dim->computed < 0 && dim->term_count == 0) return;
  snprintf(text, room, " (%s", dim->text);
  for (int32_t k = 0; dim->computed < 0 && k < dim->term_count; ++k) {
    const int64_t symbol = dim->terms[k].symbol;
    const char* name = call->desc->symbols[symbol].name;
    const bool plain = strcmp(name, dim->text) == 0;
    const size_t used = strlen(text);
    snprintf(text + used, room - used, ", %s%sfrom %s.shape[%d]", plain ? "" : name, plain ? "" : " ",
             call->desc->arguments[call->from_argument[symbol]].name, (int)call->from_dim[symbol]);
  }
  const size_t used = strlen(text);
  snprintf(text + used, room - used, ")");
}

static int check_shape(Call* call, int32_t n, int32_t d, int64_t expected) {
  const int64_t found = call->views[n].extents[d];
  if (found == expected) return ASHLAR_OK;
  const ashlar_abi1_argument* a = &call->desc->arguments[n];
  char from[400];
  origin(call, &a->dims[d], from, sizeof from);
  return ashlar_error_record(call->error, ASHLAR_E_SHAPE, n, d, expected, found,
                             "%s: %s.shape[%d] is {found}, expected {expected}%s", call->desc->name, a->name, d, from);
}

static int check_affine(Call* call) {
  const ashlar_abi1_desc* desc = call->desc;
  for (int32_t n = 0; n < desc->argument_count; ++n) {
    const ashlar_abi1_argument* a = &desc->arguments[n];
    for (int32_t d = 0; ashlar_is_tensor(a) && d < a->rank; ++d) {
      if (a->dims[d].computed >= 0) continue;
      int64_t value = 0;
      const ashlar_abi1_term* term = NULL;
      int unknowns = 0;
      if (!evaluate(call, &a->dims[d], &value, &term, &unknowns)) return overflow(call, n, d);
      const int rc = check_shape(call, n, d, value);
      if (rc != ASHLAR_OK) return rc;
    }
  }
  return ASHLAR_OK;
}

static int check_computed(Call* call) {
  const ashlar_abi1_desc* desc = call->desc;
  if (desc->shape == NULL || desc->computed_count == 0) return ASHLAR_OK;
  int64_t results[ASHLAR_ABI1_MAX_COMPUTED];
  desc->shape(call->symbols, results);
  for (int32_t n = 0; n < desc->argument_count; ++n) {
    const ashlar_abi1_argument* a = &desc->arguments[n];
    for (int32_t d = 0; ashlar_is_tensor(a) && d < a->rank; ++d) {
      if (a->dims[d].computed < 0) continue;
      const int rc = check_shape(call, n, d, results[a->dims[d].computed]);
      if (rc != ASHLAR_OK) return rc;
    }
  }
  return ASHLAR_OK;
}

int ashlar_solve_symbols(Call* call) {
  const ashlar_abi1_desc* desc = call->desc;
  for (int32_t k = 0; k < desc->symbol_count; ++k) call->from_argument[k] = -1;
  for (bool progress = true; progress;) {
    const int rc = solve_pass(call, &progress);
    if (rc != ASHLAR_OK) return rc;
  }
  int rc = check_facts(call);
  if (rc == ASHLAR_OK) rc = check_affine(call);
  if (rc != ASHLAR_OK) return rc;
  const int broken = desc->assume == NULL ? 0 : desc->assume(call->symbols);
  if (broken > 0 && broken <= desc->assumption_count)
    return ashlar_error_record(call->error, ASHLAR_E_FACT, -1, -1, 1, 0, "%s: expected %s, which does not hold", desc->name,
                               desc->assumptions[broken - 1]);
  if (broken != 0)
    return ashlar_error_record(call->error, ASHLAR_E_ABI, -1, -1, desc->assumption_count, broken,
                               "%s: the check of assumptions answered {found}, expected at most {expected}", desc->name);
  return check_computed(call);
}
