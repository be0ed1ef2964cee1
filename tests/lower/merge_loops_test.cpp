// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the same vectors become one loop where no access to an element changes its order, and values that a masked store
// leaves are not loaded again.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

const std::vector<Sizes> shapes = {{{"M", 0}, {"N", 5}},  {{"M", 1}, {"N", 0}},  {{"M", 1}, {"N", 1}}, {{"M", 3}, {"N", 8}},
                                   {{"M", 2}, {"N", 37}}, {{"M", 5}, {"N", 64}}, {{"M", 4}, {"N", 90}}};

// The serial loops that store each buffer of a name, as "made y, made y".
std::string innermost(const std::vector<ir::KStmt>& list, const ir::Kernel& k) {
  std::string all;
  for (const ir::KStmt& s : list) {
    std::string stored;
    bool loops = false;
    const auto look = [&](const auto& self, const std::vector<ir::KStmt>& inside) -> void {
      for (const ir::KStmt& t : inside) {
        loops = loops || t.is<ir::KFor>();
        if (const auto* store = t.as<ir::KStore>()) stored += (stored.empty() ? "" : " ") + k.buffers.at(store->buffer).name;
        for (const auto* part : t.bodies()) self(self, *part);
      }
    };
    for (const auto* part : s.bodies()) look(look, *part);
    std::string here;
    if (s.is<ir::KFor>() && !loops) {
      here = stored;
    } else {
      for (const auto* part : s.bodies()) {
        const std::string more = innermost(*part, k);
        here += (here.empty() || more.empty() ? "" : ", ") + more;
      }
    }
    all += (all.empty() || here.empty() ? "" : ", ") + here;
  }
  return all;
}

int masked_loads(const std::vector<ir::KStmt>& list, const std::string& name) {
  int n = 0;
  for (const ir::KStmt& s : list) {
    ir::for_each_expr(s, [&](const Expr& root) {
      ir::walk(root, [&](const Expr& e) {
        n += ir::is(e, ir::Op::load) && ir::args_of(e).size() == 2 && e.node()->name == name;
        return true;
      });
    });
    for (const auto* part : s.bodies()) n += masked_loads(*part, name);
  }
  return n;
}

using Read = std::function<Expr(const Tensor& made, Var i, Var j, const Symbol& N)>;

// made(i, j) at row i of y, both in vectors of 8.
struct Rows {
  ir::Kernel kernel;
  explicit Rows(const Read& read, bool in_place = false, bool apart = false) {
    lang::DefinitionScope scope;
    const Symbol M{"M"}, N{"N"};
    const Tensor x = lang::make_input("x", f32, {M, N}),
                 y = lang::make_output("y", f32, {M, N}, {.may_alias_inputs = in_place});
    const Tensor made = compute("made", {M, N}, [&](Var i, Var j) { return x(i, j) * 2; });
    const Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return read(made, i, j, N) + x(i, j); });
    lang::bind(y, result);
    const lang::Built built = lang::build_program("rows", {x, y});
    Schedule s(built, Target::parse("x86-64-v4"));
    if (apart)
      s[made].compute_root();
    else
      s[made].compute_at(s[result].spatial<2>()[0]);
    for (const Tensor& t : {made, result}) s[t].vectorize(s[t].spatial<2>()[1], 8);
    kernel = lower(s.scheduled().program, options_for(s.target()));
    CAPTURE(ir::text(kernel));
    handmade::check_kernel(built.program, kernel, shapes);
  }
  std::string loops() const { return innermost(kernel.body, kernel); }
};

}  // namespace

TEST_CASE("a row and its reader: one loop over whole vectors, one over the rest, in which nothing is loaded again") {
  const Rows rows([](const Tensor& made, Var i, Var j, const Symbol&) { return made(i, j); });
  CAPTURE(ir::text(rows.kernel));
  CHECK(rows.loops() == "made y, made y");
  CHECK(masked_loads(rows.kernel.body, "made") == 0);
}

TEST_CASE("what a vector reads of later vectors keeps the loops apart; what it reads of earlier ones does not") {
  const Rows later([](const Tensor& made, Var i, Var j, const Symbol& N) { return made(i, min(j + 1, N - 1)); });
  CAPTURE(ir::text(later.kernel));
  CHECK(later.loops().find("made y") == std::string::npos);
  const Rows mirrored([](const Tensor& made, Var i, Var j, const Symbol& N) { return made(i, N - 1 - j); });
  CAPTURE(ir::text(mirrored.kernel));
  CHECK(mirrored.loops().find("made y") == std::string::npos);
}

TEST_CASE("a result that may be an input, and nests of their own, stay apart") {
  const auto same = [](const Tensor& made, Var i, Var j, const Symbol&) { return made(i, j); };
  const Rows in_place(same, true);
  CAPTURE(ir::text(in_place.kernel));
  CHECK(in_place.loops() == "made, made, y, y");
  const Rows apart(same, false, true);
  CHECK(apart.loops() == "made, made, y, y");
}
