// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/decode.h"

namespace ashlar::ptx {

void add_wgmma(Table&) {}

}  // namespace ashlar::ptx
