// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/interp/tiles.h>

#include <cmath>
#include <limits>
#include <map>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/text.h>

namespace ashlar::interp {

namespace {

namespace tile = ir::tile;
using ir::Id;
using ir::Op;
using ir::Value;
using Extents = std::vector<std::int64_t>;

struct Tile {
  tile::TileType type;
  std::vector<Value> elements;  // row-major
};

std::string text(const std::array<std::int64_t, 3>& n) {
  return "(" + std::to_string(n[0]) + ", " + std::to_string(n[1]) + ", " + std::to_string(n[2]) + ")";
}
std::string text(const Extents& n) {
  std::string s;
  for (const std::int64_t e : n) s += (s.empty() ? "" : ", ") + std::to_string(e);
  return "(" + s + ")";
}

// Calls f(index) for every index of a box, row-major.
template <class F>
void each_index(const Extents& extents, F&& f) {
  Extents index(extents.size(), 0);
  std::int64_t n = 1;
  for (const std::int64_t e : extents) n *= e;
  for (; n > 0; --n) {
    f(static_cast<const Extents&>(index));
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (++index[d] < extents[d]) break;
      index[d] = 0;
    }
  }
}
std::size_t position(const Extents& index, const Extents& extents) {
  std::int64_t p = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) p = p * extents[d] + index[d];
  return static_cast<std::size_t>(p);
}

class Run {
 public:
  Run(const tile::Kernel& k, const TileCall& call) : k_(k), call_(call) {}

  void all() {
    bind();
    for (block_[2] = 0; block_[2] < call_.grid[2]; ++block_[2])
      for (block_[1] = 0; block_[1] < call_.grid[1]; ++block_[1])
        for (block_[0] = 0; block_[0] < call_.grid[0]; ++block_[0]) {
          values_ = parameters_;
          body(k_.body);
        }
  }

 private:
  struct Held {  // a tensor of the call
    const tile::Tensor* declared = nullptr;
    Array* array = nullptr;
    Extents extents, strides;
    std::map<std::int64_t, std::array<std::int64_t, 3>> writers;  // by the offset of an element: the block that wrote it
    const std::byte* bytes() const { return declared->data ? declared->data->data() : array->bytes.data(); }
  };

  [[noreturn]] static void fail(RunError::Kind kind, const std::string& what) { throw RunError(kind, what); }

  std::int64_t number(const tile::Extent& e) const {
    return e.parameter ? parameters_.at(e.parameter).elements[0].i : e.constant;
  }
  void bind() {
    if (call_.parameters.size() != k_.parameters.size() || call_.tensors.size() != k_.tensors.size())
      fail(RunError::Kind::arguments, k_.name + ": a call has " + std::to_string(k_.tensors.size()) + " tensors and " +
                                          std::to_string(k_.parameters.size()) + " parameters");
    for (std::size_t i = 0; i < k_.parameters.size(); ++i) {
      const tile::Parameter& p = k_.parameters[i];
      const Value v = call_.parameters[i];
      if (v.type != p.type) fail(RunError::Kind::arguments, p.name + " is of type " + ir::text(p.type));
      if ((p.not_negative && v.i < 0) || (p.divisor > 1 && v.i % p.divisor))
        fail(RunError::Kind::broken_promise, p.name + " is " + ir::text(v) + ", and promised to be a multiple of " +
                                                 std::to_string(p.divisor) + (p.not_negative ? " from 0 on" : ""));
      parameters_[p.id] = {{p.type, {}}, {v}};
    }
    for (std::size_t i = 0; i < k_.tensors.size(); ++i) {
      const tile::Tensor& t = k_.tensors[i];
      Held h{&t, call_.tensors[i], {}, {}, {}};
      for (const tile::Extent& e : t.extents) h.extents.push_back(number(e));
      for (const tile::Extent& e : t.strides) h.strides.push_back(number(e));
      Extents own = h.array->strides;
      if (own.empty()) {
        own.assign(h.array->shape.size(), 1);
        for (std::size_t d = own.size(); d-- > 1;) own[d - 1] = own[d] * h.array->shape[d];
      }
      if (h.array->type.bytes() != t.element.bytes() || h.array->shape != h.extents || own != h.strides)
        fail(RunError::Kind::arguments, t.name + " is " + ir::text(t.element) + " " + text(h.extents) + " of strides " +
                                            text(h.strides) + ", the array " + ir::text(h.array->type) + " " +
                                            text(h.array->shape) + " of strides " + text(own));
      tensors_[t.id] = std::move(h);
    }
    for (const tile::Tensor& t : k_.constants) {
      Held h{&t, nullptr, {}, {}, {}};
      for (const tile::Extent& e : t.extents) h.extents.push_back(e.constant);
      for (const tile::Extent& e : t.strides) h.strides.push_back(e.constant);
      tensors_[t.id] = std::move(h);
    }
  }

  // ---- values
  const Tile& value(Id id) const { return values_.at(id); }
  std::int64_t scalar(Id id) const { return value(id).elements[0].i; }
  void define(const tile::Stmt& s, std::size_t n, std::vector<Value> elements) {
    values_[s.results[n].id] = {s.results[n].type, std::move(elements)};
  }

  void body(const tile::Body& list) {
    for (const tile::Stmt& s : list) statement(s);
  }

  void statement(const tile::Stmt& s) {
    const auto count = [&] { return static_cast<std::size_t>(s.results[0].type.elements()); };
    s.visit([&](const tile::Constant& n) { define(s, 0, std::vector<Value>(count(), n.value)); },
            [&](const tile::Iota&) {
              std::vector<Value> all;
              for (std::size_t i = 0; i < count(); ++i)
                all.push_back(ir::int_value(s.results[0].type.element, static_cast<std::int64_t>(i)));
              define(s, 0, std::move(all));
            },
            [&](const tile::BlockIndex& n) { define(s, 0, {ir::int_value(i32, block_[static_cast<std::size_t>(n.axis)])}); },
            [&](const tile::Apply& n) { apply(s, n); }, [&](const tile::Broadcast& n) { broadcast(s, n); },
            [&](const tile::Reshape& n) { define(s, 0, value(n.value).elements); },
            [&](const tile::Permute& n) { permute(s, n); },
            [&](const tile::Reduce& n) { combine(s, n.values, n.dimension, false, false, n.identity, n.combine); },
            [&](const tile::Scan& n) { combine(s, n.values, n.dimension, true, n.reverse, n.identity, n.combine); },
            [&](const tile::Mma& n) { mma(s, n); }, [&](const tile::Load& n) { load(s, n); },
            [&](const tile::Store& n) { store(n); }, [&](const tile::Gather& n) { gather(s, n); },
            [&](const tile::Scatter& n) { scatter(n); }, [&](const tile::Atomic& n) { atomic(n); },
            [&](const tile::For& n) { loop(s, n); });
  }

  void apply(const tile::Stmt& s, const tile::Apply& n) {
    std::vector<const Tile*> args;
    for (const Id id : n.args) args.push_back(&value(id));
    const Type type = s.results[0].type.element;
    std::vector<Value> all(args[0]->elements.size()), operands(args.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t a = 0; a < args.size(); ++a) operands[a] = args[a]->elements[i];
      const std::optional<Value> v = ir::evaluate(n.op, type, operands);
      if (!v) throw InternalError(std::string("an operator without a value: ") + ir::op_name(n.op));
      all[i] = *v;
    }
    define(s, 0, std::move(all));
  }
  void broadcast(const tile::Stmt& s, const tile::Broadcast& n) {
    const Tile& from = value(n.value);
    std::vector<Value> all;
    each_index(s.results[0].type.extents, [&](Extents index) {
      for (std::size_t d = 0; d < index.size(); ++d)
        if (from.type.extents[d] == 1) index[d] = 0;
      all.push_back(from.elements[position(index, from.type.extents)]);
    });
    define(s, 0, std::move(all));
  }
  void permute(const tile::Stmt& s, const tile::Permute& n) {
    const Tile& from = value(n.value);
    std::vector<Value> all;
    Extents there(n.order.size());
    each_index(s.results[0].type.extents, [&](const Extents& index) {
      for (std::size_t d = 0; d < index.size(); ++d) there[static_cast<std::size_t>(n.order[d])] = index[d];
      all.push_back(from.elements[position(there, from.type.extents)]);
    });
    define(s, 0, std::move(all));
  }

  // One step of a region, of scalars.
  std::vector<Value> step(const tile::Region& r, const std::vector<Value>& so_far, const std::vector<Value>& next) {
    for (std::size_t c = 0; c < so_far.size(); ++c) {
      values_[r.parameters[2 * c].id] = {r.parameters[2 * c].type, {so_far[c]}};
      values_[r.parameters[2 * c + 1].id] = {r.parameters[2 * c + 1].type, {next[c]}};
    }
    body(r.body);
    std::vector<Value> yields;
    for (const Id id : r.yields) yields.push_back(value(id).elements[0]);
    return yields;
  }
  void combine(const tile::Stmt& s, const std::vector<Id>& of, int dimension, bool scan, bool reverse,
               const std::vector<Value>& identity, const tile::Region& region) {
    const Extents extents = value(of[0]).type.extents;
    const std::size_t along = static_cast<std::size_t>(dimension);
    Extents others = extents;
    others[along] = 1;
    std::vector<std::vector<Value>> results;
    for (const tile::Result& r : s.results) results.emplace_back(static_cast<std::size_t>(r.type.elements()));
    std::size_t at = 0;
    each_index(others, [&](Extents index) {
      std::vector<Value> so_far = identity, next(of.size());
      for (std::int64_t i = 0; i < extents[along]; ++i) {
        index[along] = reverse ? extents[along] - 1 - i : i;
        const std::size_t here = position(index, extents);
        for (std::size_t c = 0; c < of.size(); ++c) next[c] = value(of[c]).elements[here];
        so_far = step(region, so_far, next);
        for (std::size_t c = 0; scan && c < of.size(); ++c) results[c][here] = so_far[c];
      }
      for (std::size_t c = 0; !scan && c < of.size(); ++c) results[c][at] = so_far[c];
      ++at;
    });
    for (std::size_t c = 0; c < of.size(); ++c) define(s, c, std::move(results[c]));
  }

  // A tf32 number has 10 bits of fraction; the 13 bits below them are zero, except in a NaN.
  Value factor(const tile::Mma& n, Type to, const Value& v) const {
    const Value f = ir::convert(to, v);
    if (n.tf32 && (ir::to_bits(f) & 0x1FFF) != 0 && !std::isnan(f.f))
      fail(RunError::Kind::broken_promise,
           k_.name + ": a factor of tf32 is " + ir::text(f) + ", expected an f32 with 10 bits of fraction");
    return f;
  }
  void mma(const tile::Stmt& s, const tile::Mma& n) {
    const Tile &a = value(n.a), &b = value(n.b), &sum = value(n.sum);
    const std::size_t rows = static_cast<std::size_t>(a.type.extents[0]), depth = static_cast<std::size_t>(a.type.extents[1]),
                      columns = static_cast<std::size_t>(b.type.extents[1]);
    const Type type = sum.type.element;
    std::vector<Value> left, right, all = sum.elements;
    for (const Value& v : a.elements) left.push_back(factor(n, type, v));
    for (const Value& v : b.elements) right.push_back(factor(n, type, v));
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t k = 0; k < depth; ++k) {
          const Value operands[] = {left[i * depth + k], right[k * columns + j], all[i * columns + j]};
          all[i * columns + j] = *ir::evaluate(Op::fma, type, operands);
        }
    define(s, 0, std::move(all));
  }

  void loop(const tile::Stmt& s, const tile::For& n) {
    std::vector<Tile> carried;
    for (const tile::Carried& c : n.carried) carried.push_back(value(c.start));
    const std::int64_t end = scalar(n.end), by = scalar(n.step);
    if (by <= 0) fail(RunError::Kind::broken_promise, k_.name + ": a loop's step is " + std::to_string(by));
    for (std::int64_t v = scalar(n.begin); v < end; v += by) {
      values_[n.var] = {{i32, {}}, {ir::int_value(i32, v)}};
      for (std::size_t c = 0; c < carried.size(); ++c) values_[n.carried[c].parameter.id] = std::move(carried[c]);
      body(n.body);
      for (std::size_t c = 0; c < carried.size(); ++c) carried[c] = value(n.yields[c]);
    }
    for (std::size_t c = 0; c < carried.size(); ++c) values_[s.results[c].id] = std::move(carried[c]);
  }

  // ---- memory
  static tile::View::Every every(const tile::View& v, std::size_t d) {
    return v.every.empty() ? tile::View::Every{} : v.every[d];
  }
  // Calls f(position in the tile, offset in the tensor, or -1 for an element outside of it, -2 for one between two rows).
  template <class F>
  void each_element(Id view, const std::vector<Id>& at, F&& f) {
    const tile::View& v = k_.view(view);
    const Held& held = tensors_.at(v.tensor);
    Extents first, grid, number, extents = held.extents;
    for (std::size_t d = 0; d < v.extents.size(); ++d) extents[d] = this->number(v.extents[d]);
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      number.push_back(scalar(at[d]));
      const tile::View::Every e = every(v, d);
      grid.push_back(((extents[d] + e.step - 1 - e.first) / e.step + v.tile[d] - 1) / v.tile[d]);
      first.push_back(number[d] * v.tile[d]);
      inside = inside && number[d] >= 0 && number[d] < grid[d];
    }
    if (!inside)
      fail(RunError::Kind::out_of_bounds,
           "block " + text(block_) + " accesses tile " + text(number) + " of " + v.name + ", whose grid is " + text(grid));
    std::size_t p = 0;
    each_index(v.tile, [&](const Extents& index) {
      std::int64_t offset = 0;
      bool outside = false, between = false;
      for (std::size_t d = 0; d < index.size(); ++d) {
        const tile::View::Every e = every(v, d);
        const std::int64_t i = e.first + e.step * (first[d] + index[d]);
        outside = outside || i >= extents[d];
        between = between || i >= held.extents[d];
        offset += i * held.strides[d];
      }
      if (between && !outside) must_lie_in(held, offset);
      f(p++, outside ? -1 : between ? -2 : offset);
    });
  }
  static Value unspecified(Type t) {
    return t.is_float() ? ir::float_value(t, std::numeric_limits<double>::quiet_NaN()) : ir::int_value(t, ir::lowest_of(t));
  }
  Value read(const Held& held, std::int64_t offset) const {
    const std::int64_t size = held.declared->element.bytes();
    return ir::read_value(held.declared->element, held.bytes() + offset * size);
  }
  void write(Held& held, std::int64_t offset, const Value& v) {
    const auto [it, first] = held.writers.emplace(offset, block_);
    if (!first)
      fail(RunError::Kind::race, "blocks " + text(it->second) + " and " + text(block_) + " both write element " +
                                     std::to_string(offset) + " of " + held.declared->name);
    const std::int64_t size = held.declared->element.bytes();
    ir::write_value(held.array->bytes.data() + offset * size, v);
  }

  void load(const tile::Stmt& s, const tile::Load& n) {
    const tile::View& v = k_.view(n.view);
    const Held& held = tensors_.at(v.tensor);
    const Type type = held.declared->element;
    const Value outside = v.outside == tile::Outside::unspecified ? unspecified(type)
                          : type.is_float()                       ? ir::float_value(type, 0)
                                                                  : ir::int_value(type, 0);
    std::vector<Value> all(static_cast<std::size_t>(s.results[0].type.elements()));
    each_element(n.view, n.at, [&](std::size_t p, std::int64_t offset) {
      all[p] = offset == -1 ? outside : offset < 0 ? unspecified(type) : read(held, offset);
    });
    define(s, 0, std::move(all));
  }
  void store(const tile::Store& n) {
    Held& held = tensors_.at(k_.view(n.view).tensor);
    const Tile& v = value(n.value);
    each_element(n.view, n.at, [&](std::size_t p, std::int64_t offset) {
      if (offset == -2)
        fail(RunError::Kind::out_of_bounds, "block " + text(block_) + " stores between two rows of " + held.declared->name);
      if (offset >= 0) write(held, offset, v.elements[p]);
    });
  }
  void must_lie_in(const Held& held, std::int64_t offset) const {
    std::int64_t last = 0;  // the offset of the last element; strides are not negative
    bool empty = false;
    for (std::size_t d = 0; d < held.extents.size(); ++d) {
      last += (held.extents[d] - 1) * held.strides[d];
      empty = empty || held.extents[d] <= 0;
    }
    if (offset < 0 || offset > last || empty)
      fail(RunError::Kind::out_of_bounds, "block " + text(block_) + " accesses element " + std::to_string(offset) + " of " +
                                              held.declared->name + ", which has " + text(held.extents));
  }
  void gather(const tile::Stmt& s, const tile::Gather& n) {
    const Held& held = tensors_.at(n.tensor);
    const Tile &offsets = value(n.offsets), &mask = value(n.mask);
    std::vector<Value> all = value(n.otherwise).elements;
    for (std::size_t p = 0; p < all.size(); ++p) {
      if (!mask.elements[p].i) continue;
      must_lie_in(held, offsets.elements[p].i);
      all[p] = read(held, offsets.elements[p].i);
    }
    define(s, 0, std::move(all));
  }
  void scatter(const tile::Scatter& n) {
    Held& held = tensors_.at(n.tensor);
    const Tile &offsets = value(n.offsets), &mask = value(n.mask), &v = value(n.value);
    for (std::size_t p = 0; p < v.elements.size(); ++p) {
      if (!mask.elements[p].i) continue;
      must_lie_in(held, offsets.elements[p].i);
      write(held, offsets.elements[p].i, v.elements[p]);
    }
  }
  // Blocks run one after the other here, and elements in their order: one of the orders that the kernel allows.
  void atomic(const tile::Atomic& n) {
    Held& held = tensors_.at(n.tensor);
    const Tile &offsets = value(n.offsets), &mask = value(n.mask), &v = value(n.value);
    const std::int64_t size = held.declared->element.bytes();
    for (std::size_t p = 0; p < v.elements.size(); ++p) {
      if (!mask.elements[p].i) continue;
      const std::int64_t offset = offsets.elements[p].i;
      must_lie_in(held, offset);
      const Value operands[] = {read(held, offset), v.elements[p]};
      ir::write_value(held.array->bytes.data() + offset * size, *ir::evaluate(n.op, held.declared->element, operands));
    }
  }

  const tile::Kernel& k_;
  const TileCall& call_;
  std::map<Id, Tile> parameters_, values_;
  std::map<Id, Held> tensors_;
  std::array<std::int64_t, 3> block_{};
};

}  // namespace

void run(const ir::tile::Kernel& kernel, const TileCall& call) {
  tile::verify(kernel);
  Run(kernel, call).all();
}

}  // namespace ashlar::interp
