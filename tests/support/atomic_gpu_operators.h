#pragma once
// Scatters and reductions whose steps are blocks and threads of a GPU, combined in memory.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace gpu_operators {

using namespace ashlar;

struct AtomicCounts {  // of the values of an image, in 64 bins
  enum class How { blocks, threads, shared };
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u32, {64});
  Tensor counts = scatter("counts", {{"b", 64}}, Combine::add, u32(0), {{"y", H}, {"x", W}},
                          [&](Var y, Var x) { return put(u32(1), in(y, x) % 64); });
  lang::Built built = (lang::bind(out, counts), lang::build_program("counts", {in, out}));
  Schedule s;

  AtomicCounts(const Target& target, How how) : s(built, target) {
    Stage all = s[counts];
    const Loop b = all.spatial<1>()[0];
    auto [y, x] = all.reduction<2>();
    if (how == How::shared) {  // each block counts in shared memory, and adds what it has to the result
      auto [yo, yi] = all.split(y, 4);
      Stage partial = all.rfactor(yo, Place::first);
      all.atomic().reorder(yo, b).bind(yo, gpu::block_x).bind(b, gpu::thread_x);
      partial.compute_at(yo).store_in(Scope::shared).atomic();
      partial.bind(partial.reduction<2>()[1], gpu::threads).bind(partial.spatial<2>()[1], gpu::threads);
      return;
    }
    auto [xo, xi] = all.split(x, 32);
    all.atomic().bind(b, gpu::thread_x).bind(xi, gpu::thread_x);
    if (how == How::blocks) all.bind(y, gpu::block_x);
    (void)xo;
  }
};

struct ReducedRows {  // t[i]: row i of x combined; y = t, or a copy of it
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Type type;
  Tensor x = lang::make_input("x", type, {M, N}), y = lang::make_output("y", type, {M});
  Axis k{"k", N};
  Tensor t;
  lang::Built built;
  Schedule s;

  template <class F>
  ReducedRows(const Target& target, Type of, F reduce, bool copied)
      : type(of),
        t(compute("t", {{"i", M}}, [&](Var i) { return reduce(x(i, k), k); })),
        built((lang::bind(y, copied ? compute("y", {{"i", M}}, [&](Var i) { return t(i); }) : t),
               lang::build_program("rows", {x, y}))),
        s(built, target) {}
};

struct AtomicRows : ReducedRows {  // by blocks of its terms
  template <class F>
  AtomicRows(const Target& target, Type of, F reduce) : ReducedRows(target, of, reduce, false) {
    Stage rows = s[t];
    const Loop i = rows.spatial<1>()[0];
    auto [ko, ki] = rows.split(rows.reduction(), 16);
    rows.atomic().decompose_init(i).bind(i, gpu::block_x).bind(ko, gpu::block_y).bind(ki, gpu::thread_x);
    rows.init().bind(rows.init().spatial<1>()[0], gpu::block_x);
  }
};

}  // namespace gpu_operators
