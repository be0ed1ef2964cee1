// The table of docs/ops.md: which operators of the library each family takes as they are. A schedule of each is made, for
// AVX-512 and for AArch64, and has loops in lanes; those for devices are made for Vulkan and CUDA, and have threads.
#include <ashlar/schedules.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

void fits(const char* name, const std::function<Steps(Maker&)>& build, std::vector<std::string> targets = {"zen4", "aarch64"},
          const char* word = "vectorized") {
  for (const std::string& target : targets) {
    CAPTURE(name);
    CAPTURE(target);
    const std::string refusal = refused_schedule(build, Target::parse(target));
    CHECK(refusal == "");
    if (refusal.empty()) CHECK(text_of(build, Target::parse(target)).find(word) != std::string::npos);
  }
}
void fits_devices(const char* name, const std::function<Steps(Maker&)>& build) {
  fits(name, build, {"vulkan", "cuda-sm_80"}, "thread_x");
}
// An operator of one stage, or whose result is what the family takes.
template <class Op, class Family>
void one(const char* name, Op op, Family family) {
  fits(name, [=](Maker& m) {
    const Tensor y = op(m);
    m.out(y);
    return Steps([=](Schedule& s) { family(s, s[y]); });
  });
}

// Of the whole file: made before main, and maybe before the library's own variables.
const Symbol M{"M", {.min = 4}}, N{"N", {.min = 4}}, K{"K", {.min = 1}};
Tensor matrix(Maker& m, Type type = f32) { return m.in("x", type, {M, N}); }
Tensor image(Maker& m) { return m.in("x", f32, {2, M, N, 16}); }

}  // namespace

TEST_CASE("elementwise") {
  const auto family = [](Schedule& s, const Stage& y) { schedules::elementwise(s, y); };
  one("gelu", [](Maker& m) { return ops::gelu(matrix(m)); }, family);
  one("add", [](Maker& m) { return ops::add(matrix(m), m.in("b", f32, {N})); }, family);
  one("where", [](Maker& m) { return ops::where(m.in("c", bool_, {M, N}), matrix(m), m.in("b", f32, {N})); }, family);
  one("cast", [](Maker& m) { return ops::cast(matrix(m), f16); }, family);
  one("swiglu", [](Maker& m) { return ops::swiglu(matrix(m), m.in("up", f32, {M, N})); }, family);
  one("pad", [](Maker& m) { return ops::pad(matrix(m), {{1, 1}, {2, 2}}); }, family);
  one("concat", [](Maker& m) { return ops::concat({matrix(m), m.in("b", f32, {4, N})}); }, family);
  one("quantize", [](Maker& m) { return ops::quantize(matrix(m), 0.5, 3, u8); }, family);
  one("dequantize", [](Maker& m) { return ops::dequantize(matrix(m, u8), 0.5, 3); }, family);
}

TEST_CASE("rows") {
  fits("softmax", [](Maker& m) {
    const auto y = ops::softmax(matrix(m));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}); });
  });
  fits("rms_norm", [](Maker& m) {
    const auto y = ops::rms_norm(matrix(m), m.in("scale", f32, {N}));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::rows(s, {s[y.sum], s[y.result]}); });
  });
  fits("layer_norm", [](Maker& m) {
    const auto y = ops::layer_norm(matrix(m), m.in("scale", f32, {N}), m.in("shift", f32, {N}));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::rows(s, {s[y.sum], s[y.mean], s[y.deviations], s[y.inverse], s[y.result]}); });
  });
  fits("argmax", [](Maker& m) {
    const auto y = ops::argmax(matrix(m));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::rows(s, {s[y.index]}); });
  });
}

TEST_CASE("reduction, transpose") {
  const auto reduction = [](Schedule& s, const Stage& y) { schedules::reduction(s, y); };
  one("sum of all", [](Maker& m) { return ops::reduce_sum(matrix(m)).accumulated; }, reduction);
  one("sum of columns", [](Maker& m) { return ops::reduce_sum(matrix(m), {.axes = {0}}).accumulated; }, reduction);
  one("maximum of rows", [](Maker& m) { return ops::reduce_max(matrix(m), {.axes = {1}}); }, reduction);
  fits("transpose", [](Maker& m) {
    const Tensor x = image(m), y = ops::copy(ops::transpose(x, {0, 3, 1, 2}));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::transpose(s, s[y], x); });
  });
}

TEST_CASE("stencil, gather, scatter_add") {
  const auto stencil = [](Schedule& s, const Stage& y) { schedules::stencil(s, y); };
  one(
      "max_pool2d",
      [](Maker& m) { return ops::max_pool2d(m.in("x", f32, {1, 3, M, N}), {.window = {3, 3}, .stride = {1, 1}}); }, stencil);
  one("box_blur", [](Maker& m) { return ops::box_blur(matrix(m), 1, 1).result; }, stencil);
  one("erode", [](Maker& m) { return ops::erode(matrix(m)).result; }, stencil);
  one(
      "depthwise",
      [](Maker& m) {
        return ops::depthwise_conv2d(image(m), m.in("w", f32, {3, 3, 16, 1}), {}, {.layout = ops::Layout::channels_last}).sum;
      },
      [](Schedule& s, const Stage& y) { schedules::stencil(s, y, {.channels_last = true}); });
  const auto gather = [](Schedule& s, const Stage& y) { schedules::gather(s, y); };
  one("embedding", [](Maker& m) { return ops::embedding(matrix(m), m.in("ids", i32, {K})); }, gather);
  one("gather", [](Maker& m) { return ops::gather(matrix(m), m.in("ids", i32, {K}), 1); }, gather);
  one("remap", [](Maker& m) { return ops::remap(matrix(m), m.in("r", f32, {8, 8}), m.in("c", f32, {8, 8})); }, gather);
  const auto scatter = [](Schedule& s, const Stage& y) { schedules::scatter_add(s, y); };
  one("histogram", [](Maker& m) { return ops::histogram(matrix(m, u8)); }, scatter);
  one("index_add", [](Maker& m) { return ops::index_add(K, m.in("ids", i32, {M}), matrix(m)); }, scatter);
}

TEST_CASE("products") {
  const auto product = [](const char* name, Type type, auto op, auto family) {
    fits(name, [=](Maker& m) {
      const Tensor A = m.in("A", type, {M, K}), B = m.in("B", type == u8 ? i8 : type, {K, N});
      const auto y = op(A, B);
      m.out(y);
      return Steps([=](Schedule& s) { family(s, y, A, B); });
    });
  };
  using Of = const Tensor&;
  const auto matmul = [](Of A, Of B) { return ops::matmul(A, B).sum; };
  product("matmul", f32, matmul, [](Schedule& s, Of y, Of A, Of B) { schedules::matmul(s, s[y], A, B); });
  product("matmul f16", f16, matmul, [](Schedule& s, Of y, Of A, Of B) { schedules::matmul(s, s[y], A, B); });
  product("by size", f32, matmul, [](Schedule& s, Of y, Of A, Of B) { schedules::matmul_by_size(s, s[y], A, B); });
  product("skinny", f32, matmul, [](Schedule& s, Of y, Of, Of) { schedules::matmul_skinny(s, s[y]); });
  product(
      "bytes", i8, [](Of A, Of B) { return ops::quantized_matmul(A, B); },
      [](Schedule& s, Of y, Of A, Of B) { schedules::matmul_bytes(s, s[y], A, B); });
  fits("batch_matmul", [](Maker& m) {
    const Tensor A = m.in("A", f32, {2, 3, M, K}), B = m.in("B", f32, {2, 3, N, K});
    const auto y = ops::batch_matmul(A, B, {.transpose_b = true});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::matmul(s, s[y.sum], A, B, {.transposed_b = true}); });
  });
  fits("transposed, of f16", [](Maker& m) {
    const Tensor A = m.in("A", f16, {M, K}), B = m.in("B", f16, {N, K});
    const auto y = ops::matmul(A, B, {.transpose_b = true});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::matmul(s, s[y.sum], A, B, {.transposed_b = true}); });
  });
  fits("by size, of so many rows", [](Maker& m) {
    const Symbol rows{"rows", {.min = 64, .multiple_of = 16}};
    const Tensor A = m.in("A", f32, {rows, K}), B = m.in("B", f32, {K, N}), y = ops::matmul(A, B);
    m.out(y);
    return Steps([=](Schedule& s) { schedules::matmul_by_size(s, s[y], A, B); });
  });
  fits("dense", [](Maker& m) {
    const Tensor x = m.in("x", f32, {M, K}), W = m.in("W", f32, {K, N}), b = m.in("b", f32, {N});
    const auto y = ops::dense(x, W, b);
    m.out(y);
    return Steps([=](Schedule& s) { schedules::matmul(s, s[y.sum], x, W); });
  });
  const auto dot = [](Type type) {
    return [=](Maker& m) {
      const Tensor A = m.in("A", type, {M, K}), B = m.in("B", type == u8 ? i8 : type, {K, N});
      const Tensor y = type == u8 ? ops::quantized_matmul(A, B) : ops::matmul(A, B).sum;
      m.out(y);
      return Steps([=](Schedule& s) { schedules::matmul_dot(s, s[y], A, B, {.subnormals = x86::Subnormals::as_zero}); });
    };
  };
  for (const Type type : {u8, bf16}) CHECK(refused_schedule(dot(type), Target::parse("zen4")) == "");
  CHECK(refused_schedule(dot(u8), Target::parse("aarch64")).find("matmul_dot: expected bytes by bytes on x86-64") !=
        std::string::npos);
}

TEST_CASE("convolutions in blocks, attention") {
  fits("conv2d", [](Maker& m) {
    const Tensor x = m.in("x", f32, {1, 2, M, N, 16}), w = m.in("w", f32, {2, 2, 3, 3, 16, 16});
    const Tensor wide = ops::pad(x, {0, 0, {1, 1}, {1, 1}, 0});
    const auto y = ops::conv2d(wide, w, {}, {.layout = ops::Layout::channels_blocked});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::rim(s, s[wide], 1, 1), schedules::conv2d(s, s[y.sum], w); });
  });
  fits("attention", [](Maker& m) {
    const Tensor q = m.in("q", f32, {1, 4, M, 64}), k = m.in("k", f32, {1, 2, N, 64}), v = m.in("v", f32, {1, 2, N, 64});
    const auto y = ops::attention(q, k, v, {.causal = ops::Causal::last, .groups = 2});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::attention(s, y, q, k, v); });
  });
  fits("one query", [](Maker& m) {
    const Tensor q = m.in("q", f32, {1, 4, 1, 64}), k = m.in("k", f32, {1, 2, N, 64}), v = m.in("v", f32, {1, 2, N, 64});
    const auto y = ops::attention(q, k, v, {.groups = 2});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::attention_decode(s, y, q, v); });
  });
  fits("attention by size", [](Maker& m) {
    const Tensor q = m.in("q", f32, {1, 4, M, 64}), k = m.in("k", f32, {1, 4, N, 64}), v = m.in("v", f32, {1, 4, N, 64});
    const auto y = ops::attention(q, k, v, {.causal = ops::Causal::last});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::attention_by_size(s, y, q, k, v); });
  });
}

TEST_CASE("on devices") {
  for (const bool reduces : {false, true})
    fits_devices("points", [=](Maker& m) {
      const Tensor x = matrix(m), y = reduces ? ops::reduce_sum(x, {.axes = {0}}).accumulated : ops::gelu(x);
      m.out(y);
      return Steps([=](Schedule& s) { schedules::gpu_points(s, s[y]); });
    });
  for (const int axes : {0, 1, 2})
    fits_devices("reductions", [=](Maker& m) {
      const Tensor x = matrix(m), y = axes == 2 ? ops::reduce_sum(x).accumulated : ops::reduce_max(x, {.axes = {axes}});
      m.out(y);
      return Steps([=](Schedule& s) { schedules::gpu_reduction(s, s[y]); });
    });
  fits_devices("softmax", [](Maker& m) {
    const auto y = ops::softmax(matrix(m));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}); });
  });
  fits_devices("layer_norm", [](Maker& m) {
    const auto y = ops::layer_norm(matrix(m), m.in("scale", f32, {N}), m.in("shift", f32, {N}));
    m.out(y);
    return Steps(
        [=](Schedule& s) { schedules::gpu_rows(s, {s[y.sum], s[y.mean], s[y.deviations], s[y.inverse], s[y.result]}); });
  });
  fits_devices("rms_norm", [](Maker& m) {
    const auto y = ops::rms_norm(matrix(m), m.in("scale", f32, {N}));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.sum], s[y.result]}); });
  });
  fits_devices("argmax", [](Maker& m) {
    const auto y = ops::argmax(matrix(m));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.index]}); });
  });
  fits_devices("batch_matmul", [](Maker& m) {
    const Tensor A = m.in("A", f32, {2, 3, M, K}), B = m.in("B", f32, {2, 3, N, K});
    const auto y = ops::batch_matmul(A, B, {.transpose_b = true});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[y.sum], A, B, {.transposed_b = true}); });
  });
  fits_devices("dense", [](Maker& m) {
    const Tensor x = m.in("x", f32, {M, K}), W = m.in("W", f32, {K, N}), b = m.in("b", f32, {N});
    const auto y = ops::dense(x, W, b);
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[y.sum], x, W); });
  });
  for (const ops::Layout layout : {ops::Layout::channels_first, ops::Layout::channels_last})
    fits_devices("conv2d", [=](Maker& m) {
      const bool last = layout == ops::Layout::channels_last;
      const Tensor x = m.in("x", f32, last ? std::vector<Extent>{2, M, N, K} : std::vector<Extent>{2, K, M, N}),
                   w = m.in("w", f32, last ? std::vector<Extent>{3, 3, K, 32} : std::vector<Extent>{32, K, 3, 3});
      const auto y = ops::conv2d(x, w, Tensor(), {.padding = {1, 1}, .layout = layout});
      m.out(y);
      return Steps([=](Schedule& s) { schedules::gpu_conv(s, s[y.sum], s[y.result]); });
    });
  fits(
      "attention",
      [](Maker& m) {
        const Tensor q = m.in("q", bf16, {1, 2, M, 64}), k = m.in("k", bf16, {1, 2, N, 64}), v = m.in("v", bf16, {1, 2, N, 64});
        const auto y = ops::attention(q, k, v, {.causal = ops::Causal::last, .finite = true});
        m.out(y);
        return Steps([=](Schedule& s) { schedules::gpu_attention(s, y); });
      },
      {"cuda-sm_80", "cuda-sm_90a"}, "by mma_f32_bf16_f32");
  fits_devices("max_pool2d", [](Maker& m) {
    const Tensor x = m.in("x", f32, {1, 3, M, N}), y = ops::max_pool2d(x, {.window = {3, 3}, .stride = {1, 1}});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_stencil(s, {s[y]}, {x}); });
  });
  fits_devices("box_blur", [](Maker& m) {
    const Tensor x = matrix(m);
    const auto y = ops::box_blur(x, 1, 1, {.border = ops::PadMode::edge});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_stencil(s, {s[y.stages[0]], s[y.result]}, {x}); });
  });
  fits_devices("transpose", [](Maker& m) {
    const Tensor x = image(m), y = ops::copy(ops::transpose(x, {0, 3, 1, 2}));
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_transpose(s, s[y], x); });
  });
}
