// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One nest at the root of a program becomes a tile kernel. A walk in order of execution that knows, at each place, which scalar
// each loop's variable is, which loops are dimensions of tiles, and which stages are values.
//
//   walk.cpp      loops, nests and the accumulators that loops over terms carry
//   steps.cpp     recurrences: what a step reads of those before it, and scans along a tile
//   updates.cpp   scatters and atomic reductions: a launch for the starting values, and one that combines into them
//   formula.cpp   expressions as operations on tiles
//   access.cpp    which tile of a view an access is, or which addresses; stages that are values
//   product.cpp   sums of products as mma
//   running.cpp   maxima and sums that a loop carries, as parts of theirs are computed
//   arms.cpp      choices between sums of the same operands
//   ragged.cpp    products whose rows may end inside of a line
//   reach.cpp     which indices are right in 32 bits
//   launch.cpp    tensors, parameters and grids
//   host.cpp      what launches them
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/spelling.h>
#include <ashlar/ir/tile_build.h>
#include <ashlar/lower/tiles.h>

#include "lower/margin.h"

namespace ashlar::lowering {

constexpr std::int64_t most_chosen = 256;     // elements of a constant; the kernel has a larger one in memory
constexpr std::int64_t most_kept = 32 << 10;  // bytes of a tile that is loaded once for all its readers
constexpr std::int64_t line_bytes = 16;       // what copies of tiles need rows to begin at multiples of

// A loop that is a dimension of tiles.
struct TileDimension {
  ir::Id axis = 0;
  std::int64_t width = 0;
  Expr end = {};  // the loop's extent, where that is not known to be the width: positions from there on are not points
};

inline std::vector<std::int64_t> ones(std::size_t n) { return std::vector<std::int64_t>(n, 1); }

// A stage that was computed in the block: for each of its dimensions where its box begins, and the extent of the tile.
struct StageTile {
  std::vector<Expr> begin;          // empty: a dimension that the component lacks (drop_dim)
  std::vector<std::int64_t> width;  // 1: a single place
  ir::Id value = 0;                 // of these extents
};

// What lies in memory between launches: a temporary, or an output that was computed. The buffer has its extents, and is an
// output to the launch that stores it, an input to those behind it.
struct StoredStage {
  ir::Buffer as;            // without the dimensions that the component lacks
  std::vector<Expr> begin;  // of its own dimensions
  std::vector<int> lacks;   // dimensions of the stage (drop_dim)
};
using StoredStages = std::map<ir::Id, StoredStage>;

Expr with_common_sums(const Expr& choice);  // arms.cpp

// The launches of a nest at the root: itself; of a scatter, or of a reduction whose blocks share elements, the part that starts
// the elements, and the part that combines into them.
std::vector<ir::Stmt> pieces_of(const ir::Program&, const ir::Stmt& root);

using TakenHints = std::set<const ir::TileHint*>;

class BlockLowering {
 public:
  BlockLowering(const ir::Program& p, const TileOptions& options, const StoredStages& stored, std::string name)
      : p_(p), options_(options), stored_(stored), b_(std::move(name)), facts_(analysis::facts_of_arguments(p)) {}
  TileLaunch run(const ir::Stmt& root, TakenHints& taken);  // adds the hints about accesses that it makes

 private:
  using Id = ir::Id;
  using Stmt = ir::Stmt;
  using Path = std::vector<const Stmt*>;
  using Dimensions = std::vector<TileDimension>;
  using Outside = ir::tile::Outside;

  // The stage that is computed, and how: while the walk is in its nest.
  struct Current {
    const ir::NestStmt* nest = nullptr;
    const ir::Stage* stage = nullptr;
    Dimensions spatial, terms;  // of its tiles, in the order of its iteration variables
    std::vector<std::optional<std::size_t>>
        at;                // for each dimension of the stage: which of `spatial` it is; none: a single place
    std::vector<Id> sums;  // what is accumulated so far, a component each; empty before the first term
    // Of a recurrence: how many steps back it reads, and the values of those steps, the last one first, a component each.
    std::size_t back = 0;
    std::vector<Id> previous;
    std::optional<std::size_t> scanned;  // which of `spatial` a scan runs along inside of a tile
    ir::Piece piece = ir::Piece::whole;  // of the block
    ir::Substitution values;             // of its iteration variables
    Where where = {};                    // of the call that made it tiles; of the stage where there was none
  };

  // A loop whose iterations give parts of a maximum, and of sums that are relative to it.
  struct Running {
    const ir::Stage* all = nullptr;            // what the parts are combined to
    const std::vector<Stmt>* body = nullptr;   // of the loop, where the parts are computed
    std::vector<Id> parts = {};                // buffers: the maximum, then the sums
    std::vector<const ir::Stage*> terms = {};  // of the sums: the stage that reads the maximum
    Op extreme = Op::max;                      // or min
    Id old = 0, now = 0;                       // variables of `rescale`
    Expr rescale = {};                         // what a sum is worth when `old` becomes `now`
    // In an iteration:
    std::vector<Id> carried = {};        // as it begins
    Id most = 0, factor = 0;             // the new maximum, and what is carried is worth then; 0: not computed yet
    std::set<std::size_t> started = {};  // parts whose sums began with what is carried
    std::map<Id, Expr> formulas = {};    // of stages: in place of their own
  };
  // Iterations of such a loop; `whole`: in which all choices between a value and none are for the value.
  struct Stretch {
    Expr begin, end;
    bool whole = false;
  };
  // A choice of a part's maximum or term, select(all conditions, value, none).
  struct Choice {
    const ir::Stage* stage = nullptr;
    Expr value, none;
    std::vector<Expr> conditions;
    std::vector<Expr> least, most;  // margins of each, at the positions of the tile where they are smallest, and largest
  };

  struct Place {  // of an index: in which tile of its dimension, and along which dimension of the value the tile lies
    std::optional<std::size_t> along;
    Expr number;
    ir::tile::View::Every every = {};  // of the dimension, the elements that tiles are made of
  };
  // A loop over the terms of a product, whose tensors have rows that may end inside of a line: as two loops.
  struct Ragged {
    ir::Id axis = 0;                               // of the loop over tiles of terms
    Expr term;                                     // which term it is: axis * width + a position in the tile
    Expr end, whole;                               // how many terms there are, and how many the first loop has
    std::int64_t rest = 0;                         // terms of a tile of the second loop
    Id variable = 0;                               // of the second loop
    bool first = false;                            // in which one the walk is
    std::map<Id, std::vector<Expr>> extents = {};  // by buffer: those of the first loop's views
    std::vector<TileCondition> conditions = {};    // that these rely on
  };

  // ---- ragged.cpp
  std::optional<Ragged> ragged_of(const Stmt& loop);
  bool add_extents(Ragged&, const Expr& load, bool& ragged, bool& between) const;
  std::optional<Expr> end_of_terms(const Stmt& loop, const Expr& term) const;
  bool in_two_loops(const Stmt& loop);
  std::vector<ir::tile::Extent> extents_of_views(const ir::Buffer&);
  bool store_in_lines(const ir::Buffer&, const std::vector<Place>&, const std::vector<Id>& numbers,
                      const std::vector<std::int64_t>& extents, Id value);

  // A tile that was loaded: which one, of which view.
  struct LoadedTile {
    Id buffer = 0;
    Outside outside = Outside::unspecified;
    bool lines = false;  // of the first loop's view of a ragged product
    std::vector<std::int64_t> extents;
    std::vector<Place> at;
    Id value = 0;
  };

  // ---- running.cpp
  std::optional<Running> running_of(const Stmt& loop) const;
  bool parts_agree(Running&) const;
  void raise(Id buffer);
  std::vector<Id> carried_into(const ir::Stage&);
  std::vector<Id> after_part(const std::vector<Expr>& parts);
  static Expr where_it_moves(const Running&);
  struct Limit {                      // of a loop: the largest or smallest element that the rows of a block read
    Expr load;                        // at the first position of each dimension
    std::vector<std::int64_t> width;  // of each index; 1: it is the same in the tile
    Expr whole;                       // over `dims`
    Dimensions dims;
    bool most = true;
    Id number = 0;  // its variable
  };
  std::optional<Expr> with_limits(const Expr& left, const Dimensions&, std::vector<Limit>&);
  void compute_limits(const Expr& left, std::vector<Limit>&);
  Expr margin_at(const Stmt& nest, const Expr& condition, bool largest, std::vector<Limit>&);
  Choice choice_of(const Running&, const ir::Stage&, const Expr& none, std::vector<Limit>&);
  void leave_out(const Running&, const std::vector<Choice>&, std::vector<Limit>&, Id axis, Expr& begin, Expr& end);
  std::optional<std::pair<Expr, std::int64_t>> falling(const Expr& margin, Id axis) const;
  std::vector<Stretch> stretches(const std::vector<Choice>&, Id axis, const Expr& begin, const Expr& end) const;
  std::map<Id, Expr> formulas_in(const Stretch&, const std::vector<Choice>&, const Running&, Id axis) const;
  void only_where(const Expr& left, Id axis, Expr& begin, Expr& end, std::int64_t least = 1) const;
  void leave_out_rest(Id axis, Expr& begin, Expr& end);

  // ---- launch.cpp
  void bind(const Stmt& loop);
  Id parameter(const std::string& name, const Expr& value);
  Id stride(const ir::Buffer&, int dim);
  Id tensor_of(const ir::Buffer&, Where);
  Id constant_tensor(const ir::Buffer&);
  ir::tile::Extent extent(const std::string& name, const Expr&);

  // ---- walk.cpp
  void body(const std::vector<Stmt>&);
  void nest(const Stmt&);
  void loop(const Stmt&);
  bool one_of_block(const ir::Axis&, const Expr& extent) const;
  void serial(const Stmt&, const ir::LoopRange&);
  void block(const Stmt&);
  void describe(Current&, const Stmt& nest) const;
  Dimensions dimensions(std::size_t component) const;  // of the stage at hand, without those that the component lacks
  void add_one_term(const std::vector<Expr>& values, const std::vector<Expr>& conditions);
  void start_sums();
  void add_terms(const std::vector<Expr>& conditions);
  void finish(const std::vector<Id>& values);
  void add_ends(const Dimensions&, std::vector<Expr>& conditions) const;
  std::vector<Expr> apart(std::vector<Expr>& conditions, const Dimensions&) const;
  std::vector<Id> where(const std::vector<Expr>& conditions, const std::vector<Id>& otherwise,
                        const std::function<std::vector<Id>()>&);
  std::vector<Expr> of_points() const;
  bool loads_inside() const;
  const Expr& formula(std::size_t component) const;  // of the stage at hand
  std::vector<Id> iterations(Id begin, Id end, const std::vector<Id>& carried,
                             const std::function<std::vector<Id>(Id var, const std::vector<Id>&)>&);
  Path to_block() const;
  Id zero(Type, const Dimensions&);  // a tile of zeros

  // ---- steps.cpp
  void describe_steps(Current&) const;
  bool is_step(const Current&, const ir::Axis&) const;
  void start_steps();
  std::optional<Id> step_before(const Expr& load);
  void step(const std::vector<Expr>& points, const std::vector<Expr>& some_point);
  std::vector<Id> scan(const std::vector<Expr>& points, std::vector<Id>& last);
  Id last_of(Id value, std::size_t along);

  // ---- updates.cpp
  void scatter_terms();
  void update(const ir::Buffer&, const std::vector<Expr>& index, Id value, const std::vector<Expr>& conditions,
              const Dimensions&);
  ir::Value identity(std::size_t component) const;
  void find_indices();
  Current& now() { return *nests_.back(); }

  // ---- formula.cpp: values over dimensions, with one of theirs for each, of extent 1 where the value stays the same
  Id tile(const Expr&, const Dimensions&);
  Id full(const Expr&, const Dimensions&);  // of all extents
  Id full(Id value, const Dimensions&);
  Id operation(const Expr&, const Dimensions&);
  Id in_32_bits(const Expr& comparison, const Dimensions&);
  Id variable(const Expr&, const Dimensions&);
  Id amount(Id value, Type shifted);
  Id scalar(const Expr&);  // an index without dimensions, of type i32
  Id scalar_by_64(const Expr&);
  Id mask(const std::vector<Expr>& conditions, const Dimensions&);  // where all hold
  std::vector<Id> combined(const std::vector<Id>& so_far, const std::vector<Id>& next, const Dimensions&);
  Expr spelled(const Expr&);
  Expr known(const Expr&) const;  // simplified, over the variables of loops

  // ---- access.cpp
  std::optional<std::vector<Place>> places(const std::vector<Expr>& index, const Dimensions&, bool data = false) const;
  bool data_stay_inside(const ir::Buffer&, const std::vector<Expr>& index) const;
  Id of_data(const Expr&);
  std::vector<ir::Hint> hints(Id buffer, bool view);  // about an access to it
  void hints_of_launch();
  std::int64_t step_of(const Expr& moved, Id axis) const;
  static std::vector<ir::tile::View::Every> every(const std::vector<Place>&);
  const ir::Buffer& memory(Id buffer) const;                                  // as this launch sees it
  std::vector<Expr> in_memory(Id buffer, std::span<const Expr> index) const;  // counted from its first element
  bool in_grid(const ir::Buffer&, const std::vector<Expr>& index, const std::vector<Place>&, const Dimensions&) const;
  Id load(const Expr&, const Dimensions&, Outside = Outside::unspecified);
  static std::int64_t elements_of(const ir::Buffer& constant);
  Id chosen_of(const ir::Buffer& constant, const std::vector<Expr>& index, const Dimensions&, Where);
  Id load_tile(const ir::Buffer&, const std::vector<Place>&, const Dimensions&, Outside, Where);
  Id read_stage(const Expr& load, const StageTile&, const Dimensions&);
  Id gather(const Expr& load, const Dimensions&);
  Id offsets(const ir::Buffer&, const std::vector<Expr>& index, const Dimensions&);
  void store(const ir::Buffer&, const std::vector<Expr>& index, Id value, const std::vector<Expr>& conditions,
             const Dimensions&);
  std::vector<Expr> without_dropped(std::size_t component, const std::vector<Expr>& conditions,
                                    const std::vector<Expr>& some_point) const;
  bool says_end(const Expr& condition, const ir::Buffer&, const std::vector<Expr>& index) const;
  Id spread_out(Id tile, const std::vector<Place>&, const Dimensions&);  // of a tensor's dimensions over those of the value
  Id gathered_in(Id value, const std::vector<Place>&, const Dimensions&);

  // ---- reach.cpp; `host`: of a scalar, whose products and sums of Symbols are parameters
  struct Reach {
    int up = 0, down = 0;    // large numbers that are added, and subtracted
    std::int64_t small = 0;  // the sum of the others
  };
  bool of_host(const Expr&) const;
  std::optional<Reach> reach(const Expr&, bool host) const;
  bool bounded(const Expr&) const;
  bool fits(const Expr&, bool host) const;

  // ---- product.cpp
  bool multiply(const Expr& term, const std::vector<Expr>& conditions);
  Expr with_own_dimensions(const Expr& term) const;
  Id factor(const Expr&, const Dimensions&, const std::vector<Expr>& conditions);

  const ir::Program& p_;
  const TileOptions options_;
  const StoredStages& stored_;
  ir::tile::Builder b_;
  TileLaunch launch_;
  std::vector<Id> parameters_;  // of the kernel, beside launch_.parameters
  analysis::Facts facts_;
  Path path_;
  std::vector<Current*> nests_;
  std::optional<Running> running_;                       // the loop at hand that is one
  std::optional<Ragged> ragged_;                         // so too
  std::map<Id, Id> scalars_;                             // of axes, symbols, scalars of the program: the value
  std::set<Id> blocks_;                                  // axes over blocks
  std::map<Id, Id> locals_;                              // of placeholders of a reducer
  std::map<Id, Id> tensors_;                             // of buffers
  std::map<Id, std::vector<ir::tile::Extent>> strides_;  // of those
  std::map<Id, StageTile> stages_;                       // of buffers
  std::vector<LoadedTile> loaded_;                       // in the loop at hand, or around it
  std::map<const ir::Node*, Id> done_;                   // by a formula's nodes, over the dimensions at hand
  std::vector<Expr> alive_;                              // whose nodes are keys
  ir::Substitution single_;                              // variables of loops that run once
  std::vector<Expr> present_;                            // extents that are 1 in every block: points that the launch has
  Type index_ = i64;                                     // what indices are computed in
  bool chosen_ = false;                                  // inside of an arm of a choice
  bool defined_ = false;                 // elements outside of a tensor decide where memory is accessed: they are 0
  std::set<Id> indices_;                 // buffers whose elements do
  Id launched_ = 0;                      // the stage whose launch it is
  std::set<const ir::TileHint*> taken_;  // of those about accesses
};

}  // namespace ashlar::lowering
