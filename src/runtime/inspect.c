/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What can be said of each tensor alone: that it is there, of the right kind, and that its strides describe memory. */
#include <ashlar/runtime/vulkan.h>

#include "internal.h"

static int64_t packed_type(int code, int bits, int lanes) { return code | (int64_t)bits << 8 | (int64_t)lanes << 16; }

static int64_t packed_device(int32_t type, int32_t id) { return (int64_t)((uint64_t)(uint32_t)id << 32 | (uint32_t)type); }

static int64_t element_bytes(const View* v) { return (v->bits + 7) / 8; }

int ashlar_inspect_kinds(Call* call) {
  const ashlar_abi1_desc* desc = call->desc;
  int32_t device_id = -1;
  for (int32_t n = 0; n < desc->argument_count; ++n) {
    const ashlar_abi1_argument* a = &desc->arguments[n];
    if (!ashlar_is_tensor(a)) continue;
    View* v = &call->views[n];
    const ashlar_tensor* t = v->tensor;
    if (t == NULL)
      return ashlar_error_record(call->error, ASHLAR_E_NULL, n, -1, 1, 0, "%s: %s is NULL, expected a tensor", desc->name,
                                 a->name);
    if (!(t->device_type == desc->device_type || (desc->device_type == 1 && t->device_type == 3) ||
          (desc->device_type == kCuda && t->device_type == kCudaManaged)))
      return ashlar_error_record(call->error, ASHLAR_E_DEVICE, n, -1, packed_device(desc->device_type, 0),
                                 packed_device(t->device_type, 0), "%s: %s lies on {found}, expected {expected}", desc->name,
                                 a->name);
    if (desc->device_type != 1) {
      if (device_id < 0) device_id = t->device_id;
      if (t->device_id != device_id)
        return ashlar_error_record(call->error, ASHLAR_E_DEVICE, n, -1, packed_device(t->device_type, device_id),
                                   packed_device(t->device_type, t->device_id),
                                   "%s: %s lies on {found}, expected {expected}, as the tensors before it", desc->name,
                                   a->name);
    }
    if (t->type_code != a->type_code || t->type_bits != a->type_bits || t->type_lanes != 1)
      return ashlar_error_record(call->error, ASHLAR_E_TYPE, n, -1, packed_type(a->type_code, a->type_bits, 1),
                                 packed_type(t->type_code, t->type_bits, t->type_lanes),
                                 "%s: %s is {found}, expected {expected}", desc->name, a->name);
    if (t->ndim != a->rank)
      return ashlar_error_record(call->error, ASHLAR_E_RANK, n, -1, a->rank, t->ndim,
                                 "%s: %s has rank {found}, expected rank {expected}", desc->name, a->name);
    if (t->shape == NULL && a->rank > 0)
      return ashlar_error_record(call->error, ASHLAR_E_NULL, n, -1, 1, 0, "%s: %s.shape is NULL, expected extents", desc->name,
                                 a->name);
    v->rank = a->rank, v->bits = a->type_bits, v->empty = false;
    for (int d = 0; d < v->rank; ++d) {
      if (t->shape[d] < 0)
        return ashlar_error_record(call->error, ASHLAR_E_SHAPE, n, d, 0, t->shape[d],
                                   "%s: %s.shape[%d] is {found}, expected at least {expected}", desc->name, a->name, d);
      v->extents[d] = t->shape[d];
      if (t->shape[d] == 0) v->empty = true;
    }
  }
  return ASHLAR_OK;
}

static int64_t at_least_one(int64_t extent) { return extent > 0 ? extent : 1; }

/* The strides that will be passed on: given or dense. A dimension of at most one element has no stride that matters; it gets
 * the dense one, so that the kernel's own address arithmetic stays small. */
static int set_strides(Call* call, int32_t n, View* v) {
  const char *function = call->desc->name, *name = call->desc->arguments[n].name;
  for (int d = v->rank - 1; d >= 0; --d) {
    int64_t dense = 1;
    if (d < v->rank - 1 && __builtin_mul_overflow(v->strides[d + 1], at_least_one(v->extents[d + 1]), &dense)) {
      if (v->tensor->strides == NULL)
        return ashlar_error_record(call->error, ASHLAR_E_OVERFLOW, n, d + 1, INT64_MAX, v->extents[d + 1],
                                   "%s: %s.shape[%d] is {found}: the tensor would reach past {expected} bytes", function, name,
                                   d + 1);
      dense = v->strides[d + 1];
    }
    const bool given = v->tensor->strides != NULL && v->extents[d] > 1 && !v->empty;
    v->strides[d] = given ? v->tensor->strides[d] : dense;
  }
  return ASHLAR_OK;
}

/* What is touched, in bytes from element 0; refuses what 63 bits do not hold. */
static int set_span(Call* call, int32_t n, View* v) {
  const char *function = call->desc->name, *name = call->desc->arguments[n].name;
  int64_t low = 0, high = 0;
  for (int d = 0; d < v->rank; ++d) {
    int64_t reach = 0;
    bool over = __builtin_mul_overflow(at_least_one(v->extents[d]) - 1, v->strides[d], &reach);
    over = over || (reach < 0 ? __builtin_add_overflow(low, reach, &low) : __builtin_add_overflow(high, reach, &high));
    if (over)
      return ashlar_error_record(call->error, ASHLAR_E_OVERFLOW, n, d, INT64_MAX, v->strides[d],
                                 "%s: %s.shape[%d] elements {found} apart reach past {expected} bytes", function, name, d);
  }
  bool over = __builtin_add_overflow(high, 1, &high);
  const int64_t elements = over ? INT64_MAX : high;
  if (v->bits >= 8) {
    over = over || __builtin_mul_overflow(low, element_bytes(v), &low) || __builtin_mul_overflow(high, element_bytes(v), &high);
  } else if (!over) { /* packed: element i lies in byte i * bits / 8 */
    const int64_t in_byte = 8 / v->bits;
    low = -((-low + in_byte - 1) / in_byte), high = high / in_byte + (high % in_byte != 0);
  }
  int64_t span = 0, end = 0;
  if (over || __builtin_sub_overflow(high, low, &span))
    return ashlar_error_record(call->error, ASHLAR_E_OVERFLOW, n, -1, INT64_MAX, elements,
                               "%s: %s reaches {found} elements from its first one, expected at most {expected} bytes",
                               function, name);
  const uint64_t offset = v->tensor->byte_offset;
  if (offset > (uint64_t)INT64_MAX || __builtin_add_overflow((int64_t)offset, high, &end))
    return ashlar_error_record(
        call->error, ASHLAR_E_OVERFLOW, n, -1, INT64_MAX - high, offset > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)offset,
        "%s: %s begins {found} bytes or more behind its data, expected at most {expected}", function, name);
  if (!v->empty && v->address + (uintptr_t)high < v->address)
    return ashlar_error_record(call->error, ASHLAR_E_OVERFLOW, n, -1, (int64_t)(UINTPTR_MAX - v->address), high,
                               "%s: %s reaches {found} bytes from its first element, where memory ends after {expected}",
                               function, name);
  v->low = low, v->high = high;
  return ASHLAR_OK;
}

static int check_order(Call* call, int32_t n, const View* v) {
  const ashlar_abi1_desc* desc = call->desc;
  const ashlar_abi1_argument* a = &desc->arguments[n];
  int64_t dense = 1;
  for (int d = v->rank - 1; d >= 0; --d) {
    const bool field = a->stride_fields != NULL && a->stride_fields[d] >= 0, inner = d == v->rank - 1;
    const int64_t stride = v->strides[d];
    if (v->extents[d] > 1) {
      if (inner && stride != 1 && (!field || a->order != ASHLAR_ABI1_ANY))
        return ashlar_error_record(call->error, ASHLAR_E_STRIDE, n, d, 1, stride,
                                   "%s: %s.strides[%d] is {found}, expected {expected} (the innermost)", desc->name, a->name,
                                   d);
      if (!inner && stride != dense && (!field || a->order == ASHLAR_ABI1_DENSE))
        return ashlar_error_record(call->error, ASHLAR_E_STRIDE, n, d, dense, stride,
                                   "%s: %s.strides[%d] is {found}, expected {expected} (dense)", desc->name, a->name, d);
      if (stride < 0 && a->order != ASHLAR_ABI1_ANY)
        return ashlar_error_record(call->error, ASHLAR_E_STRIDE, n, d, 0, stride,
                                   "%s: %s.strides[%d] is {found}, expected at least {expected}", desc->name, a->name, d);
      if (stride == 0 && (desc->flags & ASHLAR_ABI1_ZERO_STRIDE_IS_DENSE))
        return ashlar_error_record(call->error, ASHLAR_E_STRIDE, n, d, dense, 0,
                                   "%s: %s.strides[%d] is {found}, expected a stride that is not 0, as {expected}", desc->name,
                                   a->name, d);
    }
    if (__builtin_mul_overflow(dense, at_least_one(v->extents[d]), &dense)) dense = INT64_MAX; /* no stride equals it */
  }
  return ASHLAR_OK;
}

static int check_data(Call* call, int32_t n, const View* v) {
  const char* function = call->desc->name;
  const ashlar_abi1_argument* a = &call->desc->arguments[n];
  if (v->empty) return ASHLAR_OK; /* nothing is touched */
  if (v->tensor->data == NULL)
    return ashlar_error_record(call->error, ASHLAR_E_NULL, n, -1, v->high - v->low, 0,
                               "%s: %s.data is NULL, expected {expected} bytes", function, a->name);
  if (call->desc->device_type == kVulkan) {
    const uint64_t offset = v->tensor->byte_offset, room = ((const ashlar_vulkan_buffer*)v->tensor->data)->bytes;
    if (v->low < -(int64_t)offset || offset + (uint64_t)v->high > room)
      return ashlar_error_record(call->error, ASHLAR_E_MEMORY, n, -1, (int64_t)(offset + (uint64_t)v->high), (int64_t)room,
                                 "%s: %s lies outside its buffer, which has {found} bytes, expected at least {expected}",
                                 function, a->name);
  }
  const int64_t align = a->align > element_bytes(v) ? a->align : element_bytes(v);
  const int64_t past = (int64_t)(v->address % (uintptr_t)align);
  if (past != 0)
    return ashlar_error_record(
        call->error, ASHLAR_E_ALIGN, n, -1, align, past,
        "%s: %s begins {found} bytes past a multiple of {expected} bytes, expected a multiple of {expected}", function,
        a->name);
  if (v->bits < 8) /* rows of packed elements start on bytes */
    for (int d = 0; d + 1 < v->rank; ++d)
      if (v->extents[d] > 1 && v->strides[d] % (8 / v->bits) != 0)
        return ashlar_error_record(call->error, ASHLAR_E_STRIDE, n, d, 8 / v->bits, v->strides[d],
                                   "%s: %s.strides[%d] is {found}, expected a multiple of {expected} (rows start on bytes)",
                                   function, a->name, d);
  return ASHLAR_OK;
}

int ashlar_inspect_memory(Call* call) {
  for (int32_t n = 0; n < call->desc->argument_count; ++n) {
    if (!ashlar_is_tensor(&call->desc->arguments[n])) continue;
    View* v = &call->views[n];
    const ashlar_vulkan_buffer* buffer = call->desc->device_type == kVulkan ? v->tensor->data : NULL;
    v->address = (buffer != NULL ? (uintptr_t)buffer->address : (uintptr_t)v->tensor->data) + (uintptr_t)v->tensor->byte_offset;
    int rc = set_strides(call, n, v);
    if (rc == ASHLAR_OK) rc = set_span(call, n, v);
    if (rc == ASHLAR_OK) rc = check_order(call, n, v);
    if (rc == ASHLAR_OK) rc = check_data(call, n, v);
    if (rc != ASHLAR_OK) return rc;
  }
  return ASHLAR_OK;
}

static bool same_elements(const View* a, const View* b) {
  if (a->address != b->address || a->bits != b->bits || a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; ++d)
    if (a->extents[d] != b->extents[d] || a->strides[d] != b->strides[d]) return false;
  return true;
}

int ashlar_check_overlap(Call* call) {
  const ashlar_abi1_desc* desc = call->desc;
  for (int32_t n = 0; n < desc->argument_count; ++n) {
    const ashlar_abi1_argument* out = &desc->arguments[n];
    if (!ashlar_is_written(out)) continue;
    const View* v = &call->views[n];
    int dimension = -1;
    int64_t least = 0;
    if (ashlar_overlaps_itself(v, &dimension, &least))
      return ashlar_error_record(call->error, ASHLAR_E_ALIAS, n, dimension, least, v->strides[dimension],
                                 "%s: %s overlaps itself: %s.strides[%d] is {found}, expected at least {expected}", desc->name,
                                 out->name, out->name, dimension);
    for (int32_t m = 0; m < desc->argument_count; ++m) {
      const ashlar_abi1_argument* other = &desc->arguments[m];
      if (m == n || !ashlar_is_tensor(other) || (ashlar_is_written(other) && m > n)) continue;
      const View* w = &call->views[m];
      if (!ashlar_overlaps(v, w)) continue;
      const bool may = (out->flags & ASHLAR_ABI1_MAY_ALIAS) != 0 && !ashlar_is_written(other);
      if (may && same_elements(v, w)) continue;
      return ashlar_error_record(
          call->error, ASHLAR_E_ALIAS, n, -1, -1, m,
          may ? "%s: %s overlaps %s, expected the same elements or none" : "%s: %s overlaps %s, expected memory of its own",
          desc->name, out->name, other->name);
    }
  }
  return ASHLAR_OK;
}
