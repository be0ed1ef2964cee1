// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Emission of one function of a kernel: its expressions, memory accesses and statements.
//
// Values of expressions are memoized on nodes while one root expression is emitted. Both arms of a select are evaluated: a load
// that must not happen carries a mask (docs/ir.md, "Lowered form"). A masked scalar load is the only expression that branches.
//
//   Emitter e(unit, function);  e.bind(i, value);  e.expr(ir::add(i_var, ir::index(1)))
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/build.h>

#include "codegen/addresses.h"
#include "codegen/legalize.h"
#include "codegen/llvm/arithmetic/arithmetic.h"
#include "codegen/llvm/lines.h"
#include "codegen/llvm/unit.h"

namespace ashlar::codegen {

bool is_packed(const ir::KBuffer&);  // an argument with two elements to a byte (memory/packed.cpp)

class Emitter {
 public:
  Emitter(Unit&, llvm::Function*, Where = {});  // the place of what has no other; empty: the kernel's

  Unit& unit;
  llvm::Function* function;
  llvm::IRBuilder<> b;
  Arithmetic math;

  // ---- expressions (expr.cpp)
  void bind(ir::Id var, llvm::Value* value, std::int64_t multiple_of = 1);
  llvm::Value* value_of(ir::Id var);  // InternalError when nothing is bound
  llvm::Value* expr(const Expr&);     // a root
  llvm::Value* address(const Expr&);  // a root; where addresses have 32 bits, the lower half of the index (narrow.cpp)
  llvm::Value* exact(const Expr&);    // a root, an index; in 32 bits where it is known to fit (narrow.cpp)
  // A root; whether an index inside left 63 bits is or-ed into *overflow, an i1.
  llvm::Value* checked(const Expr&, llvm::Value** overflow);
  // add, sub or mul of two i64; likewise
  llvm::Value* index_arithmetic(ir::Op, llvm::Value*, llvm::Value*, llvm::Value** overflow);
  llvm::Value* checked_product(llvm::Value*, llvm::Value*, llvm::Value** overflow);
  std::int64_t known_multiple(const Expr&) const;

  // ---- memory (memory.cpp)
  std::map<ir::Id, std::int64_t> aligned;  // buffers of a launch, by what the host tested: bytes
  void bind_buffer(ir::Id, llvm::Value* base);
  llvm::Value* base_of(ir::Id buffer) const;
  llvm::Value* element_of(const ir::KBuffer&, const Expr& address);  // a root: where that element lies
  void store(const ir::KStore&);
  void update(const ir::KStore&);  // an atomic store
  void prefetch(const ir::KPrefetch&);

  // ---- inside a launch (nvptx/sync.cpp, nvptx/call.cpp)
  llvm::Value* shared_address(ir::Id buffer, const Expr& address, std::int64_t element_bytes);  // i32
  llvm::Value* register_word(ir::Id buffer, std::int64_t word, llvm::Type*);                    // 32 bits of a register buffer
  void set_register_word(ir::Id buffer, std::int64_t word, llvm::Value*);
  void pin_products();
  bool moves_with_loops(const Expr& index) const;  // and not with threads: statements.cpp
  std::optional<std::int64_t> most_counted(const Expr& index) const;

  // ---- control (statements.cpp, parallel.cpp)
  llvm::BasicBlock* block(const char* name);
  llvm::AllocaInst* local(llvm::Type*, llvm::Align, const char* name);  // in the entry block
  void when(llvm::Value* condition, const std::function<void()>& then);
  void statements(const std::vector<ir::KStmt>&);
  // for i in [begin, end), at least once where `runs` is true, with body(i), an i64; counts in the type of the bounds
  void loop(llvm::Value* begin, llvm::Value* end, bool runs, const std::function<void(llvm::Value*)>& body);
  void begin_iteration(ir::Id loop);
  void end_streams();                                         // where a function ends that may have stored past the caches
  void synchronize(const ir::KSync&, Where);                  // inside a launch: nvptx/sync.cpp
  void synchronize_by_mbarrier(const ir::KSync&, Where);      // the part of it that is about mbarriers
  void call(const ir::KCall&, Where);                         // inside a launch: nvptx/call.cpp
  void allocate_stack(const std::vector<ir::KStmt>& region);  // buffers of the frame that `region`'s function holds

  // What a parallel loop needs of the call; null in a body, where parallel loops run in the slot at hand.
  llvm::Value* context = nullptr;           // ashlar_context*
  llvm::Value* slots = nullptr;             // i32: slots the workspace has
  llvm::Value* worker_bytes = nullptr;      // i64: distance of two slots' slices
  llvm::Value* device_call = nullptr;       // of a device: the call that launches belong to
  const ir::Launch* thread_of = nullptr;    // what a thread of a device runs: the launch it belongs to
  std::int64_t register_budget = 0;         // of such a thread, at the start
  std::set<ir::Id> loops;                   // that are around what is emitted
  std::map<ir::Id, std::int64_t> counters;  // what these count beside their variables: the largest values
  std::map<ir::Id, llvm::Value*> vars;
  std::map<ir::Id, llvm::Value*> buffers;                          // base addresses; per-worker ones of this function's slot
  std::map<ir::Id, std::int64_t> multiples;                        // of index variables, where more than 1
  std::map<ir::Id, llvm::Value*> lower_halves;                     // of index variables that may not fit, where known apart
  std::map<ir::Id, std::pair<std::int64_t, std::int64_t>> ranges;  // of index variables that are known to fit 32 bits

  // Of a loop: what it counts, which a debugger shows by that name.
  void bind_loop(const ir::KFor&, llvm::Value*);

  // ---- profiles (profile.cpp); nothing where none is asked for
  void begin_profile(int kind, const std::string& name, Where line, Where loop);  // of the function, at its beginning
  void give(llvm::Value* result);  // ends the function, and what is measured of it

 private:
  enum class Access { read, write };
  void count_bytes(Access, const ir::KBuffer&, Type);
  void enter(llvm::Constant* site);
  void leave(llvm::Constant* site, llvm::Value* read, llvm::Value* written);  // the counts at its beginning; null: 0
  // Past the last statement of the site that begins with this one; the statement itself where none does.
  std::size_t end_of_site(const std::vector<ir::KStmt>& list, std::size_t begin) const;
  void measured(const ir::KStmt&, const std::function<void()>& emit_it);
  void statement(const ir::KStmt&);
  std::array<llvm::AllocaInst*, 2> bytes_{};  // read, written
  llvm::Constant* site_of_function_ = nullptr;
  bool inside_site_ = false;

  void begin_root(const Expr&);
  llvm::Value* emit(const Expr&);
  llvm::Value* emit_node(const Expr&);
  llvm::Value* rare_arm(const Expr& select);
  llvm::Value* lanes_below(const Expr& comparison);
  llvm::Value* lanes_of_pattern(const Expr& comparison);
  llvm::Value* constant(const ir::Node&);
  // An operator without an instruction, by its expansion on integers that hold its operands.
  llvm::Value* by_expansion(ir::Op, Type t, std::span<const Expr> args, std::initializer_list<llvm::Value*>);
  llvm::Value* on_integers(ir::Op, Type t, std::span<const Expr> args);  // of indices
  llvm::Value* divided(ir::Op, Type t, llvm::Value*, std::int64_t divisor);
  llvm::Value* fused(Type t, llvm::Value*, llvm::Value*, llvm::Value*);  // fma of f64: functions.cpp
  llvm::Value* call_function(const Expr&);                               // functions.cpp
  llvm::Value* divide_lanes(const Expr&, std::int64_t divisor);          // quotients.cpp; null where lanes need their 64 bits
  llvm::Value* divide_ramp(const Expr&, std::int64_t divisor);

  bool narrows_indices() const;                                                // narrow.cpp
  std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const Expr&);  // where that is known and fits 32 bits
  bool fits(const Expr&);
  bool narrows(const Expr&);
  llvm::Value* divided_unsigned(ir::Op, std::span<const Expr> args, llvm::Value*, llvm::Value*);  // null where signs count
  llvm::Value* compared_narrow(const Expr& comparison);
  llvm::Value* lower_half(llvm::Value*);
  llvm::Value* narrow(const Expr&);  // the lower half of an index, as i32
  llvm::Value* narrow_node(const Expr&);
  llvm::Value* place(const Expr&);  // of an element: narrow, or as it is

  llvm::Value* load(const Expr&);
  llvm::Value* load_vector(const ir::KBuffer&, Type, const Expr& address, llvm::Value* mask);
  llvm::Value* load_neighbors(const ir::KBuffer&, Type, llvm::Value* at, llvm::Align);
  std::int64_t table_entries(const ir::KBuffer&) const;  // memory/table.cpp; null where the buffer or the target are not for it
  llvm::Value* load_from_table(const ir::KBuffer&, Type, const Expr& address, llvm::Value* mask);
  bool gathers_words(Type, bool masked) const;  // memory/words.cpp
  llvm::Value* load_from_words(const ir::KBuffer&, Type, llvm::Value* index, llvm::Value* mask);
  // Where the lanes of a gather are: at `lanes` alone, or as far from the element `shared`, where lanes may have 32 bits.
  struct Anywhere {
    llvm::Value *shared = nullptr, *lanes = nullptr;
  };
  struct Lanes {  // in 32 bits, and what they can be
    llvm::Value* value = nullptr;
    std::int64_t low = 0, high = 0;
  };
  bool gathers(Type) const;  // memory/gather.cpp
  std::optional<std::int64_t> least_of(const Expr&) const;
  std::optional<Lanes> lanes_in_32_bits(const Expr& index);
  Anywhere anywhere(Type, const Expr& address);
  llvm::Value* element(const ir::KBuffer&, const Anywhere&, llvm::Value* index);
  llvm::Value* load_lanes(const ir::KBuffer&, Type, const Anywhere&, llvm::Value* mask);
  llvm::Value* load_anywhere(const ir::KBuffer&, Type, const Anywhere&, llvm::Value* mask);
  template <class F>
  llvm::Value* each_lane(Type t, F value) {
    llvm::Value* v = llvm::PoisonValue::get(math.memory_type(t));
    for (int k = 0; k < t.lanes; ++k) {
      const auto lane = static_cast<std::uint64_t>(k);
      v = b.CreateInsertElement(v, value(lane), lane);
    }
    return v;
  }
  llvm::Value* load_strided(const ir::KBuffer&, Type, llvm::Value* base, std::int64_t stride, llvm::Align);
  llvm::Value* load_pattern(const ir::KBuffer&, Type, const Expr& address, llvm::Align, llvm::Value* mask);
  // Whether load_pattern loads it. `apart`: of how many elements a lane may be the only one that is read.
  bool has_pattern(Type, const Expr& address, bool masked, int apart = 1) const;
  llvm::Value* load_run(const ir::KBuffer&, Type, llvm::Value* at, std::span<const int> pick, llvm::Align, llvm::Value* mask);
  llvm::Value* load_clamped(const ir::KBuffer&, Type, const Expr& address, llvm::Value* mask);
  bool loads_under_masks(Type) const;
  llvm::Value* load_one_masked(const ir::KBuffer&, Type, llvm::Value* at, llvm::Align, llvm::Value* mask);
  llvm::Value* load_strided_masked(const ir::KBuffer&, Type, llvm::Value* base, std::int64_t stride, llvm::Align,
                                   llvm::Value* mask);
  std::optional<std::int64_t> place_in_period(const ir::KBuffer&, Type, const Ramp&,
                                              std::int64_t stride);  // memory/strided.cpp
  llvm::Value* load_of_period(const ir::KBuffer&, Type, llvm::Value* base, std::int64_t place, std::int64_t stride,
                              llvm::Align);
  llvm::Value* load_scalar(const ir::KBuffer&, Type, llvm::Value* element);
  llvm::Value* top_half(Type, llvm::Value* byte);  // memory/packed.cpp
  llvm::Value* half(Type, llvm::Value* byte, llvm::Value* odd);
  llvm::Value* load_packed_scalar(const ir::KBuffer&, Type, llvm::Value* index);
  llvm::Value* load_packed_vector(const ir::KBuffer&, Type, const Expr& address, llvm::Value* mask);
  llvm::Value* load_packed_row(const ir::KBuffer&, Type, const Expr& first, llvm::Value* mask);
  void store_past_caches(const ir::KBuffer&, llvm::Value* value, llvm::Value* at, llvm::Align known, std::uint64_t bytes);
  void store_vector(const ir::KBuffer&, Type, const Expr& address, llvm::Value* value, llvm::Value* mask);
  void store_neighbors(const ir::KBuffer&, Type, llvm::Value* value, llvm::Value* at, llvm::Align);
  llvm::Value* element(const ir::KBuffer&, llvm::Value* index);    // addresses of elements, scalar or vector
  llvm::Value* element_at(const ir::KBuffer&, const Expr& index);  // of one
  llvm::Align alignment(const ir::KBuffer&, const Expr& address) const;

  void bind_index(ir::Id, const Expr&);
  void for_loop(const ir::KFor&);
  void branch(const ir::KIf&);
  void let(const ir::KLet&);
  std::optional<std::int64_t> most_of_counter(const Expr& value) const;
  void launch(const ir::KLaunch&);         // a call of the runtime:
  void launch_vulkan(const ir::KLaunch&);  // vulkan.cpp
  void launch_cuda(const ir::KLaunch&);    // cuda.cpp
  void call_of_user(const ir::Call&);      // calls.cpp
  llvm::Value* tile(const ir::KBuffer&, const Expr& address, const std::vector<std::int64_t>& offsets);
  void set_tile(const ir::KBuffer&, const Expr& address, const std::vector<std::int64_t>& offsets, llvm::Value*);
  void call_of_region(const ir::KCall&, Where);  // functions.cpp
  void parallel_for(const ir::KFor&, Where);
  void prefetch_on_device(const ir::KPrefetch&);

  // While a statement is emitted: where its instructions stand (lines.h).
  class At {
   public:
    At(Emitter&, const ir::KStmt&);
    At(const At&) = delete;
    At& operator=(const At&) = delete;
    ~At();

   private:
    Emitter& e_;
    const llvm::DebugLoc before_, loop_;
  };
  llvm::DebugLoc loop_;  // of the innermost loop around

  // While the address of an element of a buffer is computed: whether it counts modulo 2^32.
  class Addressing {
   public:
    Addressing(Emitter&, ir::Id buffer);
    Addressing(const Addressing&) = delete;
    Addressing& operator=(const Addressing&) = delete;
    ~Addressing();

   private:
    Emitter& e_;
    const bool before_;
  };
  bool far_ = false;

  struct Known {
    llvm::Value *value = nullptr, *low = nullptr;
  };
  std::unordered_map<const ir::Node*, Known> memo_;
  std::unordered_map<const ir::Node*, std::optional<std::pair<std::int64_t, std::int64_t>>> ranges_of_;
  std::map<ir::Id, std::set<std::pair<std::int64_t, int>>> register_accesses_;
  ConstantValues values_;
  struct Strided {  // a load of the root without a mask
    ir::Id buffer;
    Type type;
    Ramp at;
  };
  std::optional<std::vector<Strided>> strided_;  // all of them, once one is met
  Expr root_;
  std::vector<Expr> kept_;  // keeps memoized temporaries alive
  llvm::Value** overflow_ = nullptr;
  std::size_t launches_ = 0;  // emitted so far
};

// Of a stack or register buffer of that many: whole vectors, so that the last one is read and written whole whatever its mask.
std::int64_t elements_in_frame(const Unit&, const ir::KBuffer&, std::int64_t elements);

}  // namespace ashlar::codegen
