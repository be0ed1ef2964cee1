// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The kit for Rust: a module with the declarations of the C entries, and a safe function over views of slices (-e rust).
// ashlar_add_rust_crate (cmake/AshlarKits.cmake) makes a crate of such modules and of cmake/kits/ashlar.rs, which they use.
//
//   row_norm(View::new(&x, [m, n])?, &w, &mut y)?;         a Result
//   sys::row_norm_with(&tensor, ..., &context)             as C has it
#include <string>

#include <ashlar/ir/kernel.h>

#include "generator/header.h"

namespace ashlar::generator {

std::string rust_text(const ir::Kernel&, const HeaderFacts&);

}  // namespace ashlar::generator
