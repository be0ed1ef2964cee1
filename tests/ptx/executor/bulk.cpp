// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/bulk.h"

namespace ashlar::ptx {

void decode_bulk(Decode& d) { d.fail("bulk copies are not known"); }

}  // namespace ashlar::ptx
