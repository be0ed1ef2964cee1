#pragma once
// How the network is computed: for a Cortex-M55, with Helium; for a Cortex-M4, whose smlad multiplies and adds two halves of a
// word; for any other processor. In all of them a 3 x 3 convolution is computed one row at a time, where the product over the
// channels reads it; on boards sums stay in registers.
#include <ashlar/ashlar.h>
#include <ashlar/instructions/cortex_m.h>

#include "apps/keywords/network.h"

namespace ds_cnn {

struct LayerStages {
  ashlar::Tensor sums, result;
};
struct BlockStages {
  ashlar::Tensor padded;
  LayerStages depth, point;
};
struct Stages {
  ashlar::Tensor input, pool_sums, pool, dense_sums, top, power, total;
  LayerStages conv;
  BlockStages block[blocks];
};

namespace detail {
using namespace ashlar;

// A layer whose sums are computed by an instruction: at one place four channels, their sums in registers, over the tile's loop.
struct Tile {
  Loop outer, lanes;  // over the tiles of a place; within one
};

inline Tile tile_of(Schedule& s, const LayerStages& l) {
  auto [outer, lanes] = s[l.result].split(s[l.result].spatial<3>()[2], 4, Tail::exact);
  s[l.sums].compute_at(outer).store_in(Scope::registers);
  return {outer, lanes};
}

// The convolution: `rows` of the window in one instruction.
inline void conv_by(Schedule& s, const LayerStages& l, int rows, const Intrinsic& f) {
  Stage sums = s[l.sums];
  auto [h, w, c] = sums.spatial<3>();
  auto [r, q] = sums.reduction<2>();
  if (rows == 1) {
    sums.reorder(r, h, w, c, q).unroll(r).decompose_init(r);
  } else {
    auto [ro, ri] = sums.split(r, rows, Tail::exact);
    sums.reorder(ro, h, w, c, ri, q).unroll(ro).decompose_init(ro);
  }
  sums.tensorize(w, f);
}

// The product over the channels: `terms` of them in one instruction.
inline void product_by(Schedule& s, const LayerStages& l, int terms, const Intrinsic& f) {
  Stage sums = s[l.sums];
  auto [h, w, c] = sums.spatial<3>();
  auto [ko, k] = sums.split(sums.reduction(), terms, Tail::exact);
  sums.reorder(ko, h, w, c, k).unroll(ko).decompose_init(ko).tensorize(w, f);
}

// Four bytes at a time, two smlad. There are no vectors: lanes are unrolled.
inline void for_m4(Schedule& s, const Stages& net) {
  const auto apart = [&](const LayerStages& l, const Loop& lanes) {
    s[l.result].unroll(lanes);
    const auto start = s[l.sums].init().nest();
    s[l.sums].init().unroll(start.back());
  };
  const Tile t = tile_of(s, net.conv);
  conv_by(s, net.conv, 1, cortex_m::smlad(1, 4));
  apart(net.conv, t.lanes);
  for (const BlockStages& b : net.block) {
    const Loop h = s[b.point.result].spatial<3>()[0];
    const Tile p = tile_of(s, b.point);
    product_by(s, b.point, 4, cortex_m::smlad(1, 4));
    apart(b.point, p.lanes);
    Stage depth = s[b.depth.result], sums = s[b.depth.sums];
    depth.compute_at(h);  // a row, where the product reads it
    sums.compute_at(depth.spatial<3>()[2]).store_in(Scope::registers);
    auto [r, q] = sums.reduction<2>();
    sums.unroll(r).unroll(q);
  }
}

// Sixteen bytes at a time, one vmlava; of the convolution two rows of its window, which is copied so that they are neighbors.
inline void for_m55(Schedule& s, const Stages& net) {
  const auto in_lanes = [&](const LayerStages& l, const Loop& lanes) {
    s[l.result].vectorize(lanes);
    s[l.sums].init().vectorize(s[l.sums].init().nest().back());
  };
  const Loop place = s[net.conv.result].spatial<3>()[1];
  const Tile t = tile_of(s, net.conv);
  Stage window = s.cache_read(net.input, {s[net.conv.sums]}, Scope::stack);
  window.compute_at(place);
  window.vectorize(window.spatial<2>()[1]);
  conv_by(s, net.conv, 2, cortex_m::vmladava(1, 4, {2, 4}));
  in_lanes(net.conv, t.lanes);
  for (const BlockStages& b : net.block) {
    const Loop h = s[b.point.result].spatial<3>()[0];
    const Tile p = tile_of(s, b.point);
    product_by(s, b.point, 16, cortex_m::vmladava(1, 4));
    in_lanes(b.point, p.lanes);
    s[b.padded].vectorize(s[b.padded].spatial<3>()[2], 16);
    Stage depth = s[b.depth.result], sums = s[b.depth.sums];
    depth.compute_at(h);
    const Tile d = tile_of(s, b.depth);
    depth.vectorize(d.lanes);
    auto [r, q] = sums.reduction<2>();
    const Loop c = sums.spatial<3>()[2];
    sums.reorder(r, q, c).unroll(r).unroll(q).vectorize(c);
  }
}

// Any processor with vectors, or without: channels in lanes; of a product its terms, since those lie beside each other.
inline void for_vectors(Schedule& s, const Stages& net) {
  const int lanes = s.target().lanes(i32);
  const auto across = [&](Stage stage, const Loop& c) { stage.vectorize(c, lanes); };
  s[net.conv.sums].compute_at(s[net.conv.result].spatial<3>()[1]);
  across(s[net.conv.result], s[net.conv.result].spatial<3>()[2]);
  for (const BlockStages& b : net.block) {
    auto [h, w, c] = s[b.point.result].spatial<3>();
    Stage sums = s[b.point.sums];
    sums.compute_at(w);
    across(s[b.point.result], c);
    auto [ko, k] = sums.split(sums.reduction(), lanes, Tail::exact);
    Stage part = sums.rfactor(k);
    part.compute_at(sums.spatial<3>()[2]).store_in(Scope::stack).vectorize(part.spatial<4>()[3]);
    (void)ko;
    Stage depth = s[b.depth.result], depth_sums = s[b.depth.sums];
    depth.compute_at(h);
    auto [dh, dw, dc] = depth.spatial<3>();
    depth_sums.compute_at(dw);
    across(depth, dc);
    auto [r, q] = depth_sums.reduction<2>();
    const Loop each = depth_sums.spatial<3>()[2];
    depth_sums.reorder(r, q, each);
    across(depth_sums, each);
    (void)dh;
  }
}
}  // namespace detail

inline void schedule(ashlar::Schedule& s, const Stages& net) {
  if (s.target().has("mve")) return detail::for_m55(s, net);
  if (s.target().has("dsp")) return detail::for_m4(s, net);
  detail::for_vectors(s, net);
}

}  // namespace ds_cnn
