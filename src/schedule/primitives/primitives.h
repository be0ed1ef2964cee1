// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A primitive is one record in one file, which has its name. All that is known of the primitive stands there; what others need
// of it (the check of a step, the proofs of earlier ones, its text as C++, the list of all there are) they take from the
// record.
//
//   extern constexpr Primitive reverse_primitive{             // reverse.cpp
//       .name = "reverse",
//       .spelling = "reverse",
//       .parameters = {takes::loop()},
//       .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
//       .apply = apply_reverse,
//       .cpp = of_loop,
//       .draw = Drawing{.often = 1, .draw = draw_reverse},
//   };
//
// A record without one of these does not compile. CMake makes the table of all of them from the files of the rooms.
#include <span>

#include "schedule/edit.h"
#include "schedule/primitives/draw.h"
#include "schedule/primitives/must.h"
#include "schedule/primitives/parameters.h"
#include "schedule/primitives/traits.h"
#include "schedule/trace/cpp_call.h"

namespace ashlar::schedule {

struct Primitive {
  Must<const char*> name;      // in traces, where it stays what it is
  Must<const char*> spelling;  // what the user types
  Parameters parameters;
  TraitsOf traits;
  Must<void (*)(Context&)> apply;  // match, prove, rewrite, remap
  Must<CppLine> cpp;               // the call; `results` of it become handles
  Must<Drawing> draw;              // the fuzzer
  // What is put behind the name of a handle that it gives out, where that has the name of another loop.
  const char* (*handle)(const Step&, std::size_t result) = nullptr;
  std::string (*text)(const Step&) = nullptr;  // for people; null: the call with its arguments
};

std::span<const Primitive* const> primitives();        // by room and name
const Primitive* primitive_of(std::string_view name);  // null: there is none
Traits traits_of(const Context&);                      // of the step that is applied
const char* spelling_of(const Step&);                  // what the user typed that made it

// The call as text, with the names that its arguments have before it; and what it made, with those after it.
std::string call_text(const Scheduled&, const Step&);
std::string result_text(const Scheduled&, const Step&);

// Obligations that stay on a program after a step; each proves or throws through the context of the current step. `before`: the
// program from which the step made this one, in which all of them held; null: prove them whatever they follow from.
void recheck(Context&, const Program* before);
// The nest whose loops were rearranged without a change of the points it computes; 0 where more may have changed. The boxes of
// nests outside of it stay, since whole nests are all that they depend on.
ir::Id rearranged(const Context&);

}  // namespace ashlar::schedule
