// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Arguments that the caller packs (Schedule::pack_argument with Pack::by_caller): plain C for the generated header that lays
// such an argument out, once, ahead of any number of calls.
//
//   float *packed = malloc(matmul_packed_B_bytes(K, N));
//   matmul_pack_B(B, /*ashlar_stride0=*/0, K, N, packed);   // then `packed` is B's data in calls of matmul
//
// Names of the functions' own begin with ashlar_, which no argument's does (lang::build_program refuses it).
//
// Invariant: the addresses are those that lowering uses: physical extents from the layout's map over the whole shape, stored
// densely, row-major. Elements of the box that the map does not reach are zero.
#include <string>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/kernel.h>

namespace ashlar::generator {

std::string packing_text(const ir::Kernel&, const codegen::AbiLayout&);  // "" where nothing is packed by the caller

}  // namespace ashlar::generator
