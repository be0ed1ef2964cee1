// The kernels at which schedule_by_default is measured beside schedules by hand.
#include <fmt/core.h>

#include <ashlar/generator/generator.h>
#include <ashlar/ops.h>
#include <ashlar/schedules/conv.h>
#include <ashlar/schedules/elementwise.h>
#include <ashlar/schedules/matmul_by_size.h>
#include <ashlar/schedules/reduction.h>
#include <ashlar/schedules/rows.h>

#include "apps/matmul/narrow.h"
#include "apps/unsharp/unsharp.h"
#include "bench/defaults.h"
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
  e.hand = call(instantiate<G>(Target::host(), params));
  const auto ours = instantiate<Unscheduled<G>>(Target::host(), params);
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

// The same in the layouts of PyTorch and TensorFlow, for which there is no schedule by hand.
DefaultEntry plain_convolution(bool last, std::int64_t channels, std::int64_t size, std::int64_t outputs, std::int64_t window,
                               std::int64_t stride) {
  const std::int64_t out = (size - 1) / stride + 1;
  const Dims x = last ? Dims{1, size, size, channels} : Dims{1, channels, size, size},
             w = last ? Dims{window, window, channels, outputs} : Dims{outputs, channels, window, window},
             y = last ? Dims{1, out, out, outputs} : Dims{1, outputs, out, out};
  const double work = 2.0 * static_cast<double>(out * out * outputs * channels * window * window);
  return {fmt::format("conv{0}x{0} {1}", window, last ? "nhwc" : "nchw"),
          {{fmt::format("{0}x{0}x{1}>{2}", size, channels, outputs), work, "GFLOP/s", {{f32, x}, {f32, w}}, {{f32, y}}}},
          [=](DefaultProgram& p) {
            const Tensor image = p.in("x", f32, {x.begin(), x.end()}), weights = p.in("w", f32, {w.begin(), w.end()});
            const int around = static_cast<int>(window / 2), step = static_cast<int>(stride);
            p.out(ops::conv2d(image, weights, {},
                              {.stride = {step, step},
                               .padding = {around, around},
                               .layout = last ? ops::Layout::channels_last : ops::Layout::channels_first}));
            return Steps();
          }};
}

DefaultEntry depthwise(std::int64_t channels, std::int64_t size) {
  const Dims x{1, size, size, channels};
  return {
      "depthwise3x3",
      {{fmt::format("{0}x{0}x{1}", size, channels),
        18.0 * static_cast<double>(size * size * channels),
        "GFLOP/s",
        {{f32, x}, {f32, {3, 3, channels, 1}}},
        {{f32, x}}}},
      [=](DefaultProgram& p) {
        const Tensor image = p.in("x", f32, {1, size, size, channels}), w = p.in("w", f32, {3, 3, channels, 1});
        const Tensor rim = ops::pad(image, {0, {1, 1}, {1, 1}, 0});
        const Tensor sum = ops::depthwise_conv2d(rim, w, {}, {.layout = ops::Layout::channels_last}).sum;
        p.out(sum);
        return [=](Schedule& s) {  // 4 pixels of a row and 4 registers of channels
          const int lanes = s.target().lanes(f32);
          const Stage y = s[sum];
          const Stage sums = s.cache_write(y, Scope::registers);
          auto [n, h, column, c] = y.spatial<4>();
          auto [xo, xi] = y.split(column, 4, Tail::guard);
          auto [co, ci] = y.split(c, 2 * lanes, Tail::guard);
          auto [part, lane] = y.split(ci, lanes, Tail::exact);
          y.reorder(n, h, co, xo, xi, part, lane).unroll(xi).unroll(part).vectorize(lane);
          sums.compute_at(xo);
          auto [sn, sh, sx, sc] = sums.spatial<4>();
          auto [r, q] = sums.reduction<2>();
          auto [tile, pixel] = sums.split(sx, 4, Tail::guard);
          auto [block, channel] = sums.split(sc, 2 * lanes, Tail::guard);
          auto [half, l] = sums.split(channel, lanes, Tail::exact);
          sums.reorder(sn, sh, tile, block, r, q, pixel, half, l).unroll(r).unroll(q).unroll(pixel).unroll(half).vectorize(l);
          y.parallel(y.fuse(n, h));
          auto [rn, rh, rx, rc] = s[rim].spatial<4>();
          s[rim].parallel(s[rim].fuse(rn, rh)).vectorize(rc, lanes);
        };
      }};
}

std::vector<DefaultEntry> of_memory() {
  std::vector<DefaultEntry> all;
  const auto bytes = [](double n) { return n * 4; };
  all.push_back({"softmax",
                 {{"4096x1024", bytes(2.0 * 4096 * 1024), "GB/s", {{f32, {4096, 1024}}}, {{f32, {4096, 1024}}}},
                  {"64x128", bytes(2.0 * 64 * 128), "GB/s", {{f32, {64, 128}}}, {{f32, {64, 128}}}}},
                 [](DefaultProgram& p) {
                   const Symbol M{"M"}, N{"N"};
                   const auto y = ops::softmax(p.in("x", f32, {M, N}));
                   p.out(y);
                   return [=](Schedule& s) { schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}); };
                 }});
  all.push_back({"layer_norm",
                 {{"4096x1024",
                   bytes(2.0 * 4096 * 1024),
                   "GB/s",
                   {{f32, {4096, 1024}}, {f32, {1024}}, {f32, {1024}}},
                   {{f32, {4096, 1024}}}}},
                 [](DefaultProgram& p) {
                   const Symbol M{"M"}, N{"N"};
                   const Tensor x = p.in("x", f32, {M, N}), scale = p.in("scale", f32, {N}), shift = p.in("shift", f32, {N});
                   const auto y = ops::layer_norm(x, scale, shift);
                   p.out(y);
                   return [=](Schedule& s) { schedules::rows(s, {s[y.mean], s[y.result]}); };
                 }});
  all.push_back(
      {"gelu", {{"1048576", bytes(2.0 * (1 << 20)), "GB/s", {{f32, {1 << 20}}}, {{f32, {1 << 20}}}}}, [](DefaultProgram& p) {
         const Symbol N{"N"};
         const Tensor y = ops::gelu(p.in("x", f32, {N}));
         p.out(y);
         return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
       }});
  all.push_back({"sum", {{"16777216", bytes(1 << 24), "GB/s", {{f32, {1 << 24}}}, {{f32, {}}}}}, [](DefaultProgram& p) {
                   const Symbol N{"N"};
                   const Tensor y = ops::reduce_sum(p.in("x", f32, {N}));
                   p.out(y);
                   return [=](Schedule& s) { schedules::reduction(s, s[y]); };
                 }});
  all.push_back({"box_blur",
                 {{"2048x2048", bytes(2.0 * 2048 * 2048), "GB/s", {{f32, {2048, 2048}}}, {{f32, {2048, 2048}}}}},
                 [](DefaultProgram& p) {
                   const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
                   const auto y = ops::box_blur(p.in("x", f32, {H, W}), 1, 1, {.border = ops::PadMode::edge});
                   p.out(y);
                   return [=](Schedule& s) {
                     const int lanes = s.target().lanes(f32);
                     const Stage result = s[y.result], across = s[y.stages.front()];
                     auto [r, c] = result.spatial<2>();
                     auto [strip, row] = result.split(r, 32, Tail::guard);
                     result.tighten(row);
                     across.store_at(strip).compute_at(row).slide(row).fold(0, 4);
                     across.vectorize(across.spatial<2>()[1], lanes);
                     result.vectorize(c, lanes).parallel(strip);
                   };
                 }});
  return all;
}

}  // namespace

void default_suite(Report& report, const Machine& machine) {
  const auto race = [&](const DefaultEntry& e) { race_defaults(report, machine, e); };
  race(matmul("matmul", {product_run(64, 64, 64), product_run(128, 128, 128), product_run(256, 256, 256),
                         product_run(512, 512, 512), product_run(1024, 1024, 1024), product_run(2048, 2048, 2048),
                         product_run(1023, 1023, 1023), product_run(1, 4096, 4096), product_run(8, 4096, 4096)}));
  if (report.wants("default u8s8") && Target::host().has("avx512vnni"))
    race(of_generator<product::MatmulU8S8>("u8s8", {}, product_run(1024, 1024, 1024, u8, i8, i32)));
  if (report.wants("default bf16") && Target::host().has("avx512bf16"))
    race(of_generator<product::MatmulBf16>("bf16", {}, product_run(1024, 1024, 1024, bf16, bf16, f32)));
  race(convolution(64, 56, 64, 3, 1)), race(convolution(128, 28, 128, 3, 1));
  race(convolution(256, 14, 256, 3, 1)), race(convolution(512, 7, 512, 3, 1));
  race(convolution(64, 56, 256, 1, 1)), race(convolution(3, 224, 64, 7, 2));
  for (const bool last : {false, true})
    race(plain_convolution(last, 64, 56, 64, 3, 1)), race(plain_convolution(last, 256, 14, 256, 3, 1)),
        race(plain_convolution(last, 64, 56, 256, 1, 1)), race(plain_convolution(last, 3, 224, 64, 7, 2));
  race(depthwise(128, 56));
  for (const DefaultEntry& e : of_memory()) race(e);
  const double pixels = 3.0 * 1536 * 2560;
  if (report.wants("default unsharp"))
    race(of_generator<unsharp::Unsharp>(
        "unsharp", {{"channels", "3"}, {"stream", "true"}},
        {"3x1536x2560", 8 * pixels, "GB/s", {{f32, {3, 1536, 2560}}}, {{f32, {3, 1536, 2560}}}}));
}

}  // namespace bench
