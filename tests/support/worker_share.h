#pragma once
// How the work of a kernel falls to the workers of a pool: counted, not timed. Each parallel loop is handed out as the code
// does it, in chunks of max(1, iterations / (8 workers)), each to the worker that is free first; work is counted in operations
// on registers (loads, stores, arithmetic other than of indices).
//
//   for (const Shares& s : worker_shares(kernel, {{"M", 1024}}, {8, 64}, 512)) ... s.most() <= 1.15
//
// Loops and branches are followed for given extents; what depends on data is not counted, and throws std::runtime_error.
#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>

namespace worker_share {

using namespace ashlar;

struct Loop {  // a parallel loop, all times that it runs
  std::string name;
  std::int64_t iterations = 0, times = 0;  // of the last time; how often
  double work = 0, busiest = 0;            // of all workers together; of the one that has the most, added up over the times
};
struct Shares {
  int workers = 1;
  double serial = 0;  // outside of parallel loops
  std::vector<Loop> loops;
  double work() const {
    double all = serial;
    for (const Loop& l : loops) all += l.work;
    return all;
  }
  // The work of the busiest worker, which the others wait for at the end of each loop, beside the mean.
  double most() const {
    double busiest = serial;
    for (const Loop& l : loops) busiest += l.busiest;
    return busiest * workers / work();
  }
  std::string text() const {
    std::string t = "serial " + std::to_string(serial / work());
    for (const Loop& l : loops)
      t += "; " + l.name + " of " + std::to_string(l.iterations) + " (" + std::to_string(l.times) + " times, " +
           std::to_string(l.work / work()) + " of the work): " + std::to_string(l.busiest * workers / l.work);
    return t;
  }
};

class Counter {
 public:
  Counter(const ir::Kernel& k, const std::map<std::string, std::int64_t>& symbols, const std::vector<int>& pools,
          int vector_bits)
      : kernel_(k), vector_bits_(vector_bits) {
    for (const int workers : pools) all_.emplace_back().workers = workers;
    for (const auto& [id, symbol] : k.symbols) {
      const auto found = symbols.find(symbol.name);
      if (found == symbols.end()) throw std::runtime_error("no value for " + symbol.name);
      values_[id] = found->second;
    }
    for (const ir::StrideArg& s : k.strides) {  // dense
      std::int64_t stride = 1;
      const ir::Buffer& b = k.argument_buffers.at(s.buffer);
      for (std::size_t d = static_cast<std::size_t>(s.dim) + 1; d < b.extents.size(); ++d) stride *= value(b.extents[d]);
      values_[s.id] = stride;
    }
  }
  std::vector<Shares> run() {
    const double serial = count(kernel_.body, 1, false);
    for (Shares& s : all_) s.serial = serial;
    return all_;
  }

 private:
  const ir::Kernel& kernel_;
  const int vector_bits_;
  std::vector<Shares> all_;  // of each pool
  std::unordered_map<ir::Id, std::int64_t> values_;
  std::unordered_map<const ir::KStmt*, std::set<ir::Id>> steering_;
  std::unordered_map<const ir::KStmt*, double> costs_;
  std::map<const ir::KFor*, std::size_t> places_;

  std::int64_t value(const Expr& e) {
    if (ir::is(e, ir::Op::var)) return values_.at(e.node()->id);
    if (ir::is(e, ir::Op::int_const)) return e.node()->i;
    if (ir::is(e, ir::Op::select)) {
      const auto a = ir::args_of(e);
      return value(value(a[0]) ? a[1] : a[2]);
    }
    std::vector<ir::Value> operands;
    for (const Expr& a : ir::args_of(e)) operands.push_back(ir::int_value(a.type(), value(a)));
    const auto found = ir::op_of(e) == ir::Op::cast ? std::optional(ir::convert(e.type(), operands[0]))
                                                    : ir::evaluate(ir::op_of(e), e.type(), operands);
    if (!found) throw std::runtime_error("not counted: " + ir::text(e));
    return found->i;
  }

  // Operations of a formula, each for so many registers as its lanes fill.
  double operations(const Expr& e) const {
    double all = 0;
    if (e.empty()) return 0;
    ir::walk(e, [&](const Expr& x) {
      const ir::Op op = ir::op_of(x);
      if (op == ir::Op::load) {
        all += registers(x.type());
        return false;  // its address is arithmetic of indices
      }
      const bool leaf = op == ir::Op::int_const || op == ir::Op::float_const || op == ir::Op::var || op == ir::Op::broadcast;
      if (!leaf && !x.type().element().is_index() && !x.type().element().is_bool()) all += registers(x.type());
      return !x.type().element().is_index();
    });
    return all;
  }
  double registers(Type t) const {
    return std::max(1.0, static_cast<double>(t.lanes) * t.element().bytes() * 8 / static_cast<double>(vector_bits_));
  }

  // Of a call of an instruction: the registers of the tile that it writes.
  double instructions(const ir::Call& call) const {
    const auto found = kernel_.intrinsics.find(call.intrinsic);
    if (found == kernel_.intrinsics.end()) throw std::runtime_error("not counted: a call of a function in C");
    double all = 0;
    for (const ir::IntrinsicOperand& o : found->second.operands) {
      if (o.kind != ir::IntrinsicOperand::Kind::tile || o.access == ir::IntrinsicOperand::Access::read) continue;
      double elements = 1;
      for (const std::int64_t n : o.shape) elements *= static_cast<double>(n);
      for (const Expr& e : o.extents) {
        std::int64_t n = 0;
        if (!ir::is_int(e, &n)) throw std::runtime_error("not counted: a tile whose size a call gives");
        elements *= static_cast<double>(n);
      }
      all += elements * o.type.bits / static_cast<double>(vector_bits_);
    }
    return std::max(1.0, all);
  }

  // Variables that decide how often something inside runs.
  const std::set<ir::Id>& steering(const ir::KStmt& s) {
    if (const auto found = steering_.find(&s); found != steering_.end()) return found->second;
    std::set<ir::Id> ids;
    const auto of = [&](const Expr& e) {
      if (!e.empty())
        for (const ir::Id id : ir::free_vars(e)) ids.insert(id);
    };
    for (const auto* list : s.bodies())
      for (const ir::KStmt& inner : *list) ids.insert(steering(inner).begin(), steering(inner).end());
    if (const auto* let = s.as<ir::KLet>()) {
      if (ids.erase(let->var)) of(let->value);
    } else if (const auto* loop = s.as<ir::KFor>()) {
      ids.erase(loop->var);
      of(loop->begin), of(loop->extent);
    } else if (const auto* branch = s.as<ir::KIf>()) {
      of(branch->condition);
    }
    return steering_[&s] = std::move(ids);
  }
  bool steers(const ir::KFor& loop) {
    for (const ir::KStmt& inner : loop.body)
      if (steering(inner).count(loop.var)) return true;
    return false;
  }

  // Operations of the statements outside of parallel loops; those are noted, `times` as often.
  double count(const std::vector<ir::KStmt>& list, double times, bool inside) {
    double all = 0;
    for (const ir::KStmt& s : list) all += count(s, times, inside);
    return all;
  }
  double count(const ir::KStmt& s, double times, bool inside) {
    const auto device = [](const auto&) -> double { throw std::runtime_error("a statement of a device"); };
    return s.visit(
        [&](const ir::KStore& n) { return once(s, [&] { return operations(n.value) + registers(n.value.type()); }); },
        [&](const ir::KCall& n) { return once(s, [&] { return instructions(n); }); },
        [&](const ir::KLet& n) {
          const double own = once(s, [&] { return operations(n.value); });
          bool used = false;
          for (const ir::KStmt& inner : n.body) used = used || steering(inner).count(n.var);
          if (used) values_[n.var] = value(n.value);
          return own + count(n.body, times, inside);
        },
        [&](const ir::KIf& n) { return count(value(n.condition) ? n.body : n.otherwise, times, inside); },
        [&](const ir::KFor& n) { return count(n, times, inside); }, [](const ir::KPrefetch&) { return 0.0; },
        [&](const ir::KLaunch& n) { return device(n); }, [&](const ir::KSync& n) { return device(n); });
  }
  double count(const ir::KFor& s, double times, bool inside) {
    const std::int64_t begin = value(s.begin), n = value(s.extent);
    if (n <= 0) return 0;
    if (s.kind == ir::LoopKind::parallel && !inside) return hand_out(s, begin, n, times), 0;
    values_[s.var] = begin;
    if (!steers(s)) return static_cast<double>(n) * count(s.body, times * static_cast<double>(n), inside);
    double all = 0;
    for (std::int64_t k = 0; k < n; ++k) values_[s.var] = begin + k, all += count(s.body, times, inside);
    return all;
  }
  template <class F>
  double once(const ir::KStmt& s, F cost) {
    const auto found = costs_.find(&s);
    return found != costs_.end() ? found->second : costs_[&s] = cost();
  }

  void hand_out(const ir::KFor& s, std::int64_t begin, std::int64_t n, double times) {
    const bool alike = !steers(s);
    std::vector<double> costs(static_cast<std::size_t>(n));  // of the iterations
    values_[s.var] = begin;
    const double each = alike ? count(s.body, 1, true) : 0;
    for (std::int64_t k = 0; k < n; ++k) {
      values_[s.var] = begin + k;
      costs[static_cast<std::size_t>(k)] = alike ? each : count(s.body, 1, true);
    }
    const std::size_t loops = all_.empty() ? 0 : all_.front().loops.size();
    const auto [place, added] = places_.emplace(&s, loops);
    for (Shares& shares : all_) {
      if (added) shares.loops.push_back({s.name, 0, 0, 0, 0});
      hand_out(costs, times, shares.workers, shares.loops[place->second]);
    }
  }
  static void hand_out(const std::vector<double>& costs, double times, int workers, Loop& loop) {
    const auto n = static_cast<std::int64_t>(costs.size()), chunk = std::max<std::int64_t>(1, n / (8 * workers));
    std::priority_queue<double, std::vector<double>, std::greater<>> free;  // when each worker is done with what it has
    for (int w = 0; w < workers; ++w) free.push(0);
    double work = 0, busiest = 0;
    for (std::int64_t at = 0; at < n; at += chunk) {
      double piece = 0;
      for (std::int64_t k = at; k < std::min(at + chunk, n); ++k) piece += costs[static_cast<std::size_t>(k)];
      const double done = free.top() + piece;
      free.pop(), free.push(done);
      work += piece, busiest = std::max(busiest, done);
    }
    loop.iterations = n, loop.times += static_cast<std::int64_t>(times), loop.work += times * work,
    loop.busiest += times * busiest;
  }
};

// In the order of `pools`, each a number of workers.
inline std::vector<Shares> worker_shares(const ir::Kernel& k, const std::map<std::string, std::int64_t>& symbols,
                                         const std::vector<int>& pools, int vector_bits) {
  return Counter(k, symbols, pools, vector_bits).run();
}

}  // namespace worker_share
