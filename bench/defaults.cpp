// What schedule_by_default makes of programs beside the schedules that were written for them: both are compiled here, run on
// the same arguments in turns, and must have the same results, except for the roundings of sums in another order.
#include "bench/defaults.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>

#include <ashlar/generator/compile.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/print.h>
#include <ashlar/schedules/by_default.h>

#include "apps/support/tensor.h"
#include "bench/isa.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

// A dense array on a boundary of cache lines.
struct Array {
  Type type;
  Dims shape;
  std::unique_ptr<std::byte, decltype(&std::free)> data{nullptr, &std::free};
  std::int64_t elements = 1;

  Array(Type t, Dims s) : type(t), shape(std::move(s)) {
    for (const std::int64_t e : shape) elements *= e;
    const std::size_t room = (static_cast<std::size_t>(elements * type.bytes()) + 4095) / 4096 * 4096 + 4096;
    data.reset(static_cast<std::byte*>(std::aligned_alloc(4096, room)));
    if (!data) throw std::bad_alloc();
    std::memset(data.get(), 0x7b, room);
  }
  ashlar_tensor described() {
    ashlar_tensor t{};
    const ir::TensorCode code = ir::tensor_code(type);
    t.data = data.get(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(shape.size()), t.shape = shape.data();
    t.type_code = code.code, t.type_bits = code.bits, t.type_lanes = 1;
    return t;
  }
  void fill(std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (std::int64_t k = 0; k < elements; ++k) {
      std::byte* at = data.get() + k * type.bytes();
      if (type == f32) {
        const float x = uniform(engine);
        std::memcpy(at, &x, 4);
      } else if (type == bf16) {
        const float x = uniform(engine);
        std::memcpy(at, reinterpret_cast<const char*>(&x) + 2, 2);
      } else {
        const std::uint64_t bits = engine();
        std::memcpy(at, &bits, static_cast<std::size_t>(type.bytes()));
      }
    }
  }
  double value(std::int64_t k) const {
    const std::byte* at = data.get() + k * type.bytes();
    if (type == f32) {
      float x = 0;
      return std::memcpy(&x, at, 4), x;
    }
    if (type == i32) {
      std::int32_t x = 0;
      return std::memcpy(&x, at, 4), x;
    }
    if (type == u16) {
      std::uint16_t x = 0;
      return std::memcpy(&x, at, 2), static_cast<double>(x);
    }
    if (type == u8) return static_cast<double>(std::to_integer<unsigned>(*at));
    throw std::runtime_error("a result of " + ir::text(type));
  }
};

void expect_same(const std::string& name, const Array& meant, const Array& found) {
  double largest = 0;
  for (std::int64_t k = 0; k < meant.elements; ++k) largest = std::max(largest, std::abs(meant.value(k)));
  const double allowed = meant.type.is_float() ? 1e-4 * largest : 0;
  for (std::int64_t k = 0; k < meant.elements; ++k)
    if (!(std::abs(meant.value(k) - found.value(k)) <= allowed))
      throw std::runtime_error(
          fmt::format("{}: element {} is {} by default, {} by hand", name, k, found.value(k), meant.value(k)));
}

using Call = std::function<int(const std::vector<const void*>&, const ashlar_context*)>;

struct Kernel {
  Call call;
  std::string chosen;  // by default
};

Kernel compiled(const DefaultEntry& e, bool by_default) {
  lang::DefinitionScope scope;
  DefaultProgram p;
  const Steps by_hand = e.build(p);
  std::vector<lang::ArgumentRef> arguments(p.inputs.begin(), p.inputs.end());
  for (std::size_t k = 0; k < p.results.size(); ++k) {
    const Tensor out =
        lang::make_output(("result" + std::to_string(k)).c_str(), p.results[k].type(), p.results[k].shape().extents());
    lang::bind(out, p.results[k]);
    arguments.emplace_back(out);
  }
  Schedule s(lang::build_program("default_", arguments), Target::parse(target_name()));
  Kernel k;
  if (by_default)
    k.chosen = schedule_by_default(s, e.options).text();
  else if (by_hand)
    by_hand(s);
  else
    return k;
  const codegen::Compiled code = compile(s);
  k.call = [code](const std::vector<const void*>& a, const ashlar_context* c) { return code.call(a, c); };
  return k;
}

}  // namespace

void race_defaults(Report& report, const Machine& machine, const DefaultEntry& e) {
  if (!report.wants("default " + e.kernel)) return;
  Kernel hand{e.hand, ""};
  if (!e.hand) hand = compiled(e, false);
  const Kernel ours = e.ours ? Kernel{e.ours, e.chosen} : compiled(e, true);
  report.note(ours.chosen);
  for (const DefaultRun& run : e.runs) {
    std::vector<Array> given, meant, found;
    for (std::size_t k = 0; k < run.inputs.size(); ++k)
      given.emplace_back(run.inputs[k].type, run.inputs[k].shape), given.back().fill(k + 1);
    for (const DefaultArray& a : run.results) meant.emplace_back(a.type, a.shape), found.emplace_back(a.type, a.shape);
    std::vector<ashlar_tensor> tensors[2];
    std::vector<const void*> pointers[2];
    for (int k = 0; k < 2; ++k) {
      for (Array& a : given) tensors[k].push_back(a.described());
      for (Array& a : k == 0 ? meant : found) tensors[k].push_back(a.described());
      for (const ashlar_tensor& t : tensors[k]) pointers[k].push_back(&t);
    }
    for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
      const int threads = k == 0 ? 1 : machine.threads;
      if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
      Workspace workspace;
      workspace.reserve(std::size_t{96} << 20);
      const auto by_hand = [&] { apps::check(hand.call(pointers[0], &workspace.context), &workspace.error); };
      const auto by_default = [&] { apps::check(ours.call(pointers[1], &workspace.context), &workspace.error); };
      by_default();
      if (!hand.call) {
        report.race({"default " + e.kernel, run.shape, threads, run.work, run.unit, run.work > 0 ? machine.fma[k] : 0},
                    {{"by default", by_default, 1, Role::other}});
        continue;
      }
      by_hand();
      for (std::size_t r = 0; r < meant.size(); ++r) expect_same(e.kernel, meant[r], found[r]);
      const std::string kernel = "default " + e.kernel;
      report.race({kernel, run.shape, threads, run.work, run.unit, 0},
                  {{"by hand", by_hand, 1, Role::other}, {"by default", by_default, 1, Role::other}});
      const Record *a = report.find(kernel, run.shape, threads, "by hand"),
                   *b = report.find(kernel, run.shape, threads, "by default");
      report.note(fmt::format("{} {}, {} threads: {:.2f} times as long as by hand ({:.2f} in the fastest runs); limit 2{}",
                              e.kernel, run.shape, threads, b->median_ns / a->median_ns, b->min_ns / a->min_ns,
                              b->median_ns > 2 * a->median_ns ? "   ABOVE" : ""));
    }
  }
}

}  // namespace bench
