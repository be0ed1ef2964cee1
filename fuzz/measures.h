#pragma once
// What a case is measured by: how much code it makes, what its launches wait for, where its buffers lie, what it is refused
// for.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/schedule/step.h>

namespace fuzz {

// How often the code of a block is repeated by unrolled and vectorized loops around it; the most of all blocks.
std::int64_t copies_of_code(const ashlar::ir::Program&);
std::size_t size_of(const ashlar::ir::Program&);
std::size_t size_of(const std::vector<ashlar::ir::KStmt>&);
std::int64_t syncs(const std::vector<ashlar::ir::KStmt>&, ashlar::ir::Sync::Kind);
bool places(const ashlar::ir::Program&);  // outside of Scope::global, in a variant too
void to_global(ashlar::schedule::Scheduled&);
bool divides_floats(const ashlar::ir::Program&);
// Steps of a scatter that run at once, without atomic updates, since an input has no two equal elements.
bool scatters_at_once(const ashlar::ir::Program&);
std::set<ashlar::ir::Id> promises_of_inputs(const ashlar::ir::Program&);
std::string without_numbers(const std::string&);  // each of them is #

}  // namespace fuzz
