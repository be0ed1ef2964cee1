// The instructions of ashlar/instructions/ampere.h as ptxas takes them: for every chip that has them, without a complaint, two
// of mma for each 16 x 16 results.
#include <doctest/doctest.h>

#include "tests/cuda/assembler.h"
#include "tests/cuda/programs.h"
#include "tests/support/ampere_operators.h"
#include "tests/support/text_parts.h"

using namespace ashlar;

namespace {

using text_parts::count;

}  // namespace

TEST_CASE("products by tensor cores assemble") {
  for (const std::string& target : cuda::targets()) {
    const Target t = Target::parse(target);
    for (const auto& [name, kind] : ampere_operators::kinds()) {
      if (kind.a.is_float() && kind.a.bits == 8 && !t.has("sm_100")) continue;
      for (int turned = 0; turned < 4; ++turned) {
        CAPTURE(target);
        CAPTURE(name);
        CAPTURE(turned);
        ampere_operators::Options o = kind;
        o.columns_a = turned % 2 == 1, o.columns_b = turned / 2 == 1;
        ampere_operators::Product op{t, o};
        const std::string text = codegen::ptx::translate(cuda::lowered(op.s), t).text;
        CHECK(cuda::complaints(text, t.device().chip) == "");
        const std::size_t products = o.rounding == ampere::Rounding::to_3xtf32 ? 3 : o.skips ? 4 : 1;
        CHECK(count(text, "mma.sync") == 2 * products * 2 * 2);  // 2 x 2 tiles
        const std::size_t loads =
            (!o.by_lanes() && (!o.columns_a || op.loads_columns(o.a, true))) + (!o.columns_b || op.loads_columns(o.b, false));
        CHECK(count(text, "ldmatrix") == loads * 2);
        CHECK(count(text, ".local") == 0);
      }
    }
  }
}
