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
  const Expr& zero = args[0];
  if (ir::is(zero, ir::Op::var)) {
    for (const ir::AlignmentArg& a : k.alignments)
      if (a.id == zero.node()->id) to.aligned[a.buffer] = unit_of_begin;
  } else if (std::int64_t n = 0; ir::is(zero, ir::Op::mod) && ir::is(ir::args_of(zero)[0], ir::Op::var) &&
                                 ir::is_int(ir::args_of(zero)[1], &n) && n > 1) {
    std::int64_t& multiple = to.multiples[ir::args_of(zero)[0].node()->id];
    multiple = std::lcm(std::max<std::int64_t>(multiple, 1), n);
  }
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
