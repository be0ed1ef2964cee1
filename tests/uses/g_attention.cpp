// (g) attention with an online softmax. Written as blocks plus an associative combiner: every piece is an ordinary stage,
//     and nothing of size M x N is ever stored. Causal mask, symbolic lengths. On a device a thread has a row of queries, and
//     the tiles of K and V that a block of threads shares are loaded one iteration ahead.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
// {m, l, o}: running maximum, sum of exp(s - m), weighted sum of values
Reducer<3> online_softmax() {
  return reducer(
      "online_softmax", {f32, f32, f32}, {lowest(f32), 0, 0},
      [](Values<3> a, Values<3> b) {
        Expr m = max(a[0], b[0]), ea = exp(a[0] - m), eb = exp(b[0] - m);
        return values(m, a[1] * ea + b[1] * eb, a[2] * ea + b[2] * eb);
      },
      Order::any);
}

class Attention : public Generator {
 public:
  Param<int> block_q{"block_q", 32}, block_k{"block_k", 16}, D{"D", 32};
  Param<bool> causal{"causal", true};
  Symbol M{"M"}, N{"N", {.min = 1}};
  Input Q{"Q", f16, {M, D}}, K{"K", f16, {N, D}}, V{"V", f16, {N, D}};
  Scalar scale{"scale", f32};
  Output O{"O", f16, {M, D}};
  Tensor S, top, P, part, mixed, total, peak;

  void algorithm() override {
    const int bk = block_k;
    Expr blocks = (N + (bk - 1)) / bk;
    Axis d{"d", D}, e{"e", bk}, b{"b", blocks};
    auto seen = [&](const Expr& i, const Expr& j) { return causal ? j < N && j <= i : j < N; };  // Param: a C++ choice

    S = compute("S", {M, blocks * bk},
                [&](Var i, Var j) { return sum(select(seen(i, j), f32(Q(i, d)) * f32(K(j, d)) * scale, 0), d); });
    top = compute("top", {M, blocks},
                  [&](Var i, Var t) { return maximum(select(seen(i, t * bk + e), S(i, t * bk + e), lowest(f32)), e); });
    P = compute("P", {M, blocks, bk},
                [&](Var i, Var t, Var u) { return select(seen(i, t * bk + u), exp(S(i, t * bk + u) - top(i, t)), 0); });
    part = compute("part", {M, blocks}, [&](Var i, Var t) { return sum(P(i, t, e), e); });
    Tensor block_out = compute("block_out", {M, blocks, D}, [&](Var i, Var t, Var c) {
      Expr j = t * bk + e;
      return sum(select(j < N, P(i, t, e) * f32(V(j, c)), 0), e);  // P == 0 past N would not excuse reading V there
    });
    mixed = block_out;
    auto online = online_softmax();
    auto [m, l, o] =
        compute("attend", {M, D}, [&](Var i, Var c) { return online(values(top(i, b), part(i, b), mixed(i, b, c)), b); });
    peak = m, total = l;
    Tensor weighted = o;
    O = compute("O", {M, D}, [&](Var i, Var c) { return f16(weighted(i, c) / total(i, c)); });
  }

  void schedule(Schedule& s) override {
    auto [i, c] = s[O].spatial<2>();
    auto [io, ii] = s[O].split(i, block_q);
    s[O].reorder(io, ii, c);
    Stage attend = s[total];  // any of the three names the stage
    attend.compute_at(ii);
    attend.drop_dim(0, 1).drop_dim(1, 1);  // m and l do not depend on the column: proved, else refused
    Loop b = attend.reduction();
    attend.reorder(b, attend.spatial<2>()[0], attend.spatial<2>()[1]);
    for (const Tensor& t : {mixed, part, P, top, S}) s[t].compute_at(b).store_in(Scope::stack);
    attend.store_in(Scope::stack);
    if (target().is_gpu()) {
      s[O].bind(io, gpu::block_x).bind(ii, gpu::thread_x);
      Stage k_tile = s.cache_read(K, {S}, Scope::shared, 0), v_tile = s.cache_read(V, {mixed}, Scope::shared, 0);
      for (Stage tile : {k_tile, v_tile}) {
        tile.compute_at(b);
        auto [r, column] = tile.spatial<2>();
        tile.bind(tile.split(tile.fuse(r, column), block_q).inner, gpu::thread_x);
      }
      attend.pipeline(b, {.stages = 2, .loads = {k_tile, v_tile}});
    } else {
      s[O].parallel(io).vectorize(s[O].split(c, 8).inner);
      attend.vectorize(attend.split(attend.spatial<2>()[1], 8).inner);
    }
  }
};
ASHLAR_GENERATOR(Attention, "attention");
}  // namespace
