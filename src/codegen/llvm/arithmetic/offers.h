// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Which operators with an expansion LLVM, or an instruction that is asked for by name, does better on a target.
#include <ashlar/target/target.h>

#include "codegen/legalize.h"

namespace ashlar::codegen {

Offers offers_of(const Target&, bool device, const ir::Kernel&);

// Registers of an instruction that is asked for by name: elements of a type, in vectors that fill them.
bool fills_neon(const Target&, Type);
bool fills_helium(const Target&, Type);
bool has_rounded_product(const Target&, Type);  // pmulhrsw

}  // namespace ashlar::codegen
