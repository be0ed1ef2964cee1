// Text of expressions: infix with as few parentheses as keep the tree, minus signs where a reader would write them, and names
// that follow the scopes of what is printed.
#include <doctest/doctest.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>

#include "ir/print.h"

using namespace ashlar;

namespace {

// As a tree holds it: nothing folds.
Expr tree(ir::Op op, const Expr& a, const Expr& b) {
  const Expr args[] = {a, b};
  return ir::make(op, a.type(), args);
}
Expr plus(const Expr& a, const Expr& b) { return tree(ir::Op::add, a, b); }
Expr minus(const Expr& a, const Expr& b) { return tree(ir::Op::sub, a, b); }
Expr times(const Expr& a, const Expr& b) { return tree(ir::Op::mul, a, b); }

const Expr i = ir::var(1, "i"), j = ir::var(2, "j");

}  // namespace

TEST_CASE("parentheses stand where the tree needs them") {
  CHECK(ir::text(times(plus(i, j), ir::index(2))) == "(i + j) * 2");
  CHECK(ir::text(plus(times(i, j), ir::index(2))) == "i * j + 2");
  CHECK(ir::text(minus(i, minus(j, i))) == "i - (j - i)");
  CHECK(ir::text(minus(minus(i, j), i)) == "i - j - i");
}

TEST_CASE("a negative number that is added is subtracted") {
  CHECK(ir::text(plus(i, ir::index(-2))) == "i - 2");
  CHECK(ir::text(minus(i, ir::index(-2))) == "i + 2");
  CHECK(ir::text(plus(i, times(j, ir::index(-2)))) == "i - j * 2");
  CHECK(ir::text(minus(plus(i, ir::index(-1)), times(j, ir::index(-3)))) == "i - 1 + j * 3");
  CHECK(ir::text(times(i, ir::index(-2))) == "i * -2");
  CHECK(ir::text(plus(ir::index(-2), i)) == "-2 + i");
  CHECK(ir::text(plus(i, ir::index(0))) == "i + 0");
  const Expr x = ir::var(3, "x", i8);
  CHECK(ir::text(plus(x, ir::int_const(i8, -2))) == "x - 2i8");
  // the lowest number of a type has no positive counterpart
  CHECK(ir::text(plus(x, ir::int_const(i8, -128))) == "x + -128i8");
  CHECK(ir::text(plus(i, ir::index(INT64_MIN))) == "i + -9223372036854775808");
}

TEST_CASE("two ids of one name are told apart where both are visible, and nowhere else") {
  const Expr other = ir::var(7, "i");
  CHECK(ir::text(plus(i, other)) == "i + i_2");
  ir::Namer names;
  CHECK(names(10, "n") == "n");
  {
    const ir::Namer::Scope outer(names);
    CHECK(names(11, "i") == "i");
    {
      const ir::Namer::Scope inner(names);
      CHECK(names(12, "i") == "i_2");
      CHECK(names(13, "n") == "n_2");
      CHECK(names(11, "i") == "i");
    }
    CHECK(names(14, "i") == "i_2");
  }
  CHECK(names(15, "i") == "i");
  CHECK(names(10, "n") == "n");
  CHECK(names(16, "") == "v");
}
