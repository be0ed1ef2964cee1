#pragma once
// Mutants of a parallel program: each barrier, wait, arrival, fence, byte count, swizzle and role boundary weakened in turn, by
// a walk over the statements. A checker is good if every mutant is reported, and the report is about what was weakened.
//
//   Mutations m = mutate(builder.k);
//   Killed n = kill(builder, m, runs);        n.killed == m.size(), n.astray == "", n.silent == ""
//
// A report is about the mutant if it names the line of the weakened statement, or a buffer that the statement protects (as the
// builder was told), or, for a condition, a let, a store, what is used by it and under it.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>

#include "tests/interp/launch_builder.h"

namespace launches {

struct Mutant {
  std::string what;  // "line 40: drop barrier of the block"
  ir::Kernel kernel;
  std::uint_least32_t line = 0, last_line = 0;
  Names buffers;         // what it, and the statements under it, use
  bool swizzle = false;  // elements elsewhere on one side: nothing that synchronizes is weaker
};

class Mutator {
 public:
  explicit Mutator(const ir::Kernel& k) : original_(k), work_(k) {}

  std::vector<Mutant> all() {
    visit(work_.body);
    for (auto& [id, m] : work_.tensor_maps) {
      const int swizzle = m.swizzle;
      for (int other : {0, 64})
        if (swizzle != other && swizzle != 0) {
          m.swizzle = other;
          found_.push_back({"tensor map " + m.name + ": swizzle " + std::to_string(other), work_, 0, 0, {}, true});
        }
      m.swizzle = swizzle;
    }
    return std::move(found_);
  }

 private:
  static std::uint_least32_t last_line(const KStmt& s) {
    std::uint_least32_t n = s.where.line();
    for (const auto* list : s.bodies())
      for (const KStmt& x : *list) n = std::max(n, last_line(x));
    return n;
  }
  void used(const KStmt& s, Names& names) const {
    const auto name = [&](Id id) {
      if (const auto b = original_.buffers.find(id); b != original_.buffers.end()) names.push_back(b->second.name);
      if (const auto m = original_.tensor_maps.find(id); m != original_.tensor_maps.end())
        names.push_back(original_.buffers.at(m->second.buffer).name);
    };
    const auto loads = [&](const Expr& value) {
      ir::walk(value, [&](const Expr& e) {
        if (ir::is(e, ir::Op::load)) name(e.node()->id);
        return true;
      });
    };
    if (const auto* store = s.as<ir::KStore>()) name(store->buffer), loads(store->value);
    if (const auto* sync = s.as<Sync>()) name(sync->buffer);
    if (const auto* call = s.as<ir::KCall>())
      for (const auto& a : call->actuals) name(a.buffer);
    if (const auto* let = s.as<ir::KLet>()) loads(let->value);
    for (const auto* list : s.bodies())
      for (const KStmt& x : *list) used(x, names);
  }
  void keep(const KStmt& s, const std::string& what, bool swizzle = false) {
    Mutant m{"line " + std::to_string(s.where.line()) + ": " + what, work_, s.where.line(), last_line(s), {}, swizzle};
    if (!s.is<Sync>()) used(s, m.buffers);
    found_.push_back(std::move(m));
  }
  // Statements that were unrolled from one line are weakened once, except for syncs.
  bool first(const KStmt& s, const std::string& what) {
    const auto key = std::to_string(s.where.line()) + what;
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) return false;
    seen_.push_back(key);
    return true;
  }

  void visit(std::vector<KStmt>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].is<Sync>()) {
        change_sync(list[i]);
        if (const Sync::Kind kind = list[i].get<Sync>().kind; kind != Sync::Kind::registers) {  // no effect on values
          const KStmt s = list[i];
          list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
          keep(s, std::string("drop ") + name_of(kind));
          list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), s);
        }
        continue;
      }
      change_expressions(list[i]);
      for (auto* part : list[i].bodies()) visit(*part);
    }
  }

  static const char* name_of(Sync::Kind k) {
    static const char* names[] = {"block barrier",
                                  "named barrier",
                                  "named arrival",
                                  "warp barrier",
                                  "cluster arrival",
                                  "cluster wait",
                                  "init",
                                  "arrival",
                                  "expecting arrival",
                                  "wait",
                                  "commit",
                                  "wait for groups",
                                  "wait for reads",
                                  "fence of init",
                                  "fence of proxies",
                                  "fence of products",
                                  "fence of the device",
                                  "registers"};
    return names[static_cast<int>(k)];
  }

  void change_sync(KStmt& s) {
    const Sync held = s.get<Sync>();
    const Sync* const original = &held;
    const auto with = [&](const std::string& what, const std::function<void(Sync&)>& change) {
      change(s.get<Sync>());
      keep(s, what);
      s.get<Sync>() = held;
    };
    if (original->buffer != 0)
      if (const auto n = elements(original->buffer); n > 1) {
        // A wait for the barrier after it in the ring would be the stronger one.
        if (original->kind == Sync::Kind::mbarrier_wait)
          with("the barrier before", [n](Sync& x) { x.index = (x.index + (n - 1)) % n; });
        else
          with("the next barrier", [n](Sync& x) { x.index = (x.index + 1) % n; });
      }
    switch (original->kind) {
      case Sync::Kind::mbarrier_init:
        with("one arrival more", [](Sync& x) { x.count = x.count + 1; });
        with("one arrival less", [](Sync& x) { x.count = x.count - 1; });
        break;
      case Sync::Kind::mbarrier_expect:
        with("16 bytes more", [](Sync& x) { x.bytes = x.bytes + 16; });
        with("16 bytes less", [](Sync& x) { x.bytes = x.bytes - 16; });
        break;
      case Sync::Kind::mbarrier_wait:
        with("the other parity", [](Sync& x) { x.parity = num(1) - x.parity; });
        break;
      case Sync::Kind::wait:
      case Sync::Kind::wait_read:
        with("one group more pending", [](Sync& x) { x.count = x.count + 1; });
        break;
      case Sync::Kind::named:
      case Sync::Kind::named_arrive:
        with("a warp more", [](Sync& x) { x.count = x.count + 32; });
        with("a warp less", [](Sync& x) { x.count = x.count - 32; });
        break;
      default:
        break;
    }
  }

  std::int64_t elements(Id buffer) const {
    std::int64_t n = 0;
    ir::is_int(original_.buffers.at(buffer).elements, &n);
    return n;
  }

  // Every expression of a statement in turn; `change` gives the mutants of one node.
  void change_expressions(KStmt& s) {
    if (auto* branch = s.as<ir::KIf>()) {
      each_node(s, branch->condition, [](const Expr& e) {
        std::vector<std::pair<std::string, Expr>> r;
        std::int64_t bound = 0;
        if (ir::is(e, ir::Op::lt) && ir::is_int(ir::args_of(e)[1], &bound)) {
          const std::int64_t step = bound >= 32 && bound % 32 == 0 ? 32 : 1;
          for (std::int64_t d : {-step, step})
            r.emplace_back("role boundary " + std::to_string(bound + d), ir::lt(ir::args_of(e)[0], num(bound + d)));
        }
        return r;
      });
    }
    if (auto* let = s.as<ir::KLet>(); let && let->name.rfind("slot", 0) == 0) {
      each_node(s, let->value, [](const Expr& e) {
        std::vector<std::pair<std::string, Expr>> r;
        if (ir::is(e, ir::Op::mod)) r.emplace_back("ring index off by one", ir::mod(ir::args_of(e)[0] + 1, ir::args_of(e)[1]));
        return r;
      });
    }
    const auto straight = [](const Expr& e) {
      std::vector<std::pair<std::string, Expr>> r;
      if (ir::is(e, ir::Op::bit_xor)) r.emplace_back("no swizzle", ir::args_of(e)[0]);
      return r;
    };
    if (auto* store = s.as<ir::KStore>(); store && first(s, "no swizzle")) {
      each_node(s, store->address, straight, true);
      each_node(s, store->value, straight, true);
    }
    if (auto* call = s.as<ir::KCall>(); call && first(s, "call")) {
      const ir::KCall held = *call;
      const ir::KCall* const original = &held;
      const ir::Intrinsic& f = original_.intrinsics.at(original->intrinsic);
      for (std::size_t k = 0; k < original->actuals.size(); ++k) {
        const auto with = [&](const std::string& what, const Expr& address, bool swizzle) {
          call->actuals[k].address = address;
          keep(s, what, swizzle);
          *call = held;
        };
        if (f.operands[k].name == "swizzle") with("swizzle of 64 bytes", num(64), true);
        if (original->actuals[k].address.empty()) continue;
        if (f.operands[k].kind == ir::IntrinsicOperand::Kind::barrier && elements(original->actuals[k].buffer) > 1)
          with("the next barrier", (original->actuals[k].address + 1) % elements(original->actuals[k].buffer), false);
        bool swizzled = false;
        ir::walk(original->actuals[k].address, [&](const Expr& e) { return swizzled |= ir::is(e, ir::Op::bit_xor), true; });
        if (swizzled)
          with("no swizzle",
               ir::transform(original->actuals[k].address,
                             [](const Expr& e) { return ir::is(e, ir::Op::bit_xor) ? ir::args_of(e)[0] : e; }),
               true);
      }
    }
  }
  template <class F>
  void each_node(KStmt& s, Expr& root, F&& change, bool swizzle = false) {
    const Expr original = root;
    std::vector<Expr> nodes;
    ir::walk(original, [&](const Expr& e) { return nodes.push_back(e), true; });
    for (const Expr& node : nodes)
      for (const auto& [what, replacement] : change(node)) {
        root = ir::transform(original, [&, r = replacement](const Expr& e) { return ir::same(e, node) ? r : e; });
        keep(s, what, swizzle);
      }
    root = original;
  }

  const ir::Kernel& original_;
  ir::Kernel work_;
  std::vector<Mutant> found_;
  std::vector<std::string> seen_;
};

// Runs a kernel on one shape; the difference from what is expected, or "".
using Run = std::function<std::string(const ir::Kernel&)>;

struct Killed {
  std::size_t made = 0, killed = 0, by_report = 0, by_result = 0;
  std::string survivors, astray;  // mutants that nobody noticed; reports about something else
  std::string silent;             // those but swizzles that only the result told
  std::string table;
};

inline bool about(const Builder& b, const Mutant& m, const interp::RunError& e) {
  if (m.line == 0) return true;
  for (const Where& w : e.lines)
    if (w.line() >= m.line && w.line() <= m.last_line) return true;
  Names names = m.buffers;
  if (const auto guard = b.guards.find(m.line); guard != b.guards.end())
    names.insert(names.end(), guard->second.begin(), guard->second.end());
  for (const std::string& found : e.buffers)
    for (const std::string& name : names)
      if (found == name || found.rfind(name + "[", 0) == 0) return true;
  return false;
}

inline Killed kill(const Builder& b, const std::vector<Run>& runs) {
  Killed n;
  for (const Mutant& m : Mutator(b.k).all()) {
    ++n.made;
    std::string outcome;
    for (const Run& run : runs) {
      try {
        if (std::string d = run(m.kernel); !d.empty()) {
          outcome = "result " + d, ++n.by_result;
          if (!m.swizzle) n.silent += m.what + " -> " + outcome + "\n";
        }
      } catch (const interp::RunError& e) {
        outcome = e.what();
        ++n.by_report;
        if (!about(b, m, e)) n.astray += m.what + " -> " + outcome + "\n";
      }
      if (!outcome.empty()) break;
    }
    if (outcome.empty())
      n.survivors += m.what + "\n";
    else
      ++n.killed;
    n.table += m.what + " -> " + outcome + "\n";
  }
  return n;
}

inline void check_killed(const std::string& what, const Killed& n) {
  MESSAGE(what << ": " << n.made << " mutants made, " << n.killed << " killed (" << n.by_report << " by a report, "
               << n.by_result << " by the result)");
  CHECK(n.made > 0);
  CHECK(n.killed == n.made);
  CHECK(n.survivors == "");
  CHECK(n.astray == "");
  CHECK(n.silent == "");
}

}  // namespace launches
