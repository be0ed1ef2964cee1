#pragma once
// Operators that exchange values through shared memory: within the rows of a warp, between warps, or both. Rows have `columns`
// elements, a block has four of them.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace warp_operators {

using namespace ashlar;

enum class Threads { warps, grid };  // gpu::warp and gpu::lane; thread_y and thread_x

inline void bind_rows(Stage s, Loop row, Loop column, Threads threads) {
  s.bind(row, threads == Threads::warps ? gpu::warp : gpu::thread_y);
  s.bind(column, threads == Threads::warps ? gpu::lane : gpu::thread_x);
}

// Each row reversed. `steps`: so many groups of four rows a block, one after another through the same tile.
struct Reversed {
  lang::DefinitionScope scope;
  std::int64_t columns, steps;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", f32, {M, columns}), y = lang::make_output("y", f32, {M, columns});
  Tensor twice = compute("twice", [&](Var i, Var j) { return x(i, j) * 2; });
  Tensor result = compute("result", {M, columns}, [&](Var i, Var j) { return twice(i, columns - 1 - j); });
  lang::Built built = (lang::bind(y, result), lang::build_program("reversed", {x, y}));
  Schedule s;
  explicit Reversed(const Target& target, Threads threads = Threads::warps, std::int64_t n = 32, std::int64_t many = 1)
      : columns(n), steps(many), s(built, target) {
    auto [i, j] = s[result].spatial<2>();
    auto [io, ii] = s[result].split(i, 4 * steps);
    auto [iu, iw] = s[result].split(ii, 4);
    s[result].bind(io, gpu::block_x);
    bind_rows(s[result], iw, j, threads);
    s[twice].compute_at(iu).store_in(Scope::shared);
    auto [r, c] = s[twice].spatial<2>();
    bind_rows(s[twice], r, c, threads);
  }
};

// Rows reversed, then the four rows of a block: the first exchange stays in a warp, the second does not.
struct Turned {
  lang::DefinitionScope scope;
  Symbol M{"M", {.multiple_of = 4}};
  Tensor x = lang::make_input("x", f32, {M, 32}), y = lang::make_output("y", f32, {M, 32});
  Tensor twice = compute("twice", [&](Var i, Var j) { return x(i, j) * 2; });
  Tensor across = compute("across", [&](Var i, Var j) { return twice(i, 31 - j) + 1; });
  Tensor result = compute("result", {M, 32}, [&](Var i, Var j) { return across(i / 4 * 4 + 3 - i % 4, j); });
  lang::Built built = (lang::bind(y, result), lang::build_program("turned", {x, y}));
  Schedule s;
  explicit Turned(const Target& target, Threads threads = Threads::warps) : s(built, target) {
    auto [i, j] = s[result].spatial<2>();
    auto [io, iw] = s[result].split(i, 4);
    s[result].bind(io, gpu::block_x);
    bind_rows(s[result], iw, j, threads);
    for (const Tensor& t : {across, twice}) {
      s[t].compute_at(io).store_in(Scope::shared);
      auto [r, c] = s[t].spatial<2>();
      bind_rows(s[t], r, c, threads);
    }
  }
};

// Rows of 64, doubled by one thread in two loops, the second of which computes what the second warp reads.
struct Partitioned {
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", f32, {M, 64}), y = lang::make_output("y", f32, {M, 64});
  Tensor twice = compute("twice", [&](Var i, Var j) { return x(i, j) * 2; });
  Tensor result = compute("result", {M, 64}, [&](Var i, Var j) { return twice(i, j) + 1; });
  lang::Built built = (lang::bind(y, result), lang::build_program("partitioned", {x, y}));
  Schedule s;
  explicit Partitioned(const Target& target) : s(built, target) {
    auto [i, j] = s[result].spatial<2>();
    auto [jw, jl] = s[result].split(j, 32);
    s[result].bind(i, gpu::block_x).bind(jw, gpu::warp).bind(jl, gpu::lane);
    s[twice].compute_at(jw).store_in(Scope::shared);
    s[twice].partition(s[twice].spatial<2>()[1], 2);
  }
};

// total[i, j] = the sum over k of x[i, k, 31 - j], x by way of a ring of tiles. `shared_rows`: each row reads the next one's
// tile.
struct Ring {
  lang::DefinitionScope scope;
  Symbol M{"M", {.multiple_of = 4}}, K{"K"};
  Tensor x = lang::make_input("x", f32, {M, K, 32}), y = lang::make_output("y", f32, {M, 32});
  Axis k{"k", K};
  Tensor total;
  lang::Built built;
  Schedule s;
  explicit Ring(const Target& target, int stages, bool async_copy, bool shared_rows)
      : total(compute("total", {M, 32},
                      [&](Var i, Var j) { return sum(x(shared_rows ? i / 4 * 4 + 3 - i % 4 : Expr(i), k, 31 - j), k); })),
        built((lang::bind(y, total), lang::build_program("ring", {x, y}))),
        s(built, target) {
    Stage acc = s.cache_write(total, Scope::registers);
    Stage tile = s.cache_read(x, {acc}, Scope::shared);
    auto [i, j] = s[total].spatial<2>();
    auto [io, iw] = s[total].split(i, 4);
    s[total].bind(io, gpu::block_x).bind(iw, gpu::warp).bind(j, gpu::lane);
    acc.compute_at(j);
    tile.compute_at(acc.reduction());
    auto [r, step, c] = tile.spatial<3>();
    tile.bind(r, gpu::warp).bind(c, gpu::lane);
    acc.pipeline(acc.reduction(), {.stages = stages, .loads = {tile}, .async_copy = async_copy});
  }
};

}  // namespace warp_operators
