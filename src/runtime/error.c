/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Errors: numbers plus a template, and the sentence made of them.
 *
 * `what` of an error is a template: "matmul: B.shape[0] is {found}, expected {expected} (K, from A.shape[1])". A template
 * names arguments and dimensions but holds no numbers of the call, so there are finitely many for a kernel; each is made once
 * and kept, so an error record can be copied and read at any later time. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const struct {
  int code;
  const char* name;
} kCodes[] = {
    {ASHLAR_OK, "ASHLAR_OK"},
    {ASHLAR_E_NULL, "ASHLAR_E_NULL"},
    {ASHLAR_E_RANK, "ASHLAR_E_RANK"},
    {ASHLAR_E_TYPE, "ASHLAR_E_TYPE"},
    {ASHLAR_E_SHAPE, "ASHLAR_E_SHAPE"},
    {ASHLAR_E_STRIDE, "ASHLAR_E_STRIDE"},
    {ASHLAR_E_ALIGN, "ASHLAR_E_ALIGN"},
    {ASHLAR_E_ALIAS, "ASHLAR_E_ALIAS"},
    {ASHLAR_E_DEVICE, "ASHLAR_E_DEVICE"},
    {ASHLAR_E_MEMORY, "ASHLAR_E_MEMORY"},
    {ASHLAR_E_LAUNCH, "ASHLAR_E_LAUNCH"},
    {ASHLAR_E_TARGET, "ASHLAR_E_TARGET"},
    {ASHLAR_E_ABI, "ASHLAR_E_ABI"},
    {ASHLAR_E_FACT, "ASHLAR_E_FACT"},
    {ASHLAR_E_OVERFLOW, "ASHLAR_E_OVERFLOW"},
};

const char* ashlar_code_name(int code) {
  for (size_t i = 0; i < sizeof kCodes / sizeof *kCodes; ++i)
    if (kCodes[i].code == code) return kCodes[i].name;
  return "unknown code";
}

/* ---- templates, kept ----------------------------------------------------------------------------------------------- */

typedef struct Template {
  struct Template* next;
  char text[];
} Template;

static _Atomic(Template*) templates; /* grows at the head and never shrinks: readers need no lock, and fork() leaves it whole */

const char* ashlar_keep(const char* text) {
  Template* head = atomic_load_explicit(&templates, memory_order_acquire);
  for (const Template* t = head; t != NULL; t = t->next)
    if (strcmp(t->text, text) == 0) return t->text;
  const size_t length = strlen(text);
  Template* t = malloc(sizeof *t + length + 1);
  if (t == NULL) return ""; /* the numbers alone still tell what happened */
  memcpy(t->text, text, length + 1);
  t->next = head;
  while (!atomic_compare_exchange_weak_explicit(&templates, &t->next, t, memory_order_release, memory_order_relaxed)) {}
  return t->text;
}

int ashlar_error_record(ashlar_error* error, int32_t code, int32_t argument, int32_t dimension, int64_t expected, int64_t found,
                        const char* format, ...) {
  char text[4096]; /* longer ones are cut: a compiler's log begins with what was wrong */
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  *error = (ashlar_error){.code = code,
                          .argument = argument,
                          .dimension = dimension,
                          .expected = expected,
                          .found = found,
                          .what = length < 0 ? "" : ashlar_keep(text)};
  return code;
}

static ASHLAR_THREAD_LOCAL ashlar_error last_error = {0, -1, -1, 0, 0, ""};

ashlar_error* ashlar_last_error_slot(void) { return &last_error; }
const ashlar_error* ashlar_last_error(void) { return &last_error; }

/* ---- the sentence -------------------------------------------------------------------------------------------------- */

typedef struct Writer {
  char* text;
  size_t room, length; /* length counts what did not fit, too */
} Writer;

static void put(Writer* w, const char* s, size_t n) {
  for (size_t i = 0; i < n; ++i, ++w->length)
    if (w->length + 1 < w->room) w->text[w->length] = s[i];
}
static void put_string(Writer* w, const char* s) { put(w, s, strlen(s)); }

static void put_type(Writer* w, int64_t packed) { /* code | bits << 8 | lanes << 16 */
  const int code = (int)(packed & 255), bits = (int)(packed >> 8 & 255), lanes = (int)(packed >> 16 & 65535);
  char s[64];
  switch (code) {
    case 0:
      snprintf(s, sizeof s, "i%d", bits);
      break;
    case 1:
      snprintf(s, sizeof s, "u%d", bits);
      break;
    case 2:
      snprintf(s, sizeof s, "f%d", bits);
      break;
    case 4:
      snprintf(s, sizeof s, "bf%d", bits);
      break;
    case 6:
      snprintf(s, sizeof s, bits == 8 ? "bool" : "bool of %d bits", bits);
      break;
    case 10: /* DLPack 1.1: float8_e4m3fn, float8_e5m2 */
    case 12:
      snprintf(s, sizeof s, bits == 8 ? "%s" : "%s of %d bits", code == 10 ? "e4m3" : "e5m2", bits);
      break;
    default:
      snprintf(s, sizeof s, "type code %d of %d bits", code, bits);
      break;
  }
  put_string(w, s);
  if (lanes != 1) {
    snprintf(s, sizeof s, " in vectors of %d", lanes);
    put_string(w, s);
  }
}

static void put_device(Writer* w, int64_t packed) { /* type | id << 32 */
  const int type = (int)(uint32_t)packed, id = (int)(packed >> 32);
  char s[48];
  switch (type) {
    case 1:
      put_string(w, "the host");
      break;
    case 2:
      put_string(w, "a CUDA device");
      break;
    case 3:
      put_string(w, "CUDA pinned host memory");
      break;
    case 7:
      put_string(w, "a Vulkan device");
      break;
    case 13:
      put_string(w, "CUDA managed memory");
      break;
    default:
      snprintf(s, sizeof s, "a device of type %d", type), put_string(w, s);
      break;
  }
  if (id != 0) snprintf(s, sizeof s, " (number %d)", id), put_string(w, s);
}

static void put_value(Writer* w, int code, int64_t value) {
  if (code == ASHLAR_E_TYPE) {
    put_type(w, value);
  } else if (code == ASHLAR_E_DEVICE) {
    put_device(w, value);
  } else {
    char s[24];
    snprintf(s, sizeof s, "%" PRId64, value);
    put_string(w, s);
  }
}

static void put_numbers(Writer* w, const ashlar_error* e) { /* no template: everything that is known, by number */
  char s[32];
  put_string(w, ashlar_code_name(e->code));
  snprintf(s, sizeof s, " (%d)", (int)e->code);
  put_string(w, s);
  if (e->argument >= 0) snprintf(s, sizeof s, ", argument %d", (int)e->argument), put_string(w, s);
  if (e->dimension >= 0) snprintf(s, sizeof s, ", dimension %d", (int)e->dimension), put_string(w, s);
  put_string(w, ": expected ");
  put_value(w, e->code, e->expected);
  put_string(w, ", found ");
  put_value(w, e->code, e->found);
}

size_t ashlar_error_text(const ashlar_error* e, char* text, size_t room) {
  static const char kFound[] = "{found}", kExpected[] = "{expected}";
  Writer w = {text, room, 0};
  if (e == NULL || e->code == ASHLAR_OK) {
    put_string(&w, "no error");
  } else if (e->what == NULL || e->what[0] == '\0') {
    put_numbers(&w, e);
  } else {
    for (const char* s = e->what; *s != '\0';) {
      if (strncmp(s, kFound, sizeof kFound - 1) == 0) {
        put_value(&w, e->code, e->found);
        s += sizeof kFound - 1;
      } else if (strncmp(s, kExpected, sizeof kExpected - 1) == 0) {
        put_value(&w, e->code, e->expected);
        s += sizeof kExpected - 1;
      } else {
        put(&w, s++, 1);
      }
    }
  }
  if (room > 0) text[w.length < room ? w.length : room - 1] = '\0';
  return w.length;
}
