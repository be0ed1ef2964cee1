// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowered form: flat addresses, lanes, masks, and the workspace plan with its shared slots, byte for byte.
#include <algorithm>
#include <deque>
#include <memory>

#include <ashlar/analysis/packed.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"
#include "interp/described.h"
#include "interp/external.h"
#include "interp/device.h"
#include "interp/order.h"

namespace ashlar::interp {
namespace {

using ir::KStmt;

// Bytes, and for each who wrote it last: reading what another buffer, or nobody, wrote is an error. Owners of an earlier epoch
// count as nobody; the memory of a worker starts a new epoch at every iteration of a parallel loop.
struct Region {
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> owner;
  std::int64_t epoch = 1;
  explicit Region(std::int64_t n) : bytes(static_cast<std::size_t>(n)), owner(static_cast<std::size_t>(n)) {}
};

struct Target {  // a buffer of the kernel
  const ir::KBuffer* info = nullptr;
  Region* region = nullptr;  // stack, registers, workspace
  std::int64_t offset = 0;   // bytes, in the region
  std::int64_t elements = 0;
  Array* array = nullptr;   // arguments
  std::vector<char> state;  // arguments, one an element: 0 padding between rows, 1 not written, 2 readable
  bool output = false;
};

struct KernelCode {
  const KStmt* stmt = nullptr;
  const ir::KFor* loop = nullptr;  // of a loop
  std::vector<KernelCode> body, otherwise;
  Tape begin, extent, value, address, mask;
  int slot = -1, lanes = 1, buffer = -1;
  struct Actual {  // of a call
    int buffer = -1;
    Tape value;  // of a value; the address of a tile
    std::vector<Tape> strides, positions, extents;
  };
  std::vector<Actual> actuals;
  std::shared_ptr<Described> callee;
  std::vector<std::pair<int, int>> vectors;  // of names that the value uses: slot, lanes
};

class KernelRun final : public Memory, public GlobalMemory, public Speaker {
 public:
  KernelRun(const ir::Kernel& k, Arguments& arguments, const Options& options)
      : kernel_(k), options_(options), order_(options) {
    const auto symbols = solve_symbols(k.arguments, k.argument_buffers, k.symbols, k.assumptions, arguments);
    slots_ = Slots(options.vscale);
    bind_values(k.arguments, k.scalars, symbols, arguments, slots_);
    std::map<Id, Array*> arrays;
    for (std::size_t a = 0; a < k.arguments.size(); ++a)
      if (k.arguments[a].kind != ir::ArgumentKind::scalar) arrays[k.arguments[a].id] = &arguments[a].array;
    for (auto& [id, array] : arrays)
      if (k.argument_buffers.at(id).packed_by_caller) array = pack(k.argument_buffers.at(id), *array);
    for (const ir::StrideArg& s : k.strides)
      slots_.set(s.id, ir::int_value(ir::index_type, stride_of(*arrays.at(s.buffer), static_cast<std::size_t>(s.dim))));
    for (const ir::AlignmentArg& a : k.alignments) slots_.set(a.id, ir::int_value(ir::index_type, options.misaligned));
    shared_ = std::make_unique<Region>(bytes_of(k.workspace_shared));
    worker_ = std::make_unique<Region>(bytes_of(k.workspace_per_worker));
    counters_.peak_bytes = static_cast<std::int64_t>(shared_->bytes.size() + worker_->bytes.size());
    for (const auto& [id, b] : k.buffers)
      if (b.storage == ir::Storage::constant) arrays[id] = &(constants_[id] = constant_array(b.type, {b.elements}, *b.data));
    for (const auto& [id, b] : k.buffers)
      if (b.storage != ir::Storage::shared && b.storage != ir::Storage::barrier) add_target(b, arrays);
    code_ = compile(k.body);
    find_private();
    empty_ = nothing_to_do(k.arguments, arguments);
  }

  Counters run() {
    if (!empty_) execute(code_);
    for (const Target& t : targets_)
      if (t.output)
        for (std::size_t e = 0; e < t.state.size(); ++e)
          if (t.state[e] == 1)
            report(RunError::Kind::uninitialized, t,
                   "kernel `" + kernel_.name + "`: element " + std::to_string(e) + " of the output " + t.info->name +
                       " was not written");
    return counters_;
  }

  int resolve(Id buffer, const char* name) override {
    for (std::size_t k = 0; k < targets_.size(); ++k)
      if (targets_[k].info->id == buffer) return static_cast<int>(k);
    throw InternalError(std::string("the kernel has no buffer ") + (name ? name : ""));
  }

  Value read(int source, const std::int64_t* index, int rank) override {
    Target& t = targets_[static_cast<std::size_t>(source)];
    if (rank != 1) throw InternalError("a lowered load has one address");
    const std::int64_t at = index[0];
    check(t, at, "reads");
    const auto size = static_cast<std::size_t>(t.info->type.bytes());
    if (t.array) {
      if (t.state[static_cast<std::size_t>(at)] != 2) meet_unwritten(t, at);
      return ir::read_value(t.info->type, t.array->bytes.data() + static_cast<std::size_t>(at) * size);
    }
    const std::size_t from = static_cast<std::size_t>(t.offset) + static_cast<std::size_t>(at) * size;
    for (std::size_t b = from; b < from + size; ++b)
      if (t.region->owner[b] != owner_mark(source)) meet_unwritten(t, at);
    return ir::read_value(t.info->type, t.region->bytes.data() + from);
  }

  // GlobalMemory: for launches
  int global(Id id) override { return resolve(id, nullptr); }
  std::int64_t elements_of(int b) const override { return targets_[static_cast<std::size_t>(b)].elements; }
  Value read_global(int b, std::int64_t at, bool used) override {
    lane_idle_ = !used;
    const Value v = read(b, &at, 1);
    lane_idle_ = false;
    return v;
  }
  void write_global(int b, std::int64_t at, const Value& v) override { write(b, at, v); }
  void poison_global(int b, std::int64_t at) override {
    Target& t = targets_[static_cast<std::size_t>(b)];
    check(t, at, "writes");
    if (t.array) {
      t.state[static_cast<std::size_t>(at)] = 1;
      return;
    }
    const auto size = t.info->type.bytes();
    for (std::int64_t x = t.offset + at * size; x < t.offset + (at + 1) * size; ++x)
      t.region->owner[static_cast<std::size_t>(x)] = 0;
  }
  void speak(const Memory* launch) override { launch_ = launch; }

  std::string where() const override {
    if (launch_) return launch_->where();
    std::string text = "kernel `" + kernel_.name + "`";
    for (std::size_t k = 0; k < loops_.size(); ++k)
      text += (k == 0 ? " at " : ", ") + loops_[k]->loop->name + " = " + std::to_string(slots_.value(loops_[k]->slot).i);
    return text;
  }

 private:
  // ---- memory ----------------------------------------------------------------------------------------------------------
  std::int64_t owner_mark(int buffer) const {
    const Target& t = targets_[static_cast<std::size_t>(buffer)];
    return t.region->epoch * static_cast<std::int64_t>(targets_.size()) + buffer;
  }

  void check(const Target& t, std::int64_t at, const char* verb) const {
    if (at < 0 || at >= t.elements || (t.array && t.state[static_cast<std::size_t>(at)] == 0))
      report(RunError::Kind::out_of_bounds, t,
             where() + " " + verb + " " + t.info->name + "[" + std::to_string(at) + "], outside its " +
                 std::to_string(t.elements) + " elements");
  }

  struct Unwritten {  // what a lane was read from
    Target* target = nullptr;
    std::int64_t at = 0;
  };
  // A lane of a vector that has a name may be left out later on: it is remembered.
  void meet_unwritten(Target& t, std::int64_t at) {
    if (lenient_)
      seen_ = {&t, at};
    else if (!lane_idle_)
      unwritten(t, at);
  }
  [[noreturn]] void unwritten(const Target& t, std::int64_t at) const {
    report(RunError::Kind::uninitialized, t,
           where() + " reads " + t.info->name + "[" + std::to_string(at) + "], which was not written");
  }

  [[noreturn]] static void report(RunError::Kind kind, const Target& t, const std::string& text) {
    RunError e(kind, text);
    e.buffers = {t.info->name};
    throw e;
  }

  void write(int buffer, std::int64_t at, const Value& v) {
    Target& t = targets_[static_cast<std::size_t>(buffer)];
    check(t, at, "writes");
    if (v.type != t.info->type)
      throw InternalError("kernel: a store of " + ir::text(v.type) + " into " + t.info->name + " of " + ir::text(t.info->type));
    const auto size = static_cast<std::size_t>(t.info->type.bytes());
    if (t.array) {
      if (!t.output) throw InternalError("kernel: a store into the input " + t.info->name);
      t.state[static_cast<std::size_t>(at)] = 2;
      ir::write_value(t.array->bytes.data() + static_cast<std::size_t>(at) * size, v);
      return;
    }
    const std::size_t from = static_cast<std::size_t>(t.offset) + static_cast<std::size_t>(at) * size;
    ir::write_value(t.region->bytes.data() + from, v);
    for (std::size_t b = from; b < from + size; ++b) t.region->owner[b] = owner_mark(buffer);
  }

  static std::int64_t stride_of(const Array& a, std::size_t dim) {
    if (!a.strides.empty()) return a.strides.at(dim);
    std::int64_t s = 1;
    for (std::size_t d = dim + 1; d < a.shape.size(); ++d) s *= a.shape[d];
    return s;
  }

  std::int64_t bytes_of(const Expr& e) { return e.empty() ? 0 : Tape(e, slots_, *this, Select::strict).run_index(); }

  void add_target(const ir::KBuffer& b, const std::map<Id, Array*>& arrays) {
    Target t;
    t.info = &b;
    if (b.storage == ir::Storage::argument || b.storage == ir::Storage::constant) {
      t.array = arrays.at(b.id);
      t.output = b.written;
      t.elements = static_cast<std::int64_t>(t.array->bytes.size()) / b.type.bytes();
      t.state.resize(static_cast<std::size_t>(t.elements));
      for_each_index(t.array->shape, [&](std::span<const std::int64_t> at) {
        t.state[static_cast<std::size_t>(t.array->offset(at))] = t.output ? 1 : 2;
      });
    } else {
      t.elements = bytes_of(b.elements);
      const std::int64_t bytes = t.elements * b.type.bytes();
      counters_.bytes_of[b.id] = bytes;
      if (b.storage == ir::Storage::workspace) {
        t.region = b.per_worker ? worker_.get() : shared_.get();
        t.offset = bytes_of(b.offset);
        if (t.offset < 0 || t.offset + bytes > static_cast<std::int64_t>(t.region->bytes.size()))
          throw InternalError("kernel: " + b.name + " lies outside the workspace");
        if (t.offset % kernel_.workspace_align != 0)
          throw InternalError("kernel: " + b.name + " is not aligned in the workspace");
      } else {
        frames_.push_back(std::make_unique<Region>(bytes));
        t.region = frames_.back().get();
      }
    }
    targets_.push_back(std::move(t));
  }

  // What the caller of a packed argument hands over: the logical array in its layout, the rest zero.
  Array* pack(const ir::Buffer& b, const Array& logical) {
    Array physical;
    physical.type = logical.type;
    for (const Expr& e : analysis::packed_extents(kernel_.symbols, b))
      physical.shape.push_back(std::max<std::int64_t>(0, Tape(e, slots_, *this, Select::lazy).run_index()));
    std::vector<Tape> map;
    for (const Expr& e : b.layout.map) map.emplace_back(e, slots_, *this, Select::lazy);
    packed_.push_back(Array::zeros(physical.type, physical.shape));
    Array& result = packed_.back();
    std::vector<std::int64_t> to(map.size());
    for_each_index(logical.shape, [&](std::span<const std::int64_t> at) {
      for (std::size_t d = 0; d < at.size(); ++d) slots_.set(b.layout.vars[d], ir::int_value(ir::index_type, at[d]));
      for (std::size_t d = 0; d < map.size(); ++d) to[d] = map[d].run_index();
      result.set(to, logical.at(at));
    });
    return &result;
  }

  // ---- code ------------------------------------------------------------------------------------------------------------
  Tape tape(const Expr& e) { return e.empty() ? Tape() : Tape(e, slots_, *this, Select::strict); }

  std::vector<KernelCode> compile(const std::vector<KStmt>& body) {
    std::vector<KernelCode> result;
    for (const KStmt& s : body) {
      KernelCode c;
      c.stmt = &s;
      s.visit(
          [&](const ir::KFor& n) {
            c.loop = &n;
            c.slot = slots_.slot(n.var, c.lanes);
            c.begin = tape(n.begin);
            c.extent = tape(n.extent);
            c.body = compile(n.body);
          },
          [&](const ir::KIf& n) {
            c.value = tape(n.condition);
            c.body = compile(n.body);
            c.otherwise = compile(n.otherwise);
          },
          [&](const ir::KLet& n) {
            c.lanes = slots_.lanes(n.value.type());
            c.slot = slots_.slot(n.var, c.lanes);
            c.value = tape(n.value);
            if (c.lanes > 1) vectors_[n.var] = {c.slot, c.lanes};
            names_in(n.value, c);
            c.body = compile(n.body);
          },
          [&](const ir::KStore& n) { compile_store(n, c); }, [&](const ir::KCall& n) { compile_call(n, c); },
          [](const ir::KPrefetch&) {}, [](const ir::KLaunch&) {}, [](const ir::KSync&) {});
      result.push_back(std::move(c));
    }
    return result;
  }

  // Vectors with a name that a value is made of.
  void names_in(const Expr& value, KernelCode& c) const {
    if (vectors_.empty()) return;
    for (const Id v : ir::free_vars(value))
      if (const auto at = vectors_.find(v); at != vectors_.end()) c.vectors.push_back(at->second);
  }

  void compile_store(const ir::KStore& s, KernelCode& c) {
    c.value = tape(s.value);
    c.address = tape(s.address);
    c.mask = tape(s.mask);
    names_in(s.value, c);
    c.buffer = resolve(s.buffer, nullptr);
    c.lanes = slots_.lanes(s.value.type());
    if (slots_.lanes(s.address.type()) != c.lanes)
      throw InternalError("kernel: a store of " + ir::text(s.value.type()) + " to addresses of " + ir::text(s.address.type()));
  }

  void compile_call(const ir::KCall& call, KernelCode& c) {
    if (!call.function) {
      const ir::Intrinsic& f = kernel_.intrinsics.at(call.intrinsic);
      if (!f.is_users()) throw InternalError("kernel: a call of " + f.name + " outside of a launch");
      std::shared_ptr<Described>& callee = described_[call.intrinsic];
      if (!callee) callee = std::make_shared<Described>(f);
      c.callee = callee;
    }
    for (const ir::Call::Actual& a : call.actuals) {
      KernelCode::Actual actual;
      if (a.buffer) actual.buffer = resolve(a.buffer, nullptr);
      actual.value = tape(a.address);
      for (const Expr& e : a.strides) actual.strides.push_back(tape(e));
      for (const Expr& e : a.positions) actual.positions.push_back(tape(e));
      for (const Expr& e : a.extents) actual.extents.push_back(tape(e));
      c.actuals.push_back(std::move(actual));
    }
  }

  // By the function itself, on copies of its regions.
  void external(const ir::KCall& s, KernelCode& c) {
    const ir::Function& f = ir::function(s.function);
    ExternalCall call(f, where());
    const std::size_t reads = c.actuals.size() - s.results;
    for (std::size_t k = 0; k < c.actuals.size(); ++k) {
      KernelCode::Actual& a = c.actuals[k];
      IndexBox box;
      std::vector<std::int64_t> strides;
      for (Tape& t : a.positions) box.begin.push_back(t.run_index());
      for (Tape& t : a.extents) box.extent.push_back(t.run_index());
      for (Tape& t : a.strides) strides.push_back(t.run_index());
      const auto address = [begin = box.begin, strides, base = a.value.run_index()](std::span<const std::int64_t> at) {
        std::int64_t to = base;
        for (std::size_t d = 0; d < at.size(); ++d) to += (at[d] - begin[d]) * strides[d];
        return to;
      };
      const Type type = targets_[static_cast<std::size_t>(a.buffer)].info->type;
      if (k < reads)
        call.reads(type, box, [&](std::span<const std::int64_t> at) {
          const std::int64_t from = address(at);
          return read(a.buffer, &from, 1);
        });
      else
        call.writes(type, box, [this, buffer = a.buffer, address](std::span<const std::int64_t> at, const Value& v) {
          write(buffer, address(at), v);
        });
    }
    call.run();
  }

  // By the meaning of the intrinsic: every tile is read before any element is written.
  void call(KernelCode& c) {
    Described& f = *c.callee;
    for (std::size_t k = 0; k < c.actuals.size(); ++k)
      if (c.actuals[k].buffer < 0) f.set(k, c.actuals[k].value.run());
    const auto address = [](std::int64_t base, const std::vector<std::int64_t>& strides, std::span<const std::int64_t> at) {
      for (std::size_t d = 0; d < at.size(); ++d) base += at[d] * strides[d];
      return base;
    };
    std::vector<std::int64_t> bases(c.actuals.size());
    std::vector<std::vector<std::int64_t>> strides(c.actuals.size());
    for (std::size_t k = 0; k < c.actuals.size(); ++k) {
      if (c.actuals[k].buffer < 0) continue;
      bases[k] = c.actuals[k].value.run_index();
      for (Tape& t : c.actuals[k].strides) strides[k].push_back(t.run_index());
      if (k == f.result() && !f.intrinsic().accumulates) continue;
      f.fill(k, [&](std::span<const std::int64_t> at) {
        const std::int64_t from = address(bases[k], strides[k], at);
        return read(c.actuals[k].buffer, &from, 1);
      });
    }
    f.run();
    const std::size_t to = f.result();
    f.take([&](std::span<const std::int64_t> at, const Value& v) {
      write(c.actuals[to].buffer, address(bases[to], strides[to], at), v);
    });
  }

  void execute(std::vector<KernelCode>& body) {
    for (KernelCode& c : body) {
      c.stmt->visit([](const ir::KPrefetch&) {},
                    [&](const ir::KLet&) {
                      let(c);
                      execute(c.body);
                    },
                    [&](const ir::KIf&) { execute(c.value.run().i ? c.body : c.otherwise); }, [&](const ir::KFor&) { loop(c); },
                    [&](const ir::KStore& s) { store(s, c); },
                    [&](const ir::KLaunch& s) {
                      if (parallel_depth_ > 0) throw InternalError("kernel: a launch inside a parallel loop");
                      run_launch(kernel_, s, slots_, *this, *this, options_);
                    },
                    [&](const ir::KCall& s) { s.function ? external(s, c) : call(c); },
                    [](const ir::KSync&) { throw InternalError("kernel: a sync outside of a launch"); });
    }
  }

  void loop(KernelCode& c) {
    const std::int64_t begin = c.begin.run_index(), end = begin + std::max<std::int64_t>(0, c.extent.run_index());
    loops_.push_back(&c);
    if (c.loop->kind == ir::LoopKind::parallel) {
      const bool outermost = parallel_depth_++ == 0;
      for (std::int64_t x : order_.of(begin, end)) {
        if (outermost) {
          ++worker_->epoch;
          for (Region* r : private_[c.stmt]) ++r->epoch;
        }
        slots_.set_index(c.slot, x);
        execute(c.body);
      }
      --parallel_depth_;
    } else {
      for (std::int64_t x = begin; x < end; ++x) {
        slots_.set_index(c.slot, x);
        execute(c.body);
      }
    }
    loops_.pop_back();
  }

  // A vector that has a name is computed in all its lanes; a store may leave those out in which it was read from nothing.
  void let(KernelCode& c) {
    lenient_ = c.lanes > 1;
    for (int lane = 0; lane < c.lanes; ++lane) {
      seen_ = {};
      slots_.set_slot(c.slot + lane, c.value.run(lane));
      if (!lenient_) continue;
      if (const Unwritten* from = unwritten_in(c, lane)) seen_ = *from;
      if (seen_.target)
        unwritten_[c.slot + lane] = seen_;
      else
        unwritten_.erase(c.slot + lane);
    }
    lenient_ = false;
  }
  const Unwritten* unwritten_in(const KernelCode& c, int lane) const {
    if (unwritten_.empty()) return nullptr;
    for (const auto& [slot, lanes] : c.vectors)
      if (const auto at = unwritten_.find(slot + std::min(lane, lanes - 1)); at != unwritten_.end()) return &at->second;
    return nullptr;
  }

  // Every lane is read before any is written; no two may write one element.
  void store(const ir::KStore& s, KernelCode& c) {
    pending_.clear();
    for (int lane = 0; lane < c.lanes; ++lane) {
      const bool on = c.mask.empty() || c.mask.run(c.mask.lanes() == 1 ? 0 : lane).i != 0;
      if (on) {
        const std::int64_t at = c.address.run(lane).i;
        pending_.emplace_back(at, c.value.run(lane));
        if (const Unwritten* from = unwritten_in(c, lane)) unwritten(*from->target, from->at);
        continue;
      }
      c.address.run_unused(lane);
      lane_idle_ = true;  // what it reads must exist, but need not have been written
      c.value.run_unused(lane);
      lane_idle_ = false;
    }
    for (std::size_t a = 1; a < pending_.size(); ++a)
      if (pending_[a].first <= pending_[a - 1].first) {  // not ascending: look at all pairs
        for (std::size_t b = 0; b < a; ++b)
          if (pending_[b].first == pending_[a].first)
            throw RunError(RunError::Kind::broken_promise, where() + " stores two lanes into " +
                                                               targets_[static_cast<std::size_t>(c.buffer)].info->name + "[" +
                                                               std::to_string(pending_[a].first) + "]");
      }
    for (const auto& [at, v] : pending_) write(c.buffer, at, s.atomic ? updated(*s.atomic, c.buffer, at, v) : v);
  }

  // What an element becomes by an atomic store. Iterations run one after the other here, so that it is indivisible.
  Value updated(ir::Op op, int buffer, std::int64_t at, const Value& v) {
    const Value args[] = {read(buffer, &at, 1), v};
    const auto result = ir::evaluate(op, v.type, args);
    if (!result) throw InternalError("kernel: an atomic store without a value");
    return *result;
  }

  // Frame buffers that only one outermost parallel loop uses live in the frame of its body: new at every iteration.
  void find_private() {
    std::map<const Region*, std::vector<const KStmt*>> users;  // nullptr: outside of any parallel loop
    std::function<void(const std::vector<KStmt>&, const KStmt*)> visit = [&](const std::vector<KStmt>& body,
                                                                             const KStmt* inside) {
      for (const KStmt& s : body) {
        if (s.is<ir::KLaunch>()) continue;  // its registers are its own
        auto use = [&](Id id) { users[targets_[static_cast<std::size_t>(resolve(id, nullptr))].region].push_back(inside); };
        if (const auto* store = s.as<ir::KStore>()) use(store->buffer);
        if (const auto* call = s.as<ir::KCall>())
          for (const ir::Call::Actual& a : call->actuals)
            if (a.buffer) use(a.buffer);
        if (!s.is<ir::KPrefetch>())
          for_each_expr(s, [&](const Expr& e) {
            ir::walk(e, [&](const Expr& x) {
              if (ir::is(x, ir::Op::load)) use(x.node()->id);
              return true;
            });
          });
        const KStmt* deeper = inside ? inside : ir::as_loop(s, ir::LoopKind::parallel) ? &s : nullptr;
        for (const auto* part : s.bodies()) visit(*part, deeper);
      }
    };
    visit(kernel_.body, nullptr);
    for (const auto& frame : frames_) {
      const auto& list = users[frame.get()];
      if (!list.empty() && list.front() &&
          std::all_of(list.begin(), list.end(), [&](const KStmt* s) { return s == list.front(); }))
        private_[list.front()].push_back(frame.get());
    }
  }

  const ir::Kernel& kernel_;
  const Options& options_;
  IterationOrder order_;
  Slots slots_;
  std::deque<Array> packed_;
  std::vector<Target> targets_;
  std::unique_ptr<Region> shared_, worker_;
  std::vector<std::unique_ptr<Region>> frames_;
  std::map<Id, Array> constants_;
  std::map<const KStmt*, std::vector<Region*>> private_;
  std::vector<KernelCode> code_;
  std::map<Id, std::shared_ptr<Described>> described_;  // by intrinsic
  std::vector<const KernelCode*> loops_;
  std::map<Id, std::pair<int, int>> vectors_;  // lets of several lanes: slot, lanes
  std::map<int, Unwritten> unwritten_;         // their lanes that were computed of what was not written
  bool lenient_ = false;                       // such a lane is evaluated
  Unwritten seen_;
  bool lane_idle_ = false;          // a lane that a mask leaves out is evaluated
  const Memory* launch_ = nullptr;  // the launch that runs
  int parallel_depth_ = 0;
  bool empty_ = false;  // no output has an element
  std::vector<std::pair<std::int64_t, Value>> pending_;
  Counters counters_;
};

}  // namespace

Counters run(const ir::Kernel& k, Arguments& arguments, const Options& options) {
  return KernelRun(k, arguments, options).run();
}

}  // namespace ashlar::interp
