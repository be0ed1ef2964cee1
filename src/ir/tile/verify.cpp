// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold of a tile kernel. Each rule is one call of `must` with a sentence that says what is expected.
#include <map>
#include <set>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/text.h>
#include <ashlar/ir/tile.h>

namespace ashlar::ir::tile {

namespace {

bool power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

class Verifier {
 public:
  explicit Verifier(const Kernel& k) : k_(k) {}

  void run() {
    at_ = "the launch";
    for (const Hint& h : k_.hints) must(of_launch(h.kind), "a hint about a launch is occupancy, cluster or worker_warps");
    hints(k_.hints);
    for (const Parameter& p : k_.parameters) {
      at_ = "parameter " + p.name;
      must(usable(p.type) && power_of_two(p.divisor),
           "a parameter is a number that a tile may hold, its divisor a power of two");
      must(p.type.is_data_integer() || (p.divisor == 1 && !p.not_negative), "facts are told of integers");
      define({p.id, {p.type, {}}});
    }
    for (const Tensor& t : k_.tensors) {
      tensor(t);
      must(!t.data, "an argument has no elements of its own");
    }
    for (const Tensor& t : k_.constants) constant(t);
    for (const View& v : k_.views) view(v);
    body(k_.body);
    for (const Id id : read_) must(!written_.count(id), "a tensor is read or written, not both");
    for (const auto& [id, op] : combined_)
      must(!read_.count(id) && !written_.count(id), "a tensor that is combined into is not read, and not written otherwise");
  }

 private:
  void must(bool holds, const char* rule) const {
    if (!holds) throw InternalError("tile kernel " + k_.name + ": " + rule + "; found: " + at_);
  }
  static bool usable(Type t) {  // as an element of a tile
    return t.lanes == 1 && !t.is_index() && (t.is_bool() || t.is_float() || (t.is_data_integer() && t.bits >= 8));
  }
  const TileType& type(Id id) const {
    const auto it = values_.find(id);
    must(it != values_.end(), "a value is defined before it is used, in a body around its use");
    return it->second;
  }
  bool scalar(Id id, Type t) const { return type(id) == TileType{t, {}}; }
  void define(const Result& r) {
    must(r.id != 0 && r.id < k_.next_id && !values_.count(r.id), "a value has a number of its own");
    must(usable(r.type.element), "an element is a bool, a float, or an integer of 8 bits or more");
    std::int64_t n = 1;
    for (const std::int64_t e : r.type.extents) {
      must(power_of_two(e), "extents are powers of two");
      must((n *= e) <= std::int64_t{1} << 24, "a tile has at most 2^24 elements");
    }
    values_[r.id] = r.type;
  }

  void tensor(const Tensor& t) {
    at_ = "tensor " + t.name;
    must(usable(t.element) && !t.element.is_bool(), "elements in memory are numbers of 8 bits or more");
    must(t.extents.size() == t.strides.size(), "a tensor has an extent and a stride for each dimension");
    must(power_of_two(t.align), "an alignment is a power of two");
    for (const auto* list : {&t.extents, &t.strides})
      for (const Extent& e : *list)
        must(e.parameter ? scalar(e.parameter, i32) : e.constant > 0,
             "an extent or stride is a parameter of type i32, or positive");
  }
  void constant(const Tensor& t) {
    tensor(t);
    must(t.data && !t.written, "a constant has its elements, which nothing writes");
    std::int64_t n = 1;
    for (std::size_t d = t.extents.size(); d-- > 0;) {
      must(!t.extents[d].parameter && !t.strides[d].parameter && t.strides[d].constant == n, "a constant is dense");
      n *= t.extents[d].constant;
    }
    must(static_cast<std::int64_t>(t.data->size()) == n * t.element.bytes(), "a constant has an element for each place");
  }
  void view(const View& v) {
    at_ = "view " + v.name;
    must(v.tile.size() == k_.tensor(v.tensor).extents.size() && !v.tile.empty(),
         "a view has an extent for each dimension of its tensor");
    for (const std::int64_t e : v.tile) must(power_of_two(e), "extents are powers of two");
    must(v.every.empty() || v.every.size() == v.tile.size(), "a view has a step for each dimension, or none");
    for (const View::Every& e : v.every)
      must(e.step >= 1 && e.step <= 1 << 20 && e.first >= 0 && e.first < e.step,
           "a step of a view is from 1 to 2^20, and the first element lies before the second");
    must(v.extents.empty() || (v.extents.size() == v.tile.size() && v.every.empty()),
         "a view has an extent of its own for each dimension, and no steps then, or none");
    for (const Extent& e : v.extents)
      must(e.parameter ? scalar(e.parameter, i32) : e.constant > 0, "an extent is a parameter of type i32, or positive");
  }

  void body(const Body& list) {
    for (const Stmt& s : list) {
      at_ = describe(s);
      statement(s);
    }
  }
  std::string describe(const Stmt& s) const {
    std::string what = s.visit([](const Constant&) { return "a constant"; }, [](const Iota&) { return "an iota"; },
                               [](const BlockIndex&) { return "a block index"; }, [](const Apply& n) { return op_name(n.op); },
                               [](const Broadcast&) { return "a broadcast"; }, [](const Reshape&) { return "a reshape"; },
                               [](const Permute&) { return "a permute"; }, [](const Reduce&) { return "a reduce"; },
                               [](const Scan&) { return "a scan"; }, [](const Mma&) { return "an mma"; },
                               [](const Load&) { return "a load"; }, [](const Store&) { return "a store"; },
                               [](const Gather&) { return "a gather"; }, [](const Scatter&) { return "a scatter"; },
                               [](const Atomic&) { return "an atomic update"; }, [](const For&) { return "a loop"; });
    for (const Result& r : s.results) what += (&r == s.results.data() ? " that gives " : ", ") + text(r.type);
    return what;
  }

  void statement(const Stmt& s) {
    const auto results = [&](std::size_t n) {
      must(s.results.size() == n, "a statement defines as many values as its kind does");
    };
    const auto result = [&]() -> const TileType& {
      results(1);
      return s.results[0].type;
    };
    s.visit([&](const Constant& n) { must(result().element == n.value.type, "a constant has the type of its number"); },
            [&](const Iota&) {
              must(result().extents.size() == 1 && (result().element == i32 || result().element == i64),
                   "an iota is a tile of one dimension of i32 or i64");
            },
            [&](const BlockIndex& n) {
              must(result() == TileType{i32, {}} && n.axis >= 0 && n.axis < 3, "a block has three numbers of type i32");
            },
            [&](const Apply& n) { apply(n, result()); }, [&](const Broadcast& n) { broadcast(type(n.value), result()); },
            [&](const Reshape& n) {
              must(result().element == type(n.value).element && result().elements() == type(n.value).elements(),
                   "a reshape keeps the elements");
            },
            [&](const Permute& n) { permute(n, result()); },
            [&](const Reduce& n) {
              results(n.values.size());
              combine(s, n.values, n.dimension, n.identity, n.combine, false);
            },
            [&](const Scan& n) {
              results(n.values.size());
              combine(s, n.values, n.dimension, n.identity, n.combine, true);
            },
            [&](const Mma& n) { mma(n, result()); },
            [&](const Load& n) {
              numbers(n.view, n.at);
              read_.insert(k_.view(n.view).tensor);
              must(result() == held(n.view), "a load gives the tiles of its view");
              of_access(n.hints, true);
            },
            [&](const Store& n) {
              results(0);
              numbers(n.view, n.at);
              write(k_.view(n.view).tensor);
              must(type(n.value) == held(n.view), "a store takes a tile of its view");
              of_access(n.hints, true);
            },
            [&](const Gather& n) {
              offsets(n.offsets, n.mask);
              read_.insert(n.tensor);
              must(result() == TileType{k_.tensor(n.tensor).element, type(n.offsets).extents} && type(n.otherwise) == result(),
                   "a gather gives elements of its tensor, one for each offset");
              of_access(n.hints, false);
            },
            [&](const Scatter& n) {
              results(0);
              offsets(n.offsets, n.mask);
              write(n.tensor);
              must(type(n.value) == TileType{k_.tensor(n.tensor).element, type(n.offsets).extents},
                   "a scatter takes elements of its tensor, one for each offset");
              of_access(n.hints, false);
            },
            [&](const Atomic& n) {
              results(0);
              atomic(n);
            },
            [&](const For& n) { loop(s, n); });
    for (const Result& r : s.results) define(r);
  }

  void apply(const Apply& n, const TileType& result) {
    const Operation& known = operation(n.op);
    must(known.operands == static_cast<int>(n.args.size()) && !n.args.empty(), "an operator has its number of operands");
    for (const Id a : n.args) must(type(a).extents == result.extents, "operands have the extents of the result");
    const Type own = type(n.args[n.op == Op::select ? 1 : 0]).element;
    must(has_operator(n.op, own), "the tile form has the operator on operands of this type");
    if (n.op == Op::cast) {
      const Type to = result.element;
      must(to != e4m3 && to != e5m2, "nothing is converted to a float of 8 bits");
      return;
    }
    if (n.op == Op::bitcast) {
      must(own.bits == result.element.bits && !own.is_bool() && !result.element.is_bool(), "a bitcast keeps the width");
      return;
    }
    const bool test = is_comparison(n.op) || n.op == Op::isnan || n.op == Op::isinf;
    must(result.element == (test ? bool_ : own), "the result has the type that the operator gives");
    for (std::size_t i = 0; i < n.args.size(); ++i)
      must(type(n.args[i]).element == (n.op == Op::select && i == 0 ? bool_ : own), "operands agree in type");
  }
  void broadcast(const TileType& from, const TileType& to) const {
    must(from.element == to.element && from.extents.size() == to.extents.size(), "a broadcast keeps element and rank");
    for (std::size_t d = 0; d < to.extents.size(); ++d)
      must(from.extents[d] == to.extents[d] || from.extents[d] == 1, "a broadcast repeats dimensions of extent 1");
  }
  void permute(const Permute& n, const TileType& result) const {
    const TileType& from = type(n.value);
    std::set<int> all(n.order.begin(), n.order.end());
    must(all.size() == from.extents.size() && n.order.size() == all.size() && result.extents.size() == all.size() &&
             result.element == from.element &&
             (all.empty() || (*all.begin() == 0 && *all.rbegin() + 1 == static_cast<int>(all.size()))),
         "a permutation names each dimension once");
    for (std::size_t d = 0; d < n.order.size(); ++d)
      must(result.extents[d] == from.extents[static_cast<std::size_t>(n.order[d])], "a permutation moves extents");
  }
  void combine(const Stmt& s, const std::vector<Id>& values, int dimension, const std::vector<Value>& identity,
               const Region& region, bool keeps) {
    must(!values.empty() && identity.size() == values.size() && region.parameters.size() == 2 * values.size() &&
             region.yields.size() == values.size(),
         "a region has two parameters for each component, and yields one");
    for (std::size_t c = 0; c < values.size(); ++c) {
      TileType expected = type(values[c]);
      must(expected.extents == type(values[0]).extents && dimension >= 0 &&
               dimension < static_cast<int>(expected.extents.size()),
           "components have equal extents, and the dimension is one of them");
      if (!keeps) expected.extents.erase(expected.extents.begin() + dimension);
      must(s.results[c].type == expected, keeps ? "a scan keeps the extents" : "a reduction lacks its dimension");
      must(identity[c].type == expected.element, "an identity has the type of its component");
      for (std::size_t i = 0; i < 2; ++i)
        must(region.parameters[2 * c + i].type == TileType{expected.element, {}}, "a region combines scalars");
    }
    const std::map<Id, TileType> around = values_;
    values_.clear();  // a region sees its parameters alone
    for (const Result& p : region.parameters) define(p);
    for (const Stmt& inside : region.body)
      must(inside.as<Constant>() || inside.as<Apply>(), "a region holds constants and operators");
    body(region.body);
    at_ = "a region";
    for (std::size_t c = 0; c < values.size(); ++c)
      must(scalar(region.yields[c], identity[c].type), "a region yields scalars of its components' types");
    values_ = around;
  }
  void mma(const Mma& n, const TileType& result) const {
    const TileType &a = type(n.a), &b = type(n.b);
    must(type(n.sum) == result && a.extents.size() == 2 && b.extents.size() == 2 && result.extents.size() == 2 &&
             a.extents[0] == result.extents[0] && a.extents[1] == b.extents[0] && b.extents[1] == result.extents[1],
         "an mma adds m x k times k x n to m x n");
    const Type t = a.element, s = result.element;
    must(!n.tf32 || (t == f32 && b.element == f32), "factors that are numbers of tf32 are held as f32");
    const bool halves = (t == f16 || t == bf16) && b.element == t && (s == f32 || (t == f16 && s == f16));
    const bool bytes = (t == e4m3 || t == e5m2) && b.element == t && s == f32;
    const bool wide = (t == f32 || t == f64) && b.element == t && s == t;
    const bool integers = t.is_data_integer() && t.bits == 8 && b.element.is_data_integer() && b.element.bits == 8 && s == i32;
    must(halves || bytes || wide || integers,
         "an mma multiplies f16, bf16, f8, f32, f64 or bytes, and adds in a type that has one");
  }
  TileType held(Id view) const { return {k_.tensor(k_.view(view).tensor).element, k_.view(view).tile}; }
  void numbers(Id view, const std::vector<Id>& at) const {
    must(at.size() == k_.view(view).tile.size(), "a tile has a number for each dimension");
    for (const Id id : at) must(scalar(id, i32), "the numbers of a tile are scalars of type i32");
  }
  // At most one hint of a kind for each chip, of a value that the chip takes.
  void hints(const std::vector<Hint>& list) const {
    std::set<std::pair<HintKind, std::string>> seen;
    for (const Hint& h : list) {
      must(seen.emplace(h.kind, h.chip).second, "a chip has one hint of a kind");
      must(hint_expected(h).empty(), "a hint has a value that its chip takes");
    }
  }
  void of_access(const std::vector<Hint>& list, bool view) const {
    hints(list);
    for (const Hint& h : list)
      must(h.kind == HintKind::latency || (h.kind == HintKind::tma && view),
           "a hint about an access is its latency or, of a tile of a view, tma");
  }
  void atomic(const Atomic& n) {
    offsets(n.offsets, n.mask);
    const Tensor& t = k_.tensor(n.tensor);
    must(t.written, "a tensor that is stored to is declared as written");
    must(type(n.value) == TileType{t.element, type(n.offsets).extents},
         "an atomic update takes elements of its tensor, one for each offset");
    const bool integer = t.element.is_data_integer() && t.element.bits >= 32;
    const bool kinds = n.op == Op::add || n.op == Op::min || n.op == Op::max || n.op == Op::bit_and || n.op == Op::bit_or ||
                       n.op == Op::bit_xor;
    must(integer ? kinds : n.op == Op::add && (t.element == f32 || t.element == f64),
         "memory combines integers of 32 and 64 bits, and adds f32 and f64");
    const auto [it, first] = combined_.emplace(n.tensor, n.op);
    must(first || it->second == n.op, "a tensor is combined into by one operator");
  }
  void write(Id tensor) {
    must(k_.tensor(tensor).written, "a tensor that is stored to is declared as written");
    written_.insert(tensor);
  }
  void offsets(Id offsets, Id mask) const {
    must(type(offsets).element == i64 && type(mask) == TileType{bool_, type(offsets).extents},
         "offsets are i64, with a mask of the same extents");
  }
  void loop(const Stmt& s, const For& n) {
    for (const Id id : {n.begin, n.end, n.step}) must(scalar(id, i32), "a loop's bounds and step are scalars of type i32");
    must(n.carried.size() == n.yields.size() && n.carried.size() == s.results.size(), "a loop yields what it carries");
    for (std::size_t c = 0; c < n.carried.size(); ++c)
      must(type(n.carried[c].start) == n.carried[c].parameter.type && s.results[c].type == n.carried[c].parameter.type,
           "a carried tile keeps its type");
    const std::map<Id, TileType> around = values_;
    define({n.var, {i32, {}}});
    for (const Carried& c : n.carried) define(c.parameter);
    body(n.body);
    at_ = describe(s);
    for (std::size_t c = 0; c < n.carried.size(); ++c)
      must(type(n.yields[c]) == n.carried[c].parameter.type, "a carried tile keeps its type");
    values_ = around;
  }

  const Kernel& k_;
  std::map<Id, TileType> values_;  // in sight
  std::set<Id> read_, written_;    // tensors
  std::map<Id, Op> combined_;
  std::string at_;  // what is looked at
};

}  // namespace

void verify(const Kernel& k) { Verifier(k).run(); }

}  // namespace ashlar::ir::tile
