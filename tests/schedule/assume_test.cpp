// assume: what it proves afterwards, what the entry says when a call breaks it, and what it refuses.
#include "programs.h"

#include <ashlar/ir/print.h>

namespace ashlar::test {

TEST_CASE("what a call promises is used by every later proof") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  says(refusal(t.s, [&, l = x] { t.s[t.out].split(l, 8, Tail::exact); }),
       {"split: expected an extent of x of out that 8 divides (a constant, or a Symbol with multiple_of), found W"});
  t.s.assume(t.W % 8 == 0 && t.H >= 2);
  auto [xo, xi] = t.s[t.out].split(x, 8, Tail::exact);
  t.s[t.out].vectorize(xi);
  t.same(3, 16);
  t.same(2, 8);
  CHECK(ir::text(t.s.scheduled().program).find("assume W % 8 == 0 && H >= 2") != std::string::npos);
  try {
    t.same(3, 12);
    CHECK(false);
  } catch (const interp::RunError& e) {
    const std::string text = e.what();
    CAPTURE(text);
    CHECK(text.find("W % 8 == 0") != std::string::npos);
  }
  replays<Blur>(t.s);
}

TEST_CASE("what assume refuses") {
  Blur t;
  const Symbol other{"other"};
  says(refusal(t.s, [&] { t.s.assume(t.W); }), {"assume: expected a condition over symbols, such as M <= N"});
  says(refusal(t.s, [&] { t.s.assume(true); }), {"assume: expected a condition over symbols"});
  says(refusal(t.s, [&] { t.s.assume(other > 3); }), {"expression: expected one over symbols and scalars of the arguments"});
  says(refusal(t.s, [&] { t.s.assume(t.W < 0); }), {"assume: expected a condition that some call can keep", "W < 0"});
}

}  // namespace ashlar::test
