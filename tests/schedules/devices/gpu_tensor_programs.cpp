// Programs on tensor cores by default: attention whose loops leave out tiles of keys, and convolutions of every form.
#include <ashlar/ops.h>
#include <ashlar/schedules.h>

#include "tests/schedules/gpu_programs.h"

namespace schedules_test {

namespace {

using Made = std::function<Tensor(DeviceMaker&)>;
using Results = std::function<std::vector<Dims>(const std::vector<Dims>&)>;

void by_default(std::vector<DeviceProgram>& all, const std::string& name, const Made& made,
                const std::vector<std::vector<Dims>>& shapes, const Results& results, double tolerance) {
  all.push_back({"by default: " + name,
                 [=](DeviceMaker& m) {
                   m.out(made(m));
                   return std::function<void(Schedule&)>([](Schedule& s) { schedule_by_default(s); });
                 },
                 shapes, results, tolerance});
}

void attentions(std::vector<DeviceProgram>& all) {
  const auto attention = [&](const std::string& name, Type type, const ops::AttentionOptions& o, double tolerance) {
    by_default(
        all, name,
        [=](DeviceMaker& m) {
          const Symbol M{"M"}, N{"N"};
          const Tensor q = m.in("q", type, {1, 2, M, 16}), k = m.in("k", type, {1, 2, N, 16}),
                       v = m.in("v", type, {1, 2, N, 16});
          return ops::attention(q, k, v, o).result;
        },
        {{{1, 2, 150, 16}, {1, 2, 170, 16}, {1, 2, 170, 16}},
         {{1, 2, 70, 16}, {1, 2, 3, 16}, {1, 2, 3, 16}},
         {{1, 2, 3, 16}, {1, 2, 0, 16}, {1, 2, 0, 16}}},
        {}, tolerance);
  };
  attention("causal attention of bf16, several blocks", bf16, {.causal = ops::Causal::first}, 4e-3);
  attention("causal attention of f16 with a window, finite", f16, {.causal = ops::Causal::last, .window = 40, .finite = true},
            4e-3);
  attention("causal attention of bf16, rounded weights", bf16, {.causal = ops::Causal::last, .rounded = true}, 1.2e-2);
}

struct Convolved {
  Type type = bf16;
  std::vector<int> window{3, 3};
  bool last = true;
  int stride = 1, dilation = 1, groups = 1, channels = 16, results = 32;
};

template <std::size_t N>
ops::ConvOptions<N> options_of(const Convolved& k) {
  ops::ConvOptions<N> o;
  o.stride.fill(k.stride), o.padding.fill(ops::Pad(1)), o.dilation.fill(k.dilation);
  o.groups = k.groups;
  o.layout = k.last ? ops::Layout::channels_last : ops::Layout::channels_first;
  return o;
}

// Of whole numbers, with a padding of 1, for images of these shapes.
void convolution(std::vector<DeviceProgram>& all, const std::string& name, const Convolved& k,
                 const std::vector<Dims>& images) {
  const auto around = [&](const Dims& first, const Dims& rest, const Dims& behind) {
    Dims d = first;
    d.insert(d.end(), rest.begin(), rest.end());
    d.insert(d.end(), behind.begin(), behind.end());
    return d;
  };
  const Dims taps(k.window.begin(), k.window.end());
  const std::int64_t own = k.channels / k.groups;
  const Dims w = k.last ? around({}, taps, {own, k.results}) : around({k.results, own}, taps, {});
  std::vector<std::vector<Dims>> shapes;
  for (const Dims& image : images)
    shapes.push_back({k.last ? around({2}, image, {k.channels}) : around({2, k.channels}, image, {}), w});
  by_default(
      all, name,
      [=](DeviceMaker& m) {
        const char* names[] = {"A", "B", "C"};
        std::vector<Extent> of_x{2}, of_w;
        if (!k.last) of_x.emplace_back(k.channels);
        for (std::size_t d = 0; d < k.window.size(); ++d) of_x.emplace_back(Symbol(names[d], {.min = 1}));
        if (k.last) of_x.emplace_back(k.channels);
        for (const std::int64_t n : w) of_w.emplace_back(n);
        const Tensor x = m.whole("x", k.type, of_x, -2, 2), weights = m.whole("w", k.type, of_w, -2, 2);
        if (k.window.size() == 1) return ops::conv1d(x, weights, {}, options_of<1>(k)).result;
        if (k.window.size() == 2) return ops::conv2d(x, weights, {}, options_of<2>(k)).result;
        return ops::conv3d(x, weights, {}, options_of<3>(k)).result;
      },
      shapes,
      [=](const std::vector<Dims>& in) {
        Dims d = in[0];
        for (std::size_t k0 = 0; k0 < k.window.size(); ++k0) {
          std::int64_t& n = d[k0 + (k.last ? 1 : 2)];
          n = (n + 2 - k.dilation * (k.window[k0] - 1) - 1) / k.stride + 1;
        }
        d[k.last ? d.size() - 1 : 1] = k.results;
        return std::vector<Dims>{d};
      },
      0);
}

}  // namespace

void tensor_programs(std::vector<DeviceProgram>& all) {
  attentions(all);
  convolution(all, "a convolution of bf16 with strides", {.stride = 2, .channels = 32, .results = 72}, {{9, 35}, {1, 1}});
  convolution(all, "a convolution of f16 in groups, dilated",
              {.type = f16, .dilation = 2, .groups = 2, .channels = 32, .results = 64}, {{9, 17}});
  convolution(all, "a convolution of bf16, channels first", {.last = false, .results = 20}, {{9, 17}, {1, 40}});
  convolution(all, "a convolution of f16, channels first, strides and groups",
              {.type = f16, .last = false, .stride = 2, .groups = 2, .channels = 32, .results = 32}, {{10, 35}});
  convolution(all, "a convolution of one dimension", {.window = {3}}, {{150}, {1}});
  convolution(all, "a convolution of one dimension, channels first, strides",
              {.type = f16, .window = {5}, .last = false, .stride = 3}, {{301}});
  convolution(all, "a convolution of three dimensions", {.window = {3, 3, 3}}, {{3, 9, 17}});
  convolution(all, "a convolution of three dimensions, channels first, strides",
              {.window = {1, 3, 2}, .last = false, .stride = 2}, {{2, 5, 18}});
}

}  // namespace schedules_test
