// Operators on rows: softmax, and normalisation by moments.
#include "generators/chain.h"

namespace ashlar::generators {

namespace {

// ---- softmax
// -----------------------------------------------------------------------------------------------------------------
struct SoftmaxRow {
  const char* name;
  const char* formula;
  Tensor (*apply)(const Tensor& x, int axis);
};
constexpr SoftmaxRow softmaxes[] = {
    {"softmax", "y = e^(x - m) / sum of e^(x - m), m the largest of the row",
     [](const Tensor& x, int axis) { return Tensor(ops::softmax(x, axis)); }},
    {"softmax_online", "y = softmax of x, maximum and sum in one pass over the row",
     [](const Tensor& x, int axis) { return Tensor(ops::softmax_online(x, axis)); }},
    {"log_softmax", "y = x - m - log(sum of e^(x - m)), m the largest of the row",
     [](const Tensor& x, int axis) { return Tensor(ops::log_softmax(x, axis)); }},
};

class Softmax : public ChainedOp {
 public:
  explicit Softmax(const SoftmaxRow& row) {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "of x and y", 1);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    output("y", apply(epilogue, row.apply(apply(prologue, x), axis), {type, {x.rank() - 1}}));
  }
};
const auto registered_softmaxes = register_rows<Softmax, softmaxes>("softmax");

}  // namespace

}  // namespace ashlar::generators
