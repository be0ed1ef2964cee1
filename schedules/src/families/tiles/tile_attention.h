// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the default schedule uses of tile_attention.h: the same for an attention that is found in a program.
#include <ashlar/schedules/tile_attention.h>

#include "schedules/src/families/devices/gpu_attention.h"
#include "schedules/src/families/tiles/tiles.h"

namespace ashlar::schedules::detail {

// When is a call worth keys that are split among blocks?
std::optional<FewBlocks> few_blocks_of_attention(Schedule& s, const AttentionParts& a, Where where);

void tile_attention(Schedule& s, const AttentionParts& a, const TileAttentionOptions& o, Where where);

}  // namespace ashlar::schedules::detail
