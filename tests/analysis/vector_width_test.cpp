// Vector width against every run of every layout.
#include <ashlar/analysis/memory_access.h>

#include "layouts.h"

namespace ashlar::test {
namespace {

bool holds(const Case& k, std::size_t dim, std::int64_t w) {
  if (w > k.extents[dim]) return false;
  bool all = true;
  each(k.extents, [&](auto x) {
    if (x[dim] % w != 0) return;
    std::vector<std::int64_t> y(x.begin(), x.end());
    const std::int64_t first = k(y);
    all = all && ((first % w) + w) % w == 0;
    for (std::int64_t e = 1; e < w && y[dim] + 1 < k.extents[dim]; ++e) {
      ++y[dim];
      all = all && k(y) == first + e;
    }
  });
  return all;
}

}  // namespace

TEST_CASE("widths are those found by looking at every run") {
  std::vector<Case> cases = known_layouts();
  for (std::uint64_t seed = 0; seed < 600; ++seed) cases.push_back(random_layout(seed));
  int wide = 0;
  for (const Case& k : cases)
    for (std::size_t d = 0; d < k.vars.size(); ++d) {
      std::int64_t expected = 1;
      while (expected < 64 && holds(k, d, expected * 2)) expected *= 2;
      INFO(k.name << ": " << ir::text(k.address) << ", dimension " << d);
      CHECK(vector_width({k.vars, k.address, 4}, d, k.facts()) == expected);
      wide += expected > 1;
    }
  CHECK(wide > 100);
}

TEST_CASE("symbolic strides and extents: what the facts say of them") {
  Facts f;
  f.bound(1, 0, {});
  f.bound(2, 0, {});
  f.bound(9, 0, {});
  const Addressing rows{{1, 2}, r * S + c, 4};
  CHECK(vector_width(rows, 1, f) == 1);
  f.multiple(9, 24);
  CHECK(vector_width(rows, 1, f) == 8);
  CHECK(vector_width(rows, 0, f) == 1);
  CHECK(vector_width({{1, 2}, c / 16 * (S * 16) + r * 16 + c % 16, 4}, 1, f) == 16);  // packed panels
  CHECK(vector_width({{1, 2}, r * 64 + (c ^ (r % 8 * 8)), 2}, 1, f) == 8);            // granules of a swizzle
  CHECK(vector_width({{1, 2}, r * 64 + (c ^ (r % 8 * 8)) + num(4), 2}, 1, f) == 4);
}

}  // namespace ashlar::test
