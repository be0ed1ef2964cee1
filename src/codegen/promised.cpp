// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/promised.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <ashlar/ir/build.h>

namespace ashlar::codegen {

namespace {

constexpr std::int64_t unit_of_begin = 16;

void promise(Promised& to, const ir::Kernel& k, const Expr& condition) {
  const auto args = ir::args_of(condition);
  if (ir::is(condition, ir::Op::logic_and)) {
    for (const Expr& each : args) promise(to, k, each);
    return;
  }
  if (!ir::is(condition, ir::Op::eq) || !ir::is_int(args[1], std::int64_t{0})) return;
  Expr past = args[0];
  std::int64_t n = unit_of_begin;
  const bool remainder = ir::is(past, ir::Op::mod);
  if (remainder) {
    if (!ir::is_int(ir::args_of(past)[1], &n) || n < 2) return;
    past = Expr(ir::args_of(past)[0]);
  }
  if (!ir::is(past, ir::Op::var)) return;
  const ir::Id id = past.node()->id;
  for (const ir::AlignmentArg& a : k.alignments)
    if (a.id == id && unit_of_begin % n == 0) to.aligned[a.buffer] = std::max(to.aligned[a.buffer], n);
  if (!remainder) return;
  std::int64_t& multiple = to.multiples[id];
  multiple = std::lcm(std::max<std::int64_t>(multiple, 1), n);
}

bool find(Promised& promised, const ir::Kernel& k, const std::vector<ir::KStmt>& list, const ir::KLaunch& launch) {
  for (const ir::KStmt& s : list) {
    if (s.as<ir::KLaunch>() == &launch) return true;
    if (const auto* choice = s.as<ir::KIf>()) {
      Promised inside = promised;
      promise(inside, k, choice->condition);
      if (find(inside, k, choice->body, launch)) return promised = std::move(inside), true;
      if (find(promised, k, choice->otherwise, launch)) return true;
    } else if (!s.is<ir::KLaunch>()) {
      for (const auto* inside : s.bodies())
        if (find(promised, k, *inside, launch)) return true;
    }
  }
  return false;
}

}  // namespace

Promised promised_to(const ir::Kernel& k, const ir::KLaunch& launch) {
  Promised promised;
  (void)find(promised, k, k.body, launch);
  return promised;
}

}  // namespace ashlar::codegen
