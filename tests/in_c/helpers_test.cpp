// Names and bodies of the functions that a file of C has for operators of integers.
#include "codegen/c/helpers.h"

#include <string>

#include <doctest/doctest.h>

#include <ashlar/ir/refusal.h>

using namespace ashlar;

TEST_CASE("no operator of floats is a helper function of integers") {
  codegen::c::Helpers helpers;
  for (const ir::Op op : {ir::Op::add, ir::Op::sub, ir::Op::mul}) {
    CHECK_THROWS_WITH_AS(helpers.binary(op, f32), doctest::Contains(" of floats is not a helper function"), InternalError);
    CHECK(helpers.binary(op, i32) == std::string(ir::op_name(op)) + "_i32");
  }
  CHECK_THROWS_WITH_AS(helpers.binary(ir::Op::min, i32), doctest::Contains("min was not expanded"),
                       InternalError);  // a function whose body is its expansion
}
