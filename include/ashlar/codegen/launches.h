#pragma once
// The launches of a kernel's host body, in the order in which they stand there: the order in which a device's code lists its
// entry points and the host's code counts its launches.
#include <vector>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

std::vector<const ir::KStmt*> launches_of(const ir::Kernel&);

}  // namespace ashlar::codegen
