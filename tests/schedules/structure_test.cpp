// What options leave in the loop nest: threads, stores past the caches, unrolled vectors, prefetches. Values are the same with
// or without them, so that no comparison of results would notice.
#include <ashlar/schedules.h>

#include "tests/schedules/scheduled.h"
#include "tests/support/text_parts.h"

using namespace schedules_test;

namespace {

using text_parts::count;

std::string of_relu(const std::function<void(Schedule&, const Stage&)>& steps) {
  return text_of([=](Maker& m) {
    const Symbol M{"M"}, N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {M, N}));
    m.out(y);
    return Steps([=](Schedule& s) { steps(s, s[y]); });
  });
}
std::string of_product(const std::function<void(Schedule&, const Tensor& C, const Tensor& A, const Tensor& B)>& steps) {
  return text_of([=](Maker& m) {
    const Symbol M{"M"}, N{"N"}, K{"K"};
    const Tensor A = m.in("A", f32, {M, K}), B = m.in("B", f32, {K, N}), C = ops::matmul(A, B);
    m.out(C);
    return Steps([=](Schedule& s) { steps(s, C, A, B); });
  });
}

}  // namespace

TEST_CASE("elementwise") {
  const auto text = [](const schedules::ElementwiseOptions& o) {
    return of_relu([=](Schedule& s, const Stage& y) { schedules::elementwise(s, y, o); });
  };
  const std::string plain = text({});
  CHECK(count(plain, "parallel") == 1);
  CHECK(count(plain, "vectorized") == 1);
  CHECK(count(plain, "unrolled") == 0);
  CHECK(count(plain, "streamed") == 0);
  CHECK(count(text({.unroll = 4}), "unrolled") == 1);
  CHECK(count(text({.parallel = false}), "parallel") == 0);
  CHECK(count(text({.stream = true}), "streamed") == 1);
}

TEST_CASE("rows") {
  const auto text = [](const schedules::RowsOptions& o) {
    return text_of([=](Maker& m) {
      const Symbol M{"M"}, N{"N"};
      const auto y = ops::softmax(m.in("x", f32, {M, N}));
      m.out(y);
      return Steps([=](Schedule& s) { schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}, o); });
    });
  };
  const std::string plain = text({});
  CHECK(count(plain, "parallel") == 1);
  CHECK(count(plain, "streamed") == 0);
  CHECK(count(plain, "(N + 15) / 16") > 0);  // partial results of two registers of 8, as many as the file leaves
  CHECK(count(text({.accumulators = 1}), "(N + 15) / 16") == 0);
  CHECK(count(text({.accumulators = 1}), "_rf") > 0);
  CHECK(count(text({.parallel = false}), "parallel") == 0);
  CHECK(count(text({.stream = true}), "streamed") == 1);
}

TEST_CASE("reduction") {
  const auto text = [](const schedules::ReductionOptions& o) {
    return text_of([=](Maker& m) {
      const Symbol N{"N"};
      const Tensor y = ops::reduce_sum(m.in("x", f32, {N})).accumulated;
      m.out(y);
      return Steps([=](Schedule& s) { schedules::reduction(s, s[y], o); });
    });
  };
  CHECK(count(text({}), "parallel") == 1);
  CHECK(count(text({}), "65536") > 0);
  CHECK(count(text({.part = 512}), "512") > 0);
  CHECK(count(text({.part = 512}), "65536") == 0);
  CHECK(count(text({.parallel = false}), "parallel") == 0);
}

TEST_CASE("transpose, scatter_add") {
  const auto transposed = [](const schedules::TransposeOptions& o) {
    return text_of([=](Maker& m) {
      const Symbol M{"M"}, N{"N"};
      const Tensor x = m.in("x", f32, {M, N}), y = ops::copy(ops::transpose(x));
      m.out(y);
      return Steps([=](Schedule& s) { schedules::transpose(s, s[y], x, o); });
    });
  };
  CHECK(count(transposed({}), "parallel") == 1);
  CHECK(count(transposed({}), "streamed") == 0);
  CHECK(count(transposed({.parallel = false}), "parallel") == 0);
  CHECK(count(transposed({.stream = true}), "streamed") == 1);
  const auto counted = [](const schedules::ScatterOptions& o) {
    return text_of([=](Maker& m) {
      const Symbol N{"N"};
      const Tensor y = ops::histogram(m.in("x", u8, {N}));
      m.out(y);
      return Steps([=](Schedule& s) { schedules::scatter_add(s, s[y], o); });
    });
  };
  CHECK(count(counted({}), "parallel") == 2);  // the parts, and the elements that add them up
  CHECK(count(counted({.parallel = false}), "parallel") == 0);
}

TEST_CASE("products") {
  const auto text = [](const schedules::MatmulOptions& o) {
    return of_product(
        [=](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) { schedules::matmul(s, s[C], A, B, o); });
  };
  const std::string plain = text({});
  CHECK(count(plain, "parallel") == 2);  // the panels of B, and the rows of C
  CHECK(count(plain, "prefetch") == 1);
  CHECK(count(text({.ahead = 0}), "prefetch") == 0);
  CHECK(count(text({.block_k = 320}), "320") > 0);
  CHECK(count(text({.block_j = 23}), "23") > 0);
  CHECK(count(of_product([](Schedule& s, const Tensor& C, const Tensor&, const Tensor&) { schedules::matmul_skinny(s, s[C]); }),
              "parallel") == 1);
}

TEST_CASE("convolutions in blocks, attention") {
  const auto conv = [](const schedules::ConvOptions& o) {
    return text_of([=](Maker& m) {
      const Tensor x = m.in("x", f32, {1, 2, 9, 14, 8}), w = m.in("w", f32, {2, 2, 3, 3, 8, 8});
      const Tensor y = ops::conv2d(x, w, {}, {.layout = ops::Layout::channels_blocked});
      m.out(y);
      return Steps([=](Schedule& s) { schedules::conv2d(s, s[y], w, o); });
    });
  };
  CHECK(count(conv({}), "parallel") == 1);
  CHECK(count(conv({.parallel = false}), "parallel") == 0);
  CHECK(count(conv({}), " in 12 ") > 0);  // of 12 pixels all are in a tile
  CHECK(count(conv({.tile_w = 4}), " in 12 ") == 0);
  CHECK(count(conv({}), "prefetch") == 0);
  CHECK(count(conv({.ahead = 2}), "prefetch") == 1);
  const auto rim = [](const schedules::RimOptions& o) {
    return text_of([=](Maker& m) {
      const Tensor y = ops::pad(m.in("x", f32, {1, 2, 9, 14, 8}), {0, 0, {1, 1}, {1, 1}, 0});
      m.out(y);
      return Steps([=](Schedule& s) { schedules::rim(s, s[y], 1, 1, o); });
    });
  };
  CHECK(count(rim({}), "parallel") == 1);
  CHECK(count(rim({.parallel = false}), "parallel") == 0);
  const auto heads = [](const schedules::AttentionOptions& o) {
    return text_of([=](Maker& m) {
      const Symbol N{"N"};
      const Tensor q = m.in("q", f32, {1, 4, N, 8}), k = m.in("k", f32, {1, 4, N, 8}), v = m.in("v", f32, {1, 4, N, 8});
      const auto y = ops::attention(q, k, v);
      m.out(y);
      return Steps([=](Schedule& s) { schedules::attention(s, y, q, k, v, o); });
    });
  };
  for (const bool few : {false, true})
    CHECK(count(heads({.split_heads = few}), "parallel") == 3);  // panels of K and of V, blocks of queries
  for (const bool few : {false, true}) CHECK(count(heads({.split_heads = few, .parallel = false}), "parallel") == 0);
}

TEST_CASE("by default, on one thread") {
  const auto text = [](bool parallel, const std::function<Tensor(Maker&)>& program) {
    return text_of([=](Maker& m) {
      m.out(program(m));
      return Steps([=](Schedule& s) { schedule_by_default(s, {.parallel = parallel}); });
    });
  };
  const auto in = [](Maker& m, const char* name) { return m.in(name, f32, {Symbol("N"), 512}); };
  const std::vector<std::function<Tensor(Maker&)>> programs = {
      [=](Maker& m) { return ops::gelu(in(m, "x")); },
      [=](Maker& m) { return ops::softmax(in(m, "x")).result; },
      [=](Maker& m) { return ops::reduce_sum(in(m, "x")).accumulated; },
      [=](Maker& m) { return ops::reduce_sum(in(m, "x"), {.axes = {0}}).accumulated; },
      [=](Maker& m) { return ops::matmul(m.in("A", f32, {512, 512}), m.in("B", f32, {512, 500})).result; },
      [=](Maker& m) { return ops::matmul(in(m, "A"), m.in("B", f32, {512, Symbol("M")})).result; },
      [=](Maker& m) { return ops::copy(ops::transpose(in(m, "x"))); },
      [=](Maker& m) { return ops::box_blur(m.in("x", f32, {500, 512}), 1, 1).result; }};
  for (std::size_t k = 0; k < programs.size(); ++k) {
    CAPTURE(k);
    CHECK(count(text(true, programs[k]), "parallel") > 0);
    CHECK(count(text(false, programs[k]), "parallel") == 0);
  }
}
