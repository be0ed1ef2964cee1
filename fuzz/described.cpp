#include "described.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <ashlar/analysis/facts.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>

#include "interp/described.h"

namespace fuzz {
namespace {

using namespace ashlar;
using ir::BlockStmt;
using ir::Id;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Stmt;

// By the key that their texts name. The same description is the same intrinsic.
struct Known {
  std::mutex mutex;
  std::map<std::uint64_t, Intrinsic> all;
};
Known& known() {
  static Known k;
  return k;
}

std::uint64_t key_of(const std::string& text) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h >> 1;
}

struct Loop {
  Id axis = 0;
  std::string name;
  Expr extent;  // a number; or over symbols and loops around, which a size stands for
  bool reduce = false, constant = false;
  std::int64_t count = 0;
};

struct Tile {
  std::string name;
  Type type;
  std::vector<std::size_t> along;  // loops, by dimension
  bool by_value = false;           // in the text
};

Expr element(const Tensor& t, const std::vector<Expr>& at) {
  switch (at.size()) {
    case 1:
      return t(at[0]);
    case 2:
      return t(at[0], at[1]);
    case 3:
      return t(at[0], at[1], at[2]);
    default:
      return t(at[0], at[1], at[2], at[3]);
  }
}

class Describer {
 public:
  Describer(Source& source, const ir::Program& p) : s(source), p_(p) {}

  std::optional<Intrinsic> run(const Stmt& loop) {
    if (!chain(loop)) return std::nullopt;
    const ir::Stage& stage = p_.stage(block_->stage);
    if (stage.values.size() != 1 || stage.scatters()) return std::nullopt;
    const bool init = block_->piece == ir::Piece::init;
    sums_ = stage.is_reduction() && !init;
    accumulates_ = sums_ && (block_->piece != ir::Piece::whole || reduces_around(loop));
    if (sums_ && stage.reducer.kind == ir::ReducerKind::custom) return std::nullopt;
    if (sums_ && std::none_of(loops_.begin(), loops_.end(), [](const Loop& l) { return l.reduce; })) return std::nullopt;
    const ir::Substitution at = ir::iter_values(p_, *nest_);
    value_ = ir::substitute(init ? stage.inits.front() : stage.values.front(), at);
    if (ir::node_count(value_) > 60 || !find_tiles(value_)) return std::nullopt;
    const ir::Buffer& to = p_.buffer(stage.buffers.front());
    std::vector<std::size_t> along;
    for (std::size_t l = 0; l < loops_.size(); ++l)
      if (!loops_[l].reduce) along.push_back(l);
    if (along.size() > 3 || to.type.is_packed()) return std::nullopt;
    written_ = {"w", to.type, along};
    choose_values();
    if (s.one_in(10)) lie();
    text_of_it();
    Known& k = known();
    {
      const std::lock_guard lock(k.mutex);
      if (const auto it = k.all.find(key_); it != k.all.end()) return it->second;
    }
    try {
      const Intrinsic f = make();
      const std::lock_guard lock(k.mutex);
      return k.all.emplace(key_, f).first->second;
    } catch (const RefusalError&) { return std::nullopt; }  // no formula that a description may have
  }

 private:
  // ---- the loop and what is in it ----
  bool chain(const Stmt& loop) {
    const auto path = ir::path_to(p_, loop.id);
    for (const Stmt* x : path)
      if (const NestStmt* nest = x->as<NestStmt>()) nest_ = nest;
    const analysis::Facts facts = analysis::facts_of_arguments(p_);
    std::int64_t points = 1;
    for (const Stmt* x = &loop; x->is<LoopStmt>(); x = &x->body().front()) {
      const ir::LoopRange r = ir::range_of(p_, *x);
      const ir::Axis& axis = p_.axis(x->get<LoopStmt>().axis);
      Loop l;
      l.axis = axis.id, l.name = axis.name, l.reduce = axis.reduce;
      l.extent = analysis::simplify(ir::sub(r.end, r.begin), facts);
      l.constant = ir::is_int(l.extent, &l.count);
      if (l.constant && (l.count < 1 || (points *= l.count) > 4096)) return false;
      if (!l.constant || l.count > 1) loops_.push_back(l);
      if (x->body().size() != 1) return false;
      const Stmt& next = x->body().front();
      if (!next.is<LoopStmt>() && !next.is<BlockStmt>()) return false;
      if (const BlockStmt* block = next.as<BlockStmt>()) {
        block_ = block;
        return !loops_.empty();
      }
    }
    return false;
  }
  bool reduces_around(const Stmt& loop) const {
    bool found = false;
    for (const Stmt* x : ir::path_to(p_, loop.id)) {
      if (x->is<NestStmt>()) found = false;
      if (const LoopStmt* over = x->as<LoopStmt>(); over && x->id != loop.id) found = found || p_.axis(over->axis).reduce;
    }
    return found;
  }
  bool moves(const Expr& e) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const Loop& l) { return ir::uses_var(e, l.axis); });
  }

  // What is read along the loops; false where there is something that a description cannot say.
  bool find_tiles(const Expr& e) {
    if (!moves(e)) {
      if (ir::args_of(e).empty() && !ir::is(e, ir::Op::var) && !s.one_in(4)) return true;  // a number, as it is
      return parameter(e);
    }
    if (ir::is(e, ir::Op::call) || ir::is(e, ir::Op::var)) return false;
    if (!ir::is(e, ir::Op::load)) {
      for (const Expr& a : ir::args_of(e))
        if (!find_tiles(a)) return false;
      return true;
    }
    if (std::any_of(tiles_.begin(), tiles_.end(), [&](const auto& t) { return ir::same(t.first, e); })) return true;
    Tile t;
    t.name = std::string(1, static_cast<char>('a' + tiles_.size())), t.type = e.type();
    for (std::size_t l = 0; l < loops_.size(); ++l)
      if (ir::uses_var(e, loops_[l].axis)) t.along.push_back(l);
    if (t.along.size() > 4 || tiles_.size() > 4 || t.type.is_packed()) return false;
    if (t.along.size() > 1 && s.one_in(4)) std::swap(t.along[0], t.along[1]);
    tiles_.emplace_back(e, t);
    return true;
  }
  bool parameter(const Expr& e) {
    if (std::any_of(parameters_.begin(), parameters_.end(), [&](const Expr& x) { return ir::same(x, e); })) return true;
    if (e.type() == ir::index_type || e.type().is_packed() || parameters_.size() > 3) return false;
    parameters_.push_back(e);
    return true;
  }

  // Some tiles of constant extents are taken by value; one in registers must be.
  void choose_values() {
    const auto choose = [&](Tile& t, Id buffer) {
      const bool constant = std::all_of(t.along.begin(), t.along.end(), [&](std::size_t l) { return loops_[l].constant; });
      t.by_value = constant && (p_.buffer(buffer).scope == Scope::registers ? !s.one_in(8) : s.one_in(3));
    };
    for (auto& [load, t] : tiles_) choose(t, load.node()->id);
    choose(written_, p_.stage(block_->stage).buffers.front());
  }

  void lie() {
    switch (s.pick(4)) {
      case 0:
        value_ = ir::is_commutative(ir::op_of(value_)) && ir::args_of(value_).size() == 2 && !value_.type().is_bool()
                     ? ir::sub(ir::args_of(value_)[0], ir::args_of(value_)[1])
                     : value_;
        break;
      case 1:
        accumulates_ = sums_ && !accumulates_;
        break;
      case 2:
        for (Loop& l : loops_)
          if (l.constant) l.count += 1;
        break;
      default:
        std::swap(loops_.front().count, loops_.back().count);
    }
  }

  // ---- the description ----
  std::string size_name(std::size_t l) const { return "n" + std::to_string(l); }
  void text_of_it() {
    std::string t = accumulates_ ? "+=" : sums_ ? "sum" : "=";
    for (std::size_t l = 0; l < loops_.size(); ++l)
      t += " " + std::string(loops_[l].reduce ? "k" : "i") + (loops_[l].constant ? std::to_string(loops_[l].count) : "n");
    const auto shown = [&](const Tile& x) {
      t += std::string(x.by_value ? " value " : " ") + ir::text(x.type) + "(";
      for (const std::size_t l : x.along) t += std::to_string(l) + ",";
      t += ")";
    };
    shown(written_);
    for (const auto& [load, x] : tiles_) shown(x);
    for (const Expr& e : parameters_) t += " " + ir::text(e.type());
    t += " " + formula(value_, [](std::size_t l) { return "v" + std::to_string(l); });
    key_ = key_of(t);
  }
  // The formula as a text, where the tiles' elements and the parameters have names of their own.
  template <class F>
  std::string formula(const Expr& e, F&& variable) const {
    for (const auto& [load, x] : tiles_)
      if (ir::same(load, e)) return x.name;
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      if (ir::same(parameters_[k], e)) return "p" + std::to_string(k);
    std::string t = std::string(ir::op_name(ir::op_of(e))) + ":" + ir::text(e.type());
    if (ir::args_of(e).empty()) return t + "=" + ir::text(e);
    for (const Expr& a : ir::args_of(e)) t += "(" + formula(a, variable) + ")";
    return t;
  }

  std::vector<Extent> extents(const Tile& t) const {
    std::vector<Extent> list;
    for (const std::size_t l : t.along) list.push_back(loops_[l].constant ? Extent(loops_[l].count) : Extent(sizes_[l]));
    if (list.empty()) list.push_back(Extent(1));  // one element has one dimension
    return list;
  }

  Intrinsic make() {
    const std::string name = "tile_" + std::to_string(key_ % 100000);
    return intrinsic(name.c_str(), [&](Meaning& m) {
      sizes_.clear();
      for (std::size_t l = 0; l < loops_.size(); ++l) sizes_.push_back(Symbol(size_name(l).c_str()));
      std::vector<Tensor> read;
      for (const auto& [load, t] : tiles_) {
        const std::vector<Extent> e = extents(t);
        read.push_back(e.size() == 1   ? m.read(t.name.c_str(), t.type, {e[0]})
                       : e.size() == 2 ? m.read(t.name.c_str(), t.type, {e[0], e[1]})
                       : e.size() == 3 ? m.read(t.name.c_str(), t.type, {e[0], e[1], e[2]})
                                       : m.read(t.name.c_str(), t.type, {e[0], e[1], e[2], e[3]}));
      }
      const std::vector<Extent> e = extents(written_);
      const auto written = [&](const Extent* x, std::size_t rank) {
        const auto define = [&]<std::size_t... D>(std::index_sequence<D...>) {
          const Extent list[] = {x[D]...};
          return accumulates_ ? m.accumulate("w", written_.type, list) : m.write("w", written_.type, list);
        };
        return rank == 1   ? define(std::make_index_sequence<1>())
               : rank == 2 ? define(std::make_index_sequence<2>())
                           : define(std::make_index_sequence<3>());
      };
      const Tensor w = written(e.data(), e.size());
      std::vector<Expr> values;
      for (std::size_t k = 0; k < parameters_.size(); ++k)
        values.push_back(m.parameter(("p" + std::to_string(k)).c_str(), parameters_[k].type()));
      std::vector<Axis> axes;
      const auto body = [&](std::vector<Expr> vars) {
        std::vector<Expr> at(loops_.size());
        for (std::size_t d = 0; d < written_.along.size(); ++d) at[written_.along[d]] = vars[d];
        for (std::size_t l = 0; l < loops_.size(); ++l)
          if (loops_[l].reduce) {
            axes.push_back(loops_[l].constant ? Axis(loops_[l].name.c_str(), Operand(ir::index(loops_[l].count)))
                                              : Axis(loops_[l].name.c_str(), Operand(Expr(sizes_[l]))));
            at[l] = axes.back();
          }
        return said(value_, at, read, values);
      };
      const auto define = [&](auto&& over) {
        if (!sums_) return over([&](std::vector<Expr> v) { return body(std::move(v)); });
        return over([&](std::vector<Expr> v) {
          const Expr term = body(v);
          const Reduction<> all = sum(Operand(term), AxisList(axes));
          return accumulates_ ? all.from(Operand(element(w, v))) : all;
        });
      };
      define([&](auto&& value) {
        if (e.size() == 1) m.means(w, [&](Var i) { return value({i}); });
        if (e.size() == 2) m.means(w, [&](Var i, Var j) { return value({i, j}); });
        if (e.size() == 3) m.means(w, [&](Var i, Var j, Var h) { return value({i, j, h}); });
      });
      m.emit(Backend::llvm, call_text().c_str());
    });
  }
  Expr said(const Expr& e, const std::vector<Expr>& at, const std::vector<Tensor>& read,
            const std::vector<Expr>& values) const {
    for (std::size_t k = 0; k < tiles_.size(); ++k)
      if (ir::same(tiles_[k].first, e)) {
        std::vector<Expr> index;
        for (const std::size_t l : tiles_[k].second.along) index.push_back(at[l]);
        return element(read[k], index);
      }
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      if (ir::same(parameters_[k], e)) return values[k];
    const auto args = ir::args_of(e);
    if (args.empty()) return e;
    std::vector<Expr> fresh;
    for (const Expr& a : args) fresh.push_back(said(a, at, read, values));
    return ir::make(ir::op_of(e), e.type(), fresh);
  }

  // A tile by value is put into memory for the call, dense.
  std::string in_memory(const Tile& t, std::string& before, std::string& behind) const {
    std::int64_t count = 1;
    std::string strides;
    for (std::size_t d = t.along.size(); d-- > 0; count *= loops_[t.along[d]].count)
      strides = ", i64 " + std::to_string(count) + strides;
    if (t.along.empty()) strides = ", i64 1";
    const std::string element = t.type == f32 ? "float" : t.type == f64 ? "double" : "i" + std::to_string(8 * t.type.bytes());
    const std::string vector = "<" + std::to_string(count) + " x " + element + ">", at = "%" + t.name + "_memory";
    const bool written = t.name == "w";
    before += at + " = alloca " + vector + "\n";
    if (!written || accumulates_) before += "store " + vector + " {" + t.name + ".value}, ptr " + at + "\n";
    if (written) behind += "{w.result} = load " + vector + ", ptr " + at + "\n";
    return ", ptr " + at + strides;
  }

  // Pointers and strides, in the order of the operands; then the bits of the parameters and the sizes, as 64-bit numbers.
  std::string call_text() const {
    std::string before, behind, list;
    const auto tile = [&](const Tile& t) {
      if (t.by_value) {
        list += in_memory(t, before, behind);
        return;
      }
      list += ", ptr {" + t.name + ".ptr}";
      for (std::size_t d = 0; d < std::max<std::size_t>(t.along.size(), 1); ++d)
        list += ", i64 {" + t.name + ".stride" + std::to_string(d) + "}";
    };
    for (const auto& [load, t] : tiles_) tile(t);
    tile(written_);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      const Type t = parameters_[k].type();
      const std::string own = "{p" + std::to_string(k) + "}", bits = "%b" + std::to_string(k), wide = "%w" + std::to_string(k);
      std::string from = own, of = "i" + std::to_string(t.is_bool() ? 1 : t.bits);
      if (t == f32 || t == f64) {
        before += bits + " = bitcast " + (t == f32 ? "float " : "double ") + own + " to " + of + "\n";
        from = bits;
      }
      if (t.bits < 64 || t.is_bool()) {
        before += wide + " = zext " + of + " " + from + " to i64\n";
        from = wide;
      }
      list += ", i64 " + from;
    }
    std::vector<std::size_t> sizes;  // as tiles name them first
    const auto name_sizes = [&](const Tile& t) {
      for (const std::size_t l : t.along)
        if (!loops_[l].constant && std::find(sizes.begin(), sizes.end(), l) == sizes.end()) sizes.push_back(l);
    };
    for (const auto& [load, t] : tiles_) name_sizes(t);
    name_sizes(written_);
    for (const std::size_t l : sizes) list += ", i64 {" + size_name(l) + "}";
    return "declare void @fuzz_described(i64, ...)\n" + before + "call void (i64, ...) @fuzz_described(i64 " +
           std::to_string(key_) + list + ")\n" + behind;
  }

  Source& s;
  const ir::Program& p_;
  const NestStmt* nest_ = nullptr;
  const BlockStmt* block_ = nullptr;
  std::vector<Loop> loops_;
  bool sums_ = false, accumulates_ = false;
  Expr value_;
  std::vector<std::pair<Expr, Tile>> tiles_;
  std::vector<Expr> parameters_;
  Tile written_;
  std::vector<Symbol> sizes_;
  std::uint64_t key_ = 0;
};

}  // namespace

// What compiled code calls; several threads at a time.
extern "C" void fuzz_described(std::int64_t key, ...);
extern "C" void fuzz_described(std::int64_t key, ...) {
  const ir::Intrinsic* f = nullptr;
  {
    Known& k = known();
    const std::lock_guard lock(k.mutex);
    f = &k.all.at(static_cast<std::uint64_t>(key)).node();
  }
  struct Memory {
    std::byte* first = nullptr;
    std::vector<std::int64_t> strides;
  };
  interp::Described d(*f);
  std::vector<Memory> memory(f->operands.size());
  std::va_list list;
  va_start(list, key);
  using Operand = ir::IntrinsicOperand;
  for (std::size_t k = 0; k < f->operands.size(); ++k) {
    const Operand& o = f->operands[k];
    if (o.kind != Operand::Kind::tile) {
      const auto bits = static_cast<std::uint64_t>(va_arg(list, std::int64_t));
      d.set(k, ir::from_bits(o.type, bits));
      continue;
    }
    memory[k].first = static_cast<std::byte*>(va_arg(list, void*));
    for (std::size_t n = 0; n < o.extents.size(); ++n) memory[k].strides.push_back(va_arg(list, std::int64_t));
  }
  va_end(list);
  const auto place = [&](std::size_t k, std::span<const std::int64_t> at) {
    std::int64_t offset = 0;
    for (std::size_t n = 0; n < at.size(); ++n) offset += at[n] * memory[k].strides[n];
    return memory[k].first + offset * f->operands[k].type.bytes();
  };
  for (std::size_t k = 0; k < f->operands.size(); ++k) {
    const Operand& o = f->operands[k];
    if (o.kind != Operand::Kind::tile || o.access == Operand::Access::write) continue;
    d.fill(k, [&](std::span<const std::int64_t> at) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, place(k, at), static_cast<std::size_t>(o.type.bytes()));
      return ir::from_bits(o.type, bits);
    });
  }
  d.run();
  d.take([&](std::span<const std::int64_t> at, const ir::Value& v) {
    const std::uint64_t bits = ir::to_bits(v);
    std::memcpy(place(d.result(), at), &bits, static_cast<std::size_t>(f->operands[d.result()].type.bytes()));
  });
}

std::optional<Intrinsic> describe(Source& s, const ir::Program& p, const Stmt& loop) { return Describer(s, p).run(loop); }

}  // namespace fuzz
