// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/frame.h"

#include <ashlar/ir/refusal.h>

namespace ashlar::generator {

namespace {
thread_local GeneratorRecord* current = nullptr;
}

Construction::Construction(GeneratorRecord& record) {
  if (current) throw InternalError("a generator is constructed while another one is");
  current = &record;
}
Construction::~Construction() { current = nullptr; }

GeneratorRecord* under_construction() { return current; }

}  // namespace ashlar::generator
