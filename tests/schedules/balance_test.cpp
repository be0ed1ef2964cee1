// How the work of the bench's kernels, and of the same programs by default, falls to pools of 2 to 64 workers: by counts, which
// no machine needs to have so many. The pages golden/balance_*.txt have, for each, the work of the busiest worker beside the
// mean: at most 1.15. What exceeds it is listed below, with the reason, and marked on the page.
#include <span>

#include <fmt/core.h>

#include <doctest/doctest.h>

#include <ashlar/generator/generator.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedules.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "apps/convolution/conv3x3.h"
#include "apps/matmul/narrow.h"
#include "apps/matmul/product.h"
#include "apps/unsharp/unsharp.h"
#include "bench/kernels/attention_kernel.h"
#include "bench/kernels/conv_kernel.h"
#include "bench/kernels/memory_kernels.h"
#include "bench/kernels/product_shapes.h"
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

constexpr double most_share = 1.15;

// Kernels that are not divided finely enough for some of the pools, and why their pieces are no smaller.
struct Exception {
  std::string_view kernel, target;
  int workers;  // the smallest pool for which it is one
  double most;  // that any of the pools has
  std::string_view why;
};
constexpr std::string_view rows_of_tiles =
    "A panel of A, for a row of tiles, is packed by the thread that reads it: it stays in the first-level cache. Packed once "
    "for all, so that each tile is a piece, one thread takes 1.15 times as long.";
constexpr std::string_view register_tiles =
    "So many register tiles there are, of 14 pixels and less; one is not divided, since its sums would be.";
constexpr std::string_view columns_of_b =
    "Of 4096 columns there are four blocks of 1024: of narrower ones one thread takes 1.2 times as long, of parts of the sum "
    "1.1.";
constexpr std::string_view panels_of_a_head = "What is packed of a head is computed in its iteration: a head is a piece.";
constexpr std::string_view keys_of_a_head = "The softmax of a head's scores goes over all of its keys: a head is a piece.";
constexpr Exception exceptions[] = {
    {"matmul 512x512x512", "zen3", 64, 1.50, rows_of_tiles},
    {"matmul 8x4096x4096", "zen3", 8, 16, columns_of_b},
    {"attention_decode 8192", "zen3", 16, 8, keys_of_a_head},
    {"default attention", "zen3", 16, 8, panels_of_a_head},
    {"matmul 512x512x512", "zen4", 16, 1.61, rows_of_tiles},
    {"matmul 1024x1024x1024", "zen4", 32, 1.63, rows_of_tiles},
    {"matmul 2048x2048x2048", "zen4", 64, 1.23, rows_of_tiles},
    {"matmul 1023x1023x1023", "zen4", 32, 1.63, rows_of_tiles},
    {"matmul 1000x700x900", "zen4", 32, 1.67, rows_of_tiles},
    {"matmul 8x4096x4096", "zen4", 8, 16, columns_of_b},
    {"matmul_u8s8", "zen4", 32, 1.63, rows_of_tiles},
    {"matmul_stored", "zen4", 32, 1.63, rows_of_tiles},
    {"matmul_bf16", "zen4", 32, 1.63, rows_of_tiles},
    {"default matmul 1024", "zen4", 32, 1.63, rows_of_tiles},
    {"conv 28", "zen4", 64, 1.18, register_tiles},
    {"conv 14", "zen4", 32, 1.21, register_tiles},
    {"conv 7", "zen4", 32, 1.27, register_tiles},
    {"conv3x3_u8s8 28", "zen4", 64, 1.18, register_tiles},
    {"conv3x3_u8s8 14", "zen4", 32, 1.21, register_tiles},
    {"conv3x3_u8s8 7", "zen4", 32, 1.27, register_tiles},
    {"conv3x3_stored 28", "zen4", 64, 1.18, register_tiles},
    {"conv3x3_stored 14", "zen4", 32, 1.21, register_tiles},
    {"conv3x3_stored 7", "zen4", 32, 1.27, register_tiles},
    {"attention_decode 8192", "zen4", 16, 4, keys_of_a_head},
    {"default attention", "zen4", 16, 8, panels_of_a_head},
};
const Exception* exception_of(std::string_view kernel, std::string_view target) {
  for (const Exception& e : exceptions)
    if (e.kernel == kernel && e.target == target) return &e;
  return nullptr;
}

std::string page;  // a line for each kernel

void check(const std::string& name, const ir::Kernel& kernel, const Extents& extents, const Target& target) {
  page += fmt::format("{:<34} {:<6}", name, std::string(target.text()));
  const Exception* listed = exception_of(name, target.text());
  int from = 0;      // the smallest pool whose busiest worker has too much
  double worst = 0;  // of all pools
  for (const worker_share::Shares& s : worker_share::worker_shares(kernel, extents, pools, target.lanes(f32) * 32)) {
    CHECK(s.most() >= 1 - 1e-9);
    const bool small = s.work() / s.workers < least_work;
    const bool much = !small && s.most() > most_share;
    page += small ? "       -" : fmt::format("  {:5.2f}{}", s.most(), much ? '!' : ' ');
    if (!much) continue;
    const bool known = listed && s.workers >= listed->workers && s.most() <= listed->most + 1e-9;
    CHECK_MESSAGE(known, name, " for ", target.text(), ": of ", s.workers, " workers the busiest has ", s.most(),
                  " of the mean; ", s.text());
    from = from == 0 ? s.workers : from, worst = std::max(worst, s.most());
  }
  if (listed)  // an exception that is none any more leaves the list
    CHECK_MESSAGE((from == listed->workers && worst > listed->most - 0.02), name, " for ", target.text(), " is listed from ",
                  listed->workers, " workers on with ", listed->most, ", found ", from, " and ", worst);
  page.erase(page.find_last_not_of(' ') + 1);
  page += '\n';
}

template <class G>
void balanced(const std::string& name, const Target& target, const Extents& extents, const Parameters& parameters = {}) {
  check(name, instantiate<G>(target, parameters).kernel(), extents, target);
}

void products(const Target& target) {
  for (const auto& [m, n, k] : std::span(bench::matmul_shapes).subspan(1))  // the first runs on one thread
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

// The page of a target.
void divided(const char* name) {
  page = fmt::format("{:<41}", "busiest worker / mean");
  for (const int workers : pools) page += fmt::format("{:>7} ", workers);
  page.erase(page.find_last_not_of(' ') + 1);
  page += '\n';
  const Target target = Target::parse(name);
  products(target), convolutions(target), others(target), defaults(target);
  CHECK(golden(fmt::format("schedules/golden/balance_{}.txt", name), page) == "");
}

}  // namespace

TEST_CASE("how work is divided among 8 to 64 workers: zen4") { divided("zen4"); }
TEST_CASE("how work is divided among 8 to 64 workers: zen3") { divided("zen3"); }

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
