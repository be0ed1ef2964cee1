// (j) one generator, many products: parameters, symbolic and derived extents, a target-dependent schedule as plain functions.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
enum class Kind { box, binomial };

class Conv1d : public Generator {
 public:
  Param<Type> T{"T", f32};
  Param<int> taps{"taps", 5}, unroll_by{"unroll_by", 4, {{1, 2, 4, 8}}};
  Param<bool> normalize{"normalize", false};
  Symbol N{"N", {.min = 1}}, B{"B"};
  Input x{"x", T, {B, N + (taps - 1)}};  // derived extent: N is solved from it, then checked everywhere else
  Input w{"w", T, {taps}};
  Scalar gain{"gain", f32};
  Output y{"y", T, {B, N}};
  Tensor acc;

  void algorithm() override {
    Axis t{"t", taps};
    acc = compute("acc", {B, N}, [&](Var b, Var n) { return sum(f32(x(b, n + t)) * f32(w(t)), t); });
    y = compute("y", {B, N}, [&](Var b, Var n) {
      Expr v = acc(b, n) * gain;
      if (normalize) v = v / taps;  // Param: decided now. `if (v > 0)` would not compile, and says why
      return T(v);
    });
  }

  static void for_cpu(Schedule& s, const Tensor& y, const Tensor& acc, int by) {
    auto [b, n] = s[y].spatial<2>();
    auto [no, ni] = s[y].split(n, by * s.target().lanes(f32));
    s[y].parallel(b).vectorize(ni, s.target().lanes(f32));
    s[acc].compute_at(no);
  }
  static void for_gpu(Schedule& s, const Tensor& y, const Tensor& acc) {
    auto [b, n] = s[y].spatial<2>();
    auto [no, ni] = s[y].split(n, 256);
    s[y].bind(b, gpu::block_y).bind(no, gpu::block_x).bind(ni, gpu::thread_x);
    s[acc].compute_at(ni).store_in(Scope::registers);
  }
  void schedule(Schedule& s) override {
    if (s.target().is_gpu()) return for_gpu(s, y, acc);
    const bool wide = s.target().vector_registers() >= 32;
    for_cpu(s, y, acc, wide ? 2 * unroll_by : *unroll_by);
  }
};
ASHLAR_GENERATOR(Conv1d, "conv1d");

// a composite primitive is a function over primitives
Tiles tile_and_stage(Schedule& s, const Tensor& consumer, const Tensor& producer, int edge) {
  auto [i, j] = s[consumer].spatial<2>();
  Tiles t = s[consumer].tile(i, j, edge, edge);
  s[consumer].reorder(t.outer_i, t.outer_j, t.inner_i, t.inner_j);
  s[producer].compute_at(t.outer_j);
  return t;
}
[[maybe_unused]] auto keep = &tile_and_stage;
}  // namespace
