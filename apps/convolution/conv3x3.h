#pragma once
// A convolution of 3 x 3, stride 1, zeros around the picture, in narrow types; channels last, as the layers of ResNet-50 have
// it:
//
//   conv3x3_u8s8     u8 pictures, i8 weights, i32 results, by vpdpbusd, or where there is no VNNI by vpmaddwd or vpmaddubsw
//   conv3x3_bf16     bf16, f32 results, by vdpbf16ps
//   conv3x3_stored   bf16 or f16 as they are stored, computed in f32
//
// Channels are counted in steps of so many as an instruction multiplies at once (q of `step`), outputs in blocks of so many
// registers (b of `block`): X[H, W, channels / step, step] and Y[H, W, O / block, block] are rows of channels as they lie in
// memory, and the weights K[O / block, 3, 3, channels / step, block, step] are packed beforehand, as they are constants of a
// network.
//
//   for b, y                  a block of outputs: its weights stay in the second-level cache
//     for xo                  tile_x pixels of a row; all these loops are one, in parallel
//       partial, tile_x x block sums in registers: for ry, rx, q one instruction a register, the pixel's channels broadcast
//
// The picture is copied once, with a rim of zeros, so that the tile reads it without conditions; in the type that is
// multiplied, so that each pixel is converted once.
#include <ashlar/generator/generator.h>
#include <ashlar/instructions/x86.h>

namespace convolution {

using namespace ashlar;

class Narrow3x3 : public Generator {
 public:
  Param<int> tile_x{"tile_x", 14, between(1, 28), "pixels of a register tile"};
  Param<int> registers{"registers", 2, between(1, 8), "registers of outputs of a register tile; a block of them"};
  Param<int> ahead{"ahead", 0, between(0, 4096), "steps that weights are asked for before they are needed; 0: they are not"};
  Param<int> channels{"channels", 64, between(4, 65536), "of the picture, a multiple of 4"};
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}}, B{"B", {.min = 1}};

 protected:
  int lanes = target().lanes(f32), block = registers * lanes;

  // The rows of weights whose row of the picture there is.
  Axis rows(Var y) const { return Axis{"ry", max(1 - y, 0), min(H + 1 - y, 3)}; }

  // `dot`: the instruction of a step, or none, for vectors.
  void schedule_tile(Schedule& s, const Tensor& picture, const Tensor& weights, const Tensor& Y,
                     const std::optional<Intrinsic>& dot) {
    Stage acc = s.cache_write(Y, Scope::registers);
    auto [y, x, b, o] = s[Y].spatial<4>();
    auto [xo, xi] = s[Y].split(x, tile_x, Tail::guard);
    auto [half, lane] = s[Y].split(o, lanes, Tail::exact);
    s[Y].reorder(b, y, xo, xi, half, lane).unroll(xi).unroll(half).vectorize(lane);
    acc.compute_at(xo);

    auto [py, px, pq, pk] = s[picture].spatial<4>();
    s[picture].parallel(py);
    s[picture].vectorize(s[picture].fuse(pq, pk), s.target().lanes(picture.type()) / 4 * 4);
    (void)px;

    auto [ay, ax, ab, ao] = acc.spatial<4>();
    auto [at_x, ax_i] = acc.split(ax, tile_x, Tail::pad);
    auto [a_half, a_lane] = acc.split(ao, lanes, Tail::exact);
    auto [ry, rx, q, k] = acc.reduction<4>();
    acc.reorder(ab, ay, at_x, ry, rx, q, ax_i, a_half, a_lane, k).unroll(ax_i).unroll(a_half);
    if (dot) {
      acc.decompose_init(ry).tensorize(a_lane, *dot);
      const auto start = acc.init().nest();
      acc.init().unroll(start[start.size() - 3]).unroll(start[start.size() - 2]).vectorize(start.back());
    } else {
      acc.reorder(k, ax_i, a_half, a_lane).vectorize(a_lane);
    }
    if (ahead > 0) acc.prefetch(q, weights, ahead);
    s[Y].parallel(s[Y].fuse(s[Y].fuse(b, y), xo));
  }
};

class U8S8 : public Narrow3x3 {
 public:
  Param<bool> pairs_fit{"pairs_fit", false,
                        "two products added fit 16 bits, as where X is below 128: by vpmaddubsw, where there is no VNNI"};

 private:
  bool vnni = target().has("avx512vnni") || target().has("avxvnni"), bytes = vnni || pairs_fit;
  int step = bytes ? 4 : 2;

 public:
  Input X{"X", u8, {H, W, channels / step, step}, {.order = Layout::dense}},
      K{"K", i8, {B, 3, 3, channels / step, block, step}, {.order = Layout::dense}};
  Output Y{"Y", i32, {H, W, B, block}};
  Tensor picture;

  void algorithm() override {
    Tensor wide = boundary::constant(X, 0, {1});
    picture = compute("picture", [&](Var y, Var x, Var q, Var k) {
      const Expr pixel = wide(y, x - 1, q, k);
      return bytes ? pixel : i16(pixel);
    });
    Y = compute("Y", {{"y", H}, {"x", W}, {"b", B}, {"o", block}}, [&](Var y, Var x, Var b, Var o) {
      Axis ry = rows(y), rx{"rx", 3}, q{"q", channels / step}, k{"k", step};
      return sum(i32(picture(y + ry - 1, x + rx, q, k)) * i32(K(b, ry, rx, q, o, k)), {ry, rx, q, k});
    });
  }
  void schedule(Schedule& s) override {
    schedule_tile(s, picture, K, Y,
                  !bytes                       ? x86::vpmaddwd(lanes, i8)
                  : !vnni                      ? x86::vpmaddubsw(x86::Pairs::fit, lanes)
                  : target().has("avx512vnni") ? x86::vpdpbusd(lanes)
                                               : x86::vpdpbusd(lanes, x86::Encoding::vex));
  }
};

// The two channels of a step are added upper one first, as the instruction does.
class Bf16 : public Narrow3x3 {
 public:
  Input X{"X", bf16, {H, W, channels / 2, 2}, {.order = Layout::dense}},
      K{"K", bf16, {B, 3, 3, channels / 2, block, 2}, {.order = Layout::dense}};
  Output Y{"Y", f32, {H, W, B, block}};
  Tensor picture;

  void algorithm() override {
    Tensor wide = boundary::constant(X, 0.0f, {1});
    picture = compute("picture", [&](Var y, Var x, Var q, Var k) { return wide(y, x - 1, q, k); });
    Y = compute("Y", {{"y", H}, {"x", W}, {"b", B}, {"o", block}}, [&](Var y, Var x, Var b, Var o) {
      Axis ry = rows(y), rx{"rx", 3}, q{"q", channels / 2}, k{"k", 2};
      return sum(f32(picture(y + ry - 1, x + rx, q, 1 - k)) * f32(K(b, ry, rx, q, o, 1 - k)), {ry, rx, q, k});
    });
  }
  void schedule(Schedule& s) override { schedule_tile(s, picture, K, Y, x86::vdpbf16ps(x86::Subnormals::as_zero, lanes)); }
};

// A step is one channel, a multiply-add of vectors. Converting a vector of weights takes as many instructions as two of them:
// of pictures of eight tiles and more the weights are converted once, before them.
class Stored : public Narrow3x3 {
 public:
  Param<Type> stored{"stored", bf16, {{bf16, f16}}, "type of the picture and the weights"};
  Input X{"X", *stored, {H, W, *channels, 1}, {.order = Layout::dense}},
      K{"K", *stored, {B, 3, 3, *channels, block, 1}, {.order = Layout::dense}};
  Output Y{"Y", f32, {H, W, B, block}};
  Tensor picture, weights;

  void algorithm() override {
    Tensor wide = boundary::constant(X, 0.0f, {1});
    picture = compute("picture", [&](Var y, Var x, Var q, Var k) { return f32(wide(y, x - 1, q, k)); });
    weights = compute("weights", {B, 3, 3, *channels, block, 1},
                      [&](Var b, Var ry, Var rx, Var q, Var o, Var k) { return f32(K(b, ry, rx, q, o, k)); });
    Y = compute("Y", {{"y", H}, {"x", W}, {"b", B}, {"o", block}}, [&](Var y, Var x, Var b, Var o) {
      Axis ry = rows(y), rx{"rx", 3}, q{"q", *channels}, k{"k", 1};
      return sum(picture(y + ry - 1, x + rx, q, k) * weights(b, ry, rx, q, o, k), {ry, rx, q, k});
    });
  }
  void schedule(Schedule& s) override {
    Schedule& many = s.specialize(H * W >= 8 * tile_x);
    auto [b, ry, rx, q, o, k] = many[weights].spatial<6>();
    many[weights].vectorize(many[weights].fuse(o, k), lanes).parallel(many[weights].fuse(b, ry));
    (void)rx, (void)q;
    schedule_tile(many, picture, weights, Y, std::nullopt);
    s[weights].inline_();
    schedule_tile(s, picture, K, Y, std::nullopt);
  }
};

}  // namespace convolution
