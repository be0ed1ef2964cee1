/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Python functions that call the C entries of kernels; the C that a generator writes (-e python) uses them. Callers do not
 * include it. It keeps to Python's limited API of 3.11, so that one build serves all later releases.
 *
 * An array is anything with the buffer protocol (NumPy, memoryview, array) or DLPack (__dlpack__). Its memory is not copied.
 * Results go to arrays that are given, or to new ones, which NumPy makes. The GIL is released while a kernel runs.
 */
#ifndef ASHLAR_RUNTIME_PYTHON_H
#define ASHLAR_RUNTIME_PYTHON_H
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <ashlar/runtime/kit.h>
#include <stdio.h>
#include <string.h>

typedef struct ashlar_python_call {
  const ashlar_kit_op* op;
  ashlar_tensor tensors[ASHLAR_ABI1_MAX_ARGUMENTS];
  ashlar_kit_number numbers[ASHLAR_ABI1_MAX_ARGUMENTS];
  ashlar_kit_shape shapes[ASHLAR_ABI1_MAX_ARGUMENTS], strides[ASHLAR_ABI1_MAX_ARGUMENTS];
  Py_buffer buffers[ASHLAR_ABI1_MAX_ARGUMENTS];  /* obj NULL: not held */
  PyObject* capsules[ASHLAR_ABI1_MAX_ARGUMENTS]; /* owned; NULL: not held */
  PyObject* results[ASHLAR_ABI1_MAX_ARGUMENTS];  /* owned; of outputs */
} ashlar_python_call;

/* ---- arrays -------------------------------------------------------------------------------------------------------- */
static inline int ashlar_python_type(const char* format, Py_ssize_t bytes) { /* ASHLAR_F32, or 0 */
  if (format == NULL) format = "B";
  if (*format == '@' || *format == '=' || *format == '<') ++format; /* of this machine, which is little-endian */
  if (*format == 0 || format[1] != 0) return 0;
  const int bits = (int)bytes * 8;
  if (*format == '?') return ASHLAR_BOOL;
  if (strchr("bhilqn", *format) != NULL) return bits * 256;
  if (strchr("BHILQN", *format) != NULL) return bits * 256 + 1;
  return strchr("efd", *format) != NULL ? bits * 256 + 2 : 0;
}
static inline const char* ashlar_python_format(int type) { /* NumPy's name of a type; NULL: it has none */
  const struct {
    int type;
    const char* name;
  } names[] = {{ASHLAR_I8, "int8"},     {ASHLAR_I16, "int16"},   {ASHLAR_I32, "int32"},   {ASHLAR_I64, "int64"},
               {ASHLAR_U8, "uint8"},    {ASHLAR_U16, "uint16"},  {ASHLAR_U32, "uint32"},  {ASHLAR_U64, "uint64"},
               {ASHLAR_F16, "float16"}, {ASHLAR_F32, "float32"}, {ASHLAR_F64, "float64"}, {ASHLAR_BOOL, "bool"}};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (names[k].type == type) return names[k].name;
  return NULL;
}

static inline int ashlar_python_fail(PyObject* kind, const ashlar_python_call* c, int32_t n, const char* text) {
  PyErr_Format(kind, "%s: %s %s", c->op->name, c->op->arguments[n].name, text);
  return -1;
}

static inline int ashlar_python_view_buffer(ashlar_python_call* c, int32_t n, PyObject* object) {
  Py_buffer* b = &c->buffers[n];
  ashlar_tensor* t = &c->tensors[n];
  const int written = c->op->arguments[n].kind == ASHLAR_KIT_OUTPUT;
  if (PyObject_GetBuffer(object, b, written ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0) {
    b->obj = NULL;
    if (!written || !PyErr_ExceptionMatches(PyExc_BufferError)) return -1;
    PyErr_Clear();
    return ashlar_python_fail(PyExc_ValueError, c, n, "is read-only, and a result");
  }
  const int type = ashlar_python_type(b->format, b->itemsize);
  if (type == 0) return ashlar_python_fail(PyExc_TypeError, c, n, "has elements of a type that no kernel takes");
  if (b->ndim > ASHLAR_ABI1_MAX_RANK) return ashlar_python_fail(PyExc_ValueError, c, n, "has more than 8 dimensions");
  t->data = b->buf;
  t->device_type = ASHLAR_ON_HOST;
  t->ndim = b->ndim;
  t->type_code = (uint8_t)(type & 255), t->type_bits = (uint8_t)(type >> 8), t->type_lanes = 1;
  for (int d = 0; d < b->ndim; ++d) {
    c->shapes[n][d] = b->shape[d];
    if (b->strides[d] % b->itemsize != 0 && b->shape[d] > 1)
      return ashlar_python_fail(PyExc_ValueError, c, n, "has strides that are not multiples of its element size");
    c->strides[n][d] = b->strides[d] / b->itemsize;
  }
  t->shape = c->shapes[n], t->strides = c->strides[n];
  return 0;
}

static inline int ashlar_python_view_dlpack(ashlar_python_call* c, int32_t n, PyObject* object) {
  PyObject* method = PyObject_GetAttrString(object, "__dlpack__");
  if (method == NULL) {
    PyErr_Clear();
    return ashlar_python_fail(PyExc_TypeError, c, n, "is not an array: it has neither the buffer protocol nor __dlpack__");
  }
  c->capsules[n] = PyObject_CallObject(method, NULL);
  Py_DecRef(method);
  if (c->capsules[n] == NULL) return -1;
  const ashlar_tensor* t =
      (const ashlar_tensor*)PyCapsule_GetPointer(c->capsules[n], "dltensor"); /* a DLManagedTensor begins so */
  if (t == NULL) return -1;
  c->tensors[n] = *t;
  return 0;
}

static inline int ashlar_python_view(ashlar_python_call* c, int32_t n, PyObject* object) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  memset(&c->tensors[n], 0, sizeof c->tensors[n]);
  if (PyObject_CheckBuffer(object) ? ashlar_python_view_buffer(c, n, object) : ashlar_python_view_dlpack(c, n, object))
    return -1;
  if (c->tensors[n].ndim == a->rank) return 0;
  PyErr_Format(PyExc_ValueError, "%s: %s has rank %d, expected rank %d", c->op->name, a->name, (int)c->tensors[n].ndim,
               (int)a->rank);
  return -1;
}

/* numpy.empty(shape, type), or an aligned part of a larger array if the kernel requires more alignment. */
static inline PyObject* ashlar_python_empty(const ashlar_python_call* c, int32_t n) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  const char* type = ashlar_python_format(a->type);
  if (type == NULL) {
    PyErr_Format(PyExc_TypeError, "%s: NumPy has no type for %s, which must be given (out=)", c->op->name, a->name);
    return NULL;
  }
  PyObject* numpy = PyImport_ImportModule("numpy");
  if (numpy == NULL) return NULL;
  PyObject* shape = PyTuple_New(a->rank);
  int64_t bytes = a->type / 256 / 8 > 0 ? a->type / 256 / 8 : 1;
  for (int d = 0; shape != NULL && d < a->rank; ++d) {
    const int64_t extent = c->shapes[n][d] < 0 ? 0 : c->shapes[n][d]; /* below 0: of a call that the kernel refuses */
    if (__builtin_mul_overflow(bytes, extent, &bytes) || PyTuple_SetItem(shape, d, PyLong_FromLongLong(extent)) != 0) {
      PyErr_Format(PyExc_MemoryError, "%s: %s would have more elements than memory can hold", c->op->name, a->name);
      Py_DecRef(shape), shape = NULL;
    }
  }
  PyObject* array = NULL;
  if (shape != NULL && a->align <= 16) {
    array = PyObject_CallMethod(numpy, "empty", "Os", shape, type);
  } else if (shape != NULL) {
    Py_buffer b;
    PyObject* whole = PyObject_CallMethod(numpy, "empty", "Ls", (long long)(bytes + a->align), "uint8");
    if (whole != NULL && PyObject_GetBuffer(whole, &b, PyBUF_SIMPLE) == 0) {
      const Py_ssize_t begin = (Py_ssize_t)(-(uintptr_t)b.buf % (uintptr_t)a->align);
      PyBuffer_Release(&b);
      PyObject* part = PySequence_GetSlice(whole, begin, begin + (Py_ssize_t)bytes);
      PyObject* typed = part == NULL ? NULL : PyObject_CallMethod(part, "view", "s", type);
      array = typed == NULL ? NULL : PyObject_CallMethod(typed, "reshape", "O", shape);
      Py_DecRef(part), Py_DecRef(typed);
    }
    Py_DecRef(whole);
  }
  Py_DecRef(shape), Py_DecRef(numpy);
  return array;
}

/* ---- arguments ----------------------------------------------------------------------------------------------------- */
static inline int ashlar_python_number(ashlar_python_call* c, int32_t n, PyObject* object) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  if (a->kind == ASHLAR_KIT_REAL) {
    c->numbers[n].real = PyFloat_AsDouble(object);
    return PyErr_Occurred() ? ashlar_python_fail(PyExc_TypeError, c, n, "is not a number") : 0;
  }
  if (a->kind == ASHLAR_KIT_BOOLEAN) {
    const int truth = PyObject_IsTrue(object);
    c->numbers[n].integer = truth;
    return truth < 0 ? -1 : 0;
  }
  PyObject* index = PyNumber_Index(object);
  int overflow = 0;
  const long long value = index == NULL ? 0 : PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DecRef(index);
  if (index == NULL) return ashlar_python_fail(PyExc_TypeError, c, n, "is not a whole number");
  c->numbers[n].integer = value;
  if (overflow == 0 && value >= a->min && value <= a->max) return 0;
  PyErr_Format(PyExc_ValueError, overflow == 0 ? "%s: %s is %lld, expected %lld to %lld" : "%s: %s is outside of 64 bits",
               c->op->name, a->name, value, (long long)a->min, (long long)a->max);
  return -1;
}

/* Assigns an object to each argument: positions first, then names. `out` is one array, or a tuple of them. */
static inline int ashlar_python_bind(const ashlar_kit_op* op, PyObject* const* given, Py_ssize_t count, PyObject* names,
                                     PyObject** bound, PyObject** out) {
  const Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
  Py_ssize_t at = 0;
  *out = NULL;
  for (int32_t n = 0; n < op->count; ++n)
    bound[n] = op->arguments[n].kind != ASHLAR_KIT_OUTPUT && at < count ? given[at++] : NULL;
  if (at < count) {
    PyErr_Format(PyExc_TypeError, "%s: expected at most %zd arguments, found %zd", op->name, at, count);
    return -1;
  }
  for (Py_ssize_t k = 0; k < named; ++k) {
    PyObject* name = PyTuple_GetItem(names, k);
    int32_t n = 0;
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      if (given[count + k] != Py_None) *out = given[count + k];
      continue;
    }
    while (n < op->count && (op->arguments[n].kind == ASHLAR_KIT_OUTPUT ||
                             PyUnicode_CompareWithASCIIString(name, op->arguments[n].parameter) != 0))
      ++n;
    if (n == op->count || bound[n] != NULL) {
      PyErr_Format(PyExc_TypeError, n == op->count ? "%s: there is no argument %R" : "%s: %R is given twice", op->name, name);
      return -1;
    }
    bound[n] = given[count + k];
  }
  for (int32_t n = 0; n < op->count; ++n)
    if (bound[n] == NULL && op->arguments[n].kind != ASHLAR_KIT_OUTPUT &&
        !(*out != NULL && op->arguments[n].kind == ASHLAR_KIT_EXTENT)) {
      PyErr_Format(PyExc_TypeError, "%s: %s is missing", op->name, op->arguments[n].parameter);
      return -1;
    }
  return 0;
}

static inline int ashlar_python_outputs(ashlar_python_call* c, PyObject* out) {
  const ashlar_kit_op* op = c->op;
  Py_ssize_t outputs = 0, at = 0;
  for (int32_t n = 0; n < op->count; ++n) outputs += op->arguments[n].kind == ASHLAR_KIT_OUTPUT;
  if (out != NULL && outputs > 1 && (!PyTuple_Check(out) || PyTuple_Size(out) != outputs)) {
    PyErr_Format(PyExc_TypeError, "%s: expected a tuple of %zd arrays for out", op->name, outputs);
    return -1;
  }
  if (out == NULL) {
    for (int32_t n = 0; n < op->count; ++n)
      if (op->arguments[n].kind == ASHLAR_KIT_INPUT && c->tensors[n].device_type != ASHLAR_ON_HOST &&
          c->tensors[n].device_type != 3) {
        PyErr_Format(PyExc_ValueError, "%s: %s is on a device: results there must be given (out=)", op->name,
                     op->arguments[n].name);
        return -1;
      }
    op->shapes(c->tensors, c->numbers, c->shapes);
  }
  for (int32_t n = 0; n < op->count; ++n) {
    if (op->arguments[n].kind != ASHLAR_KIT_OUTPUT) continue;
    if (out == NULL) {
      c->results[n] = ashlar_python_empty(c, n);
    } else {
      c->results[n] = outputs > 1 ? PyTuple_GetItem(out, at++) : out;
      Py_IncRef(c->results[n]);
    }
    if (c->results[n] == NULL || ashlar_python_view(c, n, c->results[n]) != 0) return -1;
  }
  return 0;
}

static inline int ashlar_python_run(ashlar_python_call* c) {
  ashlar_error error = {0};
  ashlar_context context;
  char text[600] = "";
  int code;
  ashlar_default_context(&context);
  context.error = &error;
  Py_BEGIN_ALLOW_THREADS;
  code = c->op->run(c->tensors, c->numbers, &context);
  Py_END_ALLOW_THREADS;
  if (code == ASHLAR_OK) return 0;
  ashlar_error_text(&error, text, sizeof text);
  PyErr_SetString(code == ASHLAR_E_TYPE                             ? PyExc_TypeError
                  : code == ASHLAR_E_MEMORY                         ? PyExc_MemoryError
                  : code <= ASHLAR_E_DEVICE && code >= ASHLAR_E_ABI ? PyExc_RuntimeError
                                                                    : PyExc_ValueError,
                  text);
  return -1;
}

static inline PyObject* ashlar_python_result(const ashlar_python_call* c) { /* one array, or a tuple of several */
  PyObject* one = NULL;
  Py_ssize_t outputs = 0, at = 0;
  for (int32_t n = 0; n < c->op->count; ++n)
    if (c->results[n] != NULL) one = c->results[n], ++outputs;
  if (outputs == 1) return Py_IncRef(one), one;
  PyObject* tuple = PyTuple_New(outputs);
  for (int32_t n = 0; tuple != NULL && n < c->op->count; ++n)
    if (c->results[n] != NULL) Py_IncRef(c->results[n]), PyTuple_SetItem(tuple, at++, c->results[n]);
  return tuple;
}

static inline PyObject* ashlar_python_operate(const ashlar_kit_op* op, PyObject* const* given, Py_ssize_t count,
                                              PyObject* names) {
  ashlar_python_call c;
  PyObject *bound[ASHLAR_ABI1_MAX_ARGUMENTS], *out = NULL, *result = NULL;
  if (ashlar_python_bind(op, given, count, names, bound, &out) != 0) return NULL;
  c.op = op;
  for (int32_t n = 0; n < op->count; ++n) c.buffers[n].obj = NULL, c.capsules[n] = NULL, c.results[n] = NULL;
  int failed = 0;
  for (int32_t n = 0; !failed && n < op->count; ++n)
    if (bound[n] != NULL)
      failed =
          ashlar_kit_is_tensor(&op->arguments[n]) ? ashlar_python_view(&c, n, bound[n]) : ashlar_python_number(&c, n, bound[n]);
  if (!failed && ashlar_python_outputs(&c, out) == 0 && ashlar_python_run(&c) == 0) result = ashlar_python_result(&c);
  for (int32_t n = 0; n < op->count; ++n) {
    if (c.buffers[n].obj != NULL) PyBuffer_Release(&c.buffers[n]);
    Py_DecRef(c.capsules[n]), Py_DecRef(c.results[n]);
  }
  return result;
}
#endif
