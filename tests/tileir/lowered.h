#pragma once
// Schedules for tiles, lowered and run block by block against the algorithm: by the interpreter of the tile form, and as
// bytecode by the executor of the tests.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>

#include <ashlar/codegen/tileir.h>
#include <ashlar/interp/tiles.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/tiles.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/lower/check.h"
#include "tests/tileir/executor/executor.h"

namespace tiles {

using namespace ashlar;
using handmade::Sizes;

inline std::vector<TileLaunch> lowered(const Schedule& s, const TileOptions& options = {}) {
  schedule::finish(s.scheduled(), s.target());
  return lower_to_tiles(s.scheduled().program, options);
}

inline Schedule scheduled(const lang::Built& built) { return Schedule(built, Target::parse("cuda-tile-sm_90")); }

inline std::int64_t number(const Expr& e, const ir::Substitution& symbols) {
  std::int64_t n = 0;
  if (!ir::is_int(ir::substitute(e, symbols), &n)) throw InternalError("an expression that is no constant");
  return n;
}

// The stride of a dimension of an array.
inline std::int64_t stride_of(const interp::Array& a, int dim) {
  if (!a.strides.empty()) return a.strides[static_cast<std::size_t>(dim)];
  std::int64_t n = 1;
  for (std::size_t d = static_cast<std::size_t>(dim) + 1; d < a.shape.size(); ++d) n *= a.shape[d];
  return n;
}

// The launches of a scheduled program in their order, each with the call that runs it: with(launch, call). Stages between
// launches have memory of the call's.
template <class F>
void each_call(const ir::Program& p, const std::vector<TileLaunch>& launches, interp::Arguments& args, F&& with) {
  const std::map<ir::Id, std::int64_t> solved = interp::solve_symbols(p.arguments, p.buffers, p.symbols, p.assumptions, args);
  ir::Substitution symbols;
  for (const auto& [id, n] : solved) symbols.emplace_back(id, ir::index(n));
  std::map<ir::Id, interp::Actual*> actuals;
  for (std::size_t i = 0; i < args.size(); ++i) actuals[p.arguments[i].id] = &args[i];
  std::map<ir::Id, interp::Array> between;  // what launches store for later ones: NaN, or 1, until then
  for (const TileTemporary& t : tile_temporaries(p)) {
    const Type type = p.buffer(t.buffer).type;
    std::vector<std::int64_t> extents;
    for (const Expr& e : t.extents) extents.push_back(std::max<std::int64_t>(0, number(e, symbols)));
    between.emplace(t.buffer, interp::Array::make(type, extents, [&](auto) { return type.is_float() ? std::nan("") : 1.0; }));
  }
  for (const TileLaunch& l : launches) {
    interp::TileCall call{{}, {}, {}};
    for (const ir::Id id : l.tensors) call.tensors.push_back(between.count(id) ? &between.at(id) : &actuals.at(id)->array);
    for (std::size_t i = 0; i < l.parameters.size(); ++i) {
      const TileActual& a = l.parameters[i];
      if (a.value.empty())
        call.parameters.push_back(ir::int_value(i32, stride_of(actuals.at(a.buffer)->array, a.dim)));
      else if (ir::is(a.value, ir::Op::var) && actuals.count(a.value.node()->id))
        call.parameters.push_back(actuals.at(a.value.node()->id)->scalar);
      else
        call.parameters.push_back(ir::int_value(i32, number(a.value, symbols)));
    }
    for (std::size_t d = 0; d < 3; ++d) call.grid[d] = number(l.grid[d], symbols);
    with(l, call);
  }
}

inline void run(const ir::Program& p, const std::vector<TileLaunch>& launches, interp::Arguments& args) {
  each_call(p, launches, args, [](const TileLaunch& l, const interp::TileCall& call) { interp::run(l.kernel, call); });
}

// The same by the bytecode of each kernel, on the executor of the tests (tests/tileir/executor), whose blocks run in an order
// that `seed` draws.
inline void execute(const ir::Program& p, const std::vector<TileLaunch>& launches, interp::Arguments& args,
                    std::uint64_t seed) {
  each_call(p, launches, args, [&](const TileLaunch& l, const interp::TileCall& call) {
    if (call.grid[0] * call.grid[1] * call.grid[2] == 0) return;
    const std::string code = codegen::tileir::bytecode(l.kernel);
    const tileir::Module module = tileir::Module::read(std::as_bytes(std::span(code)));
    tileir::Device device;
    std::vector<std::uint64_t> addresses;
    std::vector<tileir::Argument> actuals;
    for (const interp::Array* a : call.tensors) {
      addresses.push_back(device.alloc(std::max<std::size_t>(a->bytes.size(), 1)));
      device.write(addresses.back(), a->bytes.data(), a->bytes.size());
      actuals.push_back(tileir::argument(addresses.back()));
    }
    for (const ir::Value& v : call.parameters) {
      tileir::Argument a = tileir::argument(ir::to_bits(v));
      a.size = static_cast<std::size_t>(v.type.bytes());
      actuals.push_back(a);
    }
    tileir::Grid grid;
    for (std::size_t d = 0; d < 3; ++d) grid[d] = static_cast<std::uint32_t>(call.grid[d]);
    device.run(module, l.kernel.name, grid, actuals, seed);
    for (std::size_t t = 0; t < call.tensors.size(); ++t)
      if (l.kernel.tensors[t].written) device.read(call.tensors[t]->bytes.data(), addresses[t], call.tensors[t]->bytes.size());
  });
}

// What blocks store is what the algorithm says: to the bit without bounds.
inline void same(const lang::Built& built, const Schedule& s, const std::vector<Sizes>& shapes, double relative = 0,
                 double absolute = 0) {
  const std::vector<TileLaunch> launches = lowered(s, {.aligned = false});
  for (const Sizes& shape : shapes) {
    std::string at;
    for (const auto& [name, n] : shape) at += name + " = " + std::to_string(n) + " ";
    CAPTURE(at);
    const interp::Arguments given = handmade::arguments_for(built.program, shape);
    interp::Arguments expected = given;
    interp::run_algorithm(built.program, expected);
    for (const bool executed : {false, true}) {
      CAPTURE(executed);
      interp::Arguments found = given;
      REQUIRE_NOTHROW(executed ? execute(s.scheduled().program, launches, found, 7)
                               : run(s.scheduled().program, launches, found));
      for (std::size_t n = 0; n < expected.size(); ++n)
        CHECK((relative || absolute ? interp::difference(found[n].array, expected[n].array, relative, absolute)
                                    : interp::difference(found[n].array, expected[n].array)) == "");
    }
  }
}

// The refusal of a schedule or of its lowering.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const RefusalError& e) { return e.what(); }
  return "";
}

}  // namespace tiles
