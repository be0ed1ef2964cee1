// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The state of the default scheduler: the current program, the choices for each stage, and steps that may be refused.
#include <functional>
#include <set>

#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>

#include "schedules/src/classify.h"

namespace ashlar::schedules {

// How a dimension of a stage follows one of the leader's: at the leader's point v, [scale v + lo, scale v + hi] is read.
struct Follow {
  int dim = -1;  // of the leader; -1: none, the dimension is read all along
  std::int64_t scale = 1;
  double lo = 0, hi = 0;
  bool apart() const { return hi - lo < static_cast<double>(scale); }  // neighboring points of the leader read different ones
};

// Stages that are computed together, inside the loops of one of them, the leader, which nothing in the group reads.
struct Group {
  Id leader = 0;
  std::vector<Id> members;                    // consumers first
  std::map<Id, std::vector<Follow>> follows;  // of each member, for each of its spatial dimensions
};

// A loop of a leader: a dimension, or one part of it.
struct Level {
  int dim = 0;
  enum class Part { whole, outer, inner } part = Part::whole;
  Loop loop;
};

struct Phases {  // of a window under a stride: x(stride t + term)
  Id buffer = 0, term = 0;
  std::int64_t stride = 1;
  std::int64_t values = 1;  // of a point: the dimension behind t
};

struct Tile {  // of results that are summed in registers: dimensions of a stage, -1 where there is none
  int rows = -1, columns = -1;
  std::int64_t rows_by = 1, columns_by = 1;
  std::int64_t lanes = 0;  // of a vector of columns; 0: as many as a register holds
  // Columns are neighbors neither in a factor nor in the result: the factor that has them is packed in blocks of columns_by.
  Id packed = 0;  // its buffer
  int packed_dim = -1;
  std::optional<Phases> phases;
  // Columns are all of the few values of each point; vectors hold those of several points along this dimension, the one before.
  // `apart`: each value is computed in its own vectors.
  int pixels = -1;
  std::int64_t pixels_by = 1;
  bool apart = false;
  std::int64_t width() const { return pixels_by * columns_by; }  // results of a row of the tile, neighbors in memory
};

// A product of matrices that a schedule family handles.
struct Product {
  Id stage = 0, a = 0, b = 0;  // a and b: buffers
  bool transposed_a = false, transposed_b = false;
  Type a_type, b_type, type;
  enum class Kind { by_size, panels, skinny, narrow } kind = Kind::panels;
};

enum class Taken { no, transposition, channels_last, separable };  // by which family as a whole; separable: with its member

// The planned loops of a leader, outermost first, and where its members are computed.
struct Plan {
  Taken taken = Taken::no;              // then neither
  std::optional<Product> product;       // then there are no levels, and no place for members but the product
  std::map<int, std::int64_t> factors;  // of dimensions that are split
  std::vector<Level> levels;
  int vector_dim = -1;              // the dimension of the last level, in vectors
  bool channels = false;            // vectors hold all of the last level, of several points of the level before it
  int parallel = -1;                // a level
  int parallel_to = -1;             // the levels from that one to this are one loop, for the pool
  int strip = -1;                   // the inner level of a dimension in strips, along which members slide
  std::optional<Tile> tile;         // in dimensions of the leader
  bool points = false;              // the tile is of points of short rows
  std::map<Id, std::size_t> place;  // members: inside this level
  std::map<Id, bool> slides;
  // Members that are computed for several rows of the leader at once: products of which a row needs all columns, in their own
  // tiles, and costly sums of rows, with rows in lanes.
  std::map<Id, Tile> strips;
  int strip_rows = -1;      // the dimension of these rows
  std::vector<Id> outside;  // members that no level holds
};

class Draft {
 public:
  Draft(Schedule& schedule, const DefaultOptions& o, Where w) : s(schedule), options(o), where(w) {}
  const ir::Program& program() const { return s.scheduled().program; }
  const ir::Stage& stage(Id id) const { return program().stage(id); }
  Sizes sizes() const { return Sizes(program(), options.extent > 0 ? options.extent : 1024); }
  Sizes most() const { return Sizes(program(), options.extent > 0 ? options.extent : std::int64_t{1} << 20); }  // for threads
  Stage handle(Id id) { return stage_of(s, id, where); }
  const Classified& family(Id stage);  // as it was classified first; what a step made, by its own definition

  // The dimension whose elements are neighbors in memory, if that is not the last one.
  void lies_along(Id stage, std::size_t dim) { along_[stage] = dim; }
  std::optional<std::size_t> last_in_memory(Id stage) const {
    const auto at = along_.find(stage);
    return at == along_.end() ? std::nullopt : std::optional(at->second);
  }

  void made(Id stage, Id of) { of_[stage] = of; }  // by a step: what is done to it is told of the stage that it is a part of
  Choice& choice(Id stage);
  void done(Id stage, std::string text) { choice(stage).done.push_back(std::move(text)); }
  void why(Id stage, std::string text) { choice(stage).why.push_back(std::move(text)); }
  // Takes all of the steps or none. If they are refused, the choice says so, and what is done `instead`.
  bool attempt(Id stage, const std::string& what, const std::function<void()>& steps, const std::string& instead = {});
  Choices finish();  // consumers first
  // The choices so far, for steps that are tried together and taken back.
  struct Told {
    std::map<Id, Choice> choices;
    std::vector<Id> order;
  };
  Told told() const { return {choices_, order_}; }
  void take_back(Told t) { choices_ = std::move(t.choices), order_ = std::move(t.order); }

  Schedule& s;
  std::int64_t part_k = 0;  // terms of a part in products by tensor cores, whose results are few; 0: by their extents
  const DefaultOptions& options;
  const Where where;

 private:
  std::map<Id, Classified> families_;
  std::map<Id, Choice> choices_;
  std::map<Id, Id> of_;
  std::map<Id, std::size_t> along_;
  std::vector<Id> order_;
};

std::string count(double n);  // "3", "4096", "1.7e+07"
std::string bytes(double n);  // "16 kB"

// ---- loops -------------------------------------------------------------------------------------------------------------
// The one loop over an iteration variable, while it is whole.
Loop loop_over(Draft&, const Stage&, Id variable);
std::vector<Loop> whole_loops(Draft&, const Stage&, bool reduce);
void reorder(Draft&, const Stage&, const std::vector<Loop>&);
void innermost(Draft&, const Stage&, Loop);  // the others keep their order
// The lanes of the stage's vectors: as many as a register holds of its result, with up to four registers of wider operands.
bool has_borders(const ir::Stage&);  // where a point lies along the last dimension decides what it reads
int lanes_of(const Draft&, const ir::Stage&);
// Half a vector for a few elements, if that leaves no lane empty and a whole one does: 24 or 56 elements with 16 lanes.
inline int lanes_that_fill(std::int64_t elements, int lanes) {
  const bool half = lanes >= 8 && elements > 0 && elements < 4 * lanes && elements % lanes != 0;
  return half && elements % (lanes / 2) == 0 ? lanes / 2 : lanes;
}
bool vectorize(Draft&, Id stage, Loop, std::optional<std::int64_t> constant_extent);
bool on_stack(Draft&, Id stage);  // where it is small enough
// Refused unless everything that the steps from this one on put into a scope of limited size fits.
void require_fits(Draft&, std::size_t from_step);

// ---- what is done ------------------------------------------------------------------------------------------------------
void schedule_on_device(Draft&);  // device.cpp: all of the program
// Schedules the stage, and those that are computed with it, by a device family, and adds them to `taken`. Returns false, and
// does nothing, if no family handles them.
bool schedule_on_device_by_family(Draft&, Id stage, std::set<Id>& taken);  // device_families.cpp
// device_last_step.cpp: a stage together with the recurrence that it reads at one step. Returns false, and does nothing, if it
// reads none.
bool by_last_step(Draft&, Id stage, std::set<Id>& taken);
// The stages of one launch that ends with `result`, producers first: reductions of rows, and elementwise stages along such
// rows. Empty if there is no such reduction.
std::vector<Id> rows_in_launch(Draft&, Id result);
void schedule_on_tiles(Draft&);  // tile_device.cpp: all of the program, for a target with tiles
// The condition on a Symbol under which rows fit shared memory. Empty if no launch reads rows more than once, or if rows fit in
// every call or in none.
std::optional<Expr> rows_that_fit(Draft&, const std::vector<Id>& all);
// Calls in which a product by tensor cores, whose extents are Symbols, has few results of many terms.
std::optional<Expr> few_results_at_calls(Draft&, const std::vector<Id>& all);
bool is_untouched(const ir::Program&, const ir::Stage&);                  // no step was applied to it
void inline_stages(Draft&);                                               // inlining.cpp
void follow_steps(Draft&);                                                // following.cpp: recurrences and their readers
std::vector<Group> groups_of(Draft&);                                     // place.cpp: leaders before what they read
Plan plan_of(Draft&, const Group&, bool families = true);                 // plan.cpp
Taken taken_by(Draft&, Id stage);                                         // families.cpp
bool is_separable(Draft&, const Group&);                                  // a window over rows of what is computed of columns
bool schedule_taken(Draft&, const Group&, Taken);                         // false: nothing was done
std::optional<Product> product_of(const ir::Stage&, const ir::Program&);  // products.cpp: the form, except for its kind
std::optional<Product> product_for(Draft&, const Group&);
bool schedule_product(Draft&, const Group&, const Product&);  // false: nothing was done
void schedule_group(Draft&, const Group&, Plan);              // leader.cpp
// together.cpp: of `others` the group of a result that the reader reads a row at a time, if one pass over the rows is to make
// both
std::optional<Group> rows_before(Draft&, const Group& reader, const Plan&, const std::vector<Group>& others);
void schedule_together(Draft&, const Group& reader, Plan, const Group& first);
// The loops of a stage inside others: `place` is the innermost loop around it. `tile` is in its own dimensions.
void schedule_inside(Draft&, Id stage, Loop place, const std::optional<Tile>& tile);  // inside.cpp
void rows_in_lanes(Draft&, Id stage, const Tile&);                                    // each with its terms in order
void sums_of_rows(Draft&, Id stage, const Tile&);                                     // in tiles of their own
// For sums that keep their order or would gather lanes: interleaves rows, and returns the loop over groups of them; nothing for
// other sums.
std::optional<Loop> rows_side_by_side(Draft&, Id stage);
std::int64_t lanes_for(std::optional<std::int64_t> columns, std::int64_t lanes);  // of a vector along them
// The number of vectors of a tile along columns; for a constant extent, the one that leaves the fewest lanes empty.
std::int64_t vectors_of_columns(std::optional<std::int64_t> extent, std::int64_t lanes);
bool reads_along_columns(const Draft&, const ir::Stage&,
                         const Tile&);                      // neighboring columns read neighbors, wherever they read
Tile tile_of(Draft&, const ir::Stage&, const Classified&);  // tiles.cpp; without columns: none
void lies_last(const Stage&, int rank, int dim, Where);     // neighbors in memory are those of this dimension; of rank 2 to 5
void accumulate(Draft&, Id stage, const Tile&);
void vectors_of_tile(Draft&, Id stage, Loop columns, const Tile&);  // the inner loop of what is copied out of one
void pack_columns(Draft&, Id stage, Id sums, const Tile&);          // before the loops of either
bool gathers_little(const ir::Program&, const ir::Stage&);          // few operations on elements that lie anywhere
void unroll_terms(Draft&, Id stage, const Tile&);                   // the innermost ones, while the code stays small
void last_in_memory(Draft&, Id stage, int dim);                     // its dimension, of up to five
bool regroups(const Draft&, const ir::Stage&);                      // reductions.cpp: may its terms be grouped otherwise?
// The rows of a strip, each with a vector of partial results, which are merged row beside row.
void merge_rows_of_strip(Draft&, Id stage, const Tile&);
// `terms`: the approximate number, if bounds depend on outer loops; 0: the number in the nest.
void reduce_in_lanes(Draft&, Id stage, double terms = 0);
void reduce_all(Draft&, Id stage);
// phases.cpp: of the stage's results along `columns`; the copy that it reads, at the place where a tile is computed.
std::optional<Phases> phases_of(const Draft&, const ir::Stage&, Id columns, std::int64_t values = 1);
void copy_phases(Draft&, Id stage, Id told, Loop place, const Phases&);
// pixels.cpp: points with a few values each, the last dimension.
// Whether vectors hold several points with all values of each. `alone`: nothing is computed inside its loops.
bool has_channels(const Draft&, const ir::Stage&, const std::vector<double>& window, bool alone);
bool reads_neighbors(const Draft&, const ir::Stage&);  // where such a vector stands, lanes are not gathered
std::optional<Tile> tile_of_pixels(const Draft&, const ir::Stage&);
void values_apart(Draft&, Id stage, const Tile&);  // the loops of a stage of points
// The variable of terms that fill vectors if the few values of one or several points do not; 0: none.
Id terms_beside_few(const Draft&, const ir::Stage&);
// points.cpp: short rows, whose points are in lanes.
bool takes_points(Draft&, const ir::Stage&);
Tile points_of(Draft&, const ir::Stage&);
// Transposes inputs of which the stage, computed at `place` for several points along a dimension, reads a row for each point.
// The choice of the stage `told` reports it.
void turn_rows(Draft&, Id stage, Id told, Loop place, std::size_t dim, std::int64_t points);
void points_inside(Draft&, Id stage, Loop place, std::size_t dim, std::int64_t points);
// few.cpp: computes the few results of each row together, if rows differ in the number of terms.
bool few_results_together(Draft&, Id stage, bool parallel);
void unroll_few(Draft&, Id stage);       // the innermost loops of a few iterations, one after the other without a loop
void few_points(Draft&, Id stage);       // few_points.cpp: a dimension of them is unrolled, where that computes less
void schedule_alone(Draft&, Id stage);   // recurrences and scatters: alone.cpp
void keep_steps(Draft&, Id recurrence);  // alone.cpp: a ring of a power of two of its steps, where readers leave that
bool is_fresh(const ir::Program&, const ir::Stage&);  // as it was written, stages inside of a recurrence aside: steps.cpp
void schedule_steps(Draft&, Id recurrence);           // its loops, and the reductions inside of its steps
void share_steps(Draft&);  // steps_together.cpp: recurrences that are done, over the same steps of one input

}  // namespace ashlar::schedules
