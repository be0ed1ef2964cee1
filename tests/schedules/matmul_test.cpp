// Products by panels, of few rows and without copies: any extents, dimensions before the rows, a transposed factor, an epilogue
// in the tile.
#include <ashlar/schedules/matmul_by_size.h>
#include <ashlar/schedules/matmul_skinny.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

// M, N, K: one tile, several with a rest, several blocks, one element, none.
std::vector<std::vector<Dims>> products(std::vector<std::array<std::int64_t, 3>> sizes) {
  std::vector<std::vector<Dims>> all;
  for (const auto& [m, n, k] : sizes) all.push_back({{m, k}, {k, n}});
  return all;
}
const std::vector<std::array<std::int64_t, 3>> usual = {{13, 32, 8}, {30, 70, 37}, {1, 1, 1}, {5, 3, 0}, {0, 4, 3}, {4, 0, 3}};

std::vector<Dims> rows_by_columns(const std::vector<Dims>& in) { return {{in[0][0], in[1][1]}}; }

// Small blocks, so that small products have several.
constexpr schedules::MatmulOptions small{.block_k = 16, .block_j = 2, .ahead = 2};

Steps of_matrices(Maker& m, Type type,
                  const std::function<void(Schedule&, const Tensor& C, const Tensor& A, const Tensor& B)>& steps) {
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor A = m.in("A", type, {M, K}), B = m.in("B", type, {K, N}), C = ops::matmul(A, B);
  m.out(C);
  return [=](Schedule& s) { steps(s, C, A, B); };
}

}  // namespace

TEST_CASE("panels, over several blocks of columns and of k") {
  check_scheduled("matmul",
                  [](Maker& m) {
                    return of_matrices(m, f32, [](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
                      schedules::matmul(s, s[C], A, B, small);
                    });
                  },
                  products(usual), {.relative = 1e-5, .absolute = 1e-5, .emulated = true, .results = rows_by_columns});
}

TEST_CASE("panels of f64, with other tiles") {
  check_scheduled("matmul f64",
                  [](Maker& m) {
                    return of_matrices(m, f64, [](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
                      schedules::matmul(s, s[C], A, B, {.tile_i = 5, .block_k = 8, .block_j = 1, .ahead = 0});
                    });
                  },
                  products({{11, 40, 20}, {3, 2, 9}}), {.relative = 1e-12, .absolute = 1e-12, .results = rows_by_columns});
}

TEST_CASE("factors of a narrower type than the sums") {
  for (const bool transposed : {false, true})
    check_scheduled("matmul f16",
                    [=](Maker& m) {
                      const Symbol M{"M"}, N{"N"}, K{"K"};
                      const Tensor A = m.in("A", f16, {M, K});
                      const Tensor B = m.in("B", f16, transposed ? std::vector<Extent>{N, K} : std::vector<Extent>{K, N});
                      const Tensor C = ops::matmul(A, B, {.transpose_b = transposed}).sum;
                      m.out(C);
                      schedules::MatmulOptions o = small;
                      o.transposed_b = transposed;
                      return [=](Schedule& s) { schedules::matmul(s, s[C], A, B, o); };
                    },
                    transposed ? std::vector<std::vector<Dims>>{{{14, 20}, {40, 20}}, {{1, 1}, {1, 1}}}
                               : products({{14, 40, 20}, {1, 1, 1}}),
                    {.relative = 1e-5, .absolute = 1e-5, .emulated = true, .results = [=](const std::vector<Dims>& in) {
                       return std::vector<Dims>{{in[0][0], in[1][transposed ? 0 : 1]}};
                     }});
}

TEST_CASE("a batch of products, of which one factor is shared") {
  check_scheduled("batch",
                  [](Maker& m) {
                    const Symbol P{"P"}, M{"M"}, N{"N"}, K{"K"};
                    const Tensor A = m.in("A", f32, {P, M, K}), B = m.in("B", f32, {K, N});
                    Axis k{"k", K};
                    const Tensor C = compute("C", {P, M, N}, [&](Var p, Var i, Var j) { return sum(A(p, i, k) * B(k, j), k); });
                    m.out(C);
                    return [=](Schedule& s) { schedules::matmul(s, s[C], A, B, small); };
                  },
                  {{{2, 14, 20}, {20, 40}}, {{1, 1, 1}, {1, 1}}, {{0, 2, 2}, {2, 2}}},
                  {.relative = 1e-5, .absolute = 1e-5, .results = [](const std::vector<Dims>& in) {
                     return std::vector<Dims>{{in[0][0], in[0][1], in[1][1]}};
                   }});
}

TEST_CASE("a factor that is read by its rows is transposed into the panels") {
  check_scheduled("transposed",
                  [](Maker& m) {
                    const Symbol P{"P"}, M{"M"}, N{"N"}, K{"K"};
                    const Tensor A = m.in("A", f32, {P, M, K}), B = m.in("B", f32, {P, N, K});
                    Axis k{"k", K};
                    const Tensor C =
                        compute("C", {P, M, N}, [&](Var p, Var i, Var j) { return sum(A(p, i, k) * B(p, j, k), k); });
                    m.out(C);
                    return [=](Schedule& s) {
                      schedules::matmul(s, s[C], A, B, {.block_k = 32, .block_j = 2, .ahead = 2, .transposed_b = true});
                    };
                  },
                  {{{2, 14, 40}, {2, 70, 40}}, {{1, 1, 1}, {1, 1, 1}}, {{2, 2, 0}, {2, 3, 0}}},
                  {.relative = 1e-5, .absolute = 1e-5, .emulated = true, .results = [](const std::vector<Dims>& in) {
                     return std::vector<Dims>{{in[0][0], in[0][1], in[1][1]}};
                   }});
}

TEST_CASE("A that is read by its columns") {
  for (const bool batch : {false, true})
    check_scheduled(
        batch ? "batch, transposed A" : "transposed A",
        [=](Maker& m) {
          const Symbol P{"P"}, M{"M"}, N{"N"}, K{"K"};
          const Axis k{"k", K};
          schedules::MatmulOptions o = small;
          o.transposed_a = true;
          Tensor A, B, C;
          if (batch) {
            A = m.in("A", f64, {P, K, M}), B = m.in("B", f64, {P, K, N}), o.tile_i = 1;
            C = compute("C", {P, M, N}, [&](Var p, Var i, Var j) { return sum(A(p, k, i) * B(p, k, j), k); });
          } else {
            A = m.in("A", f32, {K, M}), B = m.in("B", f32, {K, N});
            C = compute("C", {M, N}, [&](Var i, Var j) { return sum(A(k, i) * B(k, j), k); });
          }
          m.out(C);
          return [=](Schedule& s) { schedules::matmul(s, s[C], A, B, o); };
        },
        batch ? std::vector<std::vector<Dims>>{{{2, 9, 5}, {2, 9, 40}}, {{0, 1, 1}, {0, 1, 1}}}
              : std::vector<std::vector<Dims>>{{{37, 90}, {37, 70}}, {{1, 1}, {1, 1}}, {{0, 3}, {0, 2}}, {{2, 0}, {2, 3}}},
        {.relative = 1e-5, .absolute = 1e-5, .emulated = !batch, .results = [=](const std::vector<Dims>& in) {
           return std::vector<Dims>{batch ? Dims{in[0][0], in[0][2], in[1][2]} : Dims{in[0][1], in[1][1]}};
         }});
}

TEST_CASE("factors that are stages are computed where they are packed") {
  for (const bool transposed : {false, true})
    check_scheduled("stages",
                    [=](Maker& m) {
                      const Symbol M{"M"}, N{"N"}, K{"K"};
                      const Axis k{"k", K};
                      const Tensor x = m.in("x", f32, {M, K}), w = m.in("w", i8, {K, N}), scale = m.in("scale", f32, {N});
                      const Tensor A = ops::relu(x);
                      const Tensor B =
                          transposed
                              ? compute("B", {{"j", N}, {"k", K}}, [&](Var j, Var c) { return f32(w(c, j)) * scale(j); })
                              : compute("B", {{"k", K}, {"j", N}}, [&](Var c, Var j) { return f32(w(c, j)) * scale(j); });
                      const Tensor C = compute(
                          "C", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * (transposed ? B(j, k) : B(k, j)), k); });
                      m.out(C);
                      return [=](Schedule& s) {
                        schedules::MatmulOptions o = small;
                        o.transposed_b = transposed;
                        const schedules::MatmulLoops loops = schedules::matmul(s, s[C], A, B, o);
                        s[A].compute_at(loops.a), s[B].compute_at(loops.b);
                        for (const Tensor& t : {A, B}) s[t].vectorize(s[t].spatial<2>()[1], s.target().lanes(f32));
                      };
                    },
                    {{{30, 37}, {37, 70}, {70}}, {{1, 1}, {1, 1}, {1}}, {{5, 0}, {0, 3}, {3}}},
                    {.relative = 1e-5, .absolute = 1e-5, .emulated = true, .results = rows_by_columns});
}

TEST_CASE("what follows a product is fused into its tile") {
  for (const bool bias_first : {false, true})
    check_scheduled(bias_first ? "dense, relu" : "matmul, bias, relu",
                    [=](Maker& m) {
                      const Symbol M{"M"}, N{"N"}, K{"K", {.min = 1}};
                      const Tensor x = m.in("x", f32, {M, K}), W = m.in("W", f32, {K, N}), b = m.in("b", f32, {N});
                      const Tensor sum = bias_first ? Tensor(ops::dense(x, W, b)) : Tensor(ops::matmul(x, W));
                      const Tensor biased = bias_first ? sum : ops::add(sum, b), y = ops::relu(biased);
                      m.out(y);
                      return [=](Schedule& s) {
                        schedules::MatmulOptions o = small;
                        o.padded = !bias_first;  // a sum that starts from the bias reads no bias past the last one
                        if (!bias_first) s[biased].inline_();
                        s[y].fuse_into(schedules::matmul(s, s[sum], x, W, o).tile);
                        s[y].vectorize(s[y].spatial<2>()[1], s.target().lanes(f32));
                      };
                    },
                    {{{30, 37}, {37, 70}, {70}}, {{1, 1}, {1, 1}, {1}}},
                    {.relative = 1e-5, .absolute = 1e-5, .results = rows_by_columns});
}

TEST_CASE("few rows, and small products without copies") {
  check_scheduled("skinny",
                  [](Maker& m) {
                    return of_matrices(m, f32, [](Schedule& s, const Tensor& C, const Tensor&, const Tensor&) {
                      schedules::matmul_skinny(s, s[C], {.tile_i = 3, .block_k = 4, .block_j = 64});
                    });
                  },
                  products({{4, 150, 19}, {1, 1, 1}, {2, 3, 0}, {0, 2, 2}}),
                  {.relative = 1e-5, .absolute = 1e-5, .emulated = true, .results = rows_by_columns});
  check_scheduled("skinny, in parts of the sum",
                  [](Maker& m) {
                    return of_matrices(m, f32, [](Schedule& s, const Tensor& C, const Tensor&, const Tensor&) {
                      schedules::matmul_skinny(s, s[C], {.tile_i = 1, .block_k = 4, .block_j = 64, .part_k = 8});
                    });
                  },
                  products({{2, 150, 19}, {1, 70, 16}, {1, 1, 1}, {2, 3, 0}, {0, 2, 2}}),
                  {.relative = 1e-5, .absolute = 1e-5, .emulated = true, .results = rows_by_columns});
  check_scheduled(
      "by size",
      [](Maker& m) {
        return of_matrices(m, f32, [](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
          schedules::matmul_by_size(s, s[C], A, B, small);
        });
      },
      products({{1, 150, 19}, {8, 40, 5}, {7, 33, 20}, {14, 64, 20}, {26, 32, 3}, {30, 70, 37}, {0, 0, 0}, {20, 32, 0}}),
      {.relative = 1e-5, .absolute = 1e-5, .results = rows_by_columns});
}

TEST_CASE("known extents choose when the kernel is made") {
  const auto text = [](int rows, int columns) {
    return text_of([=](Maker& m) {
      const Tensor A = m.in("A", f32, {rows, 64}), B = m.in("B", f32, {64, columns}), C = ops::matmul(A, B);
      m.out(C);
      return [=](Schedule& s) { schedules::matmul_by_size(s, s[C], A, B); };
    });
  };
  CHECK(text(4, 100).find("A_") == std::string::npos);   // few rows: nothing is copied
  CHECK(text(64, 64).find("A_") == std::string::npos);   // B in the caches
  CHECK(text(64, 100).find("A_") != std::string::npos);  // panels
  CHECK(text(64, 64) != text(4, 100));
}

TEST_CASE("what is no product is refused at the line of the family") {
  const auto of = [](auto steps) {
    return refused_schedule([=](Maker& m) {
      const Symbol M{"M"}, N{"N"};
      const Tensor x = m.in("x", f32, {M, N}), y = ops::relu(x);
      m.out(y);
      return [=](Schedule& s) { steps(s, y, x); };
    });
  };
  CHECK(of([](Schedule& s, const Tensor& y, const Tensor& x) { schedules::matmul(s, s[y], x, x); }) ==
        "matmul_test.cpp: matmul: expected a sum over one dimension, of two to 4 dimensions, found relu, which is not a sum");
  CHECK(of([](Schedule& s, const Tensor& y, const Tensor&) {
          schedules::matmul_skinny(s, s[y]);
        }).find("matmul_test.cpp: matmul_skinny: expected a sum over one dimension") == 0);
  CHECK(of([](Schedule& s, const Tensor& y, const Tensor& x) {
          schedules::matmul_by_size(s, s[y], x, x);
        }).find("matmul_test.cpp: matmul_by_size: expected a sum") == 0);
}
