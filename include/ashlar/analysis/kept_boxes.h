// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The boxes that a step has not changed: those of nests that it did not change, whose readers it did not change, and whose
// domains are the same. Ask about consumers before the stages that they read.
//
//   compute_at moves Q into the loop over j of C; P, which Q reads, gets a box anew; what P reads gets one if P's is another
#include <optional>

#include <ashlar/analysis/domains.h>

#include <ashlar/analysis/blocks.h>
#include <ashlar/analysis/unchanged.h>

namespace ashlar::analysis {

class KeptBoxes {
 public:
  KeptBoxes(const ir::Program& before, const ir::Program& now, const TreeIndex& tree);
  // Whether the nest's box is unchanged. If not, derive it and call `derived`.
  bool keeps(const Path& nest);
  void derived(const Path& nest, bool as_before);

 private:
  enum class Box : std::uint8_t { pending, kept, same, other };

  Box box_of(ir::Id nest) const { return boxes_[nest]; }
  bool kept(const Path& path) const;  // whether the boxes of all nests on the path are unchanged
  bool same_domain(ir::Id stage);

  const ir::Program &before_, &now_;
  const TreeIndex& tree_;
  const Unchanged unchanged_;
  std::vector<Box> boxes_;     // by nest
  std::vector<ir::Id> fewer_;  // stages that have lost a reader
  bool any_ = false;           // whether any box may be kept
  std::optional<Domains> domains_, domains_before_;
};

// Like derive_regions (analysis/regions.h), for a program that a step made from another one whose boxes are derived.
void derive_regions(ir::Program&, const ir::Program& before, ir::Id within);

}  // namespace ashlar::analysis
