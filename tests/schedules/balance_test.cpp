// How the work of the bench's kernels, and of the same programs by default, falls to pools of 8 to 64 workers: by counts, which
// no machine needs to have so many. The page golden/balance.txt has, for each, the work of the busiest worker beside the mean:
// at most 1.15, or it is marked there, by name, as a kernel that is not divided finely enough.
#include <fmt/core.h>

#include <doctest/doctest.h>

#include <ashlar/generator/generator.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/explain.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedules.h>
#include <ashlar/schedules/by_default.h>

#include "apps/convolution/conv3x3.h"
#include "apps/matmul/narrow.h"
#include "apps/matmul/product.h"
#include "apps/unsharp/unsharp.h"
#include "bench/attention_kernel.h"
#include "bench/conv_kernel.h"
#include "bench/memory_kernels.h"
#include "tests/golden.h"
#include "tests/support/worker_share.h"

namespace {

using namespace ashlar;
using Extents = std::map<std::string, std::int64_t>;
using Parameters = std::vector<std::pair<std::string, std::string>>;

// The generator with the schedule by default.
template <class G>
struct ByDefault : G {
  void schedule(Schedule& s) override { schedule_by_default(s, {.subnormals_as_zero = true}); }
};

// Too small to be divided among so many: a worker's share would be done in about the 10 us that fork and join may take, at four
// operations a cycle.
constexpr double least_work = 1 << 17;

const std::vector<int> pools = {2, 8, 16, 32, 64};

std::string page;  // a line for each kernel

void check(const std::string& name, const ir::Kernel& kernel, const Extents& extents, const Target& target) {
  page += fmt::format("{:<34} {:<6}", name, std::string(target.text()));
  for (const worker_share::Shares& s : worker_share::worker_shares(kernel, extents, pools, target.lanes(f32) * 32)) {
    CHECK(s.most() >= 1 - 1e-9);
    const bool small = s.work() / s.workers < least_work;
    page += small ? "       -" : fmt::format("  {:5.2f}{}", s.most(), s.most() > 1.15 ? '!' : ' ');
  }
  page.erase(page.find_last_not_of(' ') + 1);
  page += '\n';
}

template <class G>
void balanced(const std::string& name, const Target& target, const Extents& extents, const Parameters& parameters = {}) {
  check(name, instantiate<G>(target, parameters).kernel(), extents, target);
}

void products(const Target& target) {
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{128, 128, 128},
                                                                        {256, 256, 256},
                                                                        {512, 512, 512},
                                                                        {1024, 1024, 1024},
                                                                        {2048, 2048, 2048},
                                                                        {1023, 1023, 1023},
                                                                        {1000, 700, 900},
                                                                        {1, 4096, 4096},
                                                                        {8, 4096, 4096}})
    balanced<product::Matmul>("matmul " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k), target,
                              {{"M", m}, {"N", n}, {"K", k}});
  const Extents cube{{"M", 1024}, {"N", 1024}, {"K", 1024}};
  balanced<product::MatmulU8S8>("matmul_u8s8", target, cube);
  balanced<product::MatmulStored>("matmul_stored", target, cube);
  if (target.has("avx512bf16")) balanced<product::MatmulBf16>("matmul_bf16", target, cube);
}

void convolutions(const Target& target) {
  const int block = 2 * target.lanes(f32);
  struct Layer {
    int channels, outputs, size, window, stride, in_block;
  };
  for (const Layer& l : {Layer{64, 64, 56, 3, 1, 32},
                         {128, 128, 28, 3, 1, 32},
                         {256, 256, 14, 3, 1, 32},
                         {512, 512, 7, 3, 1, 32},
                         {64, 256, 56, 1, 1, 32},
                         {3, 64, 224, 7, 2, 3}})
    balanced<kernels::Convolution>("conv " + std::to_string(l.size), target, {{"B", l.outputs / block}},
                                   {{"channels", std::to_string(l.channels)},
                                    {"size", std::to_string(l.size)},
                                    {"window", std::to_string(l.window)},
                                    {"stride", std::to_string(l.stride)},
                                    {"in_block", std::to_string(l.in_block)}});
  for (const int channels : {64, 128, 256, 512}) {
    const std::int64_t size = 56 * 64 / channels;
    const Extents extents{{"H", size}, {"W", size}, {"B", channels / block}};
    const Parameters parameters{{"channels", std::to_string(channels)},
                                {"tile_x", target.vector_registers() >= 32 ? channels == 512 ? "7" : "14" : "6"}};
    balanced<convolution::U8S8>("conv3x3_u8s8 " + std::to_string(size), target, extents, parameters);
    balanced<convolution::Stored>("conv3x3_stored " + std::to_string(size), target, extents, parameters);
  }
}

void others(const Target& target) {
  balanced<kernels::Attention>("attention", target, {{"H", 8}, {"M", 512}, {"N", 512}});
  balanced<kernels::Attention>("attention_decode 512", target, {{"H", 8}, {"M", 1}, {"N", 512}}, {{"queries", "1"}});
  balanced<kernels::Attention>("attention_decode 8192", target, {{"H", 8}, {"M", 1}, {"N", 8192}}, {{"queries", "1"}});
  balanced<kernels::Softmax>("softmax 1024", target, {{"M", 1024}, {"N", 1024}});
  balanced<kernels::Softmax>("softmax 4096", target, {{"M", 4096}, {"N", 256}});
  balanced<kernels::LayerNorm>("layer_norm", target, {{"M", 1024}, {"N", 768}});
  balanced<kernels::Gelu>("gelu", target, {{"N", 1 << 20}});
  balanced<kernels::Sum>("sum", target, {{"N", 1 << 24}});
  balanced<kernels::Transpose>("transpose", target, {{"M", 2048}, {"N", 2048}}, {{"stream", "true"}});
  balanced<kernels::Depthwise>("depthwise 144", target, {}, {{"channels", "144"}, {"size", "56"}});
  balanced<kernels::Depthwise>("depthwise 32", target, {}, {{"channels", "32"}, {"size", "112"}});
  balanced<kernels::BoxBlur>("box_blur", target, {{"H", 1602}, {"W", 2136}}, {{"stream", "true"}});
  balanced<unsharp::Unsharp>("unsharp", target, {{"H", 1536}, {"W", 2560}}, {{"stream", "true"}});
}

template <class G>
void by_default(const std::string& name, const Target& target, const Extents& extents, const Parameters& parameters = {}) {
  balanced<ByDefault<G>>("default " + name, target, extents, parameters);
}
void defaults(const Target& target) {
  by_default<product::Matmul>("matmul 1024", target, {{"M", 1024}, {"N", 1024}, {"K", 1024}});
  by_default<kernels::Attention>("attention", target, {{"H", 8}, {"M", 512}, {"N", 512}});
  by_default<kernels::Softmax>("softmax 1024", target, {{"M", 1024}, {"N", 1024}});
  by_default<kernels::LayerNorm>("layer_norm", target, {{"M", 1024}, {"N", 768}});
  by_default<kernels::Gelu>("gelu", target, {{"N", 1 << 20}});
  by_default<kernels::Sum>("sum", target, {{"N", 1 << 24}});
  by_default<kernels::Transpose>("transpose", target, {{"M", 2048}, {"N", 2048}});
  by_default<kernels::Depthwise>("depthwise 144", target, {}, {{"channels", "144"}, {"size", "56"}});
  by_default<kernels::BoxBlur>("box_blur", target, {{"H", 1602}, {"W", 2136}});
  by_default<unsharp::Unsharp>("unsharp", target, {{"H", 1536}, {"W", 2560}});
}

constexpr const char* targets[] = {"zen3", "zen4"};

}  // namespace

TEST_CASE("how work is divided among 8 to 64 workers") {
  page = fmt::format("{:<41}", "busiest worker / mean");
  for (const int workers : pools) page += fmt::format("{:>7} ", workers);
  page.erase(page.find_last_not_of(' ') + 1);
  page += '\n';
  for (const char* t : targets) {
    const Target target = Target::parse(t);
    products(target), convolutions(target), others(target), defaults(target);
  }
  CHECK(golden("schedules/golden/balance.txt", page) == "");
}

// Iteration i adds i terms.
TEST_CASE("the busiest worker of a loop whose iterations grow") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N, N}), y = lang::make_output("y", f32, {N});
  const Tensor made = compute("made", {N}, [&](Var i) {
    const Axis k{"k", i};
    return sum(x(i, k), k);
  });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("triangle", {x, y});
  Schedule s(built, Target::parse("zen3"));
  s[made].parallel(s[made].spatial<1>()[0]);
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  const auto shares = [&](std::int64_t n, int workers) {
    return worker_share::worker_shares(k, {{"N", n}}, {workers}, 256).front();
  };
  CHECK(shares(3, 1).most() == doctest::Approx(1));
  const worker_share::Shares three =
      shares(3, 2);  // iterations of c, c + t, c + 2 t: the last one by itself, or with the first
  REQUIRE(three.loops.size() == 1);
  CHECK(three.loops[0].iterations == 3);
  CHECK(three.most() > 1.1);
  CHECK(shares(3, 64).most() > 20);  // 61 workers have nothing to do
  CHECK(shares(4096, 8).most() < 1.15);
}
