// Overlap of strided views against counting the bytes, over all small views.
#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <set>

#include <ashlar/runtime/runtime.h>
extern "C" {
#include "runtime/internal.h"
}

namespace {

View view(std::uintptr_t address, int bits, std::initializer_list<std::int64_t> extents,
          std::initializer_list<std::int64_t> strides) {
  View v{};
  v.address = address, v.bits = bits, v.rank = static_cast<int>(extents.size());
  std::int64_t low = 0, high = 0;
  for (int d = 0; d < v.rank; ++d) {
    v.extents[d] = extents.begin()[d], v.strides[d] = strides.begin()[d];
    const std::int64_t reach = (v.extents[d] - 1) * v.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  v.low = low * bits / 8, v.high = (high + 1) * bits / 8;
  return v;
}

// Visits the addresses of all elements.
template <class F>
void each(const View& v, F visit) {
  for (std::int64_t i = 0; i < v.extents[0]; ++i)
    for (std::int64_t j = 0; j < (v.rank > 1 ? v.extents[1] : 1); ++j)
      visit(static_cast<std::int64_t>(v.address) + (i * v.strides[0] + j * (v.rank > 1 ? v.strides[1] : 0)) * v.bits / 8);
}
std::set<std::int64_t> bytes(const View& v) {
  std::set<std::int64_t> all;
  each(v, [&](std::int64_t at) {
    for (int b = 0; b < v.bits / 8; ++b) all.insert(at + b);
  });
  return all;
}
bool share(const View& a, const View& b) {
  const auto of_a = bytes(a);
  for (std::int64_t at : bytes(b))
    if (of_a.count(at)) return true;
  return false;
}

}  // namespace

TEST_CASE("two views, against counting bytes") {
  int overlapping = 0, apart = 0;
  for (std::int64_t e0 = 1; e0 <= 3; ++e0)
    for (std::int64_t s0 : {-5, -2, 0, 1, 3, 4, 6})
      for (std::int64_t s1 : {-1, 1, 2, 5})
        for (std::int64_t t0 : {-4, 2, 4, 6})
          for (std::uintptr_t base : {1000u, 1001u, 1002u, 1005u, 1014u, 1020u}) {
            const View a = view(1000, 16, {e0, 2}, {s0, s1}), b = view(base, 8, {3, 2}, {t0, 1});
            const bool expected = share(a, b);
            REQUIRE(ashlar_overlaps(&a, &b) == expected);
            REQUIRE(ashlar_overlaps(&b, &a) == expected);
            ++(expected ? overlapping : apart);
          }
  CHECK(overlapping > 500);
  CHECK(apart > 500);
}

TEST_CASE("one view with itself, against counting elements") {
  int overlapping = 0, apart = 0;
  for (std::int64_t e0 = 1; e0 <= 4; ++e0)
    for (std::int64_t e1 = 1; e1 <= 4; ++e1)
      for (std::int64_t s0 = -5; s0 <= 5; ++s0)
        for (std::int64_t s1 = -5; s1 <= 5; ++s1) {
          const View v = view(1000, 32, {e0, e1}, {s0, s1});
          std::set<std::int64_t> starts;
          each(v, [&](std::int64_t at) { starts.insert(at); });
          const bool expected = static_cast<std::int64_t>(starts.size()) != e0 * e1;
          int dimension = -1;
          std::int64_t least = 0;
          REQUIRE(ashlar_overlaps_itself(&v, &dimension, &least) == expected);
          if (expected) REQUIRE(dimension >= 0);
          ++(expected ? overlapping : apart);
        }
  CHECK(overlapping > 200);
  CHECK(apart > 200);
}

TEST_CASE("large slices of one array take few steps: column blocks, planes, interleaved channels") {
  const View left = view(1 << 20, 32, {4096, 2048}, {4096, 1}), right = view((1 << 20) + 2048 * 4, 32, {4096, 2048}, {4096, 1});
  CHECK_FALSE(ashlar_overlaps(&left, &right));
  const View wide = view((1 << 20) + 2047 * 4, 32, {4096, 2048}, {4096, 1});
  CHECK(ashlar_overlaps(&left, &wide));
  const View red = view(1 << 20, 8, {1000, 1000}, {3000, 3}), green = view((1 << 20) + 1, 8, {1000, 1000}, {3000, 3});
  CHECK_FALSE(ashlar_overlaps(&red, &green));
}
