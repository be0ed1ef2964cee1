// What families say of options and factors that they do not take, and that it stands at the line of their call.
#include <ashlar/schedule/step.h>
#include <ashlar/schedules.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

using OnProduct = std::function<void(Schedule&, const Tensor& C, const Tensor& A, const Tensor& B)>;

std::string of_product(const OnProduct& steps) {
  return refused_schedule([=](Maker& m) {
    const Symbol M{"M"}, N{"N"}, K{"K"};
    const Tensor A = m.in("A", f32, {M, K}), B = m.in("B", f32, {K, N}), C = ops::matmul(A, B);
    m.out(C);
    return [=](Schedule& s) { steps(s, C, A, B); };
  });
}
std::string of_relu(const std::function<void(Schedule&, const Tensor& y)>& steps) {
  return refused_schedule([=](Maker& m) {
    const Symbol M{"M"}, N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {M, N}));
    m.out(y);
    return [=](Schedule& s) { steps(s, y); };
  });
}
std::string of_sum(const schedules::ReductionOptions& o) {
  return refused_schedule([=](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::reduce_sum(m.in("x", f32, {N})).accumulated;
    m.out(y);
    return [=](Schedule& s) { schedules::reduction(s, s[y], o); };
  });
}

// "options_test.cpp: FAMILY: expected NAME of at least LEAST, found FOUND"
std::string least(const std::string& family, const std::string& name, int value, int found) {
  return "options_test.cpp: " + family + ": expected " + name + " of at least " + std::to_string(value) + ", found " +
         std::to_string(found);
}

}  // namespace

TEST_CASE("options of products") {
  const auto matmul = [](const schedules::MatmulOptions& o) {
    return of_product(
        [=](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) { schedules::matmul(s, s[C], A, B, o); });
  };
  CHECK(matmul({.tile_i = -1}) == least("matmul", "tile_i", 0, -1));
  CHECK(matmul({.block_k = -8}) == least("matmul", "block_k", 0, -8));
  CHECK(matmul({.block_j = -2}) == least("matmul", "block_j", 0, -2));
  CHECK(matmul({.ahead = -1}) == least("matmul", "ahead", 0, -1));
  const auto skinny = [](const schedules::SkinnyOptions& o) {
    return of_product(
        [=](Schedule& s, const Tensor& C, const Tensor&, const Tensor&) { schedules::matmul_skinny(s, s[C], o); });
  };
  CHECK(skinny({.tile_i = 0}) == least("matmul_skinny", "tile_i", 1, 0));
  CHECK(skinny({.tile_j = -1}) == least("matmul_skinny", "tile_j", 0, -1));
  CHECK(skinny({.block_k = -1}) == least("matmul_skinny", "block_k", 0, -1));
  CHECK(skinny({.block_j = 0}) == least("matmul_skinny", "block_j", 1, 0));
  CHECK(skinny({.part_k = -8}) == least("matmul_skinny", "part_k", 0, -8));
  CHECK(skinny({.block_k = 8, .part_k = 12}) ==
        "options_test.cpp: matmul_skinny: expected part_k that is a multiple of block_k, 8, found 12");
}

TEST_CASE("options of narrow products") {
  const auto narrow = [](Type a, auto steps) {
    return refused_schedule(
        [=](Maker& m) {
          const Symbol M{"M"}, N{"N"}, K{"K"};
          const Tensor A = m.in("A", a, {M, K}), B = m.in("B", i8, {K, N});
          const Axis k{"k", K};
          const Tensor C = compute("C", {M, N}, [&](Var i, Var j) { return sum(i32(A(i, k)) * i32(B(k, j)), k); });
          m.out(C);
          return [=](Schedule& s) { steps(s, C, A, B); };
        },
        Target::parse("zen4"));
  };
  using Of = const Tensor&;
  CHECK(narrow(u8, [](Schedule& s, Of C, Of A, Of B) { schedules::matmul_dot(s, s[C], A, B, {.tile_i = -1}); }) ==
        least("matmul_dot", "tile_i", 0, -1));
  CHECK(narrow(u8, [](Schedule& s, Of C, Of A, Of B) { schedules::matmul_dot(s, s[C], A, B, {.block_j = -1}); }) ==
        least("matmul_dot", "block_j", 0, -1));
  CHECK(narrow(i8, [](Schedule& s, Of C, Of A, Of B) { schedules::matmul_bytes(s, s[C], A, B, {.block_j = -1}); }) ==
        least("matmul_bytes", "block_j", 0, -1));
}

TEST_CASE("factors that are read at other indices") {
  CHECK(of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
          schedules::matmul(s, s[C], B, A);
        }).find("options_test.cpp: matmul: expected A read at [.., i, k], found other indices in ") == 0);
  CHECK(of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
          schedules::matmul(s, s[C], A, B, {.transposed_b = true});
        }).find("options_test.cpp: matmul: expected B read at [.., j, k], found other indices in ") == 0);
  CHECK(of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
          schedules::matmul(s, s[C], A, B, {.transposed_a = true});
        }).find("options_test.cpp: matmul: expected A read at [.., k, i], found other indices in ") == 0);
  CHECK(of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
          schedules::matmul_by_size(s, s[C], A, B, {.transposed_a = true});
        }) == "options_test.cpp: matmul_by_size: expected A read at [i, k], found transposed_a");
  CHECK(of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
          schedules::matmul_by_size(s, s[C], A, B, {.transposed_b = true});
        }) == "options_test.cpp: matmul_by_size: expected B read at [k, j], found transposed_b");
}

TEST_CASE("what a step refuses inside of a family is refused at the line of the family's call") {
  const std::string pad = of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
    schedules::matmul(s, s[C], A, B, {.padded = true});
  });
  CHECK(pad.find("options_test.cpp: split: expected Tail::pad on a stage with storage of its own") == 0);
  const std::string few =
      of_product([](Schedule& s, const Tensor& C, const Tensor&, const Tensor&) { schedules::matmul_direct(s, s[C]); });
  CHECK(few.find("options_test.cpp: split: expected an extent of i of matmul of at least 6") == 0);
  const std::string twice =
      of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor&) { schedules::matmul(s, s[C], A, A); });
  CHECK(twice.find("options_test.cpp: ") == 0);
  // and so do the steps that were made
  const std::string all = of_product([](Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
    schedules::matmul_by_size(s, s[C], A, B);
    for (const schedule::Step& step : s.scheduled().trace) CHECK(location(step.where).find("options_test.cpp:") == 0);
    CHECK(s.scheduled().trace.size() > 100);
  });
  CHECK(all == "");
}

TEST_CASE("options of what is bound by memory") {
  const auto elementwise = [](const schedules::ElementwiseOptions& o) {
    return of_relu([=](Schedule& s, const Tensor& y) { schedules::elementwise(s, s[y], o); });
  };
  CHECK(elementwise({.lanes = -1}) == least("elementwise", "lanes", 0, -1));
  CHECK(elementwise({.unroll = 0}) == least("elementwise", "unroll", 1, 0));
  const auto rows = [](const schedules::RowsOptions& o) {
    return of_relu([=](Schedule& s, const Tensor& y) { schedules::rows(s, {s[y]}, o); });
  };
  CHECK(rows({.dims = -2}) == least("rows", "dims", -1, -2));
  CHECK(rows({.unroll = 0}) == least("rows", "unroll", 1, 0));
  CHECK(rows({.together = -1}) == least("rows", "together", 0, -1));
  CHECK(rows({.accumulators = 3}) == "options_test.cpp: rows: expected accumulators that are a power of two, found 3");
  CHECK(rows({.lanes = 12}) == "options_test.cpp: rows: expected lanes that are a power of two, found 12");
  CHECK(of_sum({.part = 0}) == least("reduction", "part", 1, 0));
  CHECK(of_sum({.accumulators = 0}) == "options_test.cpp: reduction: expected accumulators that are a power of two, found 0");
  CHECK(of_sum({.lanes = -4}) == "options_test.cpp: reduction: expected lanes that are a power of two, found -4");
  const auto transposed = [](const schedules::TransposeOptions& o) {
    return refused_schedule([=](Maker& m) {
      const Symbol M{"M"}, N{"N"};
      const Tensor x = m.in("x", f32, {M, N}), y = ops::copy(ops::transpose(x));
      m.out(y);
      return [=](Schedule& s) { schedules::transpose(s, s[y], x, o); };
    });
  };
  CHECK(transposed({.tile = -8}) == least("transpose", "tile", 0, -8));
  CHECK(transposed({.tiles_i = -1}) == least("transpose", "tiles_i", 0, -1));
  CHECK(transposed({.tiles_j = -1}) == least("transpose", "tiles_j", 0, -1));
}

TEST_CASE("options of places by data and of windows") {
  const auto by_data = [](auto steps) {
    return refused_schedule([=](Maker& m) {
      const Symbol N{"N", {.min = 1}};
      const Tensor x = m.in("x", f32, {N, 4}), at = m.in("at", i32, {N});
      const Tensor y = ops::gather(x, at), z = ops::index_add(N, at, x);
      m.out(y), m.out(z);
      return [=](Schedule& s) { steps(s, y, z); };
    });
  };
  const auto gather = [&](const schedules::GatherOptions& o) {
    return by_data([=](Schedule& s, const Tensor& y, const Tensor&) { schedules::gather(s, s[y], o); });
  };
  CHECK(gather({.lanes = -1}) == least("gather", "lanes", 0, -1));
  CHECK(gather({.unroll = 0}) == least("gather", "unroll", 1, 0));
  const auto scatter = [&](const schedules::ScatterOptions& o) {
    return by_data([=](Schedule& s, const Tensor&, const Tensor& z) { schedules::scatter_add(s, s[z], o); });
  };
  CHECK(scatter({.lanes = -1}) == least("scatter_add", "lanes", 0, -1));
  CHECK(scatter({.parts = 0}) == least("scatter_add", "parts", 1, 0));
  const auto stencil = [](const schedules::StencilOptions& o) {
    return of_relu([=](Schedule& s, const Tensor& y) { schedules::stencil(s, s[y], o); });
  };
  CHECK(stencil({.lanes = -1}) == least("stencil", "lanes", 0, -1));
  CHECK(stencil({.together = -1}) == least("stencil", "together", 0, -1));
  CHECK(stencil({.strip = -1}) == least("stencil", "strip", 0, -1));
  CHECK(stencil({.columns = -1}) == least("stencil", "columns", 0, -1));
}

TEST_CASE("options of convolutions and attention") {
  const auto conv = [](const schedules::ConvOptions& o, int before = 0, int after = 0) {
    return refused_schedule([=](Maker& m) {
      const Tensor x = m.in("x", f32, {1, 2, 5, 5, 8}), w = m.in("w", f32, {2, 2, 3, 3, 8, 8});
      const Tensor wide = ops::pad(x, {0, 0, {1, 1}, {1, 1}, 0});
      const Tensor y = ops::conv2d(wide, w, {}, {.layout = ops::Layout::channels_blocked});
      m.out(y);
      return [=](Schedule& s) { schedules::rim(s, s[wide], before, after), schedules::conv2d(s, s[y], w, o); };
    });
  };
  CHECK(conv({}, 1, 1) == "");
  CHECK(conv({}, -1, 1) == least("rim", "before", 0, -1));
  CHECK(conv({}, 1, -1) == least("rim", "after", 0, -1));
  CHECK(conv({.tile_w = -1}, 1, 1) == least("conv2d", "tile_w", 0, -1));
  CHECK(conv({.tile_h = 0}, 1, 1) == least("conv2d", "tile_h", 1, 0));
  CHECK(conv({.ahead = -1}, 1, 1) == least("conv2d", "ahead", 0, -1));
  CHECK(refused_schedule([](Maker& m) {
          const Symbol N{"N"};
          const Tensor q = m.in("q", f32, {1, 1, N, 8}), k = m.in("k", f32, {1, 1, N, 8}), v = m.in("v", f32, {1, 1, N, 8});
          const auto y = ops::attention(q, k, v);
          m.out(y);
          return [=](Schedule& s) { schedules::attention(s, y, q, k, v, {.tile_i = -1}); };
        }) == least("attention", "tile_i", 0, -1));
}
