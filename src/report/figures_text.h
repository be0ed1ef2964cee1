// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Numbers as explain() writes them, and the sizes at which it counts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>

#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/vscale.h>
#include <ashlar/report/explain.h>

namespace ashlar::report {

inline std::string number(double n) {  // 4 digits, or a whole number that needs no more
  char text[32];
  if (n < 1e4 && std::abs(n - std::nearbyint(n)) < 1e-9)
    std::snprintf(text, sizeof text, "%.0f", n);
  else
    std::snprintf(text, sizeof text, "%.4g", n);
  return text;
}

inline std::string scaled(double n, const char* unit) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t k = 0;
  while (n >= 1e4 && k + 1 < std::size(prefixes)) n /= 1e3, ++k;
  return number(n) + " " + prefixes[k] + unit;
}

inline std::string percent(double share) { return number(std::floor(share * 1000 + 0.5) / 10) + " %"; }

inline std::string counted(std::int64_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

// The size of each symbol: the given one, or 1024, or what its facts allow. Refused: unknown names, impossible sizes.
inline std::map<ir::Id, std::int64_t> sizes_of(const std::map<ir::Id, ir::Symbol>& symbols, const std::string& of,
                                               const ExplainSizes& sizes, Where where) {
  for (const auto& [name, n] : sizes) {
    const bool known = std::any_of(symbols.begin(), symbols.end(), [&](const auto& s) { return s.second.name == name; });
    if (!known) refuse("explain", "sizes of symbols of " + of, name, where);
    for (const auto& [id, s] : symbols)
      if (s.name == name && (n < s.min || n > s.max || n % s.multiple_of != 0))
        refuse("explain", "a size of " + name + " that its facts allow", std::to_string(n), where);
  }
  std::map<ir::Id, std::int64_t> result{{ir::vscale_id, 1}};  // scalable vectors in registers of 128 bits
  for (const auto& [id, s] : symbols) {
    std::int64_t n = std::clamp<std::int64_t>(1024, s.min, s.max);
    n = std::max(s.min, n / s.multiple_of * s.multiple_of);
    for (const auto& [name, given] : sizes)
      if (name == s.name) n = given;
    result[id] = n;
  }
  return result;
}

}  // namespace ashlar::report
