// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/tile_kernels.h"

#include <memory>
#include <sstream>
#include <stdexcept>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/tiles.h>
#include <ashlar/ops.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules.h>

#include "bench/gpu/kernels.h"

namespace gpu_bench {

using namespace ashlar;

namespace {

TileKernel lowered(const lang::Built& built, const Schedule& s) {
  schedule::finish(s.scheduled(), s.target());
  return {built.program, lower_tiles(s.scheduled().program)};
}

TileKernel product(Type type, const Target& target) {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor A = lang::make_input("A", type, {M, K}), B = lang::make_input("B", type, {K, N});
  const ops::Product p = ops::matmul(A, B);
  const Tensor C = lang::make_output("C", p.result.type(), {M, N});
  lang::bind(C, p.result);
  const lang::Built built = lang::build_program("tile_matmul", {A, B, C});
  Schedule s(built, target);
  if (p.sum.type() == p.result.type())
    schedules::tile_matmul(s, s[p.sum]);
  else
    schedules::tile_matmul(s, s[p.sum], s[p.result]);
  return lowered(built, s);
}

TileKernel attention(std::int64_t length, const ops::AttentionOptions& o, const Target& target) {
  lang::DefinitionScope scope;
  const Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"};
  const Tensor q = lang::make_input("q", bf16, {B, H, M, length}), k = lang::make_input("k", bf16, {B, H, N, length}),
               v = lang::make_input("v", bf16, {B, H, N, length}), y = lang::make_output("y", bf16, {B, H, M, length});
  const ops::Attention attention = ops::attention(q, k, v, o);
  lang::bind(y, attention);
  const lang::Built built = lang::build_program("tile_attention", {q, k, v, y});
  Schedule s(built, target);
  schedules::tile_attention(s, attention);
  return lowered(built, s);
}

Case compared(const std::string& name, const std::string& target, const std::vector<Sizes>& shapes, Data data,
              double relative) {
  return {name, [=] {
            const TileKernel made = tile_kernel(name, target);
            Prepared p{made.kernel, relative, {}, false, data == Data::integers};
            p.meant = [algorithm = std::make_shared<const ir::Program>(made.algorithm)](interp::Arguments& all) {
              interp::run_algorithm(*algorithm, all);
            };
            for (const Sizes& s : shapes) p.data.push_back(arguments_of(p.kernel, s, data));
            return p;
          }};
}

}  // namespace

TileKernel tile_kernel(const std::string& name, const std::string& target) {
  std::istringstream words(name);
  std::string family, first, word;
  words >> family >> first;
  const Target chip = Target::parse(target);
  if (family == "tile_matmul")
    for (const Type t : {f16, bf16})
      if (first == ir::text(t) && !(words >> word)) return product(t, chip);
  if (family == "tile_attention" && (first == "64" || first == "128")) {
    ops::AttentionOptions o{.finite = true, .rounded = true};
    while (words >> word) {
      if (word == "causal")
        o.causal = ops::Causal::first;
      else if (word == "fast")
        o.approximate = true;
      else
        break;
    }
    if (!words) return attention(std::stoll(first), o, chip);
  }
  throw std::runtime_error("no kernel " + name + " for " + target);
}

// Products of small whole numbers are exact in any order. Attention rounds the weights to bf16.
std::vector<Case> tile_cases(const std::string& target) {
  std::vector<Case> all;
  for (const char* name : {"tile_matmul f16", "tile_matmul bf16"})
    all.push_back(
        compared(name, target,
                 {{{"M", 256}, {"N", 264}, {"K", 192}}, {{"M", 100}, {"N", 72}, {"K", 50}}, {{"M", 1}, {"N", 2}, {"K", 3}}},
                 Data::integers, 0));
  for (const char* name : {"tile_attention 64", "tile_attention 64 causal", "tile_attention 64 fast",
                           "tile_attention 64 causal fast", "tile_attention 128", "tile_attention 128 causal fast"})
    all.push_back(compared(name, target,
                           {{{"B", 1}, {"H", 2}, {"M", 70}, {"N", 70}},
                            {{"B", 2}, {"H", 1}, {"M", 128}, {"N", 128}},
                            {{"B", 1}, {"H", 1}, {"M", 1}, {"N", 1}}},
                           Data::reals, 3e-2));
  return all;
}

}  // namespace gpu_bench
