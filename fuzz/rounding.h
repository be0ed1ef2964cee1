#pragma once
// What compiled code may round otherwise than the interpreter: sums of floats by matrix instructions of tensor cores, within a
// bound (docs/ir.md, "Tensor cores"). Everything else is the same to the bit.
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/schedule/step.h>

#include "program.h"

namespace fuzz {

// Does the schedule compute the program's product by such an instruction, from values whose sums are rounded?
bool sums_on_tensor_cores(const Made&, const std::vector<ashlar::schedule::Step>& trace);

// "", or the first result of the product that lies farther from the interpreter's than the bound allows.
std::string beyond_rounding(const Made::TiledProduct&, const ashlar::interp::Arguments& given,
                            const ashlar::interp::Arguments& found, const ashlar::interp::Arguments& expected);

}  // namespace fuzz
