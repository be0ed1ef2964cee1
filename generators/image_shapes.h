// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The shapes of images and windows in a layout (ops/conv.h), of parameters with the usual names: N images of C channels, W
// wide, H high, D deep; a result of O channels. In a blocked layout CB and OB count blocks of channels.
#include <string>
#include <vector>

#include "generators/params.h"

namespace ashlar::generators {

inline std::vector<Extent> sides(Extents& extents, int dimensions) {
  std::vector<Extent> s;
  for (const char* name : {"D", "H", "W"})
    if (name[0] == 'W' || dimensions == 3 || (name[0] == 'H' && dimensions == 2)) s.emplace_back(extents[name]);
  return s;
}

// channels: those of the layout, or blocks of them
inline std::vector<Extent> image(const Extent& batch, const Extent& channels, const std::vector<Extent>& sides,
                                 const LayoutParam& layout) {
  std::vector<Extent> s{batch};
  const bool last = *layout == ops::Layout::channels_last;
  if (!last) s.push_back(channels);
  s.insert(s.end(), sides.begin(), sides.end());
  if (last) s.push_back(channels);
  if (layout.blocked()) s.emplace_back(layout.block());
  return s;
}

// Weights from `in` channels to `out`.
inline std::vector<Extent> weights(const Extent& out, const Extent& in, const std::vector<Extent>& window,
                                   const LayoutParam& layout) {
  std::vector<Extent> s = window;
  if (*layout == ops::Layout::channels_last) {
    s.push_back(in), s.push_back(out);
    return s;
  }
  s.insert(s.begin(), {out, in});
  if (layout.blocked()) s.emplace_back(layout.block()), s.emplace_back(layout.block());
  return s;
}

// A vector over the channels of a result: [O], or [OB, block].
inline std::vector<Extent> per_channel(const Extent& channels, const LayoutParam& layout) {
  std::vector<Extent> s{channels};
  if (layout.blocked()) s.emplace_back(layout.block());
  return s;
}

template <std::size_t N>
std::vector<Extent> as_extents(const std::array<int, N>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// A number that an extent has, or 0.
inline std::int64_t number(const Expr& e) { return ops::detail::number_or(e, 0); }

}  // namespace ashlar::generators
