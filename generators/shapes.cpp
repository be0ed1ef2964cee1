// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at other places: copies of views, joins and repetitions.
#include "generators/op.h"
#include "generators/params.h"

namespace ashlar::generators {

namespace {

// Elements of x at other indices, at(i) of those of the result.
template <class F>
Tensor moved(const char* name, const Tensor& x, const std::vector<Expr>& extents, F at) {
  return compute(name, ops::detail::shape(extents, Where::current()), [&](Indices i) { return x(ops::detail::point(at(i))); });
}

class Transpose : public Op {
 public:
  Transpose() {
    const Param<Type> type = type_param(Kind::any);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x");
    const int rank = static_cast<int>(shape.size());
    const AxesParam order("order", "all", rank, "dimension d of y is dimension order[d] of x; all: reversed");
    std::vector<int> from = *order;
    if (from.empty())
      for (int d = rank; d-- > 0;) from.push_back(d);
    require(static_cast<int>(from.size()) == rank, "order", "all, or each of the " + std::to_string(rank) + " dimensions");
    if (static_cast<int>(from.size()) != rank) return;
    const Tensor x = input("x", type, shape);
    std::vector<Expr> of_y;
    for (int& d : from) of_y.push_back(x.extent(d = d < 0 ? d + rank : d));
    output("y", moved("transpose", x, of_y, [&](const Indices& i) {
             std::vector<Expr> at(from.size());
             for (int d = 0; d < rank; ++d) at[static_cast<std::size_t>(from[static_cast<std::size_t>(d)])] = i[d];
             return at;
           }));
  }
};
ASHLAR_GENERATOR(Transpose, "transpose", "shapes", "y = x with its dimensions in another order");

class Copy : public Op {
 public:
  Copy() {
    const Param<Type> type = type_param(Kind::any);
    Extents extents;
    output("y", ops::copy(input("x", type, extents.shape("shape", "M,N", "shape of x and y"))));
  }
};
ASHLAR_GENERATOR(Copy, "copy", "shapes", "y = x, which may have any strides");

class Reshape : public Op {
 public:
  Reshape() {
    const Param<Type> type = type_param(Kind::any);
    Extents extents;
    const std::vector<Extent> of_x = extents.shape("shape", "M,N", "shape of x"),
                              of_y = extents.shape("to", "M*N", "shape of y, with as many elements as x");
    const std::vector<Expr> from = ends(of_x), to = ends(of_y);
    const Expr elements = product(from, 0, from.size()), found = product(to, 0, to.size());
    if (!ops::detail::same_extent(elements, found)) {
      reject("to", "a shape of " + ir::text(elements) + " elements, as x has, found " + ir::text(found));
      return;
    }
    const Tensor x = input("x", type, of_x);
    output("y", moved("reshape", x, to, [&](const Indices& i) { return place(i, from, to); }));
  }

 private:
  static std::vector<Expr> ends(const std::vector<Extent>& shape) {
    std::vector<Expr> e;
    for (const Extent& x : shape) e.push_back(x.end());
    return e;
  }
  static Expr product(const std::vector<Expr>& extents, std::size_t begin, std::size_t end) {
    Expr p = ir::index(1);
    for (std::size_t d = begin; d < end; ++d) p = p * extents[d];
    return ops::detail::plain(p);
  }
  // Both shapes fall into runs of as many elements, [B, T, D] and [B T, 4, D / 4] into two; in each, the first of `from` from
  // number a on and of `to` from b on, elements keep their number in row-major order.
  static std::vector<Expr> place(const Indices& i, const std::vector<Expr>& from, const std::vector<Expr>& to) {
    std::vector<Expr> at;
    for (std::size_t a = 0, b = 0; a < from.size();) {
      std::size_t p = from.size(), q = to.size();
      for (std::size_t m = a + 1; m <= from.size() && p == from.size() && q == to.size(); ++m)
        for (std::size_t n = b + 1; n <= to.size(); ++n)
          if (ops::detail::same_extent(product(from, a, m), product(to, b, n))) {
            p = m, q = n;
            break;
          }
      Expr number = ir::index(0);
      for (; b < q; ++b) number = number * to[b] + i[static_cast<int>(b)];
      // A number below M N is in row number / N below M and column number % N below N: promised, where N is a Symbol.
      const bool promised = ops::detail::number_or(product(from, a + 1, p), -1) < 0;
      const auto inside = [&](const Expr& index, std::size_t d) { return promised ? in_range(index, 0, from[d]) : index; };
      at.resize(p);
      for (; --p > a; number = number / from[p]) at[p] = inside(number % from[p], p);
      at[a] = inside(number, a);
      a = at.size();
    }
    return at;
  }
};
ASHLAR_GENERATOR(Reshape, "reshape", "shapes", "y = the elements of x in row-major order, in another shape");

// One operand, one axis.
class AxisOp : public Op {
 protected:
  explicit AxisOp(const char* fallback = "M,N") : list(extents.list("shape", fallback, "shape of x", 1, max_rank)) {}
  const Param<Type> type = type_param(Kind::any);
  Extents extents;
  const std::vector<std::string> list;
  const Param<int> axis = axis_param(static_cast<int>(list.size()));
  const int dimension = *axis < 0 ? *axis + static_cast<int>(list.size()) : *axis;

  // Declared after what the facts of the axis depend on.
  Tensor x(Symbol::Facts of_axis = {}) {
    return input("x", type, extents.shape(list, static_cast<std::size_t>(dimension), of_axis));
  }
};

class Slice : public AxisOp {
 public:
  Slice() {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    const Param<std::int64_t> begin{"begin", 0, between(std::int64_t{0}, most), "first index"},
        end{"end", 4, between(std::int64_t{0}, most), "index after the last one; calls with a smaller x are refused"};
    const Param<int> step{"step", 1, between(1, 1 << 20), "distance between indices"};
    const Tensor from = x({.min = *end});
    const std::int64_t n = ops::detail::number_or(from.extent(dimension), *end);
    require(*begin <= *end && *end <= n, "end",
            "from begin, " + std::to_string(*begin) + ", to the extent of the axis, " + std::to_string(n));
    if (*begin <= *end && *end <= n) output("y", ops::copy(ops::slice(from, dimension, *begin, *end, step)));
  }
};
ASHLAR_GENERATOR(Slice, "slice", "shapes", "y = x from begin to end in steps, along an axis");

class Flip : public AxisOp {
 public:
  Flip() { output("y", ops::copy(ops::flip(x(), dimension))); }
};
ASHLAR_GENERATOR(Flip, "flip", "shapes", "y = x reversed along an axis");

class Roll : public AxisOp {
 public:
  Roll() {
    const Param<std::int64_t> by{"by", 1, "elements to move toward the end, wrapping around"};
    output("y", ops::roll(x({.min = 1}), *by, dimension));
  }
};
ASHLAR_GENERATOR(Roll, "roll", "shapes", "y(i) = x(i - by), wrapping around");

class RepeatInterleave : public AxisOp {
 public:
  RepeatInterleave() {
    const Param<int> times{"times", 2, between(1, 1 << 20), "copies of each element"};
    output("y", ops::repeat_interleave(x(), times, dimension));
  }
};
ASHLAR_GENERATOR(RepeatInterleave, "repeat_interleave", "shapes", "y = x with each element repeated along an axis");

class Split : public AxisOp {
 public:
  Split() {
    const Param<int> parts{"parts", 2, between(1, 64),
                           "must divide the extent of the axis; if that is dynamic, each call checks it"};
    const Tensor whole = x({.multiple_of = *parts});
    const std::int64_t n = ops::detail::number_or(whole.extent(dimension), 0);
    require(n % *parts == 0, "parts", "what divides the extent of the axis, " + std::to_string(n));
    if (n % *parts != 0) return;
    const std::vector<Tensor> of = ops::split(whole, *parts, dimension);
    for (std::size_t k = 0; k < of.size(); ++k) output(("y" + std::to_string(k)).c_str(), ops::copy(of[k]));
  }
};
ASHLAR_GENERATOR(Split, "split", "shapes", "y0, y1 .. = equal parts of x along an axis");

// Several operands x0, x1 .. along one axis.
class Concat : public Op {
 public:
  Concat() {
    const Param<Type> type = type_param(Kind::any);
    const Param<int> parts{"parts", 2, between(1, 32), "number of tensors"};
    Extents extents;
    std::vector<std::vector<Extent>> shapes;
    for (int k = 0; k < *parts; ++k) {
      const std::string number = std::to_string(k);
      shapes.push_back(
          extents.shape(("x" + number).c_str(), ("M" + number + ",N").c_str(), ("shape of x" + number).c_str(), 1));
    }
    const Param<int> axis = axis_param(static_cast<int>(shapes[0].size()), 0);
    std::vector<Tensor> x;
    for (std::size_t k = 0; k < shapes.size(); ++k) x.push_back(input("x" + std::to_string(k), type, shapes[k]));
    output("y", decided_by("axis", [&] { return ops::concat(x, axis); }));
  }
};
ASHLAR_GENERATOR(Concat, "concat", "shapes", "y = x0, x1 .. joined along an axis");

class Stack : public Op {
 public:
  Stack() {
    const Param<Type> type = type_param(Kind::any);
    const Param<int> parts{"parts", 2, between(1, 32), "number of tensors"};
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of each tensor", 0, max_rank - 1);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()) + 1, 0);
    std::vector<Tensor> x;
    for (int k = 0; k < *parts; ++k) x.push_back(input("x" + std::to_string(k), type, shape));
    output("y", ops::stack(x, axis));
  }
};
ASHLAR_GENERATOR(Stack, "stack", "shapes", "y = x0, x1 .. along a new dimension");

class Tile : public Op {
 public:
  Tile() {
    const Param<Type> type = type_param(Kind::any);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x");
    const int rank = static_cast<int>(shape.size());
    const NumbersParam times("times", std::max(1, rank), 2, 0, "copies along each dimension");
    std::vector<int> all;
    for (int d = 0; d < rank; ++d) all.push_back(times[static_cast<std::size_t>(d)]);
    output("y", ops::tile(input("x", type, shape), all));
  }
};
ASHLAR_GENERATOR(Tile, "tile", "shapes", "y = x repeated along each dimension");

class PadOp : public Op {
 public:
  PadOp() {
    const Param<Type> type = type_param(Kind::numbers);
    const Param<ops::PadMode> mode{"mode", ops::PadMode::constant, "elements around x"};
    Extents extents(*mode == ops::PadMode::constant ? Symbol::Facts{} : Symbol::Facts{.min = 1});
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x", 1);
    const PaddingParam padding(static_cast<int>(shape.size()), "1", false);
    const Param<double> value{"value", 0, "elements around x if mode=constant"};
    std::vector<ops::Pad> all;
    for (std::size_t d = 0; d < shape.size(); ++d) all.push_back(padding[d]);
    const Type t = *type;
    if (!t.is_float() && *value != static_cast<double>(static_cast<std::int64_t>(*value))) {
      reject("value", "a whole number for a type of integers");
      return;
    }
    const Tensor x = input("x", type, shape);
    output("y", t.is_float() ? ops::pad(x, all, mode, *value) : ops::pad(x, all, mode, t(static_cast<std::int64_t>(*value))));
  }
};
ASHLAR_GENERATOR(PadOp, "pad", "shapes", "y = x with more elements around it");

template <bool upper>
class Triangle : public Op {
 public:
  Triangle() {
    const Param<Type> type = type_param(Kind::numbers);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x: matrices in the last two dimensions", 2);
    const Param<int> k{"k", 0, "diagonal; 0: the main one, above it positive"};
    const Tensor x = input("x", type, shape);
    output("y", upper ? ops::triu(x, k) : ops::tril(x, k));
  }
};
ASHLAR_GENERATOR(Triangle<true>, "triu", "shapes", "y = x on and above diagonal k, else 0");
ASHLAR_GENERATOR(Triangle<false>, "tril", "shapes", "y = x on and below diagonal k, else 0");

class PixelShuffle : public Op {
 public:
  PixelShuffle() {
    const Param<Type> type = type_param(Kind::any);
    const Param<int> block{"block", 2, between(1, 256), "pixels along a side of a block"};
    Extents extents;
    const Expr N = extents["N"], C = extents["C"], H = extents["H"], W = extents["W"];
    output("y", ops::pixel_shuffle(input("x", type, {N, C * (*block * *block), H, W}), block));
  }
};
ASHLAR_GENERATOR(PixelShuffle, "pixel_shuffle", "shapes", "y = channels of x [N, C block^2, H, W] as blocks of pixels");

class PixelUnshuffle : public Op {
 public:
  PixelUnshuffle() {
    const Param<Type> type = type_param(Kind::any);
    const Param<int> block{"block", 2, between(1, 256), "pixels along a side of a block"};
    Extents extents;
    const Expr N = extents["N"], C = extents["C"], H = extents["H"], W = extents["W"];
    output("y", ops::pixel_unshuffle(input("x", type, {N, C, H * *block, W * *block}), block));
  }
};
ASHLAR_GENERATOR(PixelUnshuffle, "pixel_unshuffle", "shapes", "y = blocks of pixels of x [N, C, H block, W block] as channels");

}  // namespace

}  // namespace ashlar::generators
