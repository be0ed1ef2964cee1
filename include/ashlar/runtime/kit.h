/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a kit sees a kernel: a function from inputs to newly allocated outputs. The generator writes one
 * ashlar_kit_op for each kernel (-e torch, -e python, -e jax, -e onnxruntime); ashlar/runtime/torch.h, python.h, jax.h and
 * onnxruntime.h turn it into a function of the framework. */
#ifndef ASHLAR_RUNTIME_KIT_H
#define ASHLAR_RUNTIME_KIT_H
#include <ashlar/runtime/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ASHLAR_KIT_INPUT,
  ASHLAR_KIT_OUTPUT,
  ASHLAR_KIT_REAL,
  ASHLAR_KIT_INTEGER,
  ASHLAR_KIT_BOOLEAN,
  ASHLAR_KIT_EXTENT /* a Symbol that no input's shape determines; these come last, and are absent if outputs are given */
};

typedef struct ashlar_kit_argument {
  const char* name;         /* as in messages */
  const char* parameter;    /* of a function in Python */
  int32_t kind, rank, type; /* type: of a tensor, ASHLAR_F32 */
  int64_t min, max;         /* of an integer */
  int64_t align;            /* of a tensor: alignment of element 0 in bytes; 0: that of an element */
} ashlar_kit_argument;

typedef union ashlar_kit_number {
  double real;
  int64_t integer;
} ashlar_kit_number;

typedef int64_t ashlar_kit_shape[ASHLAR_ABI1_MAX_RANK];

typedef struct ashlar_kit_op {
  const char* name;
  const ashlar_kit_argument* arguments; /* in the kernel's order */
  int32_t count;
  /* Computes the shapes of the outputs from those of the inputs, whose ranks have been checked. An extent below 0 is not
   * known yet: an output with this extent gets the same number, and an extent computed from it is -1. */
  void (*shapes)(const ashlar_tensor*, const ashlar_kit_number*, ashlar_kit_shape*);
  int (*run)(ashlar_tensor*, const ashlar_kit_number*, const ashlar_context*);
} ashlar_kit_op;

static inline int ashlar_kit_is_tensor(const ashlar_kit_argument* a) { return a->kind <= ASHLAR_KIT_OUTPUT; }

static inline int64_t ashlar_kit_bytes(const ashlar_tensor* t) { /* of a dense tensor */
  int64_t bytes = t->type_bits / 8;
  for (int32_t d = 0; d < t->ndim; ++d) bytes *= t->shape[d];
  return bytes;
}

/* Gives a dense tensor the alignment that the kernel requires: its memory stays, or becomes *copy, which the caller frees and
 * which for an input holds its elements. Returns 0, or 1 if there is no memory. */
static inline int ashlar_kit_align(const ashlar_kit_argument* a, ashlar_tensor* t, void** copy) {
  const int64_t bytes = ashlar_kit_bytes(t);
  if (a->align == 0 || (uintptr_t)t->data % (uintptr_t)a->align == 0 || bytes == 0) return 0;
  if (*copy == NULL) *copy = aligned_alloc((size_t)a->align, (size_t)((bytes + a->align - 1) / a->align * a->align));
  if (*copy == NULL) return 1;
  if (a->kind == ASHLAR_KIT_INPUT) memcpy(*copy, t->data, (size_t)bytes);
  t->data = *copy;
  return 0;
}

/* The message of a failed call. */
static inline void ashlar_kit_message(const ashlar_kit_op* op, int code, const ashlar_error* error, char* text, size_t room) {
  ashlar_error_text(error, text, room);
  if (text[0] == 0) snprintf(text, room, "%s: %s", op->name, ashlar_code_name(code));
}

#ifndef ASHLAR_FLOOR_DIV
#define ASHLAR_FLOOR_DIV
static inline int64_t ashlar_floor_div(int64_t a, int64_t b) { /* b 0: the kernel refuses the call afterwards */
  return b == 0 ? 0 : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
#endif
#endif
