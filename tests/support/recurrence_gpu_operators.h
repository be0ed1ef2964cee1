#pragma once
// Recurrences with schedules for a GPU: rows are threads, and each runs through its steps; or one row is computed in shared
// memory by the threads of a block, where its points of one step have nothing to do with each other.
#include <ashlar/schedule/schedule.h>

#include "tests/support/recurrence_operators.h"

namespace gpu_operators {

using namespace ashlar;

struct Rows : recurrences::Made {  // one thread a row, of any operator whose rows are independent
  Schedule s;
  explicit Rows(const Target& target, const char* name = "smooth") : Made(recurrences::named(name)), s(built, target) {
    auto [r, t] = s[state[0]].spatial<2>();
    auto [ro, ri] = s[state[0]].split(r, 32);
    s[state[0]].bind(ro, gpu::block_x).bind(ri, gpu::thread_x);
    (void)t;
  }
};

struct Columns : recurrences::Made {  // one thread a column; the steps stand outside of the threads
  Schedule s;
  explicit Columns(const Target& target) : Made(recurrences::named("exclusive_maximum_down_columns")), s(built, target) {
    auto [r, t] = s[state[0]].spatial<2>();
    auto [to, ti] = s[state[0]].split(t, 32);
    s[state[0]].reorder(to, r, ti).bind(to, gpu::block_x).bind(ti, gpu::thread_x);
  }
};

struct TwoLaunches : recurrences::Made {  // one of the recurrence, one of what reads it
  Schedule s;
  explicit TwoLaunches(const Target& target) : Made(recurrences::named("biquad"), true), s(built, target) {
    auto [i, j] = s[results[0]].spatial<2>();
    auto [io, ii] = s[results[0]].split(i, 32);
    s[results[0]].bind(io, gpu::block_x).bind(ii, gpu::thread_x);
    auto [r, t] = s[state[0]].spatial<2>();
    auto [ro, ri] = s[state[0]].split(r, 64);
    s[state[0]].bind(ro, gpu::block_x).bind(ri, gpu::thread_x);
    (void)j, (void)t;
  }
};

// Rows of at most 16 steps, computed for the tile of a block in shared memory.
struct SharedRows {
  lang::DefinitionScope scope;
  Symbol R{"R"};
  Tensor x = lang::make_input("x", i32, {R, 16}), out = lang::make_output("out", i32, {R, 16});
  Tensor y = scan("y", {{"r", R}, {"t", 16}}, Along{1}, Combine::add, [&](Var r, Var t) { return x(r, t); });
  Tensor result = compute("result", {{"i", R}, {"j", 16}}, [&](Var i, Var j) { return y(i, 15 - j) * 2; });
  lang::Built built = (lang::bind(out, result), lang::build_program("shared_rows", {x, out}));
  Schedule s;
  explicit SharedRows(const Target& target) : s(built, target) {
    auto [i, j] = s[result].spatial<2>();
    auto [io, ii] = s[result].split(i, 8);
    s[result].reorder(io, ii, j).bind(io, gpu::block_x).bind(ii, gpu::thread_y).bind(j, gpu::thread_x);
    s[y].compute_at(io).store_in(Scope::shared);
    s[y].bind(s[y].spatial<2>()[0], gpu::threads);
  }
};

// Blocks of four steps, a thread each, in three launches: totals, what is before each block, and the blocks in registers.
struct ScanInBlocks : recurrences::Made {
  Schedule s;
  explicit ScanInBlocks(const Target& target) : Made(recurrences::named("running_sum")), s(built, target) {
    const Tensor& y = state[0];
    auto [r, t] = s[y].spatial<2>();
    auto [to, ti] = s[y].split(t, 4);
    auto [total, carry, block] = s[y].associative_scan(to);
    auto [go, gi] = s[y].split(to, 32);
    s[y].bind(r, gpu::block_y).bind(go, gpu::block_x).bind(gi, gpu::thread_x).unroll(ti);
    block.compute_at(gi).store_in(Scope::registers).unroll(block.spatial<3>()[2]);
    auto [row, o] = total.spatial<2>();
    auto [oo, oi] = total.split(o, 32);
    total.bind(row, gpu::block_y).bind(oo, gpu::block_x).bind(oi, gpu::thread_x).unroll(total.reduction());
    auto [ro, ri] = carry.split(carry.spatial<2>()[0], 32);
    carry.bind(ro, gpu::block_x).bind(ri, gpu::thread_x);
  }
};

}  // namespace gpu_operators
