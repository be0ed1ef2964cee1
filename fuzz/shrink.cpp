#include "shrink.h"

#include <algorithm>

namespace fuzz {

Report shrink(Case c, const Report& failed, const Setup& setup, int budget) {
  Report best = failed;
  const auto still = [&](const Case& next) {
    if (budget-- <= 0) return false;
    Report r = check(next, setup);
    if (!r.failure || r.failure->kind != failed.failure->kind) return false;
    best = std::move(r), c = next;
    return true;
  };
  // steps that were refused changed nothing; the one that failed in `apply` is the last of all
  Case applied = c;
  applied.steps.clear();
  for (std::size_t k = 0; k < c.steps.size(); ++k)
    if (k >= failed.applied.size() || failed.applied[k] || k + 1 == failed.applied.size()) applied.steps.push_back(c.steps[k]);
  still(applied);
  const auto shorten = [&](auto part) {
    bool any = false;
    for (std::size_t size = std::max<std::size_t>(part(c).size() / 2, 1); size > 0; size /= 2)
      for (std::size_t at = 0; at + size <= part(c).size() && budget > 0;) {
        Case next = c;
        auto& list = part(next);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at), list.begin() + static_cast<std::ptrdiff_t>(at + size));
        if (still(next))
          any = true;
        else
          at += size;
      }
    return any;
  };
  const auto simpler = [&](auto part) {
    bool any = false;
    for (std::size_t at = 0; at < part(c).size() && budget > 0; ++at)
      for (const std::uint32_t value : {0u, part(c)[at] / 2}) {
        if (part(c)[at] <= value) continue;
        Case next = c;
        part(next)[at] = value;
        if (still(next)) {
          any = true;
          break;
        }
      }
    return any;
  };
  const auto steps = [](auto& x) -> auto& { return x.steps; };
  const auto program = [](auto& x) -> auto& { return x.program; };
  const auto data = [](auto& x) -> auto& { return x.data; };
  bool again = true;
  while (again && budget > 0) {
    again = shorten(steps);
    again |= shorten(program);
    again |= simpler(program);
    again |= simpler(data);
    for (std::size_t k = 0; k < c.steps.size(); ++k) again |= simpler([k](auto& x) -> auto& { return x.steps[k]; });
  }
  return best;
}

}  // namespace fuzz
