// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verifier of launches: numbers, shared memory, collectives, syncs, calls, tensor maps. Types and variables of their
// expressions are the business of verify/kernel.cpp.
#include "analysis/verify/device.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/analysis/simplify.h>
#include <ashlar/analysis/verify.h>
#include <ashlar/ir/emit_text.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/tile.h>
#include <ashlar/ir/vscale.h>

#include "analysis/proofs/uniform.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

using ir::KBuffer;
using ir::Kernel;
using ir::KStmt;
using ir::Storage;
using ir::Sync;
using Operand = ir::IntrinsicOperand;

namespace {

enum RuleIndex {
  launch_place,
  launch_numbers,
  launch_loops,
  launch_tiles,
  shared_inside,
  shared_barriers,
  shared_use,
  collective_width,
  collective_uniform,
  sync_operands,
  sync_barrier,
  sync_named,
  sync_parity,
  sync_group,
  sync_registers,
  call_intrinsic,
  call_operand,
  call_place,
  call_type,
  call_written,
  call_registers,
  call_align,
  call_host,
  map_shape,
  map_strides,
  map_box,
  rule_count
};

// clang-format off
constexpr std::array<VerifierRule, rule_count> rules{{
    {"launch.place", "a launch stands in no launch and no parallel loop, syncs stand in one"},
    {"launch.numbers", "a launch has 1 to 1024 threads, in whole warps, a grid of indices and a constant cluster"},
    {"launch.loops", "loops in a launch are serial"},
    {"launch.tiles", "a launch of tiles has one thread and no body, and what the kernel of a block takes: a buffer for each tensor, of its type, and a value for each parameter"},
    {"shared.inside", "buffers in shared memory lie in the launch's bytes, at multiples of their alignment"},
    {"shared.barriers", "no other buffer has bytes of a barrier, and barriers lie at multiples of 8"},
    {"shared.use", "buffers in shared memory are used inside launches, and barriers by syncs and calls only"},
    {"collective.width", "a block is made of whole groups of every collective in it"},
    {"collective.uniform", "conditions and bounds around a collective are the same for all threads of its group"},
    {"sync.operands", "a sync has the operands of its kind, each an index"},
    {"sync.barrier", "an mbarrier operation names a barrier of a barrier buffer"},
    {"sync.named", "a named barrier has a number from 0 to 15 and a constant count of whole warps, at most the block's"},
    {"sync.parity", "the parity of a wait is 0 or 1"},
    {"sync.group", "commits and waits name a kind of group and a constant number pending; only bulk copies have reads to wait for"},
    {"sync.registers", "a register budget is a multiple of 8 from 24 to 256"},
    {"call.intrinsic", "a call names an intrinsic of the kernel and has its operands"},
    {"call.operand", "an operand of a call has the form of its kind"},
    {"call.place", "a tile lies where the intrinsic wants it"},
    {"call.type", "tiles, values and tensor maps have the intrinsic's types"},
    {"call.written", "no call writes an input"},
    {"call.registers", "a tile in registers starts at a constant and lies in its buffer"},
    {"call.align", "a tile that a tensor map moves starts at a multiple of 128 bytes, swizzled of eight times the swizzle"},
    {"call.host", "a call outside of launches is of a user's intrinsic, and its tiles have a stride for each dimension, in memory or, taken by value, in registers"},
    {"map.shape", "a tensor map has 1 to 5 dimensions, over a buffer of its type in global memory"},
    {"map.strides", "the last stride of a tensor map is 1, the others are multiples of 16 bytes"},
    {"map.box", "a box extent is 1 to 256, the last one a multiple of 16 bytes and at most the swizzle, which is 0, 32, 64 or 128"},
}};
// clang-format on

struct Violation {
  RuleIndex rule;
  std::string found;
};

class Checker {
 public:
  explicit Checker(const Kernel& k) : k_(k) {
    for (const auto& [id, s] : k.symbols) {
      facts_.bound(id, s.min, s.max);
      facts_.multiple(id, s.multiple_of);
    }
    facts_.bound(ir::vscale_id, 1, ir::max_vscale);
    for (const Expr& e : k.assumptions) facts_.assume(e);
  }

  void run() {
    bool shared = false;
    for (const auto& [id, b] : k_.buffers) shared = shared || b.storage == Storage::shared || b.storage == Storage::barrier;
    if (k_.tensor_maps.empty() && !shared && !any(k_.body)) return;
    for (const auto& [id, m] : k_.tensor_maps) tensor_map(m);
    body(k_.body, false);
  }

 private:
  template <class Found>
  static void require(bool holds, RuleIndex rule, Found&& found) {
    if (!holds) throw Violation{rule, found()};
  }

  // Most kernels have nothing of this.
  static bool any(const std::vector<KStmt>& list) {
    for (const KStmt& s : list) {
      if (s.is<ir::KLaunch>() || s.is<Sync>() || s.is<ir::KCall>()) return true;
      for (const auto* inside : s.bodies())
        if (any(*inside)) return true;
    }
    return false;
  }

  void body(const std::vector<KStmt>& list, bool parallel) {
    for (const KStmt& s : list) statement(s, parallel);
  }

  void statement(const KStmt& s, bool parallel) {
    s.visit(
        [&](const ir::KFor& n) {
          plain_operands(s);
          require(!launch_ || n.kind == ir::LoopKind::serial, launch_loops, [&] { return n.name; });
          if (launch_) {
            uniform_.loop(n.var, n.begin, n.extent);
            around_.push_back(&n.begin);
            around_.push_back(&n.extent);
          }
          body(n.body, parallel || n.kind == ir::LoopKind::parallel);
          if (launch_) around_.resize(around_.size() - 2);
        },
        [&](const ir::KIf& n) {
          plain_operands(s);
          around_.push_back(&n.condition);
          body(n.body, parallel);
          body(n.otherwise, parallel);
          around_.pop_back();
        },
        [&](const ir::KLet& n) {
          plain_operands(s);
          if (launch_) uniform_.let(n.var, n.value);
          body(n.body, parallel);
        },
        [&](const ir::KStore& n) {
          plain_operands(s);
          plain_use(n.buffer);
        },
        [&](const ir::KPrefetch&) { plain_operands(s); },
        [&](const ir::KLaunch& n) {
          require(!launch_ && !parallel, launch_place, [&] { return n.name; });
          launch(n);
        },
        [&](const Sync& n) {
          require(launch_ != nullptr, launch_place, [] { return "a sync"; });
          sync(n);
        },
        [&](const ir::KCall& n) { call(n); });
  }
  void plain_operands(const KStmt& s) {
    for_each_expr(s, [&](const Expr& e) { plain_use(e); });
  }

  // ---- launches and their memory -------------------------------------------------------------------------------------------

  void launch(const ir::KLaunch& l) {
    require(l.warp >= 1 && l.threads >= 1 && l.threads <= 1024 && l.threads % l.warp == 0, launch_numbers,
            [&] { return std::to_string(l.threads) + " threads in warps of " + std::to_string(l.warp); });
    for (int d = 0; d < 3; ++d) {
      require(l.grid[d].empty() || l.grid[d].type() == ir::index_type, launch_numbers, [&] { return l.name + ": its grid"; });
      std::int64_t extent = 1;
      require(l.cluster[d].empty() || (ir::is_int(l.cluster[d], &extent) && extent >= 1), launch_numbers,
              [&] { return l.name + ": its cluster"; });
    }
    if (l.tile) return tiles(l);
    launch_ = &l;
    uniform_ = Uniform(k_, l.thread);
    const auto of_host = std::exchange(around_, {});  // conditions that the host tests
    shared_.clear();
    body(l.body, false);
    around_ = of_host;
    launch_ = nullptr;
    layout(l);
  }

  void tiles(const ir::KLaunch& l) const {
    const ir::tile::Kernel& t = *l.tile;
    const auto name = [&] { return l.name; };
    require(l.threads == 1 && l.body.empty() && l.shared_bytes == 0, launch_tiles, name);
    require(l.tensors.size() == t.tensors.size() && l.parameters.size() == t.parameters.size(), launch_tiles, name);
    for (std::size_t k = 0; k < l.tensors.size(); ++k) {
      const auto b = k_.buffers.find(l.tensors[k]);
      require(b != k_.buffers.end(), launch_tiles, name);
      const Type element = b->second.type.is_bool() ? u8 : b->second.type;
      const bool writable = b->second.written || b->second.storage == Storage::workspace;
      require(element == t.tensors[k].element && (writable || !t.tensors[k].written), launch_tiles,
              [&] { return b->second.name + " of " + l.name; });
    }
    for (std::size_t k = 0; k < l.parameters.size(); ++k) {
      const Type given = l.parameters[k].type(), taken = t.parameters[k].type;
      require(given == taken || (given.is_index() && taken == i32), launch_tiles,
              [&] { return t.parameters[k].name + " of " + l.name; });
    }
  }

  struct Span {
    const KBuffer* b;
    std::int64_t from, to;
  };
  void layout(const ir::Launch& l) const {
    std::vector<Span> spans;
    for (Id id : shared_) {
      const KBuffer& b = k_.buffers.at(id);
      std::int64_t elements = 0, offset = -1;
      ir::is_int(b.elements, &elements);
      ir::is_int(b.offset, &offset);
      const bool barrier = b.storage == Storage::barrier;
      const std::int64_t bytes = elements * (barrier ? 8 : b.type.bytes());
      require(offset >= 0 && offset + bytes <= l.shared_bytes && offset % std::max<std::int64_t>(1, b.align) == 0,
              shared_inside, [&] {
                return b.name + " of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + ", aligned to " +
                       std::to_string(b.align) + ", in " + std::to_string(l.shared_bytes);
              });
      require(!barrier || offset % 8 == 0, shared_barriers, [&] { return b.name + " at " + std::to_string(offset); });
      for (const Span& other : spans)
        require((!barrier && other.b->storage != Storage::barrier) || offset >= other.to || other.from >= offset + bytes,
                shared_barriers, [&] { return b.name + " and " + other.b->name; });
      spans.push_back({&b, offset, offset + bytes});
    }
  }

  void used(Id id) {
    const auto b = k_.buffers.find(id);
    if (b == k_.buffers.end() || (b->second.storage != Storage::shared && b->second.storage != Storage::barrier)) return;
    require(launch_ != nullptr, shared_use, [&] { return b->second.name; });
    shared_.insert(id);
  }
  void plain_use(Id id) {
    used(id);
    const auto b = k_.buffers.find(id);
    require(b == k_.buffers.end() || b->second.storage != Storage::barrier, shared_use, [&] { return b->second.name; });
  }
  void plain_use(const Expr& e) {
    if (e.empty()) return;
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, ir::Op::load)) plain_use(x.node()->id);
      return true;
    });
  }

  // ---- collectives ---------------------------------------------------------------------------------------------------------

  void collective(std::int64_t width, const std::string& what) {
    require(width >= 1 && width <= launch_->threads && launch_->threads % width == 0, collective_width, [&] {
      return what + " of " + std::to_string(width) + " threads in a block of " + std::to_string(launch_->threads);
    });
    if (width == 1) return;
    for (const Expr* e : around_)
      require(uniform_(*e, width), collective_uniform,
              [&] { return what + " of " + std::to_string(width) + " threads under " + ir::text(*e); });
  }

  void sync(const Sync& s) {
    using K = Sync::Kind;
    const bool mbarrier = s.kind == K::mbarrier_init || s.kind == K::mbarrier_arrive || s.kind == K::mbarrier_expect ||
                          s.kind == K::mbarrier_wait;
    const bool is_named = s.kind == K::named || s.kind == K::named_arrive;
    const bool grouped = s.kind == K::commit || s.kind == K::wait || s.kind == K::wait_read;
    const bool counted =
        is_named || s.kind == K::mbarrier_init || s.kind == K::wait || s.kind == K::wait_read || s.kind == K::registers;
    const auto has = [&](const Expr& e, bool wanted) {
      require(e.empty() != wanted && (e.empty() || e.type() == ir::index_type), sync_operands,
              [&] { return e.empty() ? std::string("one that is missing") : ir::text(e); });
      if (!e.empty()) plain_use(e);
    };
    has(s.index, mbarrier || is_named);
    has(s.count, counted);
    has(s.bytes, s.kind == K::mbarrier_expect);
    has(s.parity, s.kind == K::mbarrier_wait);
    has(s.rank, s.kind == K::mbarrier_arrive && !s.rank.empty());
    require((s.buffer != 0) == mbarrier, sync_operands, [] { return "a buffer"; });
    std::int64_t count = -1;
    if (counted) ir::is_int(s.count, &count);
    if (mbarrier) {
      used(s.buffer);
      const KBuffer& b = k_.buffers.at(s.buffer);
      require(b.storage == Storage::barrier, sync_barrier, [&] { return b.name; });
      index_of_barrier(b, s.index);
      require(s.kind != K::mbarrier_init || count >= 1, sync_barrier, [&] { return b.name + " for " + ir::text(s.count); });
    }
    if (s.kind == K::mbarrier_wait) {
      const auto lo = constant_min(s.parity, facts_), hi = constant_max(s.parity, facts_);
      require(lo && hi && *lo >= 0 && *hi <= 1, sync_parity, [&] { return ir::text(s.parity); });
    }
    if (is_named) {
      const auto lo = constant_min(s.index, facts_), hi = constant_max(s.index, facts_);
      require(count >= 1 && count <= launch_->threads && count % launch_->warp == 0 && (!lo || *lo <= 15) &&
                  (!hi || *hi >= 0) && (!ir::is_int(s.index) || (*lo >= 0 && *hi <= 15)),
              sync_named, [&] { return ir::text(s.index) + " of " + ir::text(s.count); });
    }
    if (grouped) {
      const bool known = s.group == ir::Completion::copy_group || s.group == ir::Completion::bulk_group ||
                         s.group == ir::Completion::product_group;
      require(known && (s.kind == K::commit || count >= 0) && (s.kind != K::wait_read || s.group == ir::Completion::bulk_group),
              sync_group, [&] { return counted ? ir::text(s.count) + " pending" : std::string("a commit"); });
    }
    if (s.kind == K::registers)
      require(count >= 24 && count <= 256 && count % 8 == 0, sync_registers, [&] { return ir::text(s.count); });
    collective(width_of(s), "a sync");
  }

  std::int64_t width_of(const Sync& s) const {
    using K = Sync::Kind;
    switch (s.kind) {
      case K::block:
        return launch_->threads;
      case K::named:
      case K::named_arrive:
      case K::warp:
      case K::cluster_arrive:
      case K::cluster_wait:
        return launch_->warp;
      case K::fence_product:
      case K::registers:
        return 4 * launch_->warp;
      case K::commit:
      case K::wait:
      case K::wait_read:
        return s.group == ir::Completion::product_group ? 4 * launch_->warp : 1;
      default:
        return 1;
    }
  }

  void index_of_barrier(const KBuffer& b, const Expr& index) {
    std::int64_t elements = 0;
    ir::is_int(b.elements, &elements);
    const auto lo = constant_min(index, facts_), hi = constant_max(index, facts_);
    require((!hi || *hi >= 0) && (!lo || *lo < elements) && (!ir::is_int(index) || (*lo >= 0 && *hi < elements)), sync_barrier,
            [&] { return b.name + "[" + ir::text(index) + "] of " + std::to_string(elements); });
  }

  // ---- calls ---------------------------------------------------------------------------------------------------------------

  void call_of_function(const ir::Call& c) {
    const auto name = [&] { return ir::function(c.function).symbol; };
    require(!launch_ && c.results > 0 && c.results <= c.actuals.size(), call_host, name);
    for (std::size_t n = 0; n < c.actuals.size(); ++n) {
      const ir::Call::Actual& a = c.actuals[n];
      const auto b = k_.buffers.find(a.buffer);
      require(b != k_.buffers.end() && b->second.storage != Storage::registers && !a.address.empty() &&
                  a.positions.size() == a.extents.size() && a.positions.size() == a.strides.size(),
              call_operand, name);
      require(n + c.results < c.actuals.size() || writable(a.buffer), call_written, name);
    }
  }

  void call(const ir::Call& c) {
    if (c.function) return call_of_function(c);
    const auto it = k_.intrinsics.find(c.intrinsic);
    require(it != k_.intrinsics.end() && it->second.operands.size() == c.actuals.size(), call_intrinsic, [&] {
      return it == k_.intrinsics.end() ? std::string("none") : it->second.name + " with " + std::to_string(c.actuals.size());
    });
    const ir::Intrinsic& f = it->second;
    const ir::TensorMap* map = nullptr;
    for (const auto& a : c.actuals)
      if (const auto m = k_.tensor_maps.find(a.buffer); m != k_.tensor_maps.end()) map = &m->second;
    require(launch_ || (f.is_users() && f.group == 1), call_host, [&] { return f.name; });
    for (std::size_t n = 0; n < f.operands.size(); ++n) operand(f, f.operands[n], c.actuals[n], map);
    if (launch_) collective(f.group, f.name);
  }

  void operand(const ir::Intrinsic& f, const Operand& o, const ir::Call::Actual& a, const ir::TensorMap* map) {
    const auto name = [&] { return f.name + ": " + o.name; };
    const auto b = k_.buffers.find(a.buffer);
    const bool has_buffer = b != k_.buffers.end();
    if (!a.address.empty()) plain_use(a.address);
    switch (o.kind) {
      case Operand::Kind::value:
      case Operand::Kind::size:
        require(a.buffer == 0 && !a.address.empty() && a.positions.empty(), call_operand, name);
        require(a.address.type() == o.type, call_type, name);
        break;
      case Operand::Kind::tensor_map:
        require(k_.tensor_maps.count(a.buffer) == 1 && a.address.empty() && a.positions.size() == map->box.size(), call_operand,
                name);
        for (const Expr& p : a.positions) require(p.type() == ir::index_type, call_operand, name);
        require(map->type == o.type, call_type, name);
        require(o.access == Operand::Access::read || writable(map->buffer), call_written, name);
        break;
      case Operand::Kind::barrier:
        require(has_buffer && b->second.storage == Storage::barrier && !a.address.empty() && a.positions.empty(), call_operand,
                name);
        used(a.buffer);
        index_of_barrier(b->second, a.address);
        break;
      case Operand::Kind::tile:
        require(has_buffer && !a.address.empty() && a.address.type() == ir::index_type && a.positions.empty(), call_operand,
                name);
        plain_use(a.buffer);
        if (!launch_) {
          bool strides =
              a.strides.size() == o.extents.size() && (b->second.storage != Storage::registers || ir::by_value(f, "llvm", o));
          for (const Expr& e : a.strides) strides = strides && e.type() == ir::index_type;
          require(strides, call_host, [&] { return name() + " = " + b->second.name; });
          require(b->second.type == o.type, call_type, [&] { return name() + " = " + b->second.name; });
          require(o.access == Operand::Access::read || writable(a.buffer), call_written, name);
          break;
        }
        require(place_of(b->second) == o.place, call_place, [&] { return name() + " = " + b->second.name; });
        require(b->second.type == o.type, call_type, [&] { return name() + " = " + b->second.name; });
        require(o.access == Operand::Access::read || writable(a.buffer), call_written, name);
        if (o.place == Operand::Place::registers) registers(o, a, b->second, name());
        if (map && o.place == Operand::Place::shared) aligned(a, b->second, *map, name());
    }
  }

  static Operand::Place place_of(const KBuffer& b) {
    switch (b.storage) {
      case Storage::registers:
      case Storage::stack:
        return Operand::Place::registers;
      case Storage::shared:
      case Storage::barrier:
        return Operand::Place::shared;
      case Storage::argument:
      case Storage::workspace:
      case Storage::constant:
        break;
    }
    return Operand::Place::global;
  }
  bool writable(Id id) const {
    const KBuffer& b = k_.buffers.at(id);
    return b.written || (b.storage != Storage::argument && b.storage != Storage::constant);
  }

  // The last register that an operand's map leads to; of the hundred calls of an unrolled product it is asked once.
  std::optional<std::int64_t> last_register(const Operand& o) {
    const auto [known, fresh] = last_registers_.try_emplace(&o);
    if (fresh && !o.map.empty()) {
      Facts box;
      for (std::size_t d = 0; d < o.vars.size(); ++d) box.bound(o.vars[d], 0, o.shape[d] - 1);
      known->second = constant_max(o.map.back(), box);
    }
    return known->second;
  }

  void registers(const Operand& o, const ir::Call::Actual& a, const KBuffer& b, const std::string& name) {
    std::int64_t first = -1, elements = 0;
    ir::is_int(b.elements, &elements);
    const std::optional<std::int64_t> last = last_register(o);
    require(ir::is_int(a.address, &first) && first >= 0 && last && first + *last < elements, call_registers,
            [&] { return name + " at " + b.name + "[" + ir::text(a.address) + "] of " + std::to_string(elements); });
  }

  void aligned(const ir::Call::Actual& a, const KBuffer& b, const ir::TensorMap& map, const std::string& name) const {
    const std::int64_t grain = map.swizzle == 0 ? 128 : std::int64_t{8} * map.swizzle;
    const Expr byte = ir::add(ir::mul(a.address, ir::index(b.type.bytes())), b.offset);
    const Congruence c = congruence(byte, facts_);
    require(c.modulus % grain == 0 && c.remainder % grain == 0, call_align,
            [&] { return name + " at byte " + ir::text(byte) + ", wanted a multiple of " + std::to_string(grain); });
  }

  void tensor_map(const ir::TensorMap& m) const {
    const auto b = k_.buffers.find(m.buffer);
    const std::size_t rank = m.box.size();
    require(rank >= 1 && rank <= 5 && m.extents.size() == rank && m.strides.size() == rank && b != k_.buffers.end() &&
                place_of(b->second) == Operand::Place::global && b->second.type == m.type,
            map_shape, [&] { return m.name; });
    require(ir::is_int(m.strides.back(), 1), map_strides, [&] { return m.name; });
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      const Congruence c = congruence(ir::mul(m.strides[d], ir::index(m.type.bytes())), facts_);
      require(c.modulus % 16 == 0 && c.remainder % 16 == 0, map_strides,
              [&] { return m.name + " with " + ir::text(m.strides[d]) + " of " + ir::text(m.type); });
    }
    const std::int64_t bytes = m.box.back() * m.type.bytes();
    const bool known = m.swizzle == 0 || m.swizzle == 32 || m.swizzle == 64 || m.swizzle == 128;
    bool extents = true;
    for (std::int64_t e : m.box) extents = extents && e >= 1 && e <= 256;
    require(extents && known && bytes % 16 == 0 && (m.swizzle == 0 || bytes <= m.swizzle), map_box, [&] {
      return m.name + " with " + std::to_string(bytes) + " bytes a row, swizzled by " + std::to_string(m.swizzle);
    });
  }

  const Kernel& k_;
  Facts facts_;
  std::map<const Operand*, std::optional<std::int64_t>> last_registers_;
  const ir::Launch* launch_ = nullptr;
  Uniform uniform_;
  std::vector<const Expr*> around_;  // conditions and bounds around the statement, inside the launch
  std::set<Id> shared_;              // used by the launch
};

}  // namespace

std::span<const VerifierRule> launch_rules() { return rules; }

void verify_launches(const Kernel& kernel, std::string_view after) {
  try {
    Checker(kernel).run();
  } catch (const Violation& v) {
    const VerifierRule& r = rules[v.rule];
    throw InternalError((after.empty() ? std::string() : "after " + std::string(after) + ": ") + r.name + ": " + r.sentence +
                        "; found: " + v.found);
  }
}

}  // namespace ashlar::analysis
