// Layouts in compiled code: swizzled and padded tiles, in a stack frame and in the workspace, read like plain ones.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include <ashlar/ashlar.h>
#include <ashlar/generator/compile.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/step.h>

#include "tests/support/transposition.h"

using namespace ashlar;

namespace {

// B = A transposed over copied tiles of 32 x 32; vectors of the copy stay whole under a swizzle of granules.
struct Turn : Transposition {
  Schedule s{built, Target::host()};
  Stage tile;

  explicit Turn(const Scope& where) : tile(s.cache_read(A, {s[B]}, where, 0)) {
    auto [j, i] = s[B].spatial<2>();
    tile.compute_at(s[B].tile(j, i, 32, 32).outer_j);
  }
};

#ifdef ASHLAR_TEST_LLVM
void turns(const Turn& t) {
  const codegen::Compiled f = compile(t.s);
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{64, 96}, {1, 1}, {33, 70}, {5, 64}}) {
    std::vector<float> a(static_cast<std::size_t>(m * n)), b(a.size(), -1);
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<float>(k);
    std::int64_t in[] = {m, n}, out[] = {n, m};
    ashlar_tensor ta{}, tb{};
    for (ashlar_tensor* x : {&ta, &tb}) x->device_type = 1, x->ndim = 2, x->type_code = 2, x->type_bits = 32, x->type_lanes = 1;
    ta.data = a.data(), ta.shape = in, tb.data = b.data(), tb.shape = out;
    const void* arguments[] = {&ta, &tb};
    REQUIRE(f.call(arguments) == ASHLAR_OK);
    long wrong = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        wrong += b[static_cast<std::size_t>(j * m + i)] != a[static_cast<std::size_t>(i * n + j)];
    CHECK(wrong == 0);
  }
}
#else
void turns(const Turn&) { MESSAGE("skipped: compiled code, LLVM was not found"); }
#endif

}  // namespace

TEST_CASE("swizzled tiles") {
  for (const Scope& where : {Scope::stack, Scope::global}) {
    Turn t(where);
    t.tile.swizzle([](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); });
    turns(t);
    Turn u(where);  // the copy in vectors of one granule
    u.tile.swizzle([](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); });
    u.tile.vectorize(u.tile.split(u.tile.spatial<2>()[1], 8).inner);
    turns(u);
  }
}

TEST_CASE("a vector of one granule is one store under a swizzle: its address is a ramp") {
  Turn u(Scope::stack);
  u.tile.swizzle([](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); });
  u.tile.vectorize(u.tile.split(u.tile.spatial<2>()[1], 8).inner);
  const std::string text = ir::text(lower(u.s.scheduled().program));
  CHECK_MESSAGE(text.find("A_cache[ramp8(d0 * 32 + (d1o ^ d0 % 4) * 8, 1)] = ") != std::string::npos, text);
}

TEST_CASE("padded tiles") {
  for (const Scope& where : {Scope::stack, Scope::global}) {
    Turn t(where);
    t.tile.compute_at(t.s[t.B].nest()[1]);
    t.tile.pad(1, 1);
    turns(t);
  }
}

TEST_CASE("a layout by masks and shifts") {
  Turn t(Scope::stack);
  t.tile.transform_layout([](Var r, Var c) { return at(r, (c & 24) | ((c & 7) ^ (r & 7)), c >> 5); });
  turns(t);
}
