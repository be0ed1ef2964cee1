// The kernels at which schedule_by_default is measured beside schedules by hand.
#include <fmt/core.h>

#include <ashlar/generator/generator.h>
#include <ashlar/ops.h>
#include <ashlar/schedules/conv.h>
#include <ashlar/schedules/matmul_by_size.h>

#include "apps/matmul/narrow.h"
#include "apps/unsharp/unsharp.h"
#include "bench/kernels/attention_kernel.h"
#include "bench/defaults.h"
#include "bench/isa.h"
#include "bench/kernels/memory_kernels.h"
#include "bench/suites.h"

namespace bench {
namespace {

std::string dims(const Dims& d) {
  std::string r;
  for (std::size_t k = 0; k < d.size(); ++k) r += (k == 0 ? "" : "x") + std::to_string(d[k]);
  return r;
}

// The generator with its own schedule, and with none.
template <class G>
struct Unscheduled : G {
  std::string chosen;
  void schedule(Schedule& s) override { chosen = schedule_by_default(s, {.subnormals_as_zero = true}).text(); }
};
template <class G>
DefaultEntry of_generator(const char* kernel, const std::vector<std::pair<std::string, std::string>>& params, DefaultRun run) {
  DefaultEntry e;
  e.kernel = kernel;
  e.runs = {std::move(run)};
  const auto call = [](auto instance) {
    return
        [instance](const std::vector<const void*>& a, const ashlar_context* c) { return instance.call(a.data(), a.size(), c); };
  };
  e.hand = call(instantiate<G>(Target::parse(target_name()), params));
  const auto ours = instantiate<Unscheduled<G>>(Target::parse(target_name()), params);
  e.chosen = ours->chosen;
  e.ours = call(ours);
  return e;
}

DefaultRun product_run(std::int64_t m, std::int64_t n, std::int64_t k, Type a = f32, Type b = f32, Type c = f32) {
  return {dims({m, n, k}),
          2.0 * static_cast<double>(m * n) * static_cast<double>(k),
          c.is_float() ? "GFLOP/s" : "GOP/s",
          {{a, {m, k}}, {b, {k, n}}},
          {{c, {m, n}}}};
}

DefaultEntry matmul(const char* kernel, std::vector<DefaultRun> runs) {
  return {kernel, std::move(runs), [](DefaultProgram& p) {
            const Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
            const Tensor A = p.in("A", f32, {M, K}), B = p.in("B", f32, {K, N}), C = ops::matmul(A, B).sum;
            p.out(C);
            return [=](Schedule& s) { schedules::matmul_by_size(s, s[C], A, B); };
          }};
}

// A product of 1024 cubed whose factors are not plain matrices of f32. `converted`: of bf16, subnormal numbers as they are.
enum class Factor { converted, relu_a, bytes_b, transposed_a };
DefaultEntry product_of(const char* kernel, Factor factor) {
  const std::int64_t n = 1024;
  const Type type = factor == Factor::converted ? bf16 : f32;
  DefaultRun run = product_run(n, n, n, type, type, f32);
  if (factor == Factor::bytes_b) run.inputs = {{f32, {n, n}}, {i8, {n, n}}, {f32, {n}}};
  return {kernel, {run}, [=](DefaultProgram& p) {
            const Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
            const bool turned = factor == Factor::transposed_a;
            const Tensor given = turned ? p.in("A", type, {K, M}) : p.in("A", type, {M, K});
            const Tensor A = factor == Factor::relu_a ? ops::relu(given) : given;
            Tensor B;
            if (factor == Factor::bytes_b) {
              const Tensor w = p.in("w", i8, {K, N}), scale = p.in("scale", f32, {N});
              B = compute("weights", {{"k", K}, {"j", N}}, [&](Var k, Var j) { return f32(w(k, j)) * scale(j); });
            } else {
              B = p.in("B", type, {K, N});
            }
            const Axis k{"k", K};
            const Tensor C = compute("C", {{"i", M}, {"j", N}},
                                     [&](Var i, Var j) { return sum(f32(turned ? A(k, i) : A(i, k)) * f32(B(k, j)), k); });
            p.out(C);
            return [=](Schedule& s) {
              const auto loops = schedules::matmul(s, s[C], A, B, {.transposed_a = turned});
              const int lanes = s.target().lanes(f32);
              if (factor == Factor::relu_a) s[A].compute_at(loops.a).vectorize(s[A].spatial<2>()[1], lanes);
              if (factor == Factor::bytes_b) s[B].compute_at(loops.b).vectorize(s[B].spatial<2>()[1], lanes);
            };
          }};
}

// One picture of a layer in blocks of channels.
DefaultEntry convolution(std::int64_t channels, std::int64_t size, std::int64_t outputs, std::int64_t window,
                         std::int64_t stride) {
  const std::int64_t in_block = std::min<std::int64_t>(channels, 32), block = 32, out = (size - 1) / stride + 1;
  const Dims x{1, channels / in_block, size, size, in_block},
      w{outputs / block, channels / in_block, window, window, in_block, block}, y{1, outputs / block, out, out, block};
  const double work = 2.0 * static_cast<double>(out * out * outputs * channels * window * window);
  return {fmt::format("conv{0}x{0}", window),
          {{fmt::format("{0}x{0}x{1}>{2}", size, channels, outputs), work, "GFLOP/s", {{f32, x}, {f32, w}}, {{f32, y}}}},
          [=](DefaultProgram& p) {
            const Tensor image = p.in("x", f32, {x.begin(), x.end()}), weights = p.in("w", f32, {w.begin(), w.end()});
            const int around = static_cast<int>(window / 2), step = static_cast<int>(stride);
            const Tensor rim = around > 0 ? ops::pad(image, {0, 0, {around, around}, {around, around}, 0}) : image;
            const Tensor sum =
                ops::conv2d(rim, weights, {}, {.stride = {step, step}, .layout = ops::Layout::channels_blocked}).sum;
            p.out(sum);
            return [=](Schedule& s) {
              if (around > 0) schedules::rim(s, s[rim], around, around);
              schedules::conv2d(s, s[sum], weights);
            };
          }};
}

// The same with bias and relu in the layouts of PyTorch and TensorFlow, for which there is no schedule by hand.
DefaultEntry plain_convolution(bool last, std::int64_t channels, std::int64_t size, std::int64_t outputs, std::int64_t window,
                               std::int64_t stride) {
  const std::int64_t out = (size - 1) / stride + 1;
  const Dims x = last ? Dims{1, size, size, channels} : Dims{1, channels, size, size},
             w = last ? Dims{window, window, channels, outputs} : Dims{outputs, channels, window, window},
             y = last ? Dims{1, out, out, outputs} : Dims{1, outputs, out, out};
  const double work = 2.0 * static_cast<double>(out * out * outputs * channels * window * window);
  return {fmt::format("conv{0}x{0} {1}", window, last ? "nhwc" : "nchw"),
          {{fmt::format("{0}x{0}x{1}>{2}", size, channels, outputs),
            work,
            "GFLOP/s",
            {{f32, x}, {f32, w}, {f32, {outputs}}},
            {{f32, y}}}},
          [=](DefaultProgram& p) {
            const Tensor image = p.in("x", f32, {x.begin(), x.end()}), weights = p.in("w", f32, {w.begin(), w.end()});
            const int around = static_cast<int>(window / 2), step = static_cast<int>(stride);
            const Tensor bias = p.in("bias", f32, {outputs});
            const Tensor sums = ops::conv2d(image, weights, bias,
                                            {.stride = {step, step},
                                             .padding = {around, around},
                                             .layout = last ? ops::Layout::channels_last : ops::Layout::channels_first});
            p.out(ops::relu(sums));
            return Steps();
          }};
}

// What is bound by memory, and pictures.
template <class G>
void race_memory(Report& report, const Machine& machine, const char* kernel, const std::vector<Dims>& inputs,
                 const Dims& result, const std::vector<std::pair<std::string, std::string>>& params = {}, Type type = f32,
                 double flops = 0) {
  if (!report.wants(std::string("default ") + kernel)) return;
  DefaultRun run{dims(inputs.front()), flops, flops > 0 ? "GFLOP/s" : "GB/s", {}, {{type, result}}};
  double elements = 1;
  for (const std::int64_t e : result) elements *= static_cast<double>(e);
  for (const Dims& d : inputs) {
    run.inputs.push_back({type, d});
    double n = 1;
    for (const std::int64_t e : d) n *= static_cast<double>(e);
    elements += n;
  }
  if (flops == 0) run.work = elements * type.bytes();
  race_defaults(report, machine, of_generator<G>(kernel, params, run));
}

}  // namespace

void default_suite(Report& report, const Machine& machine) {
  const auto race = [&](const DefaultEntry& e) { race_defaults(report, machine, e); };
  race(matmul("matmul", {product_run(64, 64, 64), product_run(128, 128, 128), product_run(256, 256, 256),
                         product_run(512, 512, 512), product_run(1024, 1024, 1024), product_run(2048, 2048, 2048),
                         product_run(1023, 1023, 1023), product_run(1, 4096, 4096), product_run(8, 4096, 4096)}));
  if (report.wants("default u8s8") && Target::parse(target_name()).has("avx512vnni"))
    race(of_generator<product::MatmulU8S8>("u8s8", {}, product_run(1024, 1024, 1024, u8, i8, i32)));
  if (report.wants("default bf16") && Target::parse(target_name()).has("avx512bf16"))
    race(of_generator<product::MatmulBf16>("bf16", {}, product_run(1024, 1024, 1024, bf16, bf16, f32)));
  race(product_of("bf16 exact", Factor::converted));
  race(product_of("matmul relu(A)", Factor::relu_a)), race(product_of("matmul i8 weights", Factor::bytes_b));
  race(product_of("matmul transposed A", Factor::transposed_a));
  race(convolution(64, 56, 64, 3, 1)), race(convolution(128, 28, 128, 3, 1));
  race(convolution(256, 14, 256, 3, 1)), race(convolution(512, 7, 512, 3, 1));
  race(convolution(64, 56, 256, 1, 1)), race(convolution(3, 224, 64, 7, 2));
  for (const bool last : {false, true})
    race(plain_convolution(last, 64, 56, 64, 3, 1)), race(plain_convolution(last, 256, 14, 256, 3, 1)),
        race(plain_convolution(last, 64, 56, 256, 1, 1)), race(plain_convolution(last, 3, 224, 64, 7, 2));
  const std::int64_t C = 144, S = 56;
  race_memory<kernels::Depthwise>(report, machine, "depthwise3x3", {{1, S, S, C}, {3, 3, C, 1}}, {1, S, S, C},
                                  {{"channels", "144"}, {"size", "56"}}, f32, 18.0 * static_cast<double>(S * S * C));
  race_memory<kernels::Softmax>(report, machine, "softmax", {{1024, 1024}}, {1024, 1024});
  race_memory<kernels::Softmax>(report, machine, "softmax", {{4096, 256}}, {4096, 256});
  race_memory<kernels::LayerNorm>(report, machine, "layer_norm", {{1024, 768}, {768}, {768}}, {1024, 768});
  race_memory<kernels::Gelu>(report, machine, "gelu", {{1 << 20}}, {1 << 20});
  race_memory<kernels::Sum>(report, machine, "sum", {{1 << 24}}, {});
  race_memory<kernels::Transpose>(report, machine, "transpose", {{2048, 2048}}, {2048, 2048}, {{"stream", "true"}});
  race_memory<kernels::BoxBlur>(report, machine, "box_blur", {{1536 + 2, 2560 + 8}}, {1536, 2560},
                                {{"together", "8"}, {"stream", "true"}}, u16);
  const Dims heads{1, 8, 512, 64};
  race_memory<kernels::Attention>(report, machine, "attention", {heads, heads, heads}, heads, {}, f32,
                                  4.0 * 8 * 512 * 512 * 64);
  race_memory<unsharp::Unsharp>(report, machine, "unsharp", {{3, 1536, 2560}}, {3, 1536, 2560},
                                {{"channels", "3"}, {"stream", "true"}});
}

}  // namespace bench
