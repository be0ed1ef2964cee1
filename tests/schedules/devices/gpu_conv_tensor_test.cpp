// gpu_conv on tensor cores: both layouts, one to three image dimensions, strides, dilations, groups, padding and biases, for
// sizes that no tile divides, in the interpreter of launches with the search for races; when the default schedule takes it.
// Sums of whole numbers are exact.
#include <random>

#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/ops.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules.h>

#include "tests/schedules/scheduled.h"

using namespace ashlar;

namespace {

struct Kind {
  const char* name;
  Type type = bf16;
  std::vector<int> window{3, 3};  // its extents, as many as the image has
  bool last = true, bias = false;
  int padding = 0, stride = 1, dilation = 1, groups = 1, channels = 16, results = 32;
  std::vector<std::int64_t> image{9, 35};
};

template <std::size_t N>
ops::ConvOptions<N> options_of(const Kind& k) {
  ops::ConvOptions<N> o;
  o.stride.fill(k.stride), o.padding.fill(ops::Pad(k.padding)), o.dilation.fill(k.dilation);
  o.groups = k.groups;
  o.layout = k.last ? ops::Layout::channels_last : ops::Layout::channels_first;
  return o;
}

struct Scheduled {
  lang::DefinitionScope scope;
  Tensor x, w, b, out;
  ops::Convolution y;
  lang::Built built;
  Schedule s;

  explicit Scheduled(const Kind& kind, const char* target = "cuda-sm_80")
      : built(defined(kind)), s(built, Target::parse(target)) {}
  lang::Built defined(const Kind& k) {
    const char* names[] = {"A", "B", "C"};
    std::vector<Extent> image, taps;
    for (std::size_t d = 0; d < k.window.size(); ++d) image.emplace_back(Symbol(names[d])), taps.emplace_back(k.window[d]);
    const auto shape = [&](const std::vector<Extent>& first, const std::vector<Extent>& rest,
                           const std::vector<Extent>& behind) {
      std::vector<Extent> all = first;
      all.insert(all.end(), rest.begin(), rest.end());
      all.insert(all.end(), behind.begin(), behind.end());
      return all;
    };
    const Extent own(k.channels / k.groups);
    x = lang::make_input("x", k.type,
                         k.last ? shape({Symbol("N")}, image, {k.channels}) : shape({Symbol("N"), k.channels}, image, {}));
    w = lang::make_input("w", k.type, k.last ? shape({}, taps, {own, k.results}) : shape({k.results, own}, taps, {}));
    std::vector<lang::ArgumentRef> arguments{x, w};
    if (k.bias) arguments.emplace_back(b = lang::make_input("b", k.type, {k.results}));
    y = k.window.size() == 1   ? ops::conv1d(x, w, b, options_of<1>(k))
        : k.window.size() == 2 ? ops::conv2d(x, w, b, options_of<2>(k))
                               : ops::conv3d(x, w, b, options_of<3>(k));
    out = lang::make_output("y", y.result.type(), y.result.shape().extents());
    lang::bind(out, y.result);
    arguments.emplace_back(out);
    return lang::build_program("convolution", arguments);
  }
};

interp::Array numbers(Type t, std::vector<std::int64_t> shape, unsigned seed) {
  std::mt19937 random(seed);
  return interp::Array::make(t, std::move(shape), [&](std::span<const std::int64_t>) {
    return static_cast<double>(static_cast<int>(random() % 7) - 3);
  });
}

// The arguments of a call with this image.
interp::Arguments arguments_of(const Scheduled& op, const Kind& k, std::int64_t batch, const std::vector<std::int64_t>& image) {
  std::vector<std::int64_t> x{batch}, w, y{batch}, after;
  for (std::size_t d = 0; d < image.size(); ++d)
    after.push_back((image[d] + 2 * k.padding - k.dilation * (k.window[d] - 1) - 1) / k.stride + 1);
  const std::int64_t own = k.channels / k.groups;
  if (!k.last) x.push_back(k.channels), y.push_back(k.results), w = {k.results, own};
  x.insert(x.end(), image.begin(), image.end()), y.insert(y.end(), after.begin(), after.end());
  w.insert(w.end(), k.window.begin(), k.window.end());
  if (k.last) x.push_back(k.channels), y.push_back(k.results), w.push_back(own), w.push_back(k.results);
  interp::Arguments given;
  given.emplace_back(numbers(k.type, x, 1)), given.emplace_back(numbers(k.type, w, 2));
  if (k.bias) given.emplace_back(numbers(k.type, {k.results}, 3));
  given.emplace_back(interp::Array::zeros(op.out.type(), y));
  return given;
}

bool by_cores(const Kind& kind, const schedules::DefaultOptions& o = {}, const char* target = "cuda-sm_80") {
  Scheduled op(kind, target);
  const bool said =
      schedule_by_default(op.s, o).text().find("a convolution in one launch by tensor cores") != std::string::npos;
  CHECK(said == (op.s.text().find("by mma_") != std::string::npos));
  return said;
}

}  // namespace

TEST_CASE("gpu_conv computes on tensor cores strides, groups, both layouts and every number of dimensions") {
  using Window = std::vector<int>;
  const Kind kinds[] = {
      {.name = "strides", .bias = true, .padding = 1, .stride = 2, .channels = 32},
      {.name = "strides of 3, f16, a window of 5 x 3", .type = f16, .window = Window{5, 3}, .padding = 2, .stride = 3},
      {.name = "strides and dilations", .padding = 1, .stride = 2, .dilation = 2},
      {.name = "groups", .bias = true, .padding = 1, .groups = 2, .channels = 64, .results = 128},
      {.name = "groups of 16, strides", .stride = 2, .groups = 2, .channels = 32, .results = 32},
      {.name = "nchw", .last = false, .bias = true, .padding = 1, .results = 20},
      {.name = "nchw, f16, strides, groups",
       .type = f16,
       .last = false,
       .padding = 1,
       .stride = 2,
       .groups = 2,
       .channels = 32,
       .results = 96},
      {.name = "nchw, dilations, no padding", .last = false, .dilation = 2},
      {.name = "1-d", .window = Window{3}, .bias = true, .padding = 1, .image = {150}},
      {.name = "1-d, nchw, strides, dilations",
       .window = Window{5},
       .last = false,
       .padding = 2,
       .stride = 2,
       .dilation = 3,
       .image = {301}},
      {.name = "1-d, groups", .type = f16, .window = Window{1}, .groups = 2, .channels = 32, .results = 64, .image = {17}},
      {.name = "3-d", .window = Window{3, 3, 3}, .bias = true, .padding = 1, .image = {3, 9, 17}},
      {.name = "3-d, nchw, strides", .window = Window{2, 3, 1}, .last = false, .padding = 1, .stride = 2, .image = {4, 6, 20}}};
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    CHECK(by_cores(kind));
    Scheduled op(kind);
    schedules::gpu_conv(op.s, op.s[op.y.sum], op.s[op.y.result]);
    CHECK(op.s.text().find("by mma_") != std::string::npos);
    schedule::finish(op.s.scheduled(), op.s.target());
    const ir::Kernel kernel = lower(op.s.scheduled().program, options_for(op.s.target()));
    std::vector<std::int64_t> small;
    for (const int n : kind.window) small.push_back((n - 1) * kind.dilation + 1);
    for (const auto& [batch, image] : {std::pair{1, kind.image}, {2, small}}) {
      CAPTURE(batch);
      interp::Arguments given = arguments_of(op, kind, batch, image), meant = given;
      interp::run_algorithm(op.built.program, meant);
      interp::Options run;
      run.races = true;
      REQUIRE_NOTHROW(interp::run(kernel, given, run));
      CHECK(interp::difference(given.back().array, meant.back().array, 0, 0) == "");
    }
  }
}

TEST_CASE("convolutions that tensor cores do not take are scheduled without them") {
  const Kind narrow{.name = "nhwc", .padding = 1, .channels = 32, .results = 64};
  CHECK(by_cores(narrow));
  CHECK(by_cores(narrow, {}, "cuda-sm_90a"));
  CHECK_FALSE(by_cores(narrow, {.tensor_cores = false}));
  CHECK_FALSE(by_cores(narrow, {.regroup = false}));
  CHECK_FALSE(by_cores(narrow, {}, "vulkan"));
  CHECK_FALSE(by_cores({.name = "f32", .type = f32, .channels = 32}));
  CHECK_FALSE(by_cores({.name = "24 channels", .channels = 24}));
  CHECK_FALSE(by_cores({.name = "8 channels of a group", .groups = 2, .channels = 16}));
  CHECK_FALSE(by_cores({.name = "8 results of a group", .groups = 4, .channels = 64, .results = 32}));
  CHECK_FALSE(by_cores({.name = "36 results behind one another", .results = 36}));
  CHECK(by_cores({.name = "36 results, channels first", .last = false, .results = 36}));
  CHECK_FALSE(by_cores({.name = "a window of 28 taps", .window = {4, 7}, .padding = 3}));
  CHECK_FALSE(by_cores({.name = "tiles of more than a block's shared memory", .padding = 24, .dilation = 24}));
}
