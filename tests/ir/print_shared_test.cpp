// Expressions that share parts: written out where that is short, otherwise with names for what stands in several places.
#include <doctest/doctest.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>

using namespace ashlar;

namespace {
Expr doubled(int n) {
  Expr e = ir::load(9, "x", f32, std::vector<Expr>{ir::var(1, "i")});
  for (int k = 0; k < n; ++k) e = ir::add(e, e);
  return e;
}
}  // namespace

TEST_CASE("a short expression is written out") { CHECK(ir::text(doubled(2)) == "x[i] + x[i] + (x[i] + x[i])"); }

TEST_CASE("a long one names what it uses twice") {
  const std::string text = ir::text(doubled(12));
  CHECK(text.substr(0, 56) == "let t = x[i] + x[i], t_2 = t + t, t_3 = t_2 + t_2, t_4 =");
  CHECK(text.substr(text.find(" in ")) == " in t_11 + t_11");
}

TEST_CASE("sixty levels are sixty names, not 2^60 operators") { CHECK(ir::text(doubled(60)).size() < 60 * 24); }

TEST_CASE("a name of the expression's own is not taken") {
  const Expr t = ir::var(2, "t");
  Expr e = ir::add(ir::mul(t, t), ir::index(1));
  for (int k = 0; k < 14; ++k) e = ir::max(ir::sub(e, t), ir::mul(e, t));
  const std::string text = ir::text(e);
  CHECK(text.substr(0, 4) == "let ");
  CHECK(text.find("let t = t * t") == std::string::npos);
}
