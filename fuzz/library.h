#pragma once
// Operators of the library at random sizes, as programs: what schedules by default have families for.
#include "program.h"

namespace fuzz {

// Refusals of the operators pass through, as in make_program.
Made make_library_program(Source&);

}  // namespace fuzz
