// Rings of steps: a recurrence keeps what its next steps and its readers read.
#include "tests/schedule/programs.h"

namespace ashlar::test {
namespace {

struct Filtered {
  lang::DefinitionScope scope;
  Symbol R{"R", {.min = 1}}, T{"T", {.min = 3}};
  Tensor x = lang::make_input("x", i32, {R, T}), y, out;
  lang::Built built;
  Schedule s;

  enum class Read { last, two_last, each, before, first };
  explicit Filtered(Read read, int lag = 1, bool backwards = false)
      : y(filter(lag, backwards)), out(result(read)), built(program()), s(built, Target::parse("x86-64-v3")) {}
  Tensor filter(int lag, bool backwards) {
    const int step = backwards ? -1 : 1;
    return recur(
        "y", {{"r", R}, {"t", T}}, backwards ? Along{1}.backwards() : Along{1}, Lag{lag}, [&](Var r, Var t) { return x(r, t); },
        [&](Prior p, Var r, Var t) { return p(r, t - lag * step) * 3 - p(r, t - step) + x(r, t); });
  }
  Tensor result(Read read) {
    if (read == Read::each || read == Read::before)
      return compute("out", {{"i", R}, {"j", T}},
                     [&](Var i, Var j) { return read == Read::each ? y(i, j) * 2 : y(i, j) + y(i, max(j - 3, 0)); });
    return compute("out", {{"i", R}}, [&](Var i) {
      return read == Read::first ? y(i, 0) : read == Read::last ? y(i, T - 1) : y(i, T - 1) - y(i, T - 2);
    });
  }
  lang::Built program() {
    const Tensor to = lang::make_output("to", i32, out.shape().extents());
    lang::bind(to, out);
    return lang::build_program("filtered", {x, to});
  }
  void check() const {
    for (const auto& [rows, steps] : {std::pair{1, 3}, std::pair{3, 8}, std::pair{5, 4}}) {
      std::vector<std::int64_t> result{rows};
      if (out.shape().extents().size() == 2) result.push_back(steps);
      means_the_same(built.program, s, {{rows, steps}, result});
    }
  }
};
using Read = Filtered::Read;

}  // namespace

TEST_CASE("a recurrence whose last steps are read keeps a ring of steps") {
  for (const int lag : {1, 2}) {
    Filtered f(Read::last, lag);
    f.s[f.y].fold(1, lag + 1);
    f.check();
    Filtered rows(Read::last, lag);
    rows.s[rows.y].compute_at(rows.s[rows.out].spatial<1>()[0]).fold(1, lag + 1);
    rows.check();
    Filtered outside(Read::last, lag);
    auto [r, t] = outside.s[outside.y].spatial<2>();
    outside.s[outside.y].reorder(t, r).fold(1, lag + 1);
    outside.check();
  }
  Filtered two(Read::two_last);
  two.s[two.y].fold(1, 2);
  two.check();
  Filtered end(Read::first, 2, true);
  end.s[end.y].fold(1, 3);
  end.check();
}

TEST_CASE("a reader that follows leaves a ring of steps") {
  for (const int lag : {1, 2}) {
    Filtered f(Read::each, lag);
    auto [i, j] = f.s[f.out].spatial<2>();
    f.s[f.y].compute_at(j).store_at(i).slide(j).fold(1, lag + 1);
    f.check();
  }
  Filtered far(Read::before);
  auto [i, j] = far.s[far.out].spatial<2>();
  far.s[far.y].compute_at(j).store_at(i).slide(j).fold(1, 4);
  far.check();
}

TEST_CASE("a ring that loses a step that is read is refused") {
  Filtered small(Read::last, 2);
  says(refusal(small.s, [&] { small.s[small.y].fold(1, 2); }),
       {"fold: expected a ring with room for all live elements: dimension 1 of y holds 3, a step and the 2 before it, found "
        "2",
        "conflict: step t = 2 reads y at t = 0, whose place y at t = 2 has taken"});
  Filtered each(Read::each);
  says(refusal(each.s, [&] { each.s[each.y].fold(1, 2); }),
       {"dimension 1 of y is read from 0 to T - 1 when the steps from 0 to T - 1 are done, found 2, which keeps only the last "
        "steps"});
  Filtered backwards(Read::last, 1, true);
  says(refusal(backwards.s, [&] { backwards.s[backwards.y].fold(1, 2); }), {"which keeps only the first steps"});
  Filtered far(Read::before);
  auto [i, j] = far.s[far.out].spatial<2>();
  far.s[far.y].compute_at(j).store_at(i).slide(j);
  says(refusal(far.s, [&] { far.s[far.y].fold(1, 3); }), {"found 3, which keeps only the last steps"});
  Filtered later(Read::last);  // the reader may not move out of the ring's reach afterwards
  later.s[later.y].fold(1, 2);
  auto [r, t] = later.s[later.y].spatial<2>();
  says(refusal(later.s, [&, t = t] { later.s[later.y].split(t, 4); }), {"one loop over the steps of y along t"});
}

TEST_CASE("of a recurrence that another one follows a ring is kept, as long as what that one reads") {
  for (const bool earlier : {false, true}) {
    lang::DefinitionScope scope;
    const Symbol T{"T", {.min = 1}}, M{"M"};
    const Tensor x = lang::make_input("x", i32, {T, M}), z = lang::make_output("z", i32, {T, M});
    const auto fades = [&](const char* name, const std::function<Expr(Var, Var)>& of) {
      return recur(
          name, {{"t", T}, {"j", M}}, Along{0}, Lag{1}, [&](Var t, Var j) { return of(t, j); },
          [&](Prior p, Var t, Var j) { return min(p(t - 1, j), 5) + of(t, j); });
    };
    const Tensor first = fades("first", [&](Var t, Var j) { return x(t, j); });
    const Tensor second = fades(
        "second", [&](Var t, Var j) { return earlier ? first(t, j) + select(t > 1, first(t - 2, j), 0) : Expr(first(t, j)); });
    lang::bind(z, compute("z", {{"t", T}, {"j", M}}, [&](Var t, Var j) { return second(t, j) * 2; }));
    const lang::Built built = lang::build_program("chain", {x, z});
    Schedule s(built, Target::parse("x86-64-v3"));
    const Loop t = s[z].spatial<2>()[0];
    s[second].compute_at(t);
    s[first].compute_at(t);
    says(refusal(s, [&] { s[first].slide(t).fold(0, 2); }), {"a ring with room for all live elements", "found 2"});
    s[second].slide(t).fold(0, 2);
    s[first].slide(t);
    if (earlier) says(refusal(s, [&] { s[first].fold(0, 2); }), {"a ring with room for all live elements", "found 2"});
    s[first].fold(0, earlier ? 3 : 2);
    for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 2}, {2, 3}, {9, 4}})
      means_the_same(built.program, s, {{n, m}, {n, m}});
  }
}

}  // namespace ashlar::test
