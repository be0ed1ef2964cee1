// ashlar_ulps: the error of the math functions, through compiled code, against libm. docs/ir.md, "Math functions".
//
//   ashlar_ulps                                 one-argument functions over all floats (minutes each), samples of doubles
//   ashlar_ulps --type f32 --every 97 exp tanh  those two, on every 97th float
//   ashlar_ulps --type f16                      over all halves
//   ashlar_ulps --time                          what they cost: ulps_times.cpp
//
// Ends with 1 where a bound is not kept.
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <ashlar/ir/print.h>

#include "tests/codegen/ulps.h"

namespace {

using namespace ashlar;
using namespace math_bounds;

constexpr std::int64_t kBlock = 1 << 14;

struct Worst {
  double error = -1, at = 0;
  std::uint64_t values = 0, above_half = 0, above_one = 0;
  void take(double e, double x) {
    ++values;
    above_half += e > 0.5;
    above_one += e > 1;
    if (e > error || e != e) error = e, at = x;
  }
  void take(const Worst& o) {
    values += o.values;
    above_half += o.above_half;
    above_one += o.above_one;
    if (!(o.error <= error)) error = o.error, at = o.at;
  }
};

template <class T>
std::vector<T> run(const codegen::Compiled& code, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  const void* args[] = {x.data(), y.data()};
  if (code.run(args, nullptr) != ASHLAR_OK) std::abort();
  return y;
}

// Blocks of inputs from `next`, which fills one and says how many of it count; on every processor.
template <class T, class R, class Next, class Widen>
Worst measure(const Function& f, Type t, Next&& next, Widen&& widen) {
  const codegen::Compiled code = ulps_tool::compiled(f.op, t, Target::host(), kBlock);
  std::atomic<std::int64_t> block = 0;
  std::mutex lock;
  Worst all;
  const auto work = [&] {
    Worst mine;
    std::vector<T> x(kBlock);
    for (;;) {
      const std::int64_t count = next(block++, x);
      if (count == 0) break;
      const std::vector<T> y = run(code, x);
      for (std::int64_t k = 0; k < count; ++k) {
        const double a = widen(x[static_cast<std::size_t>(k)]), found = widen(y[static_cast<std::size_t>(k)]);
        if (!f.within(t, a)) continue;
        R exact;
        if constexpr (sizeof(R) == sizeof(double))
          exact = f.exact_in_double(a);
        else
          exact = f.exact(a);
        mine.take(ulps<R>(t, found, exact), a);
      }
    }
    const std::lock_guard<std::mutex> hold(lock);
    all.take(mine);
  };
  std::vector<std::thread> threads;
  for (unsigned k = 1; k < std::max(1u, std::thread::hardware_concurrency()); ++k) threads.emplace_back(work);
  work();
  for (std::thread& h : threads) h.join();
  return all;
}

Worst floats(const Function& f, std::uint64_t every) {
  return measure<float, double>(
      f, f32,
      [&](std::int64_t block, std::vector<float>& x) {
        std::int64_t n = 0;
        for (std::uint64_t at = std::uint64_t(block) * kBlock * every; n < kBlock && at < (std::uint64_t{1} << 32); at += every)
          x[static_cast<std::size_t>(n++)] = std::bit_cast<float>(static_cast<std::uint32_t>(at));
        return n;
      },
      [](float x) { return static_cast<double>(x); });
}

Worst halves(const Function& f, Type t) {
  return measure<std::uint16_t, double>(
      f, t,
      [&](std::int64_t block, std::vector<std::uint16_t>& x) {
        if (block >= 65536 / kBlock) return std::int64_t{0};
        for (std::int64_t k = 0; k < kBlock; ++k)
          x[static_cast<std::size_t>(k)] = static_cast<std::uint16_t>(block * kBlock + k);
        return kBlock;
      },
      [&](std::uint16_t bits) { return ir::from_bits(t, bits).f; });
}

// Half over all doubles of the range, half between -40 and 40, where most functions turn; a third of these with few bits.
Worst doubles(const Function& f, std::int64_t blocks) {
  return measure<double, Real>(
      f, f64,
      [&](std::int64_t block, std::vector<double>& x) {
        if (block >= blocks) return std::int64_t{0};
        std::mt19937_64 random(static_cast<std::uint64_t>(block) + 1);
        std::uniform_real_distribution<double> near(-40, 40), unit(-1, 1);
        for (std::int64_t k = 0; k < kBlock; ++k) {
          double v = std::bit_cast<double>(random());
          if (k % 4 == 1) v = near(random);
          if (k % 4 == 2) v = unit(random) * std::exp2(near(random) / 2);
          if (k % 4 == 3) v = static_cast<float>(near(random) * 20);
          x[static_cast<std::size_t>(k)] = v;
        }
        return kBlock;
      },
      [](double x) { return x; });
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::string> wanted, types;
  std::uint64_t every = 1;
  std::int64_t blocks = 2000;
  bool times = false;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    const bool more = k + 1 < argc;
    if (a == "--time") {
      times = true;
      continue;
    }
    if (a == "--type" && more)
      types.insert(argv[++k]);
    else if (a == "--every" && more)
      every = std::strtoull(argv[++k], nullptr, 10);
    else if (a == "--doubles" && more)
      blocks = (std::strtoll(argv[++k], nullptr, 10) + kBlock - 1) / kBlock;
    else if (a.starts_with("-") || every == 0) {
      std::fprintf(stderr,
                   "usage: ashlar_ulps [--type f32|f64|f16|bf16]... [--every N] [--doubles N] [--time] [function]...\n");
      return 2;
    } else
      wanted.insert(a);
  }
  if (times) {
    std::vector<Function> which;
    for (const Function& f : functions())
      if (wanted.empty() || wanted.contains(ir::op_name(f.op))) which.push_back(f);
    ulps_tool::print_times(which, {f32, f64});
    return 0;
  }
  bool kept = true;
  std::printf("%-5s %-13s %12s  %-26s %14s %14s %s\n", "type", "function", "ulps", "at", "above 1/2", "above 1", "of");
  for (const Function& f : functions()) {
    if (!wanted.empty() && !wanted.contains(ir::op_name(f.op))) continue;
    for (Type t : {f32, f64, f16, bf16}) {
      if (!types.empty() && !types.contains(ir::text(t))) continue;
      const Worst w = t == f32 ? floats(f, every) : t == f64 ? doubles(f, blocks) : halves(f, t);
      const double bound = f.bound(t);
      const bool good = w.error <= bound;
      kept = kept && good;
      std::printf("%-5s %-13s %12.7f  %-26a %14llu %14llu %llu%s\n", ir::text(t).c_str(), ir::op_name(f.op), w.error, w.at,
                  static_cast<unsigned long long>(w.above_half), static_cast<unsigned long long>(w.above_one),
                  static_cast<unsigned long long>(w.values), good ? "" : "   NOT WITHIN ITS BOUND");
      std::fflush(stdout);
    }
  }
  return kept ? 0 : 1;
}
