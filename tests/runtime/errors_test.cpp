// Every way a call can be wrong: its code, its sentence, and that no byte of an output was written.
#include <doctest/doctest.h>

#include "kernels.h"

using namespace kernels;

namespace {

constexpr float kUntouched = -77;

// A good call of affine with M = 6, N = 5, K = 8; a test breaks one thing.
struct AffineCall {
  Array<float> A{{6, 8}, 1}, B{{8, 5}, 1}, bias{{5}, 1};
  Array<float> C{{6, 8}, kUntouched};  // rows of 8, of which 5 are used: aligned by hand below
  ashlar_error error{};
  ashlar_context ctx{};
  std::int64_t c_shape[2] = {6, 5}, c_strides[2] = {8, 1};
  alignas(64) float c_data[64];
  AffineCall() {
    for (float& x : c_data) x = kUntouched;
    C.tensor.data = c_data, C.tensor.shape = c_shape, C.tensor.strides = c_strides;
    ctx.size = sizeof ctx, ctx.error = &error;
  }
  int run() { return affine_with(&A, &B, &bias, 2, &C, &ctx); }
  void refused(int code, const char* text) {
    CHECK(run() == code);
    CHECK(error.code == code);
    CHECK(sentence(error) == text);
    for (float x : c_data) CHECK(x == kUntouched);
  }
};

}  // namespace

TEST_CASE("the call that the others break is right") {
  AffineCall c;
  CHECK(c.run() == ASHLAR_OK);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 8; ++j) CHECK(c.c_data[i * 8 + j] == (j < 5 ? 17 : kUntouched));
}

TEST_CASE("null") {
  AffineCall c;
  CHECK(affine_with(nullptr, &c.B, &c.bias, 2, &c.C, &c.ctx) == ASHLAR_E_NULL);
  CHECK(sentence(c.error) == "affine: A is NULL, expected a tensor");
  c.B.tensor.data = nullptr;
  c.refused(ASHLAR_E_NULL, "affine: B.data is NULL, expected 160 bytes");
  c.B.tensor.shape = nullptr;
  c.refused(ASHLAR_E_NULL, "affine: B.shape is NULL, expected extents");
}

TEST_CASE("rank, type and device") {
  AffineCall c;
  c.bias.tensor.ndim = 2;
  c.refused(ASHLAR_E_RANK, "affine: bias has rank 2, expected rank 1");
  AffineCall d;
  d.A.tensor.type_bits = 64;
  d.refused(ASHLAR_E_TYPE, "affine: A is f64, expected f32");
  CHECK(d.error.argument == 0);
  d.A.tensor.type_bits = 32, d.A.tensor.type_code = 0;
  d.refused(ASHLAR_E_TYPE, "affine: A is i32, expected f32");
  d.A.tensor.type_code = 2, d.A.tensor.type_lanes = 4;
  d.refused(ASHLAR_E_TYPE, "affine: A is f32 in vectors of 4, expected f32");
  d.A.tensor.type_lanes = 1, d.A.tensor.type_code = 10, d.A.tensor.type_bits = 8;
  d.refused(ASHLAR_E_TYPE, "affine: A is e4m3, expected f32");
  d.A.tensor.type_code = 12;
  d.refused(ASHLAR_E_TYPE, "affine: A is e5m2, expected f32");
  d.A.tensor.type_code = 0, d.A.tensor.type_bits = 4;
  d.refused(ASHLAR_E_TYPE, "affine: A is i4, expected f32");
  AffineCall e;
  e.C.tensor.device_type = 2;
  e.refused(ASHLAR_E_DEVICE, "affine: C lies on a CUDA device, expected the host");
  CHECK(e.error.argument == 4);
  e.C.tensor.device_type = -5;
  e.refused(ASHLAR_E_DEVICE, "affine: C lies on a device of type -5, expected the host");
  e.C.tensor.device_type = 3;  // pinned memory is host memory
  CHECK(e.run() == ASHLAR_OK);
}

TEST_CASE("shape") {
  AffineCall c;
  c.B.shape[0] = 4;
  c.refused(ASHLAR_E_SHAPE, "affine: B.shape[0] is 4, expected 8 (K, from A.shape[1])");
  CHECK(c.error.argument == 1);
  CHECK(c.error.dimension == 0);
  CHECK(c.error.expected == 8);
  CHECK(c.error.found == 4);
  AffineCall d;
  d.bias.shape[0] = -1;
  d.refused(ASHLAR_E_SHAPE, "affine: bias.shape[0] is -1, expected at least 0");
}

TEST_CASE("shape: affine and computed dimensions") {
  ashlar_error error{};
  ashlar_context ctx{};
  ctx.size = sizeof ctx, ctx.error = &error;
  Array<std::int32_t> x({10}, 1), y({6}, -7), z({6}, -7), short_y({5}, -7), short_z({5}, -7);
  CHECK(window_with(&x, &y, &z, &ctx) == ASHLAR_OK);
  CHECK(y.data == std::vector<std::int32_t>(6, 2));
  CHECK(window_with(&x, &short_y, &z, &ctx) == ASHLAR_E_SHAPE);
  CHECK(sentence(error) == "window: y.shape[0] is 5, expected 6 (N, from x.shape[0])");
  CHECK(window_with(&x, &y, &short_z, &ctx) == ASHLAR_E_SHAPE);
  CHECK(sentence(error) == "window: z.shape[0] is 5, expected 6 (max(N, 2))");
}

TEST_CASE("facts and assumptions") {
  AffineCall c;
  c.A.shape[1] = 6;
  c.refused(ASHLAR_E_FACT, "affine: K is 6, expected a multiple of 4 (from A.shape[1])");
  AffineCall d;
  d.A.shape[0] = 513;
  d.refused(ASHLAR_E_FACT, "affine: M is 513, expected at most 512 (from A.shape[0])");

  ashlar_error error{};
  ashlar_context ctx{};
  ctx.size = sizeof ctx, ctx.error = &error;
  Array<std::int32_t> x({3}), y({101}), z({101});
  CHECK(window_with(&x, &y, &z, &ctx) == ASHLAR_E_FACT);
  CHECK(sentence(error) == "window: N is -1, expected at least 0 (from x.shape[0], which is N + 4)");
  Array<std::int32_t> longer({105});
  CHECK(window_with(&longer, &y, &z, &ctx) == ASHLAR_E_FACT);
  CHECK(sentence(error) == "window: expected N <= 100, which does not hold");
}

TEST_CASE("stride") {
  AffineCall c;
  c.c_strides[1] = 2;
  c.refused(ASHLAR_E_STRIDE, "affine: C.strides[1] is 2, expected 1 (the innermost)");
  CHECK(c.error.dimension == 1);
  c.c_strides[1] = 1, c.c_strides[0] = -8;
  c.refused(ASHLAR_E_STRIDE, "affine: C.strides[0] is -8, expected at least 0");

  ashlar_abi1_argument arguments[5];
  for (int n = 0; n < 5; ++n) arguments[n] = affine.arguments[n];
  arguments[0].order = ASHLAR_ABI1_DENSE;
  ashlar_abi1_desc desc = affine;
  desc.arguments = arguments;
  AffineCall d;
  std::int64_t padded[] = {16, 1};
  d.A.tensor.strides = padded;
  const float alpha = 1;
  const void* values[] = {&d.A, &d.B, &d.bias, &alpha, &d.C};
  CHECK(ashlar_abi1_call(&desc, values, &d.ctx) == ASHLAR_E_STRIDE);
  CHECK(sentence(d.error) == "affine: A.strides[0] is 16, expected 8 (dense)");

  // an input may repeat a row, unless the kernel reads 0 as dense
  padded[0] = 0;
  CHECK(ashlar_abi1_call(&affine, values, &d.ctx) == ASHLAR_OK);
  arguments[0].order = ASHLAR_ABI1_INNER_UNIT_STRIDE;
  desc.flags = ASHLAR_ABI1_ZERO_STRIDE_IS_DENSE;
  CHECK(ashlar_abi1_call(&desc, values, &d.ctx) == ASHLAR_E_STRIDE);
  CHECK(sentence(d.error) == "affine: A.strides[0] is 0, expected a stride that is not 0, as 8");
}

TEST_CASE("alignment, after byte_offset") {
  AffineCall c;
  c.C.tensor.byte_offset = 4;
  c.refused(ASHLAR_E_ALIGN, "affine: C begins 4 bytes past a multiple of 16 bytes, expected a multiple of 16");
  AffineCall d;
  d.A.tensor.data = reinterpret_cast<char*>(d.A.data.data()) + 2;
  d.refused(ASHLAR_E_ALIGN, "affine: A begins 2 bytes past a multiple of 4 bytes, expected a multiple of 4");
  AffineCall e;  // an offset may also repair: data 2 bytes early
  e.A.tensor.data = reinterpret_cast<char*>(e.A.data.data()) - 2, e.A.tensor.byte_offset = 2;
  CHECK(e.run() == ASHLAR_OK);
}

TEST_CASE("overlap") {
  AffineCall c;
  c.A.tensor.data = c.c_data;
  c.refused(ASHLAR_E_ALIAS, "affine: C overlaps A, expected memory of its own");
  CHECK(c.error.argument == 4);
  CHECK(c.error.found == 0);
  AffineCall d;
  d.c_strides[0] = 4;
  d.refused(ASHLAR_E_ALIAS, "affine: C overlaps itself: C.strides[0] is 4, expected at least 5");
  d.c_strides[0] = 0;
  d.refused(ASHLAR_E_ALIAS, "affine: C overlaps itself: C.strides[0] is 0, expected at least 1");
  AffineCall e;  // the other columns of the same rows are memory of their own
  e.bias.tensor.data = e.c_data + 5, e.bias.shape[0] = 3, e.B.shape[1] = 3, e.c_shape[1] = 3;
  CHECK(e.run() == ASHLAR_OK);
}

TEST_CASE("overlap that was allowed must be exact") {
  ashlar_abi1_argument arguments[3] = {window.arguments[0], window.arguments[1], window.arguments[2]};
  const ashlar_abi1_dim plain[] = {window.arguments[1].dims[0]};
  arguments[0].dims = plain;
  arguments[1].flags = ASHLAR_ABI1_MAY_ALIAS;
  ashlar_abi1_desc desc = window;
  desc.arguments = arguments;
  desc.run = [](const void* p, const ashlar_context*) {
    const window_args& a = *static_cast<const window_args*>(p);
    for (std::int64_t i = 0; i < a.N; ++i) a.y[i] = a.x[i * a.x_stride0] + 1;
    return 0;
  };
  ashlar_error error{};
  ashlar_context ctx{};
  ctx.size = sizeof ctx, ctx.error = &error;
  Array<std::int32_t> x({6}, 1), z({6});
  const void* same[] = {&x, &x, &z};
  CHECK(ashlar_abi1_call(&desc, same, &ctx) == ASHLAR_OK);
  CHECK(x.data == std::vector<std::int32_t>(6, 2));
  Array<std::int32_t> late({5}), z5({5});
  Array<std::int32_t> early({5});
  early.tensor.data = x.data.data(), late.tensor.data = x.data.data() + 1;
  const void* shifted[] = {&early, &late, &z5};
  CHECK(ashlar_abi1_call(&desc, shifted, &ctx) == ASHLAR_E_ALIAS);
  CHECK(sentence(error) == "window: y overlaps x, expected the same elements or none");
}

TEST_CASE("overflow") {
  AffineCall c;
  std::int64_t huge[] = {INT64_MAX / 2, 1};
  c.A.tensor.strides = huge;
  c.refused(ASHLAR_E_OVERFLOW, "affine: A.shape[0] elements 4611686018427387903 apart reach past 9223372036854775807 bytes");
  AffineCall d;
  d.A.shape[0] = 512, huge[0] = INT64_MAX / 1024;  // fits as elements, not as bytes
  d.A.tensor.strides = huge, d.c_shape[0] = 512;
  CHECK(d.run() == ASHLAR_E_OVERFLOW);
  CHECK(sentence(d.error) ==
        "affine: A reaches 4602678819172646409 elements from its first one, expected at most 9223372036854775807 bytes");
  AffineCall e;
  e.B.shape[1] = INT64_C(1) << 62, e.bias.shape[0] = e.B.shape[1], e.c_shape[1] = e.B.shape[1];
  CHECK(e.run() == ASHLAR_E_OVERFLOW);
  CHECK(sentence(e.error) == "affine: B.shape[0] elements 4611686018427387904 apart reach past 9223372036854775807 bytes");
  AffineCall f;
  f.A.tensor.byte_offset = UINT64_MAX - 15;
  f.refused(ASHLAR_E_OVERFLOW,
            "affine: A begins 9223372036854775807 bytes or more behind its data, expected at most 9223372036854775615");
  AffineCall g;
  g.A.tensor.data = reinterpret_cast<void*>(UINTPTR_MAX - 63);
  CHECK(g.run() == ASHLAR_E_OVERFLOW);
  CHECK(sentence(g.error) == "affine: A reaches 192 bytes from its first element, where memory ends after 63");
}

TEST_CASE("context, workspace and processor") {
  AffineCall c;
  c.ctx.size = 8;
  CHECK(c.run() == ASHLAR_E_ABI);
  char said[200];  // the context's own record is not reached
  ashlar_error_text(ashlar_last_error(), said, sizeof said);
  CHECK(std::string(said).find("affine: the context's size is 8, expected ") == 0);
  AffineCall d;
  alignas(64) float space[5];
  d.ctx.workspace = space, d.ctx.workspace_bytes = 16;
  d.refused(ASHLAR_E_MEMORY, "affine: the workspace has 16 bytes, expected at least 20");
  d.ctx.workspace = space + 1, d.ctx.workspace_bytes = 20;
  d.refused(ASHLAR_E_ALIGN, "affine: the workspace begins 4 bytes past a multiple of 64 bytes, expected a multiple of 64");
  AffineCall e;
  e.ctx.allocate = [](void*, std::size_t, std::size_t, std::int32_t, std::int32_t) -> void* { return nullptr; };
  e.refused(ASHLAR_E_MEMORY, "affine: no memory for a workspace of 20 bytes, which is for sums");
  AffineCall f;
  ashlar_abi1_desc desc = affine;
  const float alpha = 1;
  const void* values[] = {&f.A, &f.B, &f.bias, &alpha, &f.C};
  desc.features = std::uint64_t{1} << 60 | 1;
  CHECK(ashlar_abi1_call(&desc, values, &f.ctx) == ASHLAR_E_TARGET);
  CHECK(sentence(f.error) == "affine: made for a processor with feature 60, which this one lacks");
  CHECK(f.error.found == 1);
  desc = affine, desc.abi = 2;
  CHECK(ashlar_abi1_call(&desc, values, &f.ctx) == ASHLAR_E_ABI);
  CHECK(sentence(f.error) == "affine: made for abi 2, expected abi 1, the runtime's");
}

TEST_CASE("what the kernel itself reports") {
  ashlar_error error{};
  ashlar_context ctx{};
  ctx.size = sizeof ctx, ctx.error = &error;
  Array<std::int32_t> x({103}), y({99}), z({99}), x8({102}), y8({98}), z8({98});
  CHECK(window_with(&x, &y, &z, &ctx) == ASHLAR_E_LAUNCH);
  CHECK(sentence(error) == "window: the device answered 99");
  CHECK(window_with(&x8, &y8, &z8, &ctx) == 7);
  CHECK(sentence(error) == "window: the kernel returned 7, expected 0");
}

TEST_CASE("the simple entry keeps its error on the thread") {
  AffineCall c;
  c.B.shape[0] = 4;
  CHECK(affine_f(&c.A, &c.B, &c.bias, 2, &c.C) == ASHLAR_E_SHAPE);
  CHECK(sentence(*ashlar_last_error()) == "affine: B.shape[0] is 4, expected 8 (K, from A.shape[1])");
}

TEST_CASE("a sentence without strings, and one that is cut") {
  ashlar_error e{ASHLAR_E_SHAPE, 1, 0, 128, 96, ""};
  CHECK(sentence(e) == "ASHLAR_E_SHAPE (-4), argument 1, dimension 0: expected 128, found 96");
  char text[10] = "xxxxxxxxx";
  CHECK(ashlar_error_text(&e, text, sizeof text) == sentence(e).size());
  CHECK(std::string(text) == "ASHLAR_E_");
  CHECK(ashlar_error_text(nullptr, text, 0) == 8);
  CHECK(std::string(text) == "ASHLAR_E_");
  CHECK(std::string(ashlar_code_name(ASHLAR_E_FACT)) == "ASHLAR_E_FACT");
}
