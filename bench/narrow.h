#pragma once
// What the races of narrow types share: random values, comparison with the peers, and the race itself.
#include <ashlar/runtime/runtime.h>
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {

// Bits of `T`, drawn anew by `draw` for each.
template <class T, class Draw>
std::vector<T> drawn(std::int64_t count, unsigned seed, Draw draw) {
  std::mt19937 engine(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = static_cast<T>(draw(static_cast<std::uint32_t>(engine())));
  return values;
}

// Two results that were computed in other orders: integers the same, floats near in terms of the sum's size.
template <class T>
void compare(const std::string& what, const std::string& peer, const std::vector<T>& found, const std::vector<T>& expected,
             double bound) {
  for (std::size_t k = 0; k < found.size(); ++k)
    if (!(std::abs(static_cast<double>(found[k]) - static_cast<double>(expected[k])) <= bound))
      throw std::runtime_error(fmt::format("{}: element {} is {}, {} has {}", what, k, found[k], peer, expected[k]));
}

// Weights oihw of 3 x 3 windows, in blocks of outputs and steps of channels: [O / block, 3, 3, channels / step, block, step].
template <class T>
std::vector<T> packed_weights(const T* weights, std::int64_t channels, std::int64_t block, std::int64_t step) {
  std::vector<T> packed(static_cast<std::size_t>(channels * channels * 9));
  for (std::int64_t o = 0; o < channels; ++o)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t t = 0; t < 9; ++t) {
        const std::int64_t to = (((o / block * 9 + t) * (channels / step) + c / step) * block + o % block) * step + c % step;
        packed[static_cast<std::size_t>(to)] = weights[(o * channels + c) * 9 + t];
      }
  return packed;
}

// The arguments of a convolution of a square image, its outputs in blocks.
template <class Args, class X, class K, class Y>
Args convolution_args(const X& image, const K& packed, Y& result, std::int64_t size, std::int64_t channels,
                      std::int64_t block) {
  return {.X = image.data(),
          .K = packed.data(),
          .Y = result.data(),
          .H = size,
          .W = size,
          .B = channels / block,
          .Y_stride0 = size * channels,
          .Y_stride1 = channels,
          .Y_stride2 = block};
}

// How many outputs a block of weights has, for a layer with so many channels: the registers of its tiles (CMakeLists.txt).
std::int64_t block_of_bytes(std::int64_t channels);
std::int64_t block_of_stored(std::int64_t channels);

struct NarrowPeer {
  std::string impl;
  std::function<void()> run;
  std::string about;  // the implementation that the library chose
};

// Races on one thread and on as many as are measured. `top`: the peak of one thread; that of several is taken to grow as the
// one of f32 does. Peers plan for the threads there are when they are made; each is run once, and compared, before the race.
template <class Args, class Bytes, class Run>
void race_narrow(Report& report, const Machine& machine, const char* kernel, const std::string& shape, double work, double top,
                 const Args& args, Bytes&& bytes, Run&& run, const std::function<std::vector<NarrowPeer>(int threads)>& peers,
                 const std::function<void(const std::string& peer)>& compare_with) {
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    Workspace workspace;
    workspace.reserve(bytes(&args, &workspace.context));
    const auto call = [&] {
      if (run(&args, &workspace.context) != ASHLAR_OK) throw std::runtime_error(std::string(kernel) + " failed");
    };
    call();
    std::vector<Contender> contenders{{"ashlar", call}};
    std::string chosen;
    for (const NarrowPeer& peer : peers(threads)) {
      if (!peer.about.empty()) chosen += fmt::format("{}{}: {}", chosen.empty() ? "" : "; ", peer.impl, peer.about);
      if (!peer.run) continue;
      peer.run();
      compare_with(peer.impl);
      contenders.push_back({peer.impl, peer.run});
    }
    const double peak = top * machine.fma[k] / machine.fma[0];
    report.race({kernel, shape, threads, work, "GOP/s", peak}, contenders);
    const Record ours = *report.find(kernel, shape, threads, "ashlar");
    report.note(fmt::format("floor {:.3f} ms, taken {:.3f}{}", work / peak / 1e6, ours.median_ns / 1e6,
                            chosen.empty() ? "" : "; " + chosen));
  }
}

// Ours where two products added are promised to fit 16 bits (vpmaddubsw), of u8 by i8 without VNNI.
NarrowPeer pairs_product(const std::uint8_t* A, const std::int8_t* B, std::int32_t* C, std::int64_t N);
NarrowPeer pairs_convolution(const std::uint8_t* X, const std::int8_t* weights, std::int32_t* Y, std::int64_t size,
                             std::int64_t channels);  // weights as oihw

}  // namespace bench
