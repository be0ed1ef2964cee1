#pragma once
// Runs a lowered kernel against the algorithm that it came from, for several shapes.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <ashlar/interp/interpreter.h>

#include "handmade.h"
#include "tests/source_dir.h"

namespace handmade {

using Sizes = std::map<std::string, std::int64_t>;  // symbol -> extent

inline interp::Arguments arguments_for(const ir::Program& p, const Sizes& shape) {
  ir::Substitution values;
  for (const auto& [id, s] : p.symbols) values.emplace_back(id, ir::index(shape.at(s.name)));
  interp::Arguments args;
  std::uint32_t seed = 1;
  for (const ir::Argument& a : p.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) {
      const Type t = p.scalars.at(a.id).type;
      args.emplace_back(t.is_float() ? ir::float_value(t, 3) : ir::int_value(t, 3));
      continue;
    }
    const ir::Buffer& b = p.buffer(a.id);
    std::vector<std::int64_t> extents;
    for (const Expr& e : b.extents) {
      std::int64_t n = 0;
      if (!ir::is_int(ir::substitute(e, values), &n)) throw InternalError("an extent that is not a constant");
      extents.push_back(n);
    }
    const bool output = a.kind == ir::ArgumentKind::output;
    // small whole numbers: sums of their products are exact in every type
    args.emplace_back(output ? interp::Array::zeros(b.type, extents) : interp::Array::make(b.type, extents, [&](auto) {
      seed = seed * 1664525u + 1013904223u;
      return static_cast<double>(seed >> 28) - (b.type.is_unsigned() ? 0 : 8);
    }));
  }
  return args;
}

// The kernel computes what the unscheduled algorithm says, whatever the order of parallel iterations.
inline void check_kernel(const ir::Program& scheduled, const ir::Kernel& k, const std::vector<Sizes>& shapes) {
  for (const Sizes& shape : shapes) {
    std::string name;
    for (const auto& [s, n] : shape) name += s + " = " + std::to_string(n) + " ";
    CAPTURE(name);
    interp::Arguments expected = arguments_for(scheduled, shape), found = expected;
    interp::run_algorithm(scheduled, expected);
    REQUIRE_NOTHROW(interp::run(k, found, {interp::Options::Order::shuffled, 7}));
    for (std::size_t n = 0; n < expected.size(); ++n)
      if (scheduled.arguments[n].kind == ir::ArgumentKind::output)
        CHECK(interp::difference(found[n].array, expected[n].array) == "");
  }
}
inline void check(Handmade& h, const std::vector<Sizes>& shapes, const LowerOptions& options = {}) {
  const ir::Program p = h.derived();
  ir::Kernel k;
  REQUIRE_NOTHROW(k = lower(p, options));
  check_kernel(p, k, shapes);
}

// The text equals tests/lower/golden/NAME.txt; ASHLAR_BLESS=1 writes it.
inline void golden(const std::string& name, const std::string& text) {
  const std::string path = source_dir() + "/tests/lower/golden/" + name + ".txt";
  if (const char* bless = std::getenv("ASHLAR_BLESS"); bless && *bless == '1') std::ofstream(path) << text;
  std::ifstream file(path);
  std::stringstream held;
  held << file.rdbuf();
  CHECK(held.str() == text);
}

}  // namespace handmade
