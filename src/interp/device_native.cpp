// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intrinsics without a description: boxes of tensor maps, products of warpgroups. What they compute stands in docs/parallel.md.
#include <algorithm>
#include <cmath>

#include <ashlar/ir/intrinsics.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"
#include "interp/device_run.h"

namespace ashlar::interp::device {

using Operand = ir::IntrinsicOperand;
using Kind = RunError::Kind;

const Native* Native::find(ir::DeviceOp op) {
  static constexpr Native load{locate_box, sample_load, nullptr}, store{locate_box, sample_store, land_store},
      product{locate_product, sample_product, nullptr};
  switch (op) {
    case ir::DeviceOp::tma_load:
      return &load;
    case ir::DeviceOp::tma_store:
      return &store;
    case ir::DeviceOp::wgmma:
      return &product;
    default:
      return nullptr;
  }
}

namespace {

std::size_t operand_of(const ir::Intrinsic& f, const char* name) {
  for (std::size_t k = 0; k < f.operands.size(); ++k)
    if (f.operands[k].name == name) return k;
  throw InternalError("the intrinsic " + f.name + " has no operand " + name);
}

}  // namespace

// ---- boxes of tensor maps --------------------------------------------------------------------------------------------------

void Native::locate_box(DeviceRun& run, Operation& o) {
  const ir::Intrinsic& f = run.intrinsic(o);
  const std::size_t map_at = operand_of(f, "map"), tile_at = f.operands[map_at == 0 ? 1 : 0].kind == Operand::Kind::tile
                                                                 ? (map_at == 0 ? 1u : 0u)
                                                                 : throw InternalError(f.name + " moves no tile");
  const MapInfo& map = run.maps_.at(static_cast<std::size_t>(o.code->actuals[map_at].tensor_map));
  const int b = o.code->actuals[tile_at].buffer;
  const BufferInfo& tile = run.buffer(b);
  const int swizzle = map.map->swizzle;
  const std::int64_t base = tile.offset + o.actuals[tile_at].addresses.front() * tile.size;
  const std::int64_t grain = swizzle == 0 ? 128 : std::int64_t{8} * swizzle;
  if (base % grain != 0)
    run.fail(Kind::broken_promise,
             f.name + ": the tile starts at byte " + std::to_string(base) + " of shared memory, not at a multiple of " +
                 std::to_string(grain),
             {o.code->number}, {tile.info->name});
  if (o.actuals[map_at].positions.size() != map.map->box.size())
    throw InternalError(f.name + ": a position of another rank than the tensor map " + map.map->name);
  std::int64_t element = 0;
  for_each_index(map.map->box, [&](std::span<const std::int64_t> j) {
    std::int64_t address = 0;
    bool inside = true;
    for (std::size_t d = 0; d < j.size(); ++d) {
      const std::int64_t x = o.actuals[map_at].positions[d] + j[d];
      inside = inside && x >= 0 && x < map.extents[d];
      address += x * map.strides[d];
    }
    o.at[map_at].push_back({o.first, inside ? address : -1});
    o.at[tile_at].push_back({o.first, (ir::swizzled(base + element * tile.size, swizzle) - tile.offset) / tile.size});
    ++element;
  });
  o.bytes = element * tile.size;
}

void Native::sample_load(DeviceRun& run, Operation& o) {
  const ir::Intrinsic& f = run.intrinsic(o);
  const std::size_t map_at = operand_of(f, "map");
  const MapInfo& map = run.maps_.at(static_cast<std::size_t>(o.code->actuals[map_at].tensor_map));
  const Type type = map.map->type;
  const Value zero = type.is_float() ? ir::float_value(type, 0) : ir::int_value(type, 0);
  for (const Location& l : o.at[map_at])
    o.result.push_back(l.at < 0 ? zero : run.global_.read_global(run.buffer(map.buffer).index, l.at, true));
}

void Native::sample_store(DeviceRun& run, Operation& o) {
  const std::size_t from = operand_of(run.intrinsic(o), "from"), map_at = operand_of(run.intrinsic(o), "map");
  for (std::size_t e = 0; e < o.at[from].size(); ++e) {
    const bool used = o.at[map_at][e].at >= 0;
    o.result.push_back(run.read_shared(run.block(o.block), o.code->actuals[from].buffer, o.at[from][e].at, used));
  }
}

void Native::land_store(DeviceRun& run, Operation& o) {
  const std::size_t map_at = operand_of(run.intrinsic(o), "map");
  const MapInfo& map = run.maps_.at(static_cast<std::size_t>(o.code->actuals[map_at].tensor_map));
  for (std::size_t e = 0; e < o.at[map_at].size(); ++e)
    if (o.at[map_at][e].at >= 0) run.global_.write_global(run.buffer(map.buffer).index, o.at[map_at][e].at, o.result[e]);
}

// ---- products of warpgroups ------------------------------------------------------------------------------------------------

// Shared operands by the rule of their descriptors: 8-row groups, k fastest (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Shared Memory Layout").
void Native::locate_product(DeviceRun& run, Operation& o) {
  const ir::Intrinsic& f = run.intrinsic(o);
  const auto number = [&](const std::string& name) { return o.actuals[operand_of(f, name.c_str())].value.i; };
  const std::int64_t swizzle = number("swizzle");
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    run.fail(Kind::broken_promise, f.name + ": a swizzle of " + std::to_string(swizzle) + " bytes", {o.code->number});
  for (const char* name : {"a", "b"}) {
    const std::size_t k = operand_of(f, name);
    if (f.operands[k].place != Operand::Place::shared) continue;
    const BufferInfo& tile = run.buffer(o.code->actuals[k].buffer);
    const std::int64_t base = tile.offset + o.actuals[k].addresses.front() * tile.size,
                       leading = number(name + std::string("_leading")), stride = number(name + std::string("_stride"));
    if (base % 16 != 0 || leading % 16 != 0 || stride % 16 != 0)
      run.fail(Kind::broken_promise, f.name + ": the address and the strides of " + name + " are not multiples of 16 bytes",
               {o.code->number}, {tile.info->name});
    for (std::int64_t i = 0; i < f.operands[k].shape[0]; ++i)
      for (std::int64_t c = 0; c < 16; ++c) {
        const std::int64_t byte = swizzle == 0 ? base + 16 * (i % 8) + stride * (i / 8) + leading * (c / 8) + 2 * (c % 8)
                                               : base + swizzle * (i % 8) + stride * (i / 8) + 2 * c;
        o.at[k].push_back({o.first, (ir::swizzled(byte, static_cast<int>(swizzle)) - tile.offset) / tile.size});
      }
  }
}

void Native::sample_product(DeviceRun& run, Operation& o) {
  const ir::Intrinsic& f = run.intrinsic(o);
  const auto n = static_cast<std::size_t>(f.operands[0].shape[1]);
  bool moderate = true;  // every product of two elements is a normal float or zero, so it is exact
  const auto fetch = [&](std::size_t k) {
    std::vector<float> x;
    x.reserve(o.at[k].size());
    const int b = o.code->actuals[k].buffer;
    for (const Location& l : o.at[k]) {
      Value v;
      if (f.operands[k].place == Operand::Place::shared) {
        v = run.read_shared(run.block(o.block), b, l.at);
      } else {
        const Register& r = run.reg(run.thread(l.thread), b, l.at, "reads");
        if (!r.defined)
          run.fail(Kind::uninitialized,
                   "reads " + run.buffer(b).info->name + "[" + std::to_string(l.at) + "], which was not written",
                   {o.code->number}, {run.buffer(b).info->name});
        v = r.value;
      }
      const double size = std::fabs(v.f);
      moderate = moderate && (size == 0 || (size > 1e-12 && size < 1e12));
      x.push_back(static_cast<float>(v.f));
    }
    return x;
  };
  const std::vector<float> a = fetch(1), b = fetch(2);
  std::vector<float> b_rows(16 * n), d(64 * n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < 16; ++k) b_rows[k * n + j] = b[j * 16 + k];
  if (o.actuals[operand_of(f, "accumulate")].value.i != 0) {
    const int buffer = o.code->actuals[0].buffer;
    for (std::size_t e = 0; e < d.size(); ++e) {
      const Location& l = o.at[0][e];
      const Register& r = run.reg(run.thread(l.thread), buffer, l.at, "reads");
      if (!r.defined)
        run.fail(Kind::uninitialized,
                 "accumulates into " + run.buffer(buffer).info->name + "[" + std::to_string(l.at) + "], which was not written",
                 {o.code->number}, {run.buffer(buffer).info->name});
      d[e] = static_cast<float>(r.value.f);
    }
  }
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t k = 0; k < 16; ++k) {
      const float x = a[i * 16 + k];
      float* to = d.data() + i * n;
      const float* y = b_rows.data() + k * n;
      if (moderate)
        for (std::size_t j = 0; j < n; ++j) to[j] += x * y[j];
      else
        for (std::size_t j = 0; j < n; ++j) to[j] = std::fmaf(x, y[j], to[j]);
    }
  o.result.reserve(d.size());
  for (float x : d) {
    Value v;
    v.type = f32;
    v.f = static_cast<double>(x);
    o.result.push_back(v);
  }
}

}  // namespace ashlar::interp::device
