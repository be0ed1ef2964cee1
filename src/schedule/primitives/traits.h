// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a step may have changed, and so what is derived or proved again after it. Of the first four the last word is always
// right, and costs proofs. Callers and Gives have no such word: they say what is so. A step that changes what callers hand over
// is refused once there are variants; and of the handles that a step gives, all get names where it is written as C++.
#include <optional>

#include "schedule/edit.h"

namespace ashlar::schedule {

// Where stages read: as before; elsewhere only where splits compute past an extent, since points or loops moved; anywhere,
// since formulas, or what is known of sizes, are other ones.
enum class Reads { kept, moved, changed };
// Where stages are computed and stored, so that what is read is there already.
enum class Places { kept, moved };
// The points that nests compute, and the storage around them. `of_one_nest`: a nest's loops were rearranged, and it computes
// the points that it did; the nest is that of the step's first result or, without any, of its first argument.
enum class Boxes { kept, of_one_nest, derived };
// Whether elements still lie at different places.
enum class Layouts { kept, proved };
// What callers hand over and promise, which all variants share.
enum class Callers { kept, changed };
// Handles that come out of it. `any_number`: as many as there are, which the caller writes down; `variant`: of a schedule.
enum class Gives { nothing, handles, any_number, variant };

struct Traits {
  constexpr Traits(Reads r, Places p, Boxes b, Layouts l, Callers c, Gives g)
      : reads(r), places(p), boxes(b), layouts(l), callers(c), gives(g) {}
  Reads reads;
  Places places;
  Boxes boxes;
  Layouts layouts;
  Callers callers;
  Gives gives;
};

// Those of all steps of a primitive; or, where they depend on a step's arguments or its target, a function of it.
class TraitsOf {
 public:
  using Of = Traits (*)(const Context&);
  constexpr TraitsOf(Traits all) : all_(all) {}
  constexpr TraitsOf(Of of) : of_(of) {}
  Traits operator()(const Context& c) const { return of_ ? of_(c) : *all_; }

 private:
  std::optional<Traits> all_;
  Of of_ = nullptr;
};

}  // namespace ashlar::schedule
