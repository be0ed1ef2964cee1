#pragma once
// Schedules for a device, lowered, and run in race mode against their algorithm.
#include <string>

#include <ashlar/schedule/schedule.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "check.h"

namespace handmade {

// `flat`: the kernel as it stands before functions become polynomials.
inline ir::Kernel launched(const Schedule& s, std::string* flat = nullptr) {
  schedule::finish(s.scheduled(), s.target());
  LowerOptions o = options_for(s.target());
  o.observe = [&](std::string_view pass, const std::string& text) {
    if (flat && pass == "guards") *flat = text;
  };
  return lower(s.scheduled().program, o);
}

// The results of a sum by 32 threads of a block, and a tile of its input, in shared memory, for each step of the sum.
struct TileOfSteps {
  Loop step;
  Stage tile;
};
inline TileOfSteps tile_of_steps(Schedule& s, const Tensor& sum, const Tensor& input) {
  Loop i = s[sum].spatial<1>()[0], step = s[sum].reduction();
  auto [io, ii] = s[sum].split(i, 32);
  s[sum].reorder(io, step, ii);
  s[sum].bind(io, gpu::block_x).bind(ii, gpu::thread_x);
  Stage tile = s.cache_read(input, {sum}, Scope::shared);
  tile.compute_at(step);
  return {step, tile};
}

inline std::size_t barriers(const std::vector<ir::KStmt>& list, ir::Sync::Kind kind) {
  std::size_t n = 0;
  for (const ir::KStmt& s : list) {
    const auto* sync = s.as<ir::KSync>();
    n += sync && sync->kind == kind;
    for (const auto* part : s.bodies()) n += barriers(*part, kind);
  }
  return n;
}
inline std::size_t barriers(const ir::Kernel& k, ir::Sync::Kind kind = ir::Sync::Kind::block) { return barriers(k.body, kind); }

// The scheduled program and the kernel, in race mode, compute what the algorithm says.
inline void same_on_device(const ir::Program& algorithm, const Schedule& s, const std::vector<Sizes>& shapes) {
  const ir::Kernel k = launched(s);
  for (const Sizes& shape : shapes) {
    std::string at;
    for (const auto& [name, n] : shape) at += name + " = " + std::to_string(n) + " ";
    CAPTURE(at);
    interp::Arguments expected = arguments_for(algorithm, shape), scheduled = expected, found = expected;
    interp::run_algorithm(algorithm, expected);
    REQUIRE_NOTHROW(interp::run(s.scheduled().program, scheduled));
    interp::Options options;
    options.races = true;
    REQUIRE_NOTHROW(interp::run(k, found, options));
    for (std::size_t n = 0; n < expected.size(); ++n) {
      CHECK(interp::difference(scheduled[n].array, expected[n].array, 1e-6, 1e-6) == "");
      CHECK(interp::difference(found[n].array, expected[n].array, 1e-6, 1e-6) == "");
    }
  }
}

}  // namespace handmade
