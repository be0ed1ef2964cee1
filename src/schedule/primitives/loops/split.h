// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What splits by a factor and into parts share.
#include "schedule/edit.h"

namespace ashlar::schedule {

ir::Tail tail_of(const std::string& word);
void require_small(const Context&, std::int64_t n, const char* what);
Stmt& splittable(Context&);  // the first argument
// `parts`: 0 where the factor is a number. `keep`: the loop's handle is that of the outer one afterwards.
void split_loop(Context&, Stmt& loop, const Expr& factor, std::int64_t parts, ir::Tail, bool keep);

}  // namespace ashlar::schedule
