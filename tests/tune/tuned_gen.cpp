// Generators for the tests of the tuner: choices that depend on others, a parameter that changes what is computed, a schedule
// that the prover refuses, and choices that planted.py takes for faults.
#include <ashlar/ashlar.h>

using namespace ashlar;

class Sums : public Generator {  // of rows, with the terms of each in lanes or one by one
 public:
  Param<int> rows{"rows", 1, {{1, 2, 4}}, "of a block"};
  Param<int> times{"times", 2, {{2, 3}}, "changes what is computed"};
  Symbol M{"M"}, N{"N", {.multiple_of = 8}};
  Input x{"x", f32, {M, N}};
  Scalar bias{"bias", f32};
  Output y{"y", f32, {M}};
  Tensor total;
  void algorithm() override {
    Axis k{"k", N};
    total = compute("total", {M}, [&](Var i) { return sum(x(i, k) * float(times), k); });
    y = compute("y", {M}, [&](Var i) { return total(i) + bias; });
  }
  void schedule(Schedule& s) override {
    auto [i] = s[y].spatial<1>();
    auto [io, ii] = s[y].split(i, rows);
    s[total].compute_at(ii);
    s.choose_one_of("terms", {[] {},
                              [&] {
                                const int lanes = static_cast<int>(s.choose("lanes", {8, 4}));
                                auto [ko, ki] = s[total].split(s[total].reduction(), lanes);
                                Stage part = s[total].rfactor(ki);
                                part.vectorize(part.spatial<2>()[1]).store_in(Scope::stack);
                                part.compute_at(ii);
                              },
                              [&] { s[total].parallel(s[total].reduction()); }});  // refused
    (void)io;
  }
};
ASHLAR_GENERATOR(Sums, "sums");

class Faults : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", i32, {N}};
  Output y{"y", i32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i) * 3 + 1; });
  }
  void schedule(Schedule& s) override {
    s.choose("fault", {0, 1, 2, 3, 4, 5, 6, 7});
    s[y].split(s[y].spatial<1>()[0], s.choose("block", {16, 8, 64}));
  }
};
ASHLAR_GENERATOR(Faults, "faults");

class Fixed : public Generator {  // nothing to tune
 public:
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i) + 1; });
  }
  void schedule(Schedule& s) override { s[y].vectorize(s[y].spatial<1>()[0], 4); }
};
ASHLAR_GENERATOR(Fixed, "fixed");
