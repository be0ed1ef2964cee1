#include "library.h"

#include <ashlar/ops.h>

namespace fuzz {
namespace {

using namespace ashlar;

class Maker {
 public:
  explicit Maker(Source& source) : s(source) {}
  Made make() {
    made_.exact = true;
    static constexpr Tensor (Maker::* operators[])() = {&Maker::product,     &Maker::product,   &Maker::convolution,
                                                        &Maker::convolution, &Maker::depthwise, &Maker::turned,
                                                        &Maker::pooled,      &Maker::reduced,   &Maker::normalized};
    Tensor y = (this->*operators[s.pick(9)])();
    if (s.one_in(3)) y = ops::relu(y);
    const Tensor out = lang::make_output("out", y.type(), y.shape().extents());
    lang::bind(out, y);
    arguments_.emplace_back(out);
    made_.built = lang::build_program("library", arguments_);
    return std::move(made_);
  }

 private:
  // A number, or a Symbol of at least `least`.
  Extent extent(const char* name, int least, int most) {
    if (s.one_in(2)) {
      const Symbol symbol{name, {.min = least}};
      return Extent(name, Expr(symbol));
    }
    const int n = s.between(least, most);
    return Extent(static_cast<std::int64_t>(n));
  }
  Tensor in(const char* name, Type t, const std::vector<Extent>& shape) {
    const Tensor x = lang::make_input(name, t, shape);
    arguments_.emplace_back(x);
    made_.text += std::string(name) + ", ";
    return x;
  }
  Tensor named(const std::string& what, const Tensor& t) {
    made_.text += what;
    made_.forms.insert("library: " + what);
    return t;
  }

  Tensor product() {
    const Extent M = extent("M", 1, 40), N = extent("N", 1, 70), K = extent("K", 0, 40);
    const std::uint32_t kind = s.pick(6);
    if (kind == 0 || kind == 1) {  // narrow
      const Type ta = kind == 0 ? u8 : bf16, tb = kind == 0 ? i8 : bf16, wide = kind == 0 ? i32 : f32;
      const Tensor a = in("a", ta, {M, K}), b = in("b", tb, {K, N});
      const Axis k{"k", Operand(a.extent(1))};
      return named("narrow product", compute("c", {M, N}, [&](Var i, Var j) { return sum(wide(a(i, k)) * wide(b(k, j)), k); }));
    }
    const Type t = s.one_in(4) ? f64 : f32;
    const ops::MatmulOptions o{.transpose_a = kind != 5 && s.one_in(4), .transpose_b = s.one_in(3)};
    const auto of = [](bool turned, const Extent& r, const Extent& c) {
      return turned ? std::vector<Extent>{c, r} : std::vector<Extent>{r, c};
    };
    if (kind < 5) {
      std::vector<Extent> a = of(o.transpose_a, M, K), b = of(o.transpose_b, K, N);
      if (kind == 2) return named("matmul", ops::matmul(in("a", t, a), in("b", t, b), o));
      const Extent P = extent("P", 1, 3);
      a.insert(a.begin(), P);
      if (kind == 4) b.insert(b.begin(), P);
      const Tensor ta = in("a", t, a);
      return named("batch_matmul", ops::batch_matmul(ta, in("b", t, b), o));
    }
    const Tensor x = in("x", t, {M, K}), w = in("w", t, of(o.transpose_b, K, N));
    return named("dense", ops::dense(x, w, s.one_in(2) ? in("bias", t, {N}) : Tensor(), o));
  }

  Tensor convolution() {
    const int window = s.between(1, 3), groups = s.one_in(5) ? 2 : 1, channels = groups * s.between(1, 4);
    const int outs = groups * s.between(1, 20);
    const Extent N = extent("B", 0, 2), H = extent("H", 3, 9), W = extent("W", 3, 20);
    const int blocks = s.between(1, 2), in_block = s.between(1, 4);
    ops::Conv2dOptions o{.stride = {s.between(1, 2), s.between(1, 2)},
                         .padding = {ops::Pad(s.between(0, 1), s.between(0, 1)), ops::Pad(s.between(0, 2))},
                         .groups = groups};
    const std::int64_t r = window, c = channels, e = outs;
    switch (s.pick(3)) {
      case 0: {
        const Tensor x = in("x", f32, {N, Extent(c), H, W}),
                     w = in("w", f32, {Extent(e), Extent(c / groups), Extent(r), Extent(r)});
        return named("convolution nchw", ops::conv2d(x, w, s.one_in(2) ? in("bias", f32, {Extent(e)}) : Tensor(), o));
      }
      case 1: {
        o.layout = ops::Layout::channels_last;
        const Tensor x = in("x", f32, {N, H, W, Extent(c)}),
                     w = in("w", f32, {Extent(r), Extent(r), Extent(c / groups), Extent(e)});
        return named("convolution nhwc", ops::conv2d(x, w, {}, o));
      }
      default: {
        o.layout = ops::Layout::channels_blocked, o.groups = 1;
        const Extent B(std::int64_t{blocks}), I(std::int64_t{in_block});
        const Tensor x = in("x", f32, {N, B, H, W, I}),
                     w = in("w", f32, {extent("O", 1, 2), B, Extent(r), Extent(r), I, Extent(std::int64_t{16})});
        return named("convolution in blocks", ops::conv2d(x, w, {}, o));
      }
    }
  }

  Tensor depthwise() {
    const Extent N = extent("B", 0, 2), H = extent("H", 3, 9), W = extent("W", 3, 20), C = extent("C", 1, 40);
    ops::DepthwiseOptions o{.stride = {1, s.between(1, 2)}, .padding = {1, 1}};
    const Extent three(std::int64_t{3}), one(std::int64_t{1});
    if (s.one_in(2)) {
      o.layout = ops::Layout::channels_last;
      const Tensor x = in("x", f32, {N, H, W, C});
      return named("depthwise nhwc", ops::depthwise_conv2d(x, in("w", f32, {three, three, C, one}), {}, o));
    }
    const Tensor x = in("x", f32, {N, C, H, W});
    return named("depthwise nchw", ops::depthwise_conv2d(x, in("w", f32, {C, one, three, three}), {}, o));
  }

  Tensor turned() {
    const Type types[] = {f32, u8, f64, i16};
    const Type t = types[s.pick(4)];
    const Tensor x = in("x", t, {extent("A", 0, 5), extent("M", 0, 40), extent("N", 0, 40)});
    static constexpr int orders[][3] = {{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}};
    const auto& o = orders[s.pick(5)];
    return named("transposition", compute("turned", {x.extent(o[0]), x.extent(o[1]), x.extent(o[2])}, [&](Var i, Var j, Var k) {
                   Expr at[3];
                   at[o[0]] = i, at[o[1]] = j, at[o[2]] = k;
                   return x(at[0], at[1], at[2]);
                 }));
  }

  Tensor pooled() {
    const bool last = s.one_in(2);
    const Extent N = extent("B", 0, 2), H = extent("H", 3, 9), W = extent("W", 3, 20), C = extent("C", 1, 20);
    const Tensor x = in("x", f32, last ? std::vector<Extent>{N, H, W, C} : std::vector<Extent>{N, C, H, W});
    return named("pooling", ops::max_pool2d(x, {.window = {3, 2},
                                                .stride = {s.between(1, 2), 1},
                                                .layout = last ? ops::Layout::channels_last : ops::Layout::channels_first}));
  }

  Tensor reduced() {
    const Tensor x = in("x", f32, {extent("A", 1, 5), extent("M", 1, 40), extent("N", 1, 70)});
    static const std::vector<int> axes[] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}};
    const std::vector<int>& along = axes[s.pick(7)];
    if (s.one_in(2)) return named("maximum", ops::reduce_max(x, {.axes = along}));
    return named("sum", ops::reduce_sum(x, {.axes = along}));
  }

  Tensor normalized() {
    made_.exact = false;
    const Tensor x = in("x", f32, {extent("M", 0, 9), extent("N", 1, 70)});
    switch (s.pick(3)) {
      case 0:
        return named("softmax", ops::softmax(x));
      case 1: {
        const Extent N("N", x.extent(1));
        const Tensor scale = in("scale", f32, {N});
        return named("layer norm", ops::layer_norm(x, scale, in("shift", f32, {N})).result);
      }
      default:
        return named("gelu", ops::gelu(x));
    }
  }

  Source& s;
  Made made_;
  std::vector<lang::ArgumentRef> arguments_;
};

}  // namespace

Made make_library_program(Source& s) { return Maker(s).make(); }

}  // namespace fuzz
