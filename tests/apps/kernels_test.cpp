// The kernels of the applications: results on ragged sizes, what the blur computes and stores, and the wrong calls that write
// nothing.
#include <doctest/doctest.h>

#include <matmul_bias.h>
#include <unsharp_gray.h>
#include <unsharp_rgb.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "apps/matmul/product.h"
#include "apps/support/tensor.h"
#include "apps/unsharp/plain.h"
#include "apps/unsharp/unsharp.h"

#include "tests/support/sentence.h"

namespace {

std::vector<float> random_floats(std::int64_t count, float low) {
  static std::mt19937 engine(7);
  std::uniform_real_distribution<float> uniform(low, 1.0f);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(engine);
  return values;
}

// The largest error of relu(A B + bias) as a share of the size of its terms.
double error_of_matmul_bias(std::int64_t M, std::int64_t N, std::int64_t K) {
  const std::vector<float> A = random_floats(M * K, -1), B = random_floats(K * N, -1), bias = random_floats(N, -1);
  std::vector<float> C(static_cast<std::size_t>(M * N), NAN);
  apps::Tensor tA(A.data(), {M, K}), tB(B.data(), {K, N}), tbias(bias.data(), {N}), tC(C.data(), {M, N});
  apps::check(matmul_bias(tA, tB, tbias, tC));
  double largest = 0;
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      double sum = bias[static_cast<std::size_t>(j)], size = std::abs(sum);
      for (std::int64_t k = 0; k < K; ++k) {
        const double term =
            static_cast<double>(A[static_cast<std::size_t>(i * K + k)]) * B[static_cast<std::size_t>(k * N + j)];
        sum += term, size += std::abs(term);
      }
      const double d = std::abs(C[static_cast<std::size_t>(i * N + j)] - std::max(sum, 0.0)) / size;
      if (!(d <= largest)) largest = d;  // NaN too
    }
  return largest;
}

}  // namespace

TEST_CASE("matmul_bias: every combination of sizes around the tiles and blocks") {
  for (const std::int64_t M : {1, 13, 14, 15, 225})
    for (const std::int64_t N : {1, 31, 32, 33, 100})
      for (const std::int64_t K : {1, 383, 384, 385})
        CHECK_MESSAGE(error_of_matmul_bias(M, N, K) <= 1e-6, M, " x ", N, " x ", K);
}

TEST_CASE("matmul_bias: columns around a block of panels of B") {
  const std::int64_t level2 = ashlar::Target::host().cache_bytes(2), lanes = ashlar::Target::host().lanes(ashlar::f32);
  const std::int64_t block = std::max<std::int64_t>(1, level2 * 3 / 4 / (384 * 2 * lanes * 4)) * 2 * lanes;
  for (const std::int64_t N : {block - 1, block, block + 1, 2 * block + 33})
    CHECK_MESSAGE(error_of_matmul_bias(15, N, 385) <= 1e-6, N, " columns");
}

TEST_CASE("unsharp: every combination of sizes around the vectors, strips and parts of rows") {
  for (const int channels : {1, 3})
    for (const std::int64_t H : {1, 3, 63, 64, 65, 130})
      for (const std::int64_t W : {1, 15, 16, 17, 100, 511, 512, 529}) {
        const std::vector<float> in = random_floats(channels * H * W, 0);
        std::vector<float> out(in.size(), NAN), expected(in.size());
        apps::Tensor tin(in.data(), {channels, H, W}), tout(out.data(), {channels, H, W});
        apps::check(channels == 3 ? unsharp_rgb(tin, tout) : unsharp_gray(tin, tout));
        unsharp::Plain(channels, H, W).run(in.data(), expected.data());
        float largest = 0;
        for (std::size_t k = 0; k < in.size(); ++k)
          if (const float d = std::abs(out[k] - expected[k]); !(d <= largest)) largest = d;
        CHECK_MESSAGE(largest <= 1e-5f, channels, " x ", H, " x ", W);
      }
}

TEST_CASE("unsharp of a black picture is black") {
  const std::vector<float> in(3 * 20 * 20, 0.0f);
  std::vector<float> out(in.size(), NAN);
  apps::Tensor tin(in.data(), {3, 20, 20}), tout(out.data(), {3, 20, 20});
  apps::check(unsharp_rgb(tin, tout));
  CHECK(out == in);
}

TEST_CASE("a strip computes each row of gray once, and the pixels around it") {
  using namespace ashlar;
  constexpr std::int64_t H = 150, W = 40, strips = 3, vectors = (W + 15) / 16 * 16;
  for (const std::int64_t columns : {512, 32}) {
    const auto filter =
        instantiate<unsharp::Unsharp>(Target::parse("x86-64-v4"), {{"strip", "64"}, {"columns", std::to_string(columns)}});
    const ir::Program& p = filter.scheduled();
    interp::Arguments arguments{
        interp::Array::make(f32, {3, H, W}, [](auto at) { return static_cast<double>(at[0] + at[1] * at[2] % 7) / 10; }),
        interp::Array::zeros(f32, {3, H, W})};
    interp::Arguments expected = arguments;
    const interp::Counters n = interp::run(p, arguments);
    interp::run_algorithm(filter.algorithm(), expected);
    CHECK(interp::difference(arguments[1].array, expected[1].array) == "");
    const std::int64_t parts = (vectors + columns - 1) / columns;
    const std::int64_t computed = vectors + 6 * parts;  // the reach of the blur to both sides of each part
    const std::int64_t row = std::min(vectors, columns) + 6;
    const std::map<std::string, std::int64_t> evaluations = {
        {"gray", (H + strips * 6) * computed},  // and 3 rows above and below each strip
        {"blur_y", H * computed},
        {"ratio", H * vectors},
        {"out", 3 * H * W}};
    std::size_t seen = 0;
    for (const auto& [id, stage] : p.stages) {
      const auto expected_of = evaluations.find(stage.name);
      if (expected_of == evaluations.end()) continue;
      CHECK_MESSAGE(n.evaluations.at(id) == expected_of->second, stage.name, ", parts of ", columns);
      ++seen;
      for (const ir::Id buffer : stage.buffers) {
        if (stage.name == "gray") {
          CHECK(n.bytes_of.at(buffer) == 8 * row * 4);  // a ring of 8 rows for the 7 that are live
        } else if (stage.name == "blur_y") {
          CHECK(n.bytes_of.at(buffer) == row * 4);  // one row
        }
      }
    }
    CHECK(seen == evaluations.size());
  }
}

namespace {

struct Heap {  // an allocator that keeps count
  std::size_t bytes = 0, most = 0, blocks = 0;
  static void* allocate(void* user, std::size_t bytes, std::size_t align, std::int32_t, std::int32_t) {
    Heap& heap = *static_cast<Heap*>(user);
    heap.bytes += bytes, heap.most = std::max(heap.most, heap.bytes), ++heap.blocks;
    return std::aligned_alloc(align, (bytes + align - 1) / align * align);
  }
  static void release(void* user, void* block, std::int32_t, std::int32_t) {
    static_cast<Heap*>(user)->blocks -= 1;
    std::free(block);
  }
};

}  // namespace

TEST_CASE(
    "what unsharp asks the allocator for is 8 rows of gray and one of the blur, a part of the width of each, whatever the "
    "picture") {
  const auto part = static_cast<std::size_t>(unsharp::Unsharp::part(ashlar::Target::host()));
  for (const std::int64_t H : {100, 500})
    for (const std::int64_t W : {320, 512, 1300, 20000}) {
      constexpr std::int64_t C = 3;
      const std::vector<float> in = random_floats(C * H * W, 0);
      std::vector<float> out(in.size());
      apps::Tensor tin(in.data(), {C, H, W}), tout(out.data(), {C, H, W});
      Heap heap;
      ashlar_error error{};
      ashlar_context context{};
      context.size = sizeof context, context.error = &error;
      context.user = &heap, context.allocate = Heap::allocate, context.release = Heap::release;
      apps::check(unsharp_rgb_with(tin, tout, &context), &error);
      CHECK(heap.blocks == 0);
      const std::size_t pixels = std::min(part, static_cast<std::size_t>(W));
      CHECK(heap.most >= 9 * pixels * 4);
      CHECK(heap.most <= 9 * (part + 6) * 4 + 128);  // two slices, rounded up to cache lines
    }
}

TEST_CASE("the product asks ahead for both halves of a row of the panel of B, and for nothing of A") {
  using namespace ashlar;
  const auto f = instantiate<product::MatmulBias>(Target::parse("x86-64-v4"), {{"ahead", "16"}});
  const std::string text = ir::text(f.kernel());
  std::size_t prefetches = 0;
  for (std::size_t at = text.find("prefetch"); at != std::string::npos; at = text.find("prefetch", at + 1)) {
    ++prefetches;
    CHECK(text.substr(at, text.find('\n', at) - at).find("B_cache") != std::string::npos);
  }
  CHECK(prefetches == 2);
}

TEST_CASE("a wrong call names the argument and writes nothing") {
  const std::vector<float> A(6 * 5, 1.0f), B(4 * 7, 1.0f), bias(7, 0.0f);
  std::vector<float> C(6 * 7, -1.0f);
  apps::Tensor tA(A.data(), {6, 5}), tB(B.data(), {4, 7}), tbias(bias.data(), {7}), tC(C.data(), {6, 7});
  CHECK(matmul_bias(tA, tB, tbias, tC) == ASHLAR_E_SHAPE);
  CHECK(test::last_error() == "matmul_bias: B.shape[0] is 4, expected 5 (K, from A.shape[1])");
  CHECK(C == std::vector<float>(6 * 7, -1.0f));
}
