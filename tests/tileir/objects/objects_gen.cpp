// Programs whose objects the tests call: for targets with tiles, with threads, and for processors.
#include <ashlar/ashlar.h>

using namespace ashlar;

namespace {

// y = max(x + b, 0); rows and columns of any length
class TileBias : public Generator {
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}}, b{"b", f32, {N}};
  Output y{"y", f32, {M, N}};
  void algorithm() override {
    y = compute("y", {M, N}, [&](Var i, Var j) { return max(x(i, j) + b(j), 0); });
  }
  void schedule(Schedule& s) override {
    auto [i, j] = s[y].spatial<2>();
    if (!s.target().is_gpu()) {
      s[y].vectorize(j, s.target().lanes(f32));
      return;
    }
    if (!s.target().has_tiles()) {
      auto [jo, ji] = s[y].split(j, 32);
      s[y].bind(i, gpu::block_y).bind(jo, gpu::block_x).bind(ji, gpu::thread_x);
      return;
    }
    auto [io, jo, ii, ji] = s[y].tile(i, j, 4, 32);
    s[y].bind(io, gpu::block_y).bind(jo, gpu::block_x).as_tile(ii, ji);
  }
};
ASHLAR_GENERATOR(TileBias, "tile_bias");

// C = alpha A B in f32 from bf16, and every second row of a batch elsewhere in memory: strides of all kinds.
class TileProduct : public Generator {
 public:
  Symbol M{"M"}, N{"N"}, K{"K"};
  Input A{"A", bf16, {M, K}}, B{"B", bf16, {K, N}};
  Scalar alpha{"alpha", f32};
  Output C{"C", f32, {M, N}};
  Tensor product;
  void algorithm() override {
    Axis k{"k", K};
    product = compute("product", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
    C = compute("C", {M, N}, [&](Var i, Var j) { return alpha * product(i, j); });
  }
  void schedule(Schedule& s) override {
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 16, 16);
    s[C].bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji);
    s[product].compute_at(jo);
    auto [pi, pj] = s[product].spatial<2>();
    auto [ko, ki] = s[product].split(s[product].reduction(), 16);
    s[product].reorder(ko, pi, pj, ki).as_tile(pi, 16).as_tile(pj, 16).as_tile(ki);
  }
};
ASHLAR_GENERATOR(TileProduct, "tile_product");

// C = A B by default: calls with few results and many terms take a variant, whose blocks have parts of k.
class TileParts : public Generator {
 public:
  Symbol M{"M"}, N{"N"}, K{"K"};
  Input A{"A", bf16, {M, K}}, B{"B", bf16, {K, N}};
  Output C{"C", f32, {M, N}};
  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
  }
};
ASHLAR_GENERATOR(TileParts, "tile_parts");

// y = x - the mean of its row, by two launches: sums lie in memory between them, and so does a flag of each element.
class TileCenter : public Generator {
 public:
  Symbol R{"R", {.min = 1}};
  Input x{"x", f32, {R, 20}};
  Output y{"y", f32, {R, 20}};
  Tensor total, positive;
  void algorithm() override {
    Axis c{"c", 20};
    total = compute("total", {R}, [&](Var r) { return sum(x(r, c), c); });
    positive = compute("positive", {R, 20}, [&](Var r, Var k) { return x(r, k) > 0; });
    y = compute("y", {R, 20}, [&](Var r, Var k) { return select(positive(r, k), x(r, k) * 20 - total(r), 0); });
  }
  void schedule(Schedule& s) override {
    for (const Tensor& t : {total, positive, Tensor(y)}) {
      const std::vector<Loop> loops = s[t].spatial_loops();
      auto [ro, ri] = s[t].split(loops[0], 8);
      s[t].bind(ro, gpu::block_x).as_tile(ri);
      if (loops.size() > 1) s[t].as_tile(loops[1], 32);
    }
    s[total].as_tile(s[total].reduction(), 32);
    s[total].compute_root(), s[positive].compute_root();
  }
};
ASHLAR_GENERATOR(TileCenter, "tile_center");

// Rows and columns of any stride.
class TileTurn : public Generator {
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", i16, {M, N}, {.order = Layout::any}};
  Output y{"y", i16, {N, M}};
  void algorithm() override {
    y = compute("y", {N, M}, [&](Var j, Var i) { return x(i, j); });
  }
  void schedule(Schedule& s) override {
    auto [j, i] = s[y].spatial<2>();
    auto [jo, io, ji, ii] = s[y].tile(j, i, 16, 8);
    s[y].bind(jo, gpu::block_y).bind(io, gpu::block_x).as_tile(ji, ii);
  }
};
ASHLAR_GENERATOR(TileTurn, "tile_turn");

// Numbers of the host with quotients by a Symbol that may be 0: a mirrored row that may be empty, and N * (M / N) terms.
class TileEmpty : public Generator {
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", i32, {N}};
  Output y{"y", i32, {M}};
  void algorithm() override {
    Axis k{"k", M / N * 4};
    Tensor wide = boundary::mirror(Tensor(x));
    y = compute("y", {M}, [&](Var i) { return sum(select(N > 0, wide(k + i - 2), 7), k).from(3); });
  }
  void schedule(Schedule& s) override {
    auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 8);
    auto [ko, ki] = s[y].split(s[y].reduction(), 16);
    s[y].reorder(io, ko, ii, ki).bind(io, gpu::block_x).as_tile(ii, ki);
  }
};
ASHLAR_GENERATOR(TileEmpty, "tile_empty");

// A scatter: a launch of starting values, then one of atomic updates, and a table of more elements than a kernel chooses among.
class TileCounts : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", u8, {N}};
  Output y{"y", i32, {16}};
  void algorithm() override {
    std::vector<std::int32_t> slots;
    for (int n = 0; n < 512; ++n) slots.push_back(n * 7 % 16);
    const Tensor table = constant("table", i32, {512}, slots);
    y = scatter("y", {16}, Combine::add, i32(0), {N}, [&](Var n) { return put(i32(1), clamp(table(i32(x(n)) + 100), 0, 15)); });
  }
  void schedule(Schedule& s) override {
    auto [no, ni] = s[y].split(s[y].reduction(), 32);
    s[y].atomic().bind(no, gpu::block_x).as_tile(ni).as_tile(s[y].spatial<1>()[0]);
    s[y].hint_launch(LaunchHint::occupancy, 2);
  }
};
ASHLAR_GENERATOR(TileCounts, "tile_counts");

}  // namespace
