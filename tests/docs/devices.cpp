// Examples of the steps for devices with blocks and threads, and of a user's own instruction.
#include "examples.h"
#include "programs.h"

namespace primitives_page {
namespace {

Intrinsic described() {  // four elements added to themselves
  return intrinsic("twice4", [](Meaning& m) {
    Tensor x = m.read("x", f32, {4}), y = m.write("y", f32, {4});
    m.means(y, [&](Var i) { return x(i) + x(i); });
    m.emit(Backend::llvm, "{y.result} = fadd <4 x float> {x.value}, {x.value}");
  });
}

}  // namespace

Group devices() {
  Group g{"Devices and instructions",
          "Blocks and threads of a device ([schedules.md](schedules.md#threads)), and loops that become instructions.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"bind", "bind(loop, axis)", "The iterations become the blocks of a grid, or the threads of a block.",
       "The iterations are independent. Loops over blocks are outside of loops over threads, and only blocks enclose a block.",
       on<OnDevice<Plus>>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [jo, ji] = s[y].split(j, 64);
         REFUSED(s[y].bind(jo, gpu::block_x));
         show.before();
         s[y].bind(i, gpu::block_x).bind(ji, gpu::thread_x);
         show.after();
       })});
  add({"vthread", "vthread(loop)",
       "One thread runs the iterations interleaved, statement by statement, each with its own registers: more results for each "
       "load.",
       "The iterations are independent; their number is constant and at most 64.",
       on<OnDevice<Plus>>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [jo, jr] = s[y].split(j, 128);
         auto [jt, jv] = s[y].split(jr, 2);
         s[y].bind(i, gpu::block_x).bind(jt, gpu::thread_x);
         show.before();
         s[y].vthread(jv);
         show.after();
         REFUSED(s[y].vthread(jo));
       })});
  add({"as_tile", "as_tile(loop, width)",
       "The iterations are a dimension of the tiles that the stage is computed in ([tiles.md](tiles.md)): on targets with "
       "tiles, "
       "where the assembler chooses instructions and copies.",
       "The extent is a constant power of two, or at most the width. The iterations are independent, or the terms of a "
       "reduction "
       "that may be regrouped.",
       on<OnTiles<Matmul>>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         REFUSED(s[C].as_tile(i));
         auto [io, jo, ii, ji] = s[C].tile(i, j, 128, 256);
         auto [ko, ki] = s[C].split(s[C].reduction(), 32);
         s[C].reorder(io, jo, ko, ii, ji, ki).bind(io, gpu::block_x).bind(jo, gpu::block_y);
         show.before();
         s[C].as_tile(ii).as_tile(ji).as_tile(ki);
         show.after();
       })});
  add({"hint_launch", "hint_launch(kind, value, chip)",
       "Tells the assembler of tiles how many blocks run on a multiprocessor at once, how many form a cluster, or how many "
       "warps "
       "of a block compute, for one chip or for all ([tiles.md](tiles.md#hints)). Changes no value.",
       "A target with tiles; a stage that is computed at the root; a value that the chip takes.",
       on<OnTiles<Matmul>>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         REFUSED(s[C].hint_launch(LaunchHint::cluster, 3));
         s[C].hint_launch(LaunchHint::occupancy, 2);
         s[C].hint_launch(LaunchHint::cluster, 2, TileChip::sm_100);
         show.after();
       })});
  add({"hint_access", "hint_access(tensor, kind, value, chip)",
       "Tells the assembler of tiles how long loads and stores of a tensor take, or whether the unit that copies tiles may "
       "make "
       "them, for one chip or for all ([tiles.md](tiles.md#hints)). Changes no value.",
       "A target with tiles; a stage that is computed at the root, whose launch loads or stores the tensor; a value that the "
       "chip "
       "takes.",
       on<OnTiles<Matmul>>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor &A = p.A, &C = p.C;
         REFUSED(s[C].hint_access(A, AccessHint::latency, 20));
         s[C].hint_access(A, AccessHint::latency, 6);
         show.after();
       })});
  add({"cross_thread_reduce", "cross_thread_reduce(loop)",
       "Allows the iterations of a reduction loop to be threads: each accumulates a part, and every thread gets the combined "
       "result. `bind` then says which threads.",
       "The reducer may be regrouped and has an identity.", on<OnDevice<Sums>>([](Sums& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         const Loop i = s[y].spatial<1>()[0];
         auto [ko, ki] = s[y].split(s[y].reduction(), 64);
         s[y].bind(i, gpu::block_x);
         REFUSED(s[y].bind(ki, gpu::thread_x));
         show.before();
         s[y].cross_thread_reduce(ki).bind(ki, gpu::thread_x);
         show.after();
         (void)ko;
       })});
  const auto tiles = [](Matmul& p, Schedule& s) {  // a block of 16 x 16 results, tiles of A and B in shared memory
    const Tensor& C = p.C;
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 16, 16);
    auto [ko, ki] = s[C].split(s[C].reduction(), 8);
    s[C].reorder(io, jo, ko, ki, ii, ji);
    Stage A_cache = s.cache_read(p.A, {C}, Scope::shared, 0), B_cache = s.cache_read(p.B, {C}, Scope::shared, 0);
    A_cache.compute_at(ko), B_cache.compute_at(ko);
    s[C].bind(io, gpu::block_y).bind(jo, gpu::block_x);
    (void)ki, (void)ii, (void)ji;
    return std::pair{std::array<Stage, 2>{A_cache, B_cache}, ko};
  };
  add({"pipeline", "pipeline(loop, {.stages, .loads, .async_copy})",
       "Computes the loads of an iteration `stages - 1` iterations earlier, into a ring of `stages` buffers, so that memory "
       "accesses and arithmetic overlap.",
       "The loads are computed at the loop, into shared memory, and read nothing that is computed inside the loop.",
       on<OnDevice<Matmul>>([tiles](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         const auto made = tiles(p, s);
         const Stage &A_cache = made.first[0], &B_cache = made.first[1];
         const Loop ko = made.second;
         REFUSED(s[C].pipeline(ko, {.stages = 1, .loads = {A_cache}}));
         show.before();
         s[C].pipeline(ko, {.stages = 3, .loads = {A_cache, B_cache}});
         show.after();
       })});
  add({"double_buffer", "double_buffer()",
       "A `pipeline` of two stages, of the loop at which this load is computed. Several loads of one loop share a pipeline.",
       "As for `pipeline`.", on<OnDevice<Matmul>>([tiles](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         const auto made = tiles(p, s);
         const Stage& A_cache = made.first[0];
         REFUSED(s[C].double_buffer());
         show.before();
         A_cache.double_buffer();
         show.after();
       })});
  add({"tensorize", "tensorize(loop, intrinsic)",
       "Replaces the loop and everything inside it by one call of an instruction, which is described in the language "
       "([schedules.md](schedules.md#user-defined-instructions)).",
       "The loops do what the description says: the same formula, the same extents, and tiles with the layout that the "
       "instruction needs.",
       on<Fours>([](Fours& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         const Loop i = s[y].spatial<1>()[0];
         const Intrinsic twice4 = described();
         REFUSED(s[y].tensorize(i, twice4));
         auto [io, ii] = s[y].split(i, 4, Tail::exact);
         show.before();
         s[y].tensorize(ii, twice4);
         show.after();
         (void)io;
       })});
  return g;
}

}  // namespace primitives_page
