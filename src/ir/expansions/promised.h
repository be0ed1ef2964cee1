// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What an integer says of itself: a number, or a range that it was promised to be in.
#include <optional>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>

namespace ashlar::ir {

inline std::optional<Interval> promised(const Expr& e) {
  const auto args = args_of(e);
  std::int64_t low = 0, end = 0;
  if (is(e, Op::broadcast)) return promised(args[0]);
  if (is_int(e, &low)) {
    if (e.type().is_unsigned() && low < 0) return std::nullopt;  // from 2^63
    return Interval{low, low};
  }
  if (!is(e, Op::in_range)) return std::nullopt;
  const auto one = [](const Expr& x) -> const Expr& { return is(x, Op::broadcast) ? args_of(x)[0] : x; };
  if (!is_int(one(args[1]), &low) || !is_int(one(args[2]), &end)) return std::nullopt;
  return Interval{low, end - 1};
}

}  // namespace ashlar::ir
