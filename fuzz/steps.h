#pragma once
// Random schedule steps over a program as it stands: any primitive, on stages and loops that exist, with arguments that make
// sense often enough. Whether the step is legal is for the primitive to say.
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
// Of one step, which stands at the line that drew it.
Drawn made(const char* primitive, std::vector<Arg>, ashlar::Where = ashlar::Where::current());
std::optional<Drawn> draw_variant(Source&, const Program&);  // specialize, by a condition on a symbol
// `scalable`: the target has vectors as long as the machine's.
std::optional<Drawn> draw_step(Source&, const Program&, bool scalable);

// Those that concern arguments and storage as a whole, by name; argument_steps.cpp.
std::optional<Drawn> draw_argument_step(Source&, const Program&, const std::string& name);  // assume, injective, pack_argument
std::optional<Drawn> draw_swizzle(Source&, const Program&);
std::optional<Drawn> draw_widen(Source&, const Program&);
std::optional<Drawn> draw_roll(Source&, const Program&);
bool may_roll(const Program&);  // a sum reads what a maximum or minimum ends with
std::optional<Drawn> draw_tensorize(Source&, const Program&, const Stmt& loop);
Arg draw_layout(Source&, int rank);  // a map of that many coordinates: panels, another order, a skew, remainders
bool reads(const ashlar::ir::Stage&, Id buffer);

}  // namespace fuzz
