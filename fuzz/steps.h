#pragma once
// Random schedule steps over a program as it stands: any primitive, drawn as its record says (schedule/primitives/draw.h).
// Whether the step is legal is for the primitive to say.
#include <optional>
#include <vector>

#include <ashlar/schedule/step.h>

#include "source.h"

namespace fuzz {

using ashlar::ir::Id;
using ashlar::ir::Program;
using ashlar::ir::Stmt;
using ashlar::schedule::Arg;

// Nothing where the program has no place for the primitive that was drawn. `reassociates`: the step changes the order in which
// a floating sum or product is taken, which only programs with exact sums may see.
struct Drawn {
  ashlar::schedule::Step step;
  bool reassociates = false;
  std::vector<ashlar::schedule::Step> then;  // what makes a move of it: further steps, as long as they are legal
};
std::optional<Drawn> draw_variant(Source&, const Program&);  // specialize, by a condition on a symbol
std::optional<Drawn> draw_named(Source&, const Program&, const ashlar::Target&, const char* primitive);
// `launch`: of those that make launches.
std::optional<Drawn> draw_step(Source&, const Program&, const ashlar::Target&, bool launch);

}  // namespace fuzz
