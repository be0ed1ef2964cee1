// What a tensor map can carry, and why not: the modes against the permutation of byte addresses, the demands one by one.
#include <ashlar/analysis/memory_access.h>
#include <ashlar/ir/intrinsics.h>

#include "layouts.h"

namespace ashlar::test {
namespace {

TmaTensor matrix(std::int64_t rows, std::int64_t columns, std::vector<std::int64_t> box) {
  return {{num(rows), num(columns)}, {num(columns), num(1)}, std::move(box), 16};
}

}  // namespace

TEST_CASE("a mode's addresses are the byte permutation of the manual") {
  for (const int mode : {0, 32, 64, 128})
    for (const int bytes : {1, 2, 4, 8}) {
      const Expr e = tma_address(c, mode, bytes);
      long wrong = 0;
      for (std::int64_t x = 0; x < 4096 / bytes; ++x)
        wrong += *evaluate(e, {{2, "c", x}}) * bytes != ir::swizzled(x * bytes, mode);
      CHECK(wrong == 0);
    }
}

TEST_CASE("each mode is recognised, in every type and for boxes that are no powers of two") {
  for (const int bytes : {1, 2, 4, 8})
    for (const int span : {32, 64, 128})
      for (const std::int64_t rows : {8, 24, 64}) {
        const std::int64_t row = span / bytes;
        for (const int mode : {0, 32, 64, 128}) {
          if (mode && mode < span) continue;
          const Addressing shared{{1, 2}, tma_address(r * row + c, mode, bytes), bytes};
          const TmaVerdict v = tma_compatible(matrix(1024, 1024, {rows, row}), shared, {});
          REQUIRE_MESSAGE(v.plan, v.why);
          // The smallest mode that writes the same: by looking at every element.
          int expected = -1;
          for (const int m : {0, 32, 64, 128}) {
            if ((m && m < span) || expected >= 0) continue;
            bool same = true;
            for (std::int64_t x = 0; x < rows * row; ++x)
              same = same && ir::swizzled(x * bytes, m) == ir::swizzled(x * bytes, mode);
            if (same) expected = m;
          }
          CHECK(v.plan->swizzle == expected);
          CHECK(v.plan->shared_align == (expected ? expected * 8 : 128));
        }
      }
}

TEST_CASE("other shared layouts are refused with an element that lies elsewhere") {
  const TmaVerdict padded = tma_compatible(matrix(1024, 1024, {32, 64}), {{1, 2}, r * 72 + c, 2}, {});
  CHECK(!padded.plan);
  CHECK(padded.why.find(
            "the shared layout is none that a tensor map writes: stored densely element (1, 0) lies at 72 instead of 64") == 0);
  // granules exchanged by the wrong bits
  const TmaVerdict other = tma_compatible(matrix(1024, 1024, {32, 64}), {{1, 2}, r * 64 + (c ^ (r / 2 % 8 * 8)), 2}, {});
  CHECK(!other.plan);
  CHECK(other.why.find("under a swizzle of 128 bytes element (1, 0) lies at 64 instead of 72") != std::string::npos);
  CHECK(other.why.find("a row of 128 bytes is longer than a swizzle of 64") != std::string::npos);
}

TEST_CASE("each demand on tensor and box has its sentence") {
  const Addressing shared{{1, 2}, r * 64 + c, 2};
  const auto why = [&](const TmaTensor& t, const Addressing& s, const Facts& f = {}) {
    const TmaVerdict v = tma_compatible(t, s, f);
    CHECK(!v.plan);
    return v.why;
  };
  TmaTensor t = matrix(1000, 1001, {32, 64});
  CHECK(why(t, shared) == "the stride of dimension 0, 2002 bytes, is not known to be a multiple of 16");
  t = matrix(1000, 1024, {300, 64});
  CHECK(why(t, shared) == "a box has 1 to 256 elements along each dimension, 300 along dimension 0");
  t = matrix(1000, 1024, {32, 60});
  CHECK(why(t, shared) == "a row of the box has 120 bytes, no multiple of 16");
  t = matrix(1000, 1024, {32, 64});
  t.base_align = 8;
  CHECK(why(t, shared) == "the tensor starts at a multiple of 8 bytes, not of 16");
  t = matrix(1000, 1024, {32, 64});
  t.strides[1] = num(2);
  CHECK(why(t, shared) == "the innermost stride is 2, not 1");
  t.box = {1, 1, 1, 1, 1, 1};
  CHECK(why(t, shared) == "a tensor map has 1 to 5 dimensions, this tensor 6");
  // a symbolic row is carried where the facts say that it is a multiple
  t = matrix(1000, 1024, {32, 64});
  t.strides[0] = S;
  CHECK(why(t, shared) == "the stride of dimension 0, S * 2 bytes, is not known to be a multiple of 16");
  Facts f;
  f.multiple(9, 8);
  CHECK(tma_compatible(t, shared, f).plan);
}

}  // namespace ashlar::test
