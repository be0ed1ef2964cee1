// What the browser test looks at: a ring of rows, a kernel for a device with shared memory, one for tiles, a refusal.
#include "tests/generator/formulas.h"

using namespace ashlar;

class Ring : public formulas::Blur {
 public:
  void schedule(Schedule& s) override {
    auto [r, c] = s[y].spatial<2>();
    auto [ro, ri] = s[y].split(r, 16);
    s[across].compute_at(ri).store_at(ro).slide(ri).fold(0, 4);
    s[y].parallel(ro).vectorize(c, 4);
  }
};
ASHLAR_GENERATOR(Ring, "ring");

class Transposed : public Generator {
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {N, M}};
  void algorithm() override {
    y = compute("y", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return x(j, i); });
  }
  void schedule(Schedule& s) override {
    Stage copy = s.cache_read(x, {y}, Scope::shared);
    auto [i, j] = s[y].spatial<2>();
    auto [io, jo, ii, ji] = s[y].tile(i, j, 32, 32);
    s[y].bind(io, gpu::block_y).bind(jo, gpu::block_x);
    copy.compute_at(jo);
    auto [in, rows] = s[y].split(ii, 8);
    s[y].bind(rows, gpu::thread_y).bind(ji, gpu::thread_x);
    auto [r, c] = copy.spatial<2>();
    auto [r_outer, r_rows] = copy.split(r, 8);
    copy.bind(r_rows, gpu::thread_y).bind(c, gpu::thread_x);
  }
};
ASHLAR_GENERATOR(Transposed, "transposed");

class Lengths : public Generator {  // the default schedule, also with tiles
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {M}};
  void algorithm() override {
    Axis k{"k", N};
    const Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i, k) * x(i, k), k); });
    y = compute("y", {M}, [&](Var i) { return sqrt(total(i)); });
  }
};
ASHLAR_GENERATOR(Lengths, "lengths");

class Refused : public formulas::RowSums {
 public:
  void schedule(Schedule& s) override { s[y].parallel(s[y].reduction()); }
};
ASHLAR_GENERATOR(Refused, "refused");
