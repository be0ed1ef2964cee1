// Products of matrices: transposed, in batches that broadcast, with a bias, of narrow types; inner extents of none and one.
#include "tests/ops/check.h"

using namespace ops_test;

namespace {

Nd product(const Nd& a, const Nd& b, bool ta = false, bool tb = false) {
  const std::int64_t M = a.n(ta ? 1 : 0), K = a.n(ta ? 0 : 1), N = b.n(tb ? 0 : 1);
  Nd c({M, N});
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j)
      for (std::int64_t k = 0; k < K; ++k) c(i, j) += (ta ? a(k, i) : a(i, k)) * (tb ? b(j, k) : b(k, j));
  return c;
}
// [begin] of a batch
Nd matrix(const Nd& t, std::int64_t batch) {
  const std::size_t r = t.shape.size();
  Nd m({t.shape[r - 2], t.shape[r - 1]});
  for (std::int64_t k = 0; k < m.size(); ++k) m[k] = t[batch * m.size() + k];
  return m;
}

}  // namespace

TEST_CASE("matrices, as they are and transposed") {
  check(
      "matmul",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"}, K{"K"};
        const Tensor A = m.in("A", f32, {M, K}), B = m.in("B", f32, {K, N}), At = m.in("At", f32, {K, M}),
                     Bt = m.in("Bt", f32, {N, K});
        const Tensor x = m.in("x", f32, {K}), C = m.in("C", f32, {N});
        m.out(ops::matmul(A, B)), m.out(ops::matmul(At, B, {.transpose_a = true}));
        m.out(ops::matmul(A, Bt, {.transpose_b = true})),
            m.out(ops::matmul(At, Bt, {.transpose_a = true, .transpose_b = true}));
        m.out(ops::dense(A, B, C)), m.out(ops::dense(A, Bt, Tensor(), {.transpose_b = true}));
        m.out(ops::gemv(A, x)), m.out(ops::gemv(At, x, {.transpose_a = true}));
        m.out(ops::gemm(A, B, C, 0.5, 2)), m.out(ops::gemm(A, B, ops::matmul(A, B)));
      },
      {{{{5, 13}, {13, 7}, {13, 5}, {7, 13}, {13}, {7}}},
       {{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1}, {1}}},
       {{{2, 0}, {0, 3}, {0, 2}, {3, 0}, {0}, {3}}},
       {{{0, 4}, {4, 2}, {4, 0}, {2, 4}, {4}, {2}}}},
      [](const Inputs& in) {
        const Nd &A = in[0], &B = in[1], &At = in[2], &Bt = in[3], &x = in[4], &C = in[5];
        Nd dense = product(A, B), gemm = dense, twice = dense, gemv({A.n(0)}), turned({A.n(0)});
        each(dense.shape,
             [&](const Dims& i) { dense.at(i) += C(i[1]), gemm.at(i) = 0.5 * gemm.at(i) + 2 * C(i[1]), twice.at(i) *= 2; });
        for (std::int64_t i = 0; i < A.n(0); ++i)
          for (std::int64_t k = 0; k < A.n(1); ++k) gemv(i) += A(i, k) * x(k), turned(i) += At(k, i) * x(k);
        return Results{product(A, B),
                       product(At, B, true),
                       product(A, Bt, false, true),
                       product(At, Bt, true, true),
                       dense,
                       product(A, Bt, false, true),
                       gemv,
                       turned,
                       gemm,
                       twice};
      },
      {1e-6, 4e-6, false, true});
}

TEST_CASE("batches, which broadcast") {
  check(
      "batch matmul",
      [](Maker& m) {
        const Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"}, K{"K"};
        const Tensor a = m.in("a", f32, {B, H, M, K}), b = m.in("b", f32, {B, H, K, N}), one = m.in("one", f32, {K, N}),
                     heads = m.in("heads", f32, {B, 1, K, N});
        m.out(ops::batch_matmul(a, b)), m.out(ops::batch_matmul(a, one)), m.out(ops::batch_matmul(a, heads));
        m.out(ops::batch_matmul(b, b, {.transpose_b = true})), m.out(ops::dense(a, one));
      },
      {{{{2, 3, 4, 5}, {2, 3, 5, 6}, {5, 6}, {2, 1, 5, 6}}},
       {{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {1, 1, 1, 1}}},
       {{{0, 2, 2, 3}, {0, 2, 3, 2}, {3, 2}, {0, 1, 3, 2}}}},
      [](const Inputs& in) {
        const Nd &a = in[0], &b = in[1], &one = in[2], &heads = in[3];
        const std::int64_t B = a.n(0), H = a.n(1), M = a.n(2), K = a.n(3), N = b.n(3);
        Nd both({B, H, M, N}), single = both, shared = both, square({B, H, K, K});
        each({B, H}, [&](const Dims& at) {
          const std::int64_t batch = at[0] * H + at[1];
          const auto put = [&](Nd& to, const Nd& c) {
            for (std::int64_t k = 0; k < c.size(); ++k) to[batch * c.size() + k] = c[k];
          };
          put(both, product(matrix(a, batch), matrix(b, batch)));
          put(single, product(matrix(a, batch), one));
          put(shared, product(matrix(a, batch), matrix(heads, at[0])));
          put(square, product(matrix(b, batch), matrix(b, batch), false, true));
        });
        return Results{both, single, shared, square, single};
      },
      {1e-6, 4e-6});
}

TEST_CASE("narrow types are summed wide") {
  check(
      "bytes and halves",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"}, K{"K"};
        const Tensor a = m.in("a", i8, {M, K}, whole(-128, 127)), b = m.in("b", i8, {K, N}, whole(-128, 127)),
                     c = m.in("c", i32, {N}, whole(-1000, 1000)), p = m.in("p", f16, {M, K}), q = m.in("q", f16, {K, N}),
                     r = m.in("r", bf16, {M, K}), s = m.in("s", bf16, {K, N});
        m.out(ops::dense(a, b, c)), m.out(ops::matmul(p, q)), m.out(ops::matmul(r, s).sum);
      },
      {{{{3, 65}, {65, 5}, {5}, {3, 65}, {65, 5}, {3, 65}, {65, 5}}}, {{{1, 0}, {0, 1}, {1}, {1, 0}, {0, 1}, {1, 0}, {0, 1}}}},
      [](const Inputs& in) {
        Nd y = product(in[0], in[1]);
        each(y.shape, [&](const Dims& i) { y.at(i) += in[2](i[1]); });
        return Results{y, product(in[3], in[4]).map([](double v) { return double(_Float16(v)); }), product(in[5], in[6])};
      },
      {1e-3, 2e-5});
}

TEST_CASE("products refuse") {
  const Symbol M{"M"}, N{"N"}, K{"K"};
  CHECK(refusal_of([&] {
          (void)ops::matmul(lang::make_input("p", f32, {M, K}), lang::make_input("q", f32, {N, K}));
        }).find("matmul_test.cpp") == 0);
  CHECK(refusal_of([&] {
          (void)ops::matmul(lang::make_input("p", f32, {M, K}), lang::make_input("q", f32, {N, K}));
        }).find("matmul: expected B whose dimension 0 has the extent K, as dimension 1 of A has, found N") !=
        std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::dense(lang::make_input("p", f32, {M, 64}), lang::make_input("q", f32, {64, 32}),
                           lang::make_input("c", f32, {31}));
        }).find("dense: expected bias whose dimension 0 has the extent 32, the columns of the product, found 31") !=
        std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::batch_matmul(lang::make_input("p", f32, {2, M, K}), lang::make_input("q", f32, {3, K, N}));
        }).find("batch_matmul: expected B whose dimension 0 has the extent 2 or the number 1, found 3") != std::string::npos);
  const auto gemm = [&](std::vector<Extent> a, std::vector<Extent> c) {
    return refusal_of([&] {
      (void)ops::gemm(lang::make_input("A", f32, a), lang::make_input("B", f32, {K, N}), lang::make_input("C", f32, c));
    });
  };
  CHECK(gemm({1, K}, {5, N}).find("gemm: expected C that broadcasts to A B of shape [1, N], found C of shape [5, N]") !=
        std::string::npos);
  CHECK(gemm({M, K}, {4, M, N}).find("gemm: expected C that broadcasts to A B of shape [M, N], found C of shape [4, M, N]") !=
        std::string::npos);
  CHECK(gemm({M, K}, {1, 1}).empty());
  CHECK(refusal_of([&] {
          (void)ops::dense(lang::make_input("p", i8, {M, 64}), lang::make_input("q", i8, {64, 32}),
                           lang::make_input("c", f32, {32}));
        }).find("dense: expected bias of i8 or i32, found f32") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::matmul(lang::make_input("p", bool_, {M, K}), lang::make_input("q", bool_, {K, N}));
        }).find("matmul_test.cpp") == 0);
}
