// gpu_conv: both layouts, strides, dilations, windows and padding, for sizes that no tile divides, in the interpreter of
// launches with the search for races; when the default schedule takes it, and what it refuses. Sums of whole numbers are exact.

#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/ops.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules.h>

#include "tests/schedules/scheduled.h"
#include "tests/support/launched.h"

using namespace ashlar;

namespace {

struct Kind {
  const char* name;
  Type type = f32;
  bool last = false, bias = false;
  int window = 3, padding = 1, stride = 1, dilation = 1, groups = 1;
  int channels = 0, results = 0;  // numbers; 0: Symbols
};

struct Scheduled {
  lang::DefinitionScope scope;
  Symbol N{"N"}, C{"C"}, H{"H"}, W{"W"}, O{"O"};
  Tensor x, w, b, out;
  ops::Convolution y;
  lang::Built built;
  Schedule s;

  explicit Scheduled(const Kind& kind, const char* target = "cuda-sm_80")
      : built(defined(kind)), s(built, Target::parse(target)) {}
  lang::Built defined(const Kind& k) {
    const Extent channels = k.channels > 0 ? Extent(k.channels) : Extent(C),
                 own = k.channels > 0 ? Extent(k.channels / k.groups) : Extent(C),
                 results = k.results > 0 ? Extent(k.results) : Extent(O);
    using Shape = std::vector<Extent>;
    x = lang::make_input("x", k.type, k.last ? Shape{N, H, W, channels} : Shape{N, channels, H, W});
    w = lang::make_input("w", k.type,
                         k.last ? Shape{k.window, k.window, own, results} : Shape{results, own, k.window, k.window});
    std::vector<lang::ArgumentRef> arguments{x, w};
    if (k.bias) arguments.emplace_back(b = lang::make_input("b", k.type, {results}));
    y = ops::conv2d(x, w, b,
                    {.stride = {k.stride, k.stride},
                     .padding = {k.padding, k.padding},
                     .dilation = {k.dilation, k.dilation},
                     .groups = k.groups,
                     .layout = k.last ? ops::Layout::channels_last : ops::Layout::channels_first});
    out = lang::make_output("y", y.result.type(), y.result.shape().extents());
    lang::bind(out, y.result);
    arguments.emplace_back(out);
    return lang::build_program("convolution", arguments);
  }
  std::string refusal(const schedules::GpuConvOptions& o = {}) {
    const auto refused = s.attempt([&] { schedules::gpu_conv(s, s[y.sum], s[y.result], o); });
    return refused ? refused->expected + ", found " + refused->found : "";
  }
};

interp::Array numbers(Type t, std::vector<std::int64_t> shape, unsigned seed) {
  return launched::whole_numbers(t, std::move(shape), seed, -3, 3);
}

struct Call {
  std::int64_t n, c, h, w, o;
};

void check_calls(const Scheduled& op, const Kind& kind, const ir::Kernel& kernel, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    CAPTURE(call.h);
    CAPTURE(call.w);
    const std::int64_t R = kind.window;
    const auto after = [&](std::int64_t n) { return (n + 2 * kind.padding - kind.dilation * (R - 1) - 1) / kind.stride + 1; };
    using Dims = std::vector<std::int64_t>;
    interp::Arguments given;
    given.emplace_back(
        numbers(kind.type, kind.last ? Dims{call.n, call.h, call.w, call.c} : Dims{call.n, call.c, call.h, call.w}, 1));
    given.emplace_back(numbers(kind.type, kind.last ? Dims{R, R, call.c, call.o} : Dims{call.o, call.c, R, R}, 2));
    if (kind.bias) given.emplace_back(numbers(kind.type, {call.o}, 3));
    const std::int64_t h = after(call.h), w = after(call.w);
    given.emplace_back(
        interp::Array::zeros(op.out.type(), kind.last ? Dims{call.n, h, w, call.o} : Dims{call.n, call.o, h, w}));
    launched::expect_as_defined(op.built.program, kernel, given);
  }
}

}  // namespace

TEST_CASE("gpu_conv computes what the algorithm says") {
  const Kind kinds[] = {{"nchw"},
                        {"nhwc, strides, a bias", f32, true, true, 3, 1, 2},
                        {"nchw of bf16, dilations, a bias", bf16, false, true, 3, 2, 1, 2},
                        {"nhwc of f16, a window of 1, no padding", f16, true, false, 1, 0},
                        {"nchw, a window of 5, no padding, strides", f32, false, false, 5, 0, 3},
                        {"nchw of bytes", i8, false, false, 3, 1}};
  for (const char* target : {"cuda-sm_80", "vulkan-128"})
    for (const Kind& kind : kinds) {
      if (kind.type == bf16 && Target::parse(target).device().kind == Device::Kind::vulkan) continue;  // the same code
      CAPTURE(target);
      CAPTURE(kind.name);
      Scheduled op(kind, target);
      REQUIRE(op.refusal() == "");
      schedule::finish(op.s.scheduled(), op.s.target());
      const ir::Kernel kernel = lower(op.s.scheduled().program, options_for(op.s.target()));
      check_calls(op, kind, kernel, {{1, 3, 9, 33, 20}, {2, 2, 7, 6, 70}, {1, 0, 6, 6, 2}, {0, 3, 6, 6, 2}});
    }
}

TEST_CASE("gpu_conv computes on tensor cores what the algorithm says") {
  const Kind kinds[] = {{"bf16, a bias", bf16, true, true, 3, 1, 1, 1, 1, 32, 72},
                        {"f16, a window of 1", f16, true, false, 1, 0, 1, 1, 1, 16, 8},
                        {"f16, dilations, a window of 5", f16, true, false, 5, 3, 1, 2, 1, 16, 64}};
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    Scheduled op(kind);
    REQUIRE(op.refusal() == "");
    CHECK(op.s.text().find("by mma_") != std::string::npos);
    schedule::finish(op.s.scheduled(), op.s.target());
    const ir::Kernel kernel = lower(op.s.scheduled().program, options_for(op.s.target()));
    check_calls(op, kind, kernel, {{1, kind.channels, 9, 17, kind.results}, {2, kind.channels, 5, 4, kind.results}});
  }
}

TEST_CASE("the default schedule computes convolutions in one launch, and says so") {
  const auto chosen = [](const Kind& kind, const char* target = "cuda-sm_80") {
    Scheduled op(kind, target);
    const std::string text = schedule_by_default(op.s).text();
    const bool one = text.find("a convolution in one launch") != std::string::npos;
    const std::string program = op.s.text();
    if (one) CHECK(program.find("block_x") == program.rfind("block_x"));
    return one;
  };
  CHECK(chosen({"f32"}));
  CHECK(chosen({"nhwc of bf16", bf16, true, true}));
  CHECK(chosen({"f32"}, "vulkan"));
  const Kind narrow{"nhwc of bf16, channels that are numbers", bf16, true, true, 3, 1, 1, 1, 1, 32, 64};
  CHECK(chosen(narrow));
  const auto by_cores = [](const Kind& kind, const schedules::DefaultOptions& o = {}, const char* target = "cuda-sm_80") {
    Scheduled op(kind, target);
    const bool said =
        schedule_by_default(op.s, o).text().find("a convolution in one launch by tensor cores") != std::string::npos;
    CHECK(said == (op.s.text().find("by mma_") != std::string::npos));
    return said;
  };
  CHECK(by_cores(narrow));
  CHECK_FALSE(by_cores(narrow, {.tensor_cores = false}));
  CHECK_FALSE(by_cores(narrow, {.regroup = false}));
  CHECK_FALSE(by_cores(narrow, {}, "vulkan"));
  CHECK_FALSE(by_cores({"f32", f32, true, true, 3, 1, 1, 1, 1, 32, 64}));
  CHECK(by_cores({"nchw", bf16, false, true, 3, 1, 1, 1, 1, 32, 64}));
  CHECK(by_cores({"strides", bf16, true, true, 3, 1, 2, 1, 1, 32, 64}));
  const Kind far{"taps whose tile is more than a block's shared memory", bf16, true, true, 3, 24, 1, 24, 1, 32, 64};
  CHECK_FALSE(by_cores(far));
  CHECK(chosen(far));
  CHECK_FALSE(by_cores({"24 channels", bf16, true, true, 3, 1, 1, 1, 1, 24, 64}));
  CHECK_FALSE(chosen({"groups", f32, false, false, 3, 1, 1, 1, 2, 8, 16}));
  CHECK_FALSE(chosen({"few channels", f32, false, false, 3, 1, 1, 1, 1, 8, 4}));
}

TEST_CASE("gpu_conv refuses what it does not compute") {
  CHECK(Scheduled({"groups", f32, false, false, 3, 1, 1, 1, 2, 8, 16}).refusal() ==
        "a sum over channels and two dimensions of a window, of an image and weights, without groups, found conv2d");
  CHECK(Scheduled({"f32"}, "x86-64").refusal() == "a device, found the target x86-64");
  CHECK(Scheduled({"f32"}).refusal({.block_o = 12}) == "a thread_o that divides block_o, 12, found 8");
  CHECK(Scheduled({"f32"})
            .refusal({.block_o = 1024})
            .starts_with("block_o / thread_o * block_w from 1 to 1024, what a block has on cuda-sm_80, found "));
  CHECK(Scheduled({"f32"}).refusal({.thread_o = 0}) == "thread_o of at least 1, found 0");
}
