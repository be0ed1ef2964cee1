// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over some dimensions, and the places of extremes.
#include "generators/chain.h"

namespace ashlar::generators {

namespace {

struct ReduceRow {
  const char* name;
  const char* formula;
  Kind types;
  Tensor (*apply)(const Tensor& x, const ops::ReduceOptions&);
};
#define ROW(NAME, FORMULA, KIND) \
  {#NAME, FORMULA, KIND, [](const Tensor& x, const ops::ReduceOptions& o) { return Tensor(ops::NAME(x, o)); }}
constexpr ReduceRow reductions[] = {
    ROW(reduce_all, "y = whether all are true", Kind::booleans),
    ROW(reduce_any, "y = whether any is true", Kind::booleans),
    ROW(reduce_l1, "y = sum of |x|", Kind::numbers),
    ROW(reduce_l2, "y = sqrt(sum of x^2)", Kind::floats),
    ROW(reduce_logsumexp, "y = log(sum of e^x)", Kind::floats),
    ROW(reduce_max, "y = the largest of x", Kind::numbers),
    ROW(reduce_mean, "y = the mean of x", Kind::floats),
    ROW(reduce_min, "y = the smallest of x", Kind::numbers),
    ROW(reduce_prod, "y = product of x", Kind::numbers),
    ROW(reduce_sum, "y = sum of x", Kind::numbers),
    ROW(reduce_sum_square, "y = sum of x^2", Kind::numbers),
};
#undef ROW

class Reduce : public ChainedOp {
 public:
  explicit Reduce(const ReduceRow& row) {
    const Param<Type> type = type_param(row.types);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x");
    const AxesParam axes("axes", "-1", static_cast<int>(shape.size()), "axes that are reduced");
    const Param<bool> keep_dims{"keep_dims", false, "the reduced dimensions stay, with extent 1"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    const Tensor y =
        decided_by("shape", [&] { return row.apply(apply(prologue, x), {.axes = *axes, .keep_dims = keep_dims}); });
    output("y", apply(epilogue, y, {type, {y.rank() - 1}}));
  }
};
const auto registered_reductions = register_rows<Reduce, reductions>("reductions");

template <bool root>
class Moment : public Op {
 public:
  Moment() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x", 1);
    const AxesParam axes("axes", "-1", static_cast<int>(shape.size()), "axes that are reduced");
    const Param<bool> keep_dims{"keep_dims", false, "the reduced dimensions stay, with extent 1"};
    const Param<int> correction{
        "correction", 1, {{0, 1}}, "subtracted from the number of elements: 1 for a sample, 0 for a population"};
    const Tensor x = input("x", type, shape);
    const ops::ReduceOptions o{.axes = *axes, .keep_dims = keep_dims};
    output("y", root ? ops::reduce_std(x, o, correction) : ops::reduce_var(x, o, correction));
  }
};
ASHLAR_GENERATOR(Moment<false>, "reduce_var", "reductions", "y = the mean of (x - mean)^2");
ASHLAR_GENERATOR(Moment<true>, "reduce_std", "reductions", "y = sqrt(the mean of (x - mean)^2)");

template <bool largest>
class ArgExtreme : public Op {
 public:
  ArgExtreme() {
    const Param<Type> type = type_param(Kind::numbers);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x", 1);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Param<bool> keep_dims{"keep_dims", false, "the axis stays, with extent 1"},
        values{"values", false, "also output the elements"};
    const Tensor x = input("x", type, shape);
    const ops::Extreme y = largest ? ops::argmax(x, axis, keep_dims) : ops::argmin(x, axis, keep_dims);
    output("index", y.index);
    if (values) output("value", y.value);
  }
};
ASHLAR_GENERATOR(ArgExtreme<true>, "argmax", "reductions", "index = the index of the largest element, i64");
ASHLAR_GENERATOR(ArgExtreme<false>, "argmin", "reductions", "index = the index of the smallest element, i64");

}  // namespace

}  // namespace ashlar::generators
