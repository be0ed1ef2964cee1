// The text of a kernel line by line, and the places that its lines can be given.
#include <doctest/doctest.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/placed_text.h>
#include <ashlar/ir/print.h>

using namespace ashlar;

namespace {

constexpr Where places[] = {
    Where::current(),
    Where::current(),
    Where::current(),
    Where::current(),
};

ir::Kernel kernel() {
  ir::Kernel k;
  k.name = "k";
  k.buffers[1] = {1, "y", i32, ir::Storage::argument};
  ir::KStmt store{{}, ir::KStore{1, ir::var(2, "i"), ir::int_const(i32, 0)}};
  ir::KStmt branch{{}, ir::KIf{ir::lt(ir::var(2, "i"), ir::index(4)), {store}, {store}}};
  k.body = {ir::KStmt{{}, ir::KFor{2, "i", ir::index(0), ir::index(8), ir::LoopKind::serial, {branch}}}};
  return k;
}

}  // namespace

TEST_CASE("placed_text has the lines of text") {
  std::string text;
  for (const ir::PlacedLine& l : ir::placed_text(kernel())) text += l.text + "\n";
  CHECK(text == ir::text(kernel()));
}

TEST_CASE("place_at_lines gives each statement its own line, as far as there are some") {
  ir::Kernel k = kernel();
  ir::place_at_lines(k, places);
  const std::vector<ir::PlacedLine> lines = ir::placed_text(k);
  REQUIRE(lines.size() == 7);  // kernel, argument, for, if, store, else, store
  for (std::size_t n : {2, 3}) CHECK(lines[n].where.line() == places[n].line());
  CHECK(lines[5].where.line() == places[3].line());  // the else is of the if
  CHECK(lines[0].where.line() == 0);
  CHECK(lines[6].where.line() == 0);  // past the end of the places
}
