#include "tests/schedules/gpu_programs.h"

#include <algorithm>
#include <limits>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/ops.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules.h>

namespace schedules_test {

namespace {

using Steps = std::function<void(Schedule&)>;
using Shapes = std::vector<std::vector<Dims>>;

const Shapes matrices = {{{3, 300}}, {{1, 1}}, {{9, 33}}, {{0, 4}}, {{2, 0}}};
const auto rows_of_first = [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][0]}}; };

void points(std::vector<DeviceProgram>& all) {
  all.push_back({"points",
                 [](DeviceMaker& m) {
                   const Tensor y = ops::relu(m.in("x", f32, {Symbol("M"), Symbol("N")}));
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_points(s, s[y], {.threads = 96}); });
                 },
                 matrices});
  all.push_back({"points that are sums of columns",
                 [](DeviceMaker& m) {
                   const Tensor y = ops::reduce_sum(m.in("x", f32, {Symbol("M"), Symbol("N")}), {.axes = {0}}).accumulated;
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_points(s, s[y]); });
                 },
                 matrices, [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][1]}}; }});
  all.push_back({"points of two values, in memory",
                 [](DeviceMaker& m) {
                   const auto y = ops::argmax(m.whole("x", f32, {Symbol("M"), 2, Symbol("N")}, -3, 3));
                   m.out(y.value), m.out(y.index);
                   return Steps([=](Schedule& s) { schedules::gpu_points(s, s[y.index]); });
                 },
                 {{{3, 2, 30}}, {{0, 2, 1}}},
                 [](const std::vector<Dims>& in) { return std::vector<Dims>(2, {in[0][0], 2}); }});
}

// Sums of whole numbers, in parts of 100.
void reductions(std::vector<DeviceProgram>& all) {
  const auto reduction = [&](const char* name, const std::function<Tensor(const Tensor&)>& reduced, const Shapes& shapes,
                             const std::function<std::vector<Dims>(const std::vector<Dims>&)>& results) {
    all.push_back({name,
                   [=](DeviceMaker& m) {
                     const Tensor x = m.whole("x", f32, {Symbol("M"), Symbol("N")}, -9, 9), y = reduced(x);
                     m.out(y);
                     return Steps([=](Schedule& s) { schedules::gpu_reduction(s, s[y], {.threads = 64, .part = 100}); });
                   },
                   shapes, results});
  };
  const auto one = [](const std::vector<Dims>&) { return std::vector<Dims>{{}}; };
  const Shapes shapes = {{{33, 70}}, {{1, 1}}, {{0, 4}}};
  reduction("a sum in two launches", [](const Tensor& x) { return ops::reduce_sum(x).accumulated; }, shapes, one);
  reduction(
      "sums of columns in two launches", [](const Tensor& x) { return ops::reduce_sum(x, {.axes = {0}}).accumulated; }, shapes,
      [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][1]}}; });
  reduction(
      "largest of long rows in two launches", [](const Tensor& x) { return ops::reduce_max(x, {.axes = {1}}); }, shapes,
      rows_of_first);
  all.push_back({"a sum of few terms, one launch",
                 [](DeviceMaker& m) {
                   const Tensor y = ops::reduce_sum(m.whole("x", i32, {99}, -9, 9));
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_reduction(s, s[y]); });
                 },
                 {{{99}}},
                 one});
}

void rows(std::vector<DeviceProgram>& all) {
  const auto softmax = [](Schedule& s, const ops::Softmax& y) {
    schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
  };
  all.push_back({"softmax",
                 [=](DeviceMaker& m) {
                   const auto y = ops::softmax(m.in("x", f32, {Symbol("M"), Symbol("N")}));
                   m.out(y);
                   return Steps([=](Schedule& s) { softmax(s, y); });
                 },
                 matrices,
                 {},
                 1e-5});
  all.push_back({"softmax of short rows, several a block",
                 [=](DeviceMaker& m) {
                   const auto y = ops::softmax(m.in("x", f32, {Symbol("M"), 33}));
                   m.out(y);
                   return Steps([=](Schedule& s) { softmax(s, y); });
                 },
                 {{{19, 33}}, {{1, 33}}, {{0, 33}}},
                 {},
                 1e-5});
  for (const Type type : {f32, bf16})
    all.push_back({"softmax of " + ir::text(type) + ", rows in shared memory",
                   [=](DeviceMaker& m) {
                     const auto y = ops::softmax(m.in("x", type, {Symbol("M"), 520}));
                     m.out(y);
                     return Steps([=](Schedule& s) { softmax(s, y); });
                   },
                   {{{5, 520}}, {{1, 520}}, {{0, 520}}},
                   {},
                   type == f32 ? 1e-5 : 1e-2});
  all.push_back({"softmax of one row",
                 [=](DeviceMaker& m) {
                   const auto y = ops::softmax(m.in("x", f32, {Symbol("N")}));
                   m.out(y);
                   return Steps([=](Schedule& s) { softmax(s, y); });
                 },
                 {{{300}}, {{1}}, {{0}}},
                 {},
                 1e-5});
  all.push_back({"softmax in one pass, of f16",
                 [](DeviceMaker& m) {
                   const auto y = ops::softmax_online(m.in("x", f16, {Symbol("M"), 2, Symbol("N")}));
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.sum], s[y.result]}, {.threads = 64}); });
                 },
                 {{{2, 2, 150}}, {{1, 2, 1}}},
                 {},
                 2e-3});
  all.push_back({"layer norm",
                 [](DeviceMaker& m) {
                   const Symbol N{"N"};
                   const Tensor x = m.in("x", f32, {Symbol("M"), N}), scale = m.in("scale", f32, {N}),
                                shift = m.in("shift", f32, {N});
                   const auto y = ops::layer_norm(x, scale, shift);
                   m.out(y);
                   return Steps([=](Schedule& s) {
                     schedules::gpu_rows(s, {s[y.sum], s[y.mean], s[y.deviations], s[y.inverse], s[y.result]});
                   });
                 },
                 {{{3, 300}, {300}, {300}}, {{1, 1}, {1}, {1}}, {{2, 0}, {0}, {0}}},
                 {},
                 1e-5});
  all.push_back({"layer norm over two dimensions",
                 [](DeviceMaker& m) {
                   const auto y = ops::layer_norm(m.in("x", f32, {Symbol("M"), Symbol("A"), 5}), Tensor(), Tensor(), 1e-5, 2);
                   m.out(y);
                   return Steps([=](Schedule& s) {
                     schedules::gpu_rows(s, {s[y.sum], s[y.mean], s[y.deviations], s[y.inverse], s[y.result]},
                                         {.threads = 32, .rows = 3});
                   });
                 },
                 {{{4, 37, 5}}, {{1, 0, 5}}},
                 {},
                 1e-5});
  all.push_back({"the place of the largest element",
                 [](DeviceMaker& m) {
                   const auto y = ops::argmax(m.whole("x", f32, {Symbol("M"), Symbol("N")}, -3, 3));
                   m.out(y.value), m.out(y.index);
                   return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.index]}); });
                 },
                 matrices, [](const std::vector<Dims>& in) { return std::vector<Dims>(2, {in[0][0]}); }});
  all.push_back({"a mean behind a sum",
                 [](DeviceMaker& m) {
                   const auto y = ops::reduce_mean(m.whole("x", f32, {Symbol("M"), Symbol("N")}, -9, 9), {.axes = {1}});
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.accumulated], s[y.result]}); });
                 },
                 matrices, rows_of_first});
  all.push_back({"a mean of all",
                 [](DeviceMaker& m) {
                   const auto y = ops::reduce_mean(m.whole("x", f32, {Symbol("M"), Symbol("N")}, -9, 9));
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.accumulated], s[y.result]}); });
                 },
                 matrices, [](const std::vector<Dims>&) { return std::vector<Dims>{{}}; }});
  all.push_back({"a kept dimension",
                 [](DeviceMaker& m) {
                   const Tensor x = m.whole("x", i32, {Symbol("M"), Symbol("N")}, -9, 9);
                   const auto sum = ops::reduce_sum(x, {.axes = {1}, .keep_dims = true});
                   const Tensor y = ops::sub(x, sum);
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[sum.accumulated], s[y]}); });
                 },
                 matrices});
  for (const bool known : {false, true})
    all.push_back({known ? "sums in the order of their terms, several rows a block" : "sums in the order of their terms",
                   [=](DeviceMaker& m) {
                     const Extent N = known ? Extent(33) : Extent(Symbol("N"));
                     const Tensor x = m.in("x", f32, {Symbol("M"), N});
                     const Axis k{"k", x.extent(1)};
                     const Tensor total = compute("total", {x.extent(0)}, [&](Var i) { return strict_sum(x(i, k), k); });
                     const Tensor y =
                         compute("y", {x.extent(0), x.extent(1)}, [&](Var i, Var j) { return x(i, j) / total(i); });
                     m.out(y);
                     return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[total], s[y]}); });
                   },
                   known ? Shapes{{{9, 33}}} : Shapes{{{3, 70}}, {{2, 0}}}});
}

const auto product_shape = [](const std::vector<Dims>& in) {
  Dims d = in[0];
  d.back() = in[1].back();
  return std::vector<Dims>{d};
};
const auto transposed_shape = [](const std::vector<Dims>& in) {
  Dims d = in[0];
  d.back() = in[1][in[1].size() - 2];
  return std::vector<Dims>{d};
};

// What only CUDA devices have, left out on others.
schedules::GpuMatmulOptions on_device(const Schedule& s, schedules::GpuMatmulOptions o) {
  if (s.target().device().kind != Device::Kind::cuda) o.part_k = 0, o.math = schedules::GpuMatmulOptions::Math::by_type;
  return o;
}

void products(std::vector<DeviceProgram>& all) {
  const auto matmul = [&](const char* name, Type type, const schedules::GpuMatmulOptions& o, const Shapes& shapes) {
    all.push_back(
        {name,
         [=](DeviceMaker& m) {
           const Symbol M{"M"}, N{"N"}, K{"K"};
           const Tensor A = m.whole("A", type, {M, K}, -4, 4),
                        B = o.transposed_b ? m.whole("B", type, {N, K}, -4, 4) : m.whole("B", type, {K, N}, -4, 4);
           const auto y = ops::matmul(A, B, {.transpose_b = o.transposed_b});
           m.out(y);
           return Steps([=](Schedule& s) {
             if (y.sum.type() == y.result.type())
               schedules::gpu_matmul(s, s[y.sum], A, B, on_device(s, o));
             else
               schedules::gpu_matmul(s, s[y.sum], A, B, s[y.result], on_device(s, o));
           });
         },
         shapes,
         o.transposed_b ? transposed_shape : std::function<std::vector<Dims>(const std::vector<Dims>&)>(product_shape)});
  };
  matmul("product", f32, {}, {{{33, 20}, {20, 130}}, {{1, 1}, {1, 1}}, {{0, 2}, {2, 3}}, {{3, 0}, {0, 4}}});
  matmul("product without a pipeline", f32, {.tile_i = 4, .tile_j = 4, .stages = 1}, {{{33, 20}, {20, 70}}, {{1, 9}, {9, 2}}});
  matmul("product of odd tiles", f32,
         {.threads_i = 4, .threads_j = 8, .tile_i = 3, .tile_j = 2, .block_k = 5, .stages = 3, .transposed_b = true},
         {{{13, 17}, {19, 17}}, {{1, 1}, {1, 1}}});
  matmul("product of f64", f64, {.threads_i = 8, .threads_j = 8}, {{{40, 9}, {9, 33}}});
  matmul("product of f16, rounded at its end", f16, {.threads_i = 8, .threads_j = 8, .tile_i = 4}, {{{33, 9}, {9, 40}}});
  all.push_back({"product of bytes of known extents",
                 [](DeviceMaker& m) {
                   const Tensor A = m.whole("A", u8, {17, 5}, 0, 9), B = m.whole("B", i8, {5, 40}, -9, 9),
                                y = ops::quantized_matmul(A, B);
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[y], A, B); });
                 },
                 {{{17, 5}, {5, 40}}},
                 product_shape});
  // Parts of k in blocks of their own; the last part of most has fewer terms, some calls have one part, or none.
  const Shapes in_parts = {
      {{33, 200}, {200, 70}}, {{66, 72}, {72, 68}}, {{5, 64}, {64, 3}}, {{1, 1}, {1, 1}}, {{2, 0}, {0, 3}}};
  matmul("product of bf16 in parts of k", bf16, {.part_k = 60}, in_parts);
  matmul("product of f16 in parts of k, B [j, k]", f16, {.part_k = 96, .transposed_b = true},
         {{{33, 200}, {70, 200}}, {{66, 97}, {9, 97}}, {{0, 96}, {4, 96}}});
  matmul("product of bf16, three rows of blocks in a group", bf16, {.raster = 3},
         {{{390, 24}, {24, 70}}, {{257, 16}, {16, 136}}, {{0, 8}, {8, 8}}});
  matmul("product of i8 in parts of k", i8, {.part_k = 64}, in_parts);
  matmul("product of f32 in parts of k", f32, {.part_k = 40}, in_parts);
  matmul("product of f32 as tf32 in parts of k", f32, {.math = schedules::GpuMatmulOptions::Math::tf32, .part_k = 64},
         in_parts);
  all.push_back({"product of bf16 of few results and many terms",  // in parts by itself
                 [](DeviceMaker& m) {
                   const Tensor x = m.whole("x", bf16, {40, 1060}, -4, 4), W = m.whole("W", bf16, {1060, 40}, -4, 4),
                                b = m.whole("b", bf16, {40}, -9, 9);
                   const auto y = ops::dense(x, W, b);
                   const Tensor z = ops::relu(y);
                   m.out(z);
                   return Steps([=](Schedule& s) {
                     s[y.result].inline_();
                     schedules::gpu_matmul(s, s[y.sum], x, W, s[z]);
                   });
                 },
                 {{{40, 1060}, {1060, 40}, {40}}},
                 product_shape});
  all.push_back({"product of bf16 of known extents, ragged",  // some blocks and steps lie inside
                 [](DeviceMaker& m) {
                   const Tensor A = m.whole("A", bf16, {72, 104}, -4, 4), B = m.whole("B", bf16, {104, 72}, -4, 4);
                   const auto y = ops::matmul(A, B);
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[y.sum], A, B, s[y.result]); });
                 },
                 {{{72, 104}, {104, 72}}},
                 product_shape});
  all.push_back({"product of a transposed factor",
                 [](DeviceMaker& m) {
                   const Symbol M{"M"}, N{"N"}, K{"K"};
                   const Tensor A = m.whole("A", f32, {K, M}, -4, 4), B = m.whole("B", f32, {K, N}, -4, 4),
                                y = ops::matmul(A, B, {.transpose_a = true});
                   m.out(y);
                   return Steps([=](Schedule& s) {
                     schedules::gpu_matmul(s, s[y], A, B, {.threads_i = 8, .threads_j = 8, .transposed_a = true});
                   });
                 },
                 {{{9, 70}, {9, 33}}, {{1, 1}, {1, 1}}, {{0, 2}, {0, 3}}},
                 [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][1], in[1][1]}}; }});
  for (const Type type : {f32, bf16})  // bf16 on tensor cores, where there are some
    all.push_back({"dense layer of " + ir::text(type) + ": a sum that starts from a bias, and an activation",
                   [=](DeviceMaker& m) {
                     const Symbol M{"M"}, N{"N"}, K{"K"};
                     const Tensor x = m.whole("x", type, {M, K}, -4, 4), W = m.whole("W", type, {K, N}, -4, 4),
                                  b = m.whole("b", type, {N}, -9, 9);
                     const auto y = ops::dense(x, W, b);
                     const Tensor z = ops::relu(y);
                     m.out(z);
                     return Steps([=](Schedule& s) {
                       if (!(y.sum.id() == y.result.id())) s[y.result].inline_();
                       schedules::gpu_matmul(s, s[y.sum], x, W, s[z], {.threads_i = 8, .threads_j = 8});
                     });
                   },
                   {{{33, 9}, {9, 70}, {70}}, {{65, 40}, {40, 136}, {136}}, {{1, 1}, {1, 1}, {1}}, {{2, 0}, {0, 3}, {3}}},
                   product_shape});
  for (const int batches : {1, 2})
    for (const Type type : {f32, f16}) {
      const schedules::GpuMatmulOptions o =
          type == f32 ? schedules::GpuMatmulOptions{.threads_i = 4, .threads_j = 8, .tile_i = 4, .transposed_b = true}
                      : schedules::GpuMatmulOptions{.part_k = batches == 2 ? 32 : 0, .transposed_b = true};
      const Shapes shapes = batches == 1 ? Shapes{{{2, 17, 9}, {2, 33, 9}}, {{2, 17, 16}, {2, 40, 16}}}
                                         : Shapes{{{3, 2, 17, 41}, {3, 2, 5, 41}}, {{0, 2, 1, 1}, {0, 2, 1, 1}}};
      all.push_back({"products of " + ir::text(type) + " of " + std::to_string(batches) + " dimensions more",
                     [=](DeviceMaker& m) {
                       const Symbol M{"M"}, N{"N"}, K{"K"};
                       std::vector<Extent> a{2, M, K}, b{2, N, K};
                       if (batches == 2) a.insert(a.begin(), Extent(Symbol("H"))), b.insert(b.begin(), a.front());
                       const Tensor A = m.whole("A", type, a, -4, 4), B = m.whole("B", type, b, -4, 4);
                       const auto y = ops::batch_matmul(A, B, {.transpose_b = true});
                       m.out(y);
                       return Steps([=](Schedule& s) {
                         if (y.sum.id() == y.result.id())
                           schedules::gpu_matmul(s, s[y.sum], A, B, on_device(s, o));
                         else
                           schedules::gpu_matmul(s, s[y.sum], A, B, s[y.result], on_device(s, o));
                       });
                     },
                     shapes, transposed_shape});
    }
}

void transpositions(std::vector<DeviceProgram>& all) {
  const auto transpose = [&](const char* name, Type type, const std::vector<std::size_t>& order,
                             const std::function<Tensor(const Tensor&)>& turned, const schedules::GpuTransposeOptions& o,
                             const Shapes& shapes) {
    all.push_back({name,
                   [=](DeviceMaker& m) {
                     std::vector<Extent> extents;
                     for (std::size_t d = 0; d < order.size(); ++d) extents.emplace_back(Symbol("N"));
                     const Tensor x = m.whole("x", type, extents, 0, 100), y = ops::copy(turned(x));
                     m.out(y);
                     return Steps([=](Schedule& s) { schedules::gpu_transpose(s, s[y], x, o); });
                   },
                   shapes,
                   [=](const std::vector<Dims>& in) {
                     Dims d;
                     for (const std::size_t k : order) d.push_back(in[0][k]);
                     return std::vector<Dims>{d};
                   }});
  };
  transpose("transposition", f32, {1, 0}, [](const Tensor& x) { return ops::transpose(x); }, {},
            {{{33, 70}}, {{1, 1}}, {{0, 4}}, {{64, 3}}, {{32, 64}}, {{36, 40}}});
  transpose("transposition of bf16", bf16, {1, 0}, [](const Tensor& x) { return ops::transpose(x); }, {},
            {{{64, 128}}, {{72, 80}}, {{65, 7}}});
  transpose("channels last to channels first, of f16", f16, {0, 3, 1, 2},
            [](const Tensor& x) { return ops::transpose(x, {0, 3, 1, 2}); }, {}, {{{2, 3, 40, 5}}, {{1, 1, 1, 33}}});
  transpose("transposition of bytes in small tiles", u8, {2, 1, 0}, [](const Tensor& x) { return ops::transpose(x); },
            {.tile = 16, .rows = 5}, {{{17, 3, 20}}, {{5, 0, 5}}});
}

void scatters(std::vector<DeviceProgram>& all) {
  const auto bins = [](const std::vector<Dims>&) { return std::vector<Dims>{{256}}; };
  all.push_back({"a histogram, a result for each block",
                 [](DeviceMaker& m) {
                   const Tensor y = ops::histogram(m.whole("x", u8, {Symbol("N")}, 0, 255));
                   m.out(y);
                   return Steps([=](Schedule& s) { schedules::gpu_scatter(s, s[y], {.threads = 64, .part = 100}); });
                 },
                 {{{1000}}, {{100}}, {{1}}, {{0}}},
                 bins});
  all.push_back({"by default: a histogram of two dimensions",
                 [](DeviceMaker& m) {
                   m.out(ops::histogram(m.whole("x", u8, {Symbol("M"), Symbol("N")}, 0, 9)));
                   return Steps([=](Schedule& s) { schedule_by_default(s); });
                 },
                 {{{70, 9}}, {{1, 1}}, {{0, 4}}},
                 bins});
}

void scans(std::vector<DeviceProgram>& all) {
  const auto scan = [&](const char* name, const std::vector<Extent>& extents, const schedules::GpuScanOptions& o,
                        const Shapes& shapes) {
    all.push_back({name,
                   [=](DeviceMaker& m) {
                     const Tensor x = m.whole("x", f32, extents, -3, 3),
                                  y = ops::cumsum(x, static_cast<int>(extents.size()) - 1);
                     m.out(y);
                     return Steps([=](Schedule& s) { schedules::gpu_scan(s, s[y], o); });
                   },
                   shapes});
  };
  const Symbol M{"M"}, N{"N"};
  scan("a scan of one row", {N}, {.part = 128, .each = 4}, {{{300}}, {{1}}, {{0}}, {{33000}}});
  scan("scans of rows", {M, N}, {}, {{{3, 2100}}, {{2, 1}}, {{0, 5}}, {{5, 0}}});
  scan("scans of short rows", {M, 70}, {}, {{{40, 70}}, {{1, 70}}});
  all.push_back({"by default: largest so far",
                 [](DeviceMaker& m) {
                   m.out(ops::cummax(m.whole("x", i32, {Symbol("M"), Symbol("N")}, -9, 9), 1));
                   return Steps([](Schedule& s) { schedule_by_default(s); });
                 },
                 {{{3, 70}}, {{1, 2049}}, {{0, 4}}}});
}

void stencils(std::vector<DeviceProgram>& all) {
  for (const bool copied : {false, true})
    all.push_back({copied ? "windows of a copied tile" : "windows",
                   [=](DeviceMaker& m) {
                     const Tensor x = m.in("x", f32, {1, 2, Symbol("M"), Symbol("N")});
                     const Tensor y = ops::max_pool2d(x, {.window = {3, 3}, .stride = {1, 1}, .padding = {1, 1}});
                     m.out(y);
                     return Steps([=](Schedule& s) {
                       schedules::gpu_stencil(s, {s[y]}, copied ? std::vector<Tensor>{x} : std::vector<Tensor>{});
                     });
                   },
                   {{{1, 2, 33, 40}}, {{1, 2, 1, 2}}}});
  for (const ops::PadMode border : {ops::PadMode::edge, ops::PadMode::constant})
    all.push_back({border == ops::PadMode::edge ? "a separable filter, edges repeated" : "a separable filter, zeros around",
                   [=](DeviceMaker& m) {
                     const Tensor x = m.in("x", f32, {Symbol("M", {.min = 1}), Symbol("N", {.min = 1})});
                     const auto y = ops::gaussian_blur(x, 1.5, 2, {.border = border});
                     m.out(y);
                     return Steps([=](Schedule& s) {
                       schedules::gpu_stencil(s, {s[y.stages[0]], s[y.result]}, {x}, {.threads_i = 4, .rows = 3});
                     });
                   },
                   {{{33, 40}}, {{1, 1}}, {{5, 3}}},
                   {},
                   1e-5});
}

void programs_by_default(std::vector<DeviceProgram>& all) {
  const auto program = [&](const char* name, const std::function<Tensor(DeviceMaker&)>& made, const Shapes& shapes,
                           const std::function<std::vector<Dims>(const std::vector<Dims>&)>& results, double tolerance = 1e-4) {
    all.push_back({name,
                   [=](DeviceMaker& m) {
                     m.out(made(m));
                     return Steps([](Schedule& s) { schedule_by_default(s); });
                   },
                   shapes, results, tolerance});
  };
  program("by default: two layers and a softmax",
          [](DeviceMaker& m) {
            const Symbol M{"M"}, N{"N"}, K{"K"};
            const Tensor x = m.in("x", f32, {M, K}), W = m.in("W", f32, {K, N}), b = m.in("b", f32, {N}),
                         V = m.in("V", f32, {N, K});
            return ops::softmax(ops::matmul(ops::relu(ops::dense(x, W, b)), V)).result;
          },
          {{{17, 33}, {33, 20}, {20}, {20, 33}}, {{1, 1}, {1, 1}, {1}, {1, 1}}}, {});
  program("by default: attention of products and a softmax",
          [](DeviceMaker& m) {
            const Symbol M{"M"}, N{"N"};
            const Tensor q = m.in("q", f32, {2, M, 40}), k = m.in("k", f32, {2, N, 40}), v = m.in("v", f32, {2, N, 40});
            return ops::batch_matmul(ops::softmax(ops::batch_matmul(q, k, {.transpose_b = true})), v).result;
          },
          {{{2, 5, 40}, {2, 19, 40}, {2, 19, 40}}}, {});
  program(
      "by default: a convolution with its activation",
      [](DeviceMaker& m) {
        const Tensor x = m.whole("x", f32, {Symbol("N"), Symbol("C"), Symbol("H", {.min = 1}), Symbol("W", {.min = 1})}, -4, 4);
        return ops::relu(
            ops::conv2d(x, m.whole("w", f32, {Symbol("O"), x.extent(1), 3, 3}, -4, 4), Tensor(), {.padding = {1, 1}}).result);
      },
      {{{1, 5, 9, 33}, {10, 5, 3, 3}}, {{1, 1, 1, 1}, {1, 1, 3, 3}}},
      [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][0], in[1][0], in[0][2], in[0][3]}}; });
  program(
      "by default: attention of bf16",
      [](DeviceMaker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor q = m.in("q", bf16, {1, 1, M, 64}), k = m.in("k", bf16, {1, 1, N, 64}), v = m.in("v", bf16, {1, 1, N, 64});
        return ops::attention(q, k, v).result;
      },
      {{{1, 1, 66, 64}, {1, 1, 35, 64}, {1, 1, 35, 64}}, {{1, 1, 3, 64}, {1, 1, 32, 64}, {1, 1, 32, 64}}}, {}, 4e-3);
  program(
      "by default: causal attention of f16, values that are infinite or NaN",
      [](DeviceMaker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor q = m.in("q", f16, {1, 2, M, 32}), k = m.in("k", f16, {1, 1, N, 32}),
                     v = m.special("v", f16, {1, 1, N, 32});
        return ops::attention(q, k, v, {.causal = ops::Causal::last, .groups = 2}).result;
      },
      {{{1, 2, 66, 32}, {1, 1, 75, 32}, {1, 1, 75, 32}}, {{1, 2, 3, 32}, {1, 1, 3, 32}, {1, 1, 3, 32}}}, {}, 4e-3);
  for (const std::int64_t window : {3, 1})
    program(
        window == 3 ? "by default: a convolution of bf16" : "by default: a convolution of f16, a window of 1 x 1",
        [window](DeviceMaker& m) {
          const Type type = window == 3 ? bf16 : f16;
          const Tensor x = m.whole("x", type, {Symbol("N"), Symbol("H", {.min = 1}), Symbol("W", {.min = 1}), 32}, -2, 2);
          const Tensor w = m.whole("w", type, {window, window, 32, 72}, -2, 2), b = m.whole("b", type, {72}, -2, 2);
          const ops::Pad around(static_cast<int>(window / 2));
          return ops::conv2d(x, w, b, {.padding = {around, around}, .layout = ops::Layout::channels_last}).result;
        },
        {{{1, 9, 17, 32}, {window, window, 32, 72}, {72}}, {{2, 8, 16, 32}, {window, window, 32, 72}, {72}}},
        [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][0], in[0][1], in[0][2], 72}}; });
  program("by default: a softmax, rows of any length",
          [](DeviceMaker& m) { return ops::softmax(m.in("x", f32, {Symbol("M"), Symbol("N")})).result; },
          {{{3, 300}}, {{2, 8196}}, {{2, 8193}}, {{4, 7}}, {{0, 4}}}, {});
  program("by default: points and a bias",
          [](DeviceMaker& m) {
            const Symbol M{"M"}, N{"N"};
            const Tensor x = m.in("x", f16, {M, N}), b = m.in("b", f16, {N});
            return ops::relu(ops::add(x, b));
          },
          {{{3, 304}, {304}}, {{5, 33}, {33}}, {{1, 1}, {1}}}, {});
  program(
      "by default: a loss of two softmaxes",
      [](DeviceMaker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", f32, {M, N}), y = m.in("y", f32, {M, N});
        return ops::kl_divergence(ops::log_softmax(x), ops::softmax(y));
      },
      {{{3, 70}, {3, 70}}}, [](const std::vector<Dims>&) { return std::vector<Dims>{{}}; });
  program(
      "by default: a norm, turned around",
      [](DeviceMaker& m) {
        const Tensor x = m.in("x", f32, {Symbol("M"), Symbol("N")});
        return ops::copy(ops::transpose(ops::layer_norm(x, Tensor(), Tensor())));
      },
      {{{5, 70}}, {{33, 2}}}, [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][1], in[0][0]}}; });
}

}  // namespace

const std::vector<DeviceProgram>& device_programs() {
  static const std::vector<DeviceProgram> all = [] {
    std::vector<DeviceProgram> list;
    points(list), reductions(list), rows(list), products(list), transpositions(list), scatters(list), scans(list),
        stencils(list), programs_by_default(list), tensor_programs(list);
    return list;
  }();
  return all;
}

Tensor DeviceMaker::in(const char* name, Type type, const std::vector<Extent>& extents, int low, int high, bool whole) {
  inputs.push_back({lang::make_input(name, type, extents), type, low, high, whole});
  return inputs.back().tensor;
}

DeviceRuns runs_of(const DeviceProgram& p, const Target& target) {
  lang::DefinitionScope scope;
  DeviceMaker m;
  const Steps steps = p.build(m);
  std::vector<lang::ArgumentRef> arguments;
  for (const DeviceMaker::Input& i : m.inputs) arguments.emplace_back(i.tensor);
  for (std::size_t k = 0; k < m.results.size(); ++k) {
    const Tensor& t = m.results[k];
    const Tensor out = lang::make_output(("result" + std::to_string(k)).c_str(), t.type(), t.shape().extents());
    lang::bind(out, t);
    arguments.emplace_back(out);
  }
  const lang::Built built = lang::build_program("on_device", arguments);
  Schedule s(built, target);
  steps(s);
  schedule::finish(s.scheduled(), target);
  DeviceRuns r;
  r.kernel = lower(s.scheduled().program, options_for(target));
  std::uint64_t seed = 1;
  for (const std::vector<Dims>& shapes : p.shapes) {
    interp::Arguments given;
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      const DeviceMaker::Input& of = m.inputs[k];
      const std::uint64_t parts = of.whole ? 1 : 64;
      given.emplace_back(interp::Array::make(of.type, shapes[k], [&](auto) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
        const std::uint64_t values = static_cast<std::uint64_t>(of.high - of.low) * parts + 1;
        const double infinity = std::numeric_limits<double>::infinity();
        if (of.special && (seed >> 40) % 64 == 0)
          return (seed >> 46) % 3 == 0   ? std::numeric_limits<double>::quiet_NaN()
                 : (seed >> 46) % 3 == 1 ? infinity
                                         : -infinity;
        return of.low + static_cast<double>((seed >> 11) % values) / static_cast<double>(parts);
      }));
    }
    const std::vector<Dims> results = p.results ? p.results(shapes) : std::vector<Dims>(m.results.size(), shapes.front());
    for (std::size_t k = 0; k < m.results.size(); ++k) {
      interp::Array a = interp::Array::zeros(m.results[k].type(), results[k]);
      std::fill(a.bytes.begin(), a.bytes.end(), std::byte{0x5b});
      given.emplace_back(std::move(a));
    }
    interp::Arguments meant = given;
    interp::run_algorithm(built.program, meant);
    r.given.push_back(std::move(given)), r.meant.push_back(std::move(meant));
  }
  return r;
}

}  // namespace schedules_test
