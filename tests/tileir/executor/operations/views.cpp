// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in memory, and tiles of them. Dimension d of a tile is dimension dim_map[d] of the tensor; index d counts tiles (of a
// strided view, steps) along it. A gather/scatter view takes a tile of positions along its sparse dimension and elements where
// others begin.
#include <cmath>
#include <limits>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

constexpr const char* kOutside = "an element outside of a view without padding";
constexpr const char* kUnwritten = "memory that nobody wrote";

std::size_t tensor_dimension(const Type& v, std::size_t d) {
  return v.kind == Kind::kGatherScatterView ? d : static_cast<std::size_t>(v.dim_map[d]);
}

// For each dimension of the tile, the offset in elements of each of its positions, or kDynamic where it lies outside.
std::vector<std::vector<i64>> positions(const Run& r, const Op& op, const View& v) {
  const Type& type = *v.type;
  const int index = op.info->operand("index");
  const auto& inbounds = op.attributes[static_cast<std::size_t>(op.info->attribute("inbounds"))].numbers;
  std::vector<std::vector<i64>> all;
  for (std::size_t d = 0; d < type.shape.size(); ++d) {
    const std::size_t t = tensor_dimension(type, d);
    std::vector<i64> at(static_cast<std::size_t>(type.shape[d]));
    const bool sparse = type.kind == Kind::kGatherScatterView && d == static_cast<std::size_t>(type.sparse_dim);
    const i64 step = type.kind == Kind::kPartitionView ? type.shape[d] : type.kind == Kind::kStridedView ? type.strides[d] : 1;
    const Tile& given = r.tile(op, index, d);
    const i64 start = sparse ? 0 : r.scalar(op, index, d, "the index of a view") * step;
    for (std::size_t n = 0; n < at.size(); ++n) {
      if (sparse && given.is_vague(n)) r.undefined(given, "the index of a view");
      const i64 p = sparse ? signed_of(given.bits[n], bits_of(given.type->element())) : start + static_cast<i64>(n);
      const bool inside = p >= 0 && p < v.shape[t];
      if (!inside && !inbounds.empty() && inbounds[d] != 0 && r.device.checks.assumptions)
        r.fault(FaultKind::kAssumption, "position " + std::to_string(p) + " of dimension " + std::to_string(t) +
                                            ", which has " + std::to_string(v.shape[t]) + ", in spite of inbounds");
      at[n] = inside ? p * v.strides[t] : kDynamic;
    }
    all.push_back(std::move(at));
  }
  return all;
}

// f(element of the tile, inside, address) for all of them in order.
template <class F>
void elements(const Run& r, const Op& op, const View& v, F f) {
  const auto at = positions(r, op, v);
  const std::size_t rank = at.size(), total = static_cast<std::size_t>(v.type->elements());
  const i64 bytes = storage_bytes(v.type->of->element());
  std::vector<std::size_t> index(rank, 0);
  for (std::size_t n = 0; n < total; ++n) {
    i64 offset = 0;
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d) {
      inside = inside && at[d][index[d]] != kDynamic;
      if (inside) offset += at[d][index[d]];
    }
    f(n, inside, v.base + static_cast<u64>(offset * bytes));
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < at[d].size()) break;
      index[d] = 0;
    }
  }
}

u64 padding_of(const Type& v) {
  const Kind k = v.of->element();
  if (!is_float(k)) return 0;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {0.0, -0.0, std::nan(""), infinity, -infinity};
  return rounded(values[static_cast<int>(v.padding)], k, Rounding::kNearestEven);
}

}  // namespace

void make_tensor_view(Run& r, const Op& op) {
  const Type& type = *op.results[0];
  const auto view = std::make_shared<View>();
  view->type = &type;
  const Tile& base = r.tile(op, 0);
  if (base.is_vague(0)) r.undefined(base, "the base of a tensor");
  view->base = base.bits[0];
  std::size_t given = 0;
  for (const i64 d : type.shape) view->shape.push_back(d == kDynamic ? r.scalar(op, 1, given++, "an extent of a tensor") : d);
  given = 0;
  for (const i64 s : type.strides)
    view->strides.push_back(s == kDynamic ? r.scalar(op, 2, given++, "a stride of a tensor") : s);
  for (const i64 d : view->shape)
    if (d < 0) r.fault(FaultKind::kInvalid, "a tensor with the extent " + std::to_string(d));
  r.values[op.first_result] = Value{nullptr, view, 0};
}

void make_view(Run& r, const Op& op) {
  const auto view = std::make_shared<View>(r.view(op, 0));
  view->type = op.results[0];
  r.values[op.first_result] = Value{nullptr, view, 0};
}

void view_shape(Run& r, const Op& op) {
  const View& v = r.view(op, 0);
  for (std::size_t d = 0; d < op.results.size(); ++d) {
    i64 n = v.shape[d];
    if (op.info->code == Code::kGetIndexSpaceShape) {
      const std::size_t t = tensor_dimension(*v.type, d);
      const i64 step = v.type->kind == Kind::kStridedView ? v.type->strides[d] : v.type->shape[d];
      n = (v.shape[t] + step - 1) / step;
    }
    Tile out = make(*op.results[d], 1);
    const int bits = bits_of(out.type->element());
    out.bits[0] = static_cast<u64>(n) & mask_of(bits);
    if (signed_of(out.bits[0], bits) != n) out.make_vague(0, "an extent that its type does not hold", &op);
    r.set(op, std::move(out), d);
  }
}

void load_view(Run& r, const Op& op) {
  const View& v = r.view(op, op.info->operand("view"));
  Access access(r, op, v.type->of->element(), true, false);
  Tile out = make(*op.results[0], static_cast<std::size_t>(v.type->elements()));
  const u64 padding = v.type->padding == Padding::kNone ? 0 : padding_of(*v.type);
  elements(r, op, v, [&](std::size_t n, bool inside, u64 address) {
    if (!inside) {
      out.bits[n] = padding;
      if (v.type->padding == Padding::kNone) out.make_vague(n, kOutside, &op);
      return;
    }
    bool written = true;
    access.element(address);
    out.bits[n] = access.load(written);
    if (!written) out.make_vague(n, kUnwritten, &op);
  });
  r.set(op, std::move(out));
  r.set_token(op, access.node());
}

void store_view(Run& r, const Op& op) {
  const View& v = r.view(op, op.info->operand("view"));
  const Tile& value = r.tile(op, op.info->operand("value"));
  Access access(r, op, v.type->of->element(), false, true);
  elements(r, op, v, [&](std::size_t n, bool inside, u64 address) {
    if (!inside) return;
    if (value.is_vague(n)) r.undefined(value, "a result in memory");
    access.element(address);
    access.store(value.bits[n]);
  });
  r.set_token(op, access.node());
}

void reduce_view(Run& r, const Op& op) {
  const View& v = r.view(op, op.info->operand("view"));
  const Tile& value = r.tile(op, op.info->operand("value"));
  const Kind kind = v.type->of->element();
  const u64 mode = op.number(op.info->attribute("mode"));
  Access access(r, op, kind, true, true);
  elements(r, op, v, [&](std::size_t n, bool inside, u64 address) {
    if (!inside) return;
    if (value.is_vague(n)) r.undefined(value, "a result in memory");
    bool written = true;
    access.element(address);
    const u64 old = access.load(written);
    if (!written) r.fault(FaultKind::kUndefined, "an atomic operation on memory that nobody wrote", address);
    access.store(modified(mode, old, value.bits[n], kind));
  });
  r.set_token(op, access.node());
}

}  // namespace ashlar::tileir
