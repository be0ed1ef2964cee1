// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The printed form of tile kernels. Values have numbers in the order in which they are defined, whatever their ids are.
#include <map>
#include <utility>

#include <ashlar/ir/build.h>
#include <ashlar/ir/placed_text.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/text.h>
#include <ashlar/ir/tile.h>

namespace ashlar::ir::tile {

std::string text(const TileType& t) {
  std::string s = ir::text(t.element);
  for (std::size_t d = 0; d < t.extents.size(); ++d) s += (d ? "x" : " ") + std::to_string(t.extents[d]);
  return s;
}

namespace {

struct Writer {
  const Kernel& k;
  std::map<Id, std::string> names = {};
  std::size_t defined = 0;
  std::vector<PlacedLine> lines = {};
  int depth = 0;
  Where at = {};  // of the statement that is written

  std::string name(Id id) const {
    const auto it = names.find(id);
    return it == names.end() ? "%?" + std::to_string(id) : it->second;
  }
  std::string define(Id id) { return names[id] = "%" + std::to_string(defined++); }
  std::string list(const std::vector<Id>& ids) const {
    std::string s;
    for (const Id id : ids) s += (s.empty() ? "" : ", ") + name(id);
    return s;
  }
  static std::string product(const std::vector<std::int64_t>& extents) {
    std::string s;
    for (const std::int64_t e : extents) s += (s.empty() ? "" : "x") + std::to_string(e);
    return s;
  }
  static std::string every(const View& v) {  // " at every (2 from 1, 1 from 0)"
    std::string s;
    for (const View::Every& e : v.every)
      s += (s.empty() ? " at every (" : ", ") + std::to_string(e.step) + " from " + std::to_string(e.first);
    return s.empty() ? s : s + ")";
  }
  static std::string hints(const std::vector<Hint>& list) {  // ", hints: latency 4, tma 0 for sm_90"
    std::string s;
    for (const Hint& h : list) s += (s.empty() ? ", hints: " : ", ") + ir::text(h);
    return s;
  }
  void line(const std::string& s) { lines.push_back({std::string(static_cast<std::size_t>(depth) * 2, ' ') + s, at}); }

  std::string show(const Extent& e) const { return e.parameter ? name(e.parameter) : std::to_string(e.constant); }
  std::string show(const std::vector<Extent>& list) const {
    std::string s;
    for (const Extent& e : list) s += (s.empty() ? "" : ", ") + show(e);
    return s;
  }

  void body(const Body& list) {
    ++depth;
    for (const Stmt& s : list) statement(s);
    --depth;
  }
  void region(const Region& r) {
    ++depth;
    std::string s;
    for (const Result& p : r.parameters) {
      const std::string of = define(p.id);
      s += (s.empty() ? "" : ", ") + of + ": " + text(p.type);
    }
    line("combining " + s);
    body(r.body);
    ++depth, line("yield " + list(r.yields)), --depth;
    --depth;
  }
  std::string results(const Stmt& s) {
    std::string left;
    for (const Result& r : s.results) left += (left.empty() ? "" : ", ") + define(r.id);
    return left.empty() ? left : left + " = ";
  }
  static std::string types(const Stmt& s) {
    std::string right;
    for (const Result& r : s.results) right += (right.empty() ? " : " : ", ") + text(r.type);
    return right;
  }
  void one(const Stmt& s, const std::string& what) {
    const std::string left = results(s);
    line(left + what + types(s));
  }

  void loop(const Stmt& s, const For& n) {
    const std::string bounds = " in " + name(n.begin) + " to " + name(n.end) + " by " + name(n.step);
    std::string carried;
    for (const Carried& c : n.carried)
      carried += (carried.empty() ? " carrying " : ", ") + std::string("%@ = ") + name(c.start);
    // the names inside count on from here; those of the results come after them, where they may be used
    const std::string var = define(n.var);
    for (const Carried& c : n.carried) carried.replace(carried.find("%@"), 2, define(c.parameter.id));
    line("for " + var + bounds + carried);
    body(n.body);
    ++depth, line("yield " + list(n.yields)), --depth;
    if (!s.results.empty()) one(s, "the loop's");
  }

  void statement(const Stmt& s) {
    const Where around = std::exchange(at, s.where);
    s.visit(
        [&](const Constant& n) { one(s, ir::text(n.value)); }, [&](const Iota&) { one(s, "iota"); },
        [&](const BlockIndex& n) { one(s, std::string("block_") + "xyz"[n.axis]); },
        [&](const Apply& n) { one(s, std::string(op_name(n.op)) + " " + list(n.args)); },
        [&](const Broadcast& n) { one(s, "broadcast " + name(n.value)); },
        [&](const Reshape& n) { one(s, "reshape " + name(n.value)); },
        [&](const Permute& n) {
          std::string order;
          for (const int d : n.order) order += (order.empty() ? "" : ", ") + std::to_string(d);
          one(s, "permute " + name(n.value) + " by (" + order + ")");
        },
        [&](const Reduce& n) { combining(s, "reduce ", n.values, n.dimension, n.identity, n.combine); },
        [&](const Scan& n) {
          combining(s, n.reverse ? "scan backwards " : "scan ", n.values, n.dimension, n.identity, n.combine);
        },
        [&](const Mma& n) { one(s, (n.tf32 ? "mma of tf32 " : "mma ") + name(n.a) + ", " + name(n.b) + ", " + name(n.sum)); },
        [&](const Load& n) { one(s, "load " + k.view(n.view).name + " at (" + list(n.at) + ")" + hints(n.hints)); },
        [&](const Store& n) {
          line("store " + k.view(n.view).name + " at (" + list(n.at) + ") " + name(n.value) + hints(n.hints));
        },
        [&](const Gather& n) {
          one(s, "gather " + k.tensor(n.tensor).name + "[" + name(n.offsets) + "] where " + name(n.mask) + " else " +
                     name(n.otherwise) + hints(n.hints));
        },
        [&](const Scatter& n) {
          line("scatter " + k.tensor(n.tensor).name + "[" + name(n.offsets) + "] where " + name(n.mask) + " " + name(n.value) +
               hints(n.hints));
        },
        [&](const Atomic& n) {
          line("atomic " + std::string(op_name(n.op)) + " " + k.tensor(n.tensor).name + "[" + name(n.offsets) + "] where " +
               name(n.mask) + " " + name(n.value));
        },
        [&](const For& n) { loop(s, n); });
    at = around;
  }
  void combining(const Stmt& s, const std::string& what, const std::vector<Id>& values, int dimension,
                 const std::vector<Value>& identity, const Region& combine) {
    std::string from;
    for (const Value& v : identity) from += (from.empty() ? "" : ", ") + ir::text(v);
    const std::string operands = list(values);
    one(s, what + operands + " along " + std::to_string(dimension) + " from " + from);
    region(combine);
  }

  std::vector<PlacedLine> run() {
    std::string parameters;
    for (const Parameter& p : k.parameters) {
      names[p.id] = p.name;
      parameters += (parameters.empty() ? "" : ", ") + p.name + ": " + ir::text(p.type) +
                    (p.divisor > 1 ? " by " + std::to_string(p.divisor) : "") + (p.not_negative ? " >= 0" : "");
    }
    line("kernel " + k.name + "(" + parameters + ")" + hints(k.hints));
    ++depth;
    for (const auto* list : {&k.tensors, &k.constants})
      for (const Tensor& t : *list)
        line(t.name + ": " + ir::text(t.element) + " [" + show(t.extents) + "] strides (" + show(t.strides) + ")" +
             (t.align > 1 ? " aligned to " + std::to_string(t.align) : "") + (t.written ? ", written" : "") +
             (t.data ? ", constant" : ""));
    for (const View& v : k.views)
      line("view " + v.name + " = tiles of " + product(v.tile) + " of " + k.tensor(v.tensor).name + every(v) +
           (v.extents.empty() ? "" : " as [" + show(v.extents) + "]") + (v.outside == Outside::zero ? ", zero outside" : ""));
    --depth;
    body(k.body);
    return std::move(lines);
  }
};

}  // namespace

std::string text(const Kernel& k) {
  std::string all;
  for (const PlacedLine& l : placed_text(k)) all += l.text + "\n";
  return all;
}

}  // namespace ashlar::ir::tile

std::vector<ashlar::ir::PlacedLine> ashlar::ir::placed_text(const tile::Kernel& k) { return tile::Writer{k}.run(); }
