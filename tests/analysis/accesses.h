#pragma once
// Accesses of a warp to the layouts of layouts.h, and what they touch, by looking at every base.
#include <ashlar/analysis/memory_access.h>

#include "layouts.h"

namespace ashlar::test {

inline const Expr lane = ir::var(20, "lane"), base = ir::var(21, "base");

struct Accessed {
  Case layout;
  Addressing addressing;
  WarpAccess access;
  std::int64_t bases = 1;
  Facts facts() const {
    Facts f;
    f.bound(21, 0, bases - 1);
    return f;
  }
  // The elements of a lane at a base; empty where they do not lie one behind the other or not at a multiple of their number.
  std::optional<std::vector<std::int64_t>> elements(std::int64_t l, std::int64_t b) const {
    std::vector<std::int64_t> all;
    for (int e = 0; e < access.elements; ++e) {
      std::vector<std::int64_t> x;
      for (std::size_t d = 0; d < access.at.size(); ++d)
        x.push_back(*evaluate(access.at[d], {{20, "lane", l}, {21, "base", b}}) + (d == access.along ? e : 0));
      all.push_back(layout(x));
      if (all.back() != all.front() + e) return std::nullopt;
    }
    if (((all.front() % access.elements) + access.elements) % access.elements != 0) return std::nullopt;
    return all;
  }
  bool vectors() const {
    for (std::int64_t b = 0; b < bases; ++b)
      for (std::int64_t l = 0; l < 32; ++l)
        if (!elements(l, b)) return false;
    return true;
  }
};

inline Accessed random_access(std::uint64_t seed) {
  Random g(seed * 7 + 3);
  const auto known = known_layouts();
  Accessed a{
      g.coin(2) ? known[static_cast<std::size_t>(g.in(0, static_cast<std::int64_t>(known.size()) - 1))] : random_layout(seed),
      {},
      {},
      1};
  a.bases = g.in(1, 6);
  a.addressing = {a.layout.vars, a.layout.address, std::int64_t{1} << g.in(0, 3)};
  a.access.lane = 20;
  a.access.along = static_cast<std::size_t>(g.in(0, static_cast<std::int64_t>(a.layout.vars.size()) - 1));
  while (g.coin(2) && a.access.elements * 2 * a.addressing.element_bytes <= 16) a.access.elements *= 2;
  for (std::size_t d = 0; d < a.layout.vars.size(); ++d) {
    const std::int64_t p = std::int64_t{1} << g.in(0, 5);
    Expr e = g.coin(3) ? lane / p : g.coin(2) ? lane % p : g.coin(2) ? lane : num(g.in(0, 3));
    if (g.coin(2)) e = e + base * g.in(1, 8);
    if (d == a.access.along) e = e * a.access.elements;
    a.access.at.push_back(e);
  }
  return a;
}

}  // namespace ashlar::test
