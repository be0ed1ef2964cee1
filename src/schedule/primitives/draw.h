// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// How a step is drawn at random: any primitive, on stages and loops that exist, with arguments that make sense often enough.
// Whether the step is legal is for the primitive to say. Each file says how its own is drawn; what is random, and descriptions
// of loops as intrinsics, come from the fuzzer.
//
//   bool draw_reverse(Draw& d) {
//     const Id stage = d.stage();
//     const std::vector<const Stmt*> loops = loops_of(d.p, stage);
//     if (loops.empty()) return false;                        // the program has no place for it
//     d.reassociates = order_matters(d.p, d.p.stage(stage));
//     return d.step("reverse", {Arg::loop(d.any(loops)->id)});
//   }
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "schedule/edit.h"
#include "schedule/primitives/must.h"

namespace ashlar::schedule {

class Draw {
 public:
  explicit Draw(const Program& program) : p(program) {}
  virtual ~Draw() = default;

  virtual std::uint32_t pick(std::uint32_t n) = 0;                   // 0 .. n - 1; 0 is the simplest choice
  virtual const ir::Intrinsic* intrinsic_for(const Stmt& loop) = 0;  // that does what the loop does, most often; null: none
  bool one_in(std::uint32_t n) { return pick(n) == n - 1; }
  int between(int low, int high) { return low + static_cast<int>(pick(static_cast<std::uint32_t>(high - low + 1))); }
  template <class All>
  auto any(const All& all) {
    return all[pick(static_cast<std::uint32_t>(std::size(all)))];
  }
  int factor() { return any(factors); }  // of splits, folds, alignments

  std::vector<Id> stages() const;  // that are computed somewhere
  Id stage() { return any(stages()); }
  Id temporary();        // most often one that is not an output
  Arg layout(int rank);  // a map of that many coordinates: panels, another order, a skew, remainders

  // The step that is drawn, and those that make a move of it, applied as long as they are legal. True, for the end of a draw.
  bool step(const char* primitive, std::vector<Arg>, Where = Where::current());
  std::vector<Step> steps;
  // The order in which a floating sum or product is taken changes, which only programs with exact sums may see.
  bool reassociates = false;

  const Program& p;
  bool launch = false;    // for a device: of what makes launches
  bool scalable = false;  // the target has vectors as long as the machine's
  int warp = 0;           // threads of a device that run as one

 private:
  static constexpr int factors[] = {2, 4, 3, 8, 5, 1, 16, 7};
};

// How often among all, and among those that make launches; `likely`: as often as half of all others where it holds.
struct Drawing {
  int often = 0, in_launches = 0;
  Must<bool (*)(Draw&)> draw;
  bool (*likely)(const Draw&) = nullptr;
};

bool draw_loop(Draw&, const char* primitive);   // a loop of any stage
bool draw_stage(Draw&, const char* primitive);  // any stage
bool draw_at(Draw&, const char* primitive);     // a stage that is computed inside of loops, and one of these

// ---- the program at hand ---------------------------------------------------------------------------------------------------
std::vector<const Stmt*> loops_of(const Program&, Id stage);      // of the stage's own nests
std::vector<const Stmt*> loops_around(const Program&, Id stage);  // of others, around them
std::vector<Id> readers_of(const Program&, Id stage);
// Taking the terms in another order gives another value: sums and products of floats. strict_sum is refused instead.
bool order_matters(const Program&, const ir::Stage&);
bool is_constant(const Program&, const Stmt& loop);  // its extent
std::vector<Id> stored_stages(const Program&);       // temporaries, by their storage

struct Launch {  // a nest at the root, which may be one, and all loops in it
  const Stmt& root;
  std::vector<const Stmt*> loops;
  const Stmt* loop_where(Draw&, const std::function<bool(const Stmt&)>& wanted) const;  // any of those; null: there is none
};
std::optional<Launch> draw_root(Draw&);

}  // namespace ashlar::schedule
