// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_attention for the default schedule, which finds attentions in a program.
#include <functional>
#include <optional>

#include <ashlar/schedules/gpu_attention.h>

#include <ashlar/ir/program.h>

namespace ashlar::schedules::detail {

constexpr std::int64_t most_of_attention = 256;  // numbers in a query, a key or a value

// The stages of an attention, and the buffers that it reads.
struct AttentionParts {
  ir::Id scores = 0, maximum = 0, exps = 0, sum = 0, weighted = 0, result = 0;
  ir::Id q = 0, k = 0, v = 0;
  std::int64_t groups = 1;  // heads of queries that share one of keys and values
  std::int64_t page = 0;    // rows of a page; 0: the keys are not paged
  bool skips = false;       // terms of `weighted` whose weight is 0
  bool rounded = false;     // weights, to the type of v
};

// The attention that ends with `result`, which divides the weighted values by the sum. Empty if the program has another form:
// other readers, other terms, queries that do not see all keys. `gathered`: keys and values may be rows that tables name.
std::optional<AttentionParts> attention_parts(const ir::Program& p, ir::Id result, bool gathered = false);

// exp(old - now) of two maxima. A row that has seen no key yet has no old maximum and nothing to rescale. If the exponentials
// are approximations, 2^(factor score - …), so is this.
std::function<Expr(Expr, Expr)> rescale_of_attention(const ir::Stage& exps);

void gpu_attention(Schedule& s, const AttentionParts& a, const GpuAttentionOptions& o, Where where);

}  // namespace ashlar::schedules::detail
