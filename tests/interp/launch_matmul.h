#pragma once
// A persistent bf16 matrix product in its lowered form: tensor-map copies into a swizzled four-stage ring, one producer and two
// consumer roles, wgmma m64n256k16 on transparent fragments, an epilogue through shared memory.
#include "tests/interp/launch_builder.h"

namespace launches::persistent {

using ir::Completion;

constexpr std::int64_t tile_m = 128, tile_n = 256, tile_k = 64, depth = 4, consumers = 2;
constexpr std::int64_t a_stage = tile_m * tile_k, b_stage = tile_n * tile_k, chunk = 64 * 64;  // elements

// C[M, N] = A[M, K] B[N, K]^T, the tiles spread over `blocks` blocks that stay
inline Builder matmul(std::int64_t blocks = 2) {
  Builder b("matmul");
  const Expr M = b.symbol("M"), N = b.symbol("N", 8), K = b.symbol("K", 8);
  const Id A = b.input("A", bf16, {M, K}), B = b.input("B", bf16, {N, K}), C = b.output("C", bf16, {M, N});
  std::int64_t offset = 0;
  const auto shared = [&](const std::string& name, std::int64_t elements) {
    offset += elements * 2;
    return b.shared(name, bf16, elements, offset - elements * 2);
  };
  const Id As = shared("As", depth * a_stage), Bs = shared("Bs", depth * b_stage), Cs = shared("Cs", consumers * 2 * chunk);
  const Id full = b.barriers("full", depth, offset), empty = b.barriers("empty", depth, offset + depth * 8);
  const Id acc = b.registers("acc", f32, 128);
  const Id A_map = b.tensor_map("A_map", A, {M, K}, {K, num(1)}, {tile_m, tile_k}, 128);
  const Id B_map = b.tensor_map("B_map", B, {N, K}, {K, num(1)}, {tile_n, tile_k}, 128);
  const Id C_map = b.tensor_map("C_map", C, {M, N}, {N, num(1)}, {64, 64}, 128);
  const ir::Intrinsic &load = b.intrinsic(ir::tma_load(bf16)), &save = b.intrinsic(ir::tma_store(bf16));
  const ir::Intrinsic& product = b.intrinsic(ir::wgmma(256, bf16, false));

  const auto body = [&](const Expr& block, const Expr& thread) {
    const Expr across = b.let("across", ir::ceil_div(N, num(tile_n)));
    const Expr tiles = b.let("tiles", ir::ceil_div(ir::ceil_div(M, num(tile_m)) * across - block, num(blocks)));
    const Expr trips = b.let("trips", ir::ceil_div(K, num(tile_k)));
    b.when(below(thread, 1), [&] {
      for (std::int64_t s = 0; s < depth; ++s) {
        b.init(full, num(s), 1);
        b.init(empty, num(s), consumers);
      }
      b.fence({"full", "empty"}, Sync::Kind::fence_init);
    });
    b.block_barrier({"full", "empty"});
    const auto tile = [&](const Expr& round, const std::function<void(Expr, Expr)>& f) {
      const Expr number = b.let("number", block + round * blocks);
      const Expr top = b.let("top", number / across * tile_m), left = b.let("left", number % across * tile_n);
      f(top, left);
    };
    const auto producer = [&] {
      b.set_registers(40);
      b.when(below(thread, 1), [&] {
        b.loop("round", tiles, [&](const Expr& round) {
          tile(round, [&](const Expr& top, const Expr& left) {
            b.loop("k", trips, [&](const Expr& k) {
              const Expr trip = b.let("trip", round * trips + k), slot = b.let("slot", trip % depth);
              b.wait({"As", "Bs", "full"}, empty, slot, (trip / depth + 1) % 2);
              b.expect({"As", "Bs"}, full, slot, num((a_stage + b_stage) * 2));
              b.call(load, {{As, slot * a_stage}, {A_map, {top, k * tile_k}}, {full, slot}});
              b.call(load, {{Bs, slot * b_stage}, {B_map, {left, k * tile_k}}, {full, slot}});
            });
          });
        });
      });
    };
    const auto epilogue = [&](const Expr& group, const Expr& in_group, const Expr& top, const Expr& left) {
      const Expr row = b.let("row", in_group / 32 * 16 + in_group % 32 / 4), pair = b.let("pair", in_group % 4 * 2);
      for (std::int64_t c = 0; c < 4; ++c) {
        const Expr base = (group * 2 + c % 2) * chunk;
        b.wait_read({"Cs"}, 1);  // of the thread that stored
        b.named({"Cs"}, group + 1, 128);
        for (std::int64_t r = 0; r < 32; ++r) {
          const Expr y = row + r / 2 % 2 * 8, x = pair + (r / 4 * 8 + r % 2);
          b.store(Cs, base + y * 64 + exclusive_or(x, y % 8 * 8), ir::cast(bf16, b.at(acc, num(c * 32 + r))));
        }
        b.fence({"Cs"}, Sync::Kind::fence_proxy);
        b.named({"Cs"}, group + 1, 128);
        b.when(below(in_group, 1), [&] {
          b.call(save, {{C_map, {top + group * 64, left + c * 64}}, {Cs, base}});
          b.commit({"Cs", "C"}, Completion::bulk_group);
        });
      }
    };
    const auto consumer = [&] {
      b.set_registers(232);
      const Expr group = b.let("group", thread / 128 - 1), in_group = b.let("in_group", thread % 128);
      b.loop("round", tiles, [&](const Expr& round) {
        tile(round, [&](const Expr& top, const Expr& left) {
          b.fence({"acc"}, Sync::Kind::fence_product);
          b.loop("k", trips, [&](const Expr& k) {
            const Expr trip = b.let("trip", round * trips + k), slot = b.let("slot", trip % depth);
            b.wait({"As", "Bs"}, full, slot, trip / depth % 2);
            for (std::int64_t step = 0; step < 4; ++step)
              b.call(product, {{acc, num(0)},
                               {As, slot * a_stage + group * (64 * tile_k) + step * 16},
                               {Bs, slot * b_stage + step * 16},
                               16,
                               1024,
                               16,
                               1024,
                               128,
                               step > 0 ? num(1) : ir::select(ir::gt(k, num(0)), num(1), num(0))});
            b.commit({"acc", "As", "Bs"}, Completion::product_group);
            b.wait_group({"As", "Bs", "empty"}, Completion::product_group, 1);
            b.when(ir::logic_and(ir::gt(k, num(0)), below(in_group, 1)),
                   [&] { b.arrive({"As", "Bs"}, empty, (trip + (depth - 1)) % depth); });
          });
          b.wait_group({"acc"}, Completion::product_group, 0);
          b.when(below(in_group, 1), [&] { b.arrive({"As", "Bs"}, empty, (round * trips + trips - 1) % depth); });
          epilogue(group, in_group, top, left);
        });
      });
      b.wait_read({"Cs"}, 0);
    };
    b.either(below(thread, 128), producer, consumer);
  };
  b.launch(num(blocks), 128 * (consumers + 1), offset + 2 * depth * 8, body);
  return b;
}

}  // namespace launches::persistent
