#pragma once
// Launches of tiles on the host: by the interpreter of the tile form, and as bytecode by the executor of the tests.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <ashlar/codegen/tileir.h>
#include <ashlar/interp/tiles.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/text.h>
#include <ashlar/lower/tiles.h>

#include "tests/tileir/executor/executor.h"

namespace tiles {

using namespace ashlar;

// The value of an expression without variables. Division by zero has the value that the language defines.
inline ir::Value evaluated(const Expr& e) {
  if (ir::is(e, ir::Op::int_const) || ir::is(e, ir::Op::float_const)) return ir::value_of(e);
  std::vector<ir::Value> args;
  for (const Expr& a : ir::args_of(e)) args.push_back(evaluated(a));
  const auto value = args.empty() ? std::nullopt : ir::evaluate(ir::op_of(e), e.type(), args);
  if (!value) throw InternalError("expected a constant expression, found " + ir::text(e));
  return *value;
}

inline std::int64_t number(const Expr& e, const ir::Substitution& symbols) { return evaluated(ir::substitute(e, symbols)).i; }

// The stride of a dimension of an array.
inline std::int64_t stride_of(const interp::Array& a, int dim) {
  if (!a.strides.empty()) return a.strides[static_cast<std::size_t>(dim)];
  std::int64_t n = 1;
  for (std::size_t d = static_cast<std::size_t>(dim) + 1; d < a.shape.size(); ++d) n *= a.shape[d];
  return n;
}

// The same elements in rows that begin at multiples of a line; what lies between two rows is NaN, or -1. Nothing lies behind
// the last element.
inline interp::Array in_lines(const interp::Array& a) {
  interp::Array to;
  to.type = a.type, to.shape = a.shape;
  const std::int64_t line = std::max<std::int64_t>(1, 16 / std::max(1, a.type.bytes()));
  to.strides.assign(a.shape.size(), 1);
  std::int64_t behind = 1, last = 0;
  for (std::size_t d = a.shape.size(); d-- > 0;) {
    to.strides[d] = behind;
    behind = (behind * std::max<std::int64_t>(a.shape[d], 1) + line - 1) / line * line;
    last += (a.shape[d] - 1) * to.strides[d];
  }
  to.bytes.assign(static_cast<std::size_t>(a.elements() ? (last + 1) * a.type.bytes() : 0), std::byte{0xFF});
  std::vector<std::int64_t> at(a.shape.size(), 0);
  for (std::int64_t n = 0; n < a.elements(); ++n) {
    to.set(at, a.at(at));
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == a.shape[d];) at[d] = 0;
  }
  return to;
}

// Are the conditions met under which a call takes these launches? Addresses are taken to be.
inline bool may_take(const ir::Program& p, const std::vector<TileLaunch>& launches, const interp::Arguments& args) {
  const std::map<ir::Id, std::int64_t> solved = interp::solve_symbols(p.arguments, p.buffers, p.symbols, p.assumptions, args);
  ir::Substitution symbols;
  for (const auto& [id, n] : solved) symbols.emplace_back(id, ir::index(n));
  for (const TileLaunch& l : launches)
    for (const TileCondition& c : l.conditions) {
      if (c.dim < 0) continue;
      const auto at = std::find_if(p.arguments.begin(), p.arguments.end(), [&](const auto& a) { return a.id == c.buffer; });
      const std::int64_t n = stride_of(args[static_cast<std::size_t>(at - p.arguments.begin())].array, c.dim);
      if (n % c.divisor != 0 || (!c.least.empty() && n < number(c.least, symbols))) return false;
    }
  return true;
}

// What a call runs: the first variant whose condition holds, or the general program.
inline ir::Program taken(const ir::Program& p, const interp::Arguments& args) {
  ir::Substitution symbols;
  for (const auto& [id, n] : interp::solve_symbols(p.arguments, p.buffers, p.symbols, {}, args))
    symbols.emplace_back(id, ir::index(n));
  for (const ir::Variant& v : p.variants)
    if (number(v.condition, symbols) != 0) return taken(*v.program, args);
  ir::Program general = p;
  general.variants.clear();
  return general;
}

// The launches in their order, each with the call that runs it: with(launch, call).
template <class F>
void each_call(const ir::Program& p, const std::vector<TileLaunch>& launches, interp::Arguments& args, F&& with) {
  const std::map<ir::Id, std::int64_t> solved = interp::solve_symbols(p.arguments, p.buffers, p.symbols, p.assumptions, args);
  ir::Substitution symbols;
  for (const auto& [id, n] : solved) symbols.emplace_back(id, ir::index(n));
  std::map<ir::Id, interp::Actual*> actuals;
  std::map<ir::Id, interp::Array> between;  // what launches store for later ones: NaN, or 1, until then
  for (std::size_t i = 0; i < args.size(); ++i) actuals[p.arguments[i].id] = &args[i];
  // As an entry does, which launches nothing where no output has an element.
  const bool any = std::any_of(args.begin(), args.end(), [&](const interp::Actual& a) {
    const ir::Argument& of = p.arguments[static_cast<std::size_t>(&a - args.data())];
    return of.kind == ir::ArgumentKind::output && a.array.elements() > 0;
  });
  if (!any) return;
  for (const TileLaunch& l : launches) {
    interp::TileCall call{{}, {}, {}};
    for (std::size_t i = 0; i < l.parameters.size(); ++i) {
      const TileActual& a = l.parameters[i];
      if (a.value.empty())
        call.parameters.push_back(ir::int_value(i32, stride_of(actuals.at(a.buffer)->array, a.dim)));
      else if (ir::is(a.value, ir::Op::var) && actuals.count(a.value.node()->id))
        call.parameters.push_back(actuals.at(a.value.node()->id)->scalar);
      else
        call.parameters.push_back(ir::int_value(i32, number(a.value, symbols)));
    }
    const auto extent = [&](const ir::tile::Extent& e) {
      const auto& all = l.kernel.parameters;
      const auto at = std::find_if(all.begin(), all.end(), [&](const auto& q) { return q.id == e.parameter; });
      return at == all.end() ? e.constant : call.parameters[static_cast<std::size_t>(at - all.begin())].i;
    };
    for (std::size_t t = 0; t < l.tensors.size(); ++t) {
      if (const auto at = actuals.find(l.tensors[t]); at != actuals.end()) {
        call.tensors.push_back(&at->second->array);
        continue;
      }
      const ir::tile::Tensor& tensor = l.kernel.tensors[t];
      std::vector<std::int64_t> shape;
      for (const ir::tile::Extent& e : tensor.extents) shape.push_back(extent(e));
      const auto unwritten = [&](auto) { return tensor.element.is_float() ? std::nan("") : 1.0; };
      call.tensors.push_back(
          &between.try_emplace(l.tensors[t], interp::Array::make(tensor.element, shape, unwritten)).first->second);
    }
    for (std::size_t d = 0; d < 3; ++d) call.grid[d] = number(l.grid[d], symbols);
    with(l, call);
  }
}

inline void run(const ir::Program& p, const std::vector<TileLaunch>& launches, interp::Arguments& args) {
  each_call(p, launches, args, [](const TileLaunch& l, const interp::TileCall& call) { interp::run(l.kernel, call); });
}

// The bytecode of a kernel, on the executor of the tests (tests/tileir/executor), whose blocks run in an order that `seed`
// draws.
inline void execute(const ir::tile::Kernel& kernel, const interp::TileCall& call, std::uint64_t seed) {
  if (call.grid[0] * call.grid[1] * call.grid[2] == 0) return;
  const std::string code = codegen::tileir::bytecode(kernel);
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
  device.run(module, kernel.name, grid, actuals, seed);
  for (std::size_t t = 0; t < call.tensors.size(); ++t)
    if (kernel.tensors[t].written) device.read(call.tensors[t]->bytes.data(), addresses[t], call.tensors[t]->bytes.size());
}

inline void execute(const ir::Program& p, const std::vector<TileLaunch>& launches, interp::Arguments& args,
                    std::uint64_t seed) {
  each_call(p, launches, args, [&](const TileLaunch& l, const interp::TileCall& call) { execute(l.kernel, call, seed); });
}

}  // namespace tiles
