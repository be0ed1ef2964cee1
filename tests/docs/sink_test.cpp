// The primitive of docs/adding.md, as scripts/check_recipes.py takes it from the page: it stands in the table beside all
// others, so its steps are applied, printed, saved and replayed, and what it refuses is said with its name.
#include "tests/schedule/programs.h"

namespace ashlar::test {

TEST_CASE("sink moves a loop inside of those that it encloses") {
  Product p;
  auto [i, j] = p.s[p.product].spatial<2>();
  p.s[p.product].sink(i);
  const std::vector<Loop> nest = p.s[p.product].nest();
  REQUIRE(nest.size() == 3);
  CHECK(nest[0] == j);
  CHECK(nest[2] == i);
  p.same();
  replays<Product>(p.s);
  CHECK(p.s.json().find("\"sink\"") != std::string::npos);
  CHECK(p.s.to_cpp().find(".sink(") != std::string::npos);
}

TEST_CASE("what sink refuses") {
  Product p;
  const Loop k = p.s[p.product].reduction();
  const auto line = Where::current().line() + 1;
  const auto r = p.s.attempt([&] { p.s[p.product].sink(k); });
  REQUIRE(r);
  CHECK(r->where.line() == line);
  CHECK(r->text().ends_with("sink: expected a loop with another one inside, found k of product"));
}

}  // namespace ashlar::test
