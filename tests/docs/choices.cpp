// The example of a choice.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group choices() {
  Group g{
      "What a tuner may decide", "A choice changes no loop. It records a value, and the values that it could have had.", {}};
  g.examples.push_back(
      {"choose", "s.choose(name, {values})",
       "One of some numbers: the first, or the one at the place that a third argument names, unless somebody decides "
       "otherwise before the schedule runs. `choose_factor(loop, candidates, usual)` and `choose_one_of(name, {ways})` are "
       "choices too ([schedules.md](schedules.md#choices)).",
       "The candidates differ, and what was decided is one of them.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         REFUSED(s.choose("edge", {8, 16, 8}));
         show.before();
         s[y].split(j, s.choose("edge", {32, 8, 16}));
         show.after();
         (void)i;
       })});
  return g;
}

}  // namespace primitives_page
