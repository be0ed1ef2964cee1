#pragma once
// An intrinsic that describes what a loop does, made from the loop: its tiles are what the block below touches, its formula the
// block's. Compiled code calls fuzz_described, a function of this process that evaluates the description on the tiles' memory.
//
//   for ii in 8                          tile(w: i32[8], a: i32[8], p: i32)    w(i) = a(i) * p
//     block y = x[io * 8 + ii] * q   ->  call void @fuzz_described(i64 KEY, ptr %w, i64 %w_stride, ptr %a, i64 %a_stride, i64
//     %p)
#include <optional>

#include <ashlar/ir/program.h>
#include <ashlar/instructions/intrinsic.h>

#include "source.h"

namespace fuzz {

// Nothing where the loop has no such description: other loops beside the block, an index that is used as a value, a function
// in C. Some say something else than the loop does, which tensorize refuses.
std::optional<ashlar::Intrinsic> describe(Source&, const ashlar::ir::Program&, const ashlar::ir::Stmt& loop);

}  // namespace fuzz
