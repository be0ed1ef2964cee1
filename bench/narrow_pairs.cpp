// Products and layers of u8 by i8 whose data are promised to be such that two products added fit 16 bits.
#include <bench_conv_u8s8_pairs_128.h>
#include <bench_conv_u8s8_pairs_256.h>
#include <bench_conv_u8s8_pairs_512.h>
#include <bench_conv_u8s8_pairs_64.h>
#include <bench_u8s8_pairs.h>

#include <memory>

#include "bench/narrow.h"

namespace bench {
namespace {

// A call on a workspace of its own; `kept`: what the arguments point to.
template <class Args, class Bytes, class Run, class Kept>
NarrowPeer call_of(const Args& args, Bytes bytes, Run run, Kept kept) {
  auto workspace = std::make_shared<Workspace>();
  workspace->reserve(bytes(&args, &workspace->context));
  return {"ashlar, pairs fit",
          [=, kept = std::move(kept)] {
            if (run(&args, &workspace->context) != ASHLAR_OK) throw std::runtime_error("a product of pairs failed");
          },
          ""};
}

}  // namespace

NarrowPeer pairs_product(const std::uint8_t* A, const std::int8_t* B, std::int32_t* C, std::int64_t N) {
  const bench_u8s8_pairs_args args{
      .A = A, .B = B, .C = C, .M = N, .K = N, .N = N, .A_stride0 = N, .B_stride0 = N, .C_stride0 = N};
  return call_of(args, bench_u8s8_pairs_workspace_bytes, bench_u8s8_pairs_run, 0);
}

NarrowPeer pairs_convolution(const std::uint8_t* X, const std::int8_t* weights, std::int32_t* Y, std::int64_t size,
                             std::int64_t channels) {
  const std::int64_t block = block_of_bytes(channels);
  auto packed = std::make_shared<std::vector<std::int8_t>>(packed_weights(weights, channels, block, 4));
  const auto of = [&](auto args, auto bytes, auto run) {
    args.X = X, args.K = packed->data(), args.Y = Y, args.H = size, args.W = size, args.B = channels / block;
    args.Y_stride0 = size * channels, args.Y_stride1 = channels, args.Y_stride2 = block;
    return call_of(args, bytes, run, packed);
  };
#define LAYER(channels)                                                                             \
  of(bench_conv_u8s8_pairs_##channels##_args{}, bench_conv_u8s8_pairs_##channels##_workspace_bytes, \
     bench_conv_u8s8_pairs_##channels##_run)
  switch (channels) {
    case 64:
      return LAYER(64);
    case 128:
      return LAYER(128);
    case 256:
      return LAYER(256);
    case 512:
      return LAYER(512);
    default:
      throw std::runtime_error("no layer of " + std::to_string(channels) + " channels was compiled");
  }
#undef LAYER
}

}  // namespace bench
