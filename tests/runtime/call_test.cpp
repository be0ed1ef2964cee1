// Right calls: symbols, strides and scalars arrive in the kernel, and the workspace comes from where it should.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>

#include "kernels.h"

using namespace kernels;

TEST_CASE("strides are passed on; NULL strides are dense") {
  Array<float> A({3, 4}, 1, {7, 1}), B({4, 2}, 1), bias({2}, 0.5f);
  alignas(16) float out[32] = {};
  std::int64_t shape[] = {3, 2}, strides[] = {8, 1};
  ashlar_tensor C = A.tensor;
  C.data = out, C.shape = shape, C.strides = strides;
  REQUIRE(affine_f(&A, &B, &bias, 3, &C) == ASHLAR_OK);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) CHECK(out[i * 8 + j] == 12.5f);
  CHECK(out[2] == 0);
}

TEST_CASE("byte_offset moves element 0; strides of any order may be negative") {
  Array<std::int32_t> x({10}), y({6}), z({6});
  for (int i = 0; i < 10; ++i) x.data[static_cast<std::size_t>(i)] = i;
  std::int64_t reversed[] = {-1};
  x.tensor.strides = reversed, x.tensor.byte_offset = 9 * sizeof(std::int32_t);
  ashlar_context ctx{};
  ctx.size = sizeof ctx;
  REQUIRE(window_with(&x, &y, &z, &ctx) == ASHLAR_OK);
  CHECK(y.data == std::vector<std::int32_t>{14, 12, 10, 8, 6, 4});
}

TEST_CASE("zero extents succeed, with NULL data too, and the other checks stay") {
  Array<float> A({0, 4}), B({4, 2}), bias({2}), C({0, 2}), wrong({3});
  A.tensor.data = nullptr, C.tensor.data = nullptr;
  CHECK(affine_f(&A, &B, &bias, 1, &C) == ASHLAR_OK);
  CHECK(affine_f(&A, &B, &wrong, 1, &C) == ASHLAR_E_SHAPE);
  CHECK(sentence(*ashlar_last_error()) == "affine: bias.shape[0] is 3, expected 2 (N, from B.shape[1])");
  // nothing to sum: the output is the bias
  Array<float> A0({2, 0}), B0({0, 2}), bias2({2}, 5);
  A0.tensor.data = nullptr, B0.tensor.data = nullptr;
  alignas(16) float out[4] = {};
  std::int64_t shape[] = {2, 2};
  ashlar_tensor C2 = A.tensor;
  C2.data = out, C2.shape = shape;
  REQUIRE(affine_f(&A0, &B0, &bias2, 1, &C2) == ASHLAR_OK);
  for (float v : out) CHECK(v == 5);
}

namespace {
struct Counted {
  int allocated = 0, released = 0;
  std::size_t bytes = 0;
};
void* count_allocate(void* user, std::size_t bytes, std::size_t align, std::int32_t device, std::int32_t) {
  auto* c = static_cast<Counted*>(user);
  ++c->allocated, c->bytes = bytes;
  CHECK(device == 1);
  return std::aligned_alloc(align, (bytes + align - 1) / align * align);
}
void count_release(void* user, void* block, std::int32_t, std::int32_t) {
  ++static_cast<Counted*>(user)->released, std::free(block);
}

struct Matrices {
  Array<float> A{{4, 4}, 1}, B{{4, 4}, 1}, bias{{4}, 0};
  alignas(64) float out[16] = {}, space[64];
  std::int64_t shape[2] = {4, 4};
  ashlar_tensor C = A.tensor;
  Matrices() { C.data = out, C.shape = shape; }
};
}  // namespace

TEST_CASE("the workspace: given, from the context's hook, from the runtime's allocator") {
  Matrices m;
  Counted counted;
  ashlar_context ctx{};
  ctx.size = sizeof ctx, ctx.user = &counted, ctx.allocate = count_allocate, ctx.release = count_release;
  REQUIRE(affine_with(&m.A, &m.B, &m.bias, 1, &m.C, &ctx) == ASHLAR_OK);
  CHECK(counted.allocated == 1);
  CHECK(counted.released == 1);
  CHECK(counted.bytes == 16);
  ctx.workspace = m.space, ctx.workspace_bytes = sizeof m.space;
  REQUIRE(affine_with(&m.A, &m.B, &m.bias, 1, &m.C, &ctx) == ASHLAR_OK);
  CHECK(counted.allocated == 1);  // nothing is allocated with a workspace

  Counted global;
  ashlar_set_allocator(count_allocate, count_release, &global);
  REQUIRE(affine_f(&m.A, &m.B, &m.bias, 1, &m.C) == ASHLAR_OK);
  CHECK(global.allocated == 1);
  CHECK(global.released == 1);
  ashlar_set_allocator(nullptr, nullptr, nullptr);
  REQUIRE(affine_f(&m.A, &m.B, &m.bias, 1, &m.C) == ASHLAR_OK);
  CHECK(global.allocated == 1);
  for (float v : m.out) CHECK(v == 4);
}

TEST_CASE("a symbol with a coefficient, found later than it is used") {
  // p: [2 * N, M + N], q: [N]: N comes from p.shape[0], M from p.shape[1]
  static const ashlar_abi1_term twice_n[] = {{2, 1}}, sum[] = {{1, 0}, {1, 1}}, just_n[] = {{1, 1}};
  static const ashlar_abi1_dim p_dims[] = {{"M + N", 0, sum, 2, -1}, {"2 * N", 0, twice_n, 1, -1}},
                               q_dims[] = {{"N", 0, just_n, 1, -1}};
  struct Args {
    const float* p;
    float* q;
    std::int64_t M, N;
  };
  static std::int64_t seen_m, seen_n;
  const ashlar_abi1_argument arguments[] = {
      {"p", p_dims, nullptr, 0, ASHLAR_ABI1_INPUT, 2, ASHLAR_ABI1_DENSE, 0, offsetof(Args, p), 0, 2, 32, {}},
      {"q", q_dims, nullptr, 0, ASHLAR_ABI1_OUTPUT, 1, ASHLAR_ABI1_DENSE, 0, offsetof(Args, q), 0, 2, 32, {}}};
  const ashlar_abi1_symbol symbols[] = {{"M", 0, INT64_MAX, 1, offsetof(Args, M), 0},
                                        {"N", 0, INT64_MAX, 1, offsetof(Args, N), 0}};
  ashlar_abi1_desc desc = affine;
  desc.name = "pq", desc.arguments = arguments, desc.argument_count = 2, desc.symbols = symbols, desc.symbol_count = 2;
  desc.args_bytes = sizeof(Args), desc.workspace_bytes = nullptr;
  desc.run = [](const void* a, const ashlar_context*) {
    seen_m = static_cast<const Args*>(a)->M, seen_n = static_cast<const Args*>(a)->N;
    return 0;
  };
  ashlar_error error{};
  ashlar_context ctx{};
  ctx.size = sizeof ctx, ctx.error = &error;
  Array<float> p({10, 6}), q({3}), odd({10, 7}), q4({4});
  const void* good[] = {&p, &q};
  REQUIRE(ashlar_abi1_call(&desc, good, &ctx) == ASHLAR_OK);
  CHECK(seen_m == 7);
  CHECK(seen_n == 3);
  const void* bad[] = {&odd, &q};
  CHECK(ashlar_abi1_call(&desc, bad, &ctx) == ASHLAR_E_SHAPE);
  CHECK(sentence(error) == "pq: p.shape[1] is 7, expected 2 * N for a whole N, as 6");
  const void* unequal[] = {&p, &q4};
  CHECK(ashlar_abi1_call(&desc, unequal, &ctx) == ASHLAR_E_SHAPE);
  CHECK(sentence(error) == "pq: q.shape[0] is 4, expected 3 (N, from p.shape[1])");
}
