// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order along an axis: sorting, the largest, running sums and extremes; and resizing.
#include "generators/chain.h"

template <>
struct ashlar::ParamNames<ashlar::ops::SortBy> {
  static constexpr NamedValue<ops::SortBy> values[] = {{"counting", ops::SortBy::counting}, {"network", ops::SortBy::network}};
};
template <>
struct ashlar::ParamNames<ashlar::ops::ResizeMode> {
  static constexpr NamedValue<ops::ResizeMode> values[] = {
      {"nearest", ops::ResizeMode::nearest}, {"linear", ops::ResizeMode::linear}, {"cubic", ops::ResizeMode::cubic}};
};
template <>
struct ashlar::ParamNames<ashlar::ops::ResizePlaces> {
  static constexpr NamedValue<ops::ResizePlaces> values[] = {{"half_pixel", ops::ResizePlaces::half_pixel},
                                                             {"align_corners", ops::ResizePlaces::align_corners},
                                                             {"asymmetric", ops::ResizePlaces::asymmetric}};
};

namespace ashlar::generators {

namespace {

template <bool places_only>
class Sort : public Op {
 public:
  Sort() {
    const Param<Type> type = type_param(Kind::numbers);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x", 1, 4);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Param<bool> descending{"descending", false, "the largest element first"};
    const Param<ops::SortBy> by{"by", ops::SortBy::counting,
                                "counting: n^2 comparisons; network: for devices, an axis that is a number of up to 16384"};
    const Tensor x = input("x", type, shape);
    if (places_only) {
      output("index", ops::argsort(x, axis, descending, by));
      return;
    }
    const ops::Sorted s = ops::sort(x, axis, descending, by);
    output("y", s.result);
    output("index", s.index);
  }
};
ASHLAR_GENERATOR(Sort<false>, "sort", "order",
                 "y, index = x sorted along an axis, and the indices of its elements; by counting, or by a sorting network");
ASHLAR_GENERATOR(Sort<true>, "argsort", "order", "index = the indices that sort x along an axis");

class TopKOp : public Op {
 public:
  TopKOp() {
    const Param<Type> type{"type", f32, {{f32, f16, bf16, i8, i16, i32, u8, u16, u32}}, "type of the elements"},
        index_type{"index_type", i64, {{i32, i64, u32, u64}}, "type of the indices"};
    const Param<int> k{"k", 4, between(1, 256), "how many elements"};
    Extents extents({.min = *k, .max = 2147483647});
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x; the axis has at least k elements", 1);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Param<bool> largest{"largest", true, "the largest elements; false: the smallest"};
    const ops::TopK t = ops::topk(input("x", type, shape), k, axis, largest, index_type);
    output("y", t.result);
    output("index", t.index);
  }
};
ASHLAR_GENERATOR(TopKOp, "topk", "order",
                 "y, index = the k largest elements along an axis and their indices, in descending order");

struct RunningRow {
  const char* name;
  const char* formula;
  Tensor (*apply)(const Tensor& x, int axis, const ops::CumulativeOptions&);
};
#define ROW(NAME, FORMULA) \
  {#NAME, FORMULA, [](const Tensor& x, int axis, const ops::CumulativeOptions& o) { return Tensor(ops::NAME(x, axis, o)); }}
constexpr RunningRow running[] = {
    ROW(cummax, "y(i) = the largest of x up to i"),
    ROW(cummin, "y(i) = the smallest of x up to i"),
    ROW(cumprod, "y(i) = the product of x up to i"),
    ROW(cumsum, "y(i) = the sum of x up to i"),
};
#undef ROW
class Running : public ChainedOp {
 public:
  explicit Running(const RunningRow& row) {
    const Param<Type> type = type_param(Kind::numbers);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x and y", 1);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Param<bool> exclusive{"exclusive", false, "exclude the element itself"},
        reverse{"reverse", false, "from the end to the beginning"};
    const Chain prologue(Chain::Place::prologue);
    output("y", row.apply(apply(prologue, input("x", type, shape)), axis, {.exclusive = exclusive, .reverse = reverse}));
  }
};
const auto registered_running = register_rows<Running, running>("order");

class ResizeOp : public Op {
 public:
  ResizeOp() {
    const Param<Type> type = type_param(Kind::numbers);
    const Param<ops::ResizeMode> mode{"mode", ops::ResizeMode::linear,
                                      "how values between elements are computed; linear over two dimensions is bilinear"};
    const Param<ops::ResizePlaces> places{"places", ops::ResizePlaces::half_pixel, "which position of x element i of y has"};
    const Param<double> a{"a", -0.75, "coefficient of mode=cubic"};
    Extents extents({.min = 1});
    const std::vector<Extent> shape = extents.shape("shape", "N,C,H,W", "shape of x", 1);
    const int rank = static_cast<int>(shape.size());
    const AxesParam axes("axes", rank >= 2 ? "-2,-1" : "-1", rank, "axes that are resized");
    std::vector<int> dims = *axes;
    if (dims.empty())
      for (int d = 0; d < rank; ++d) dims.push_back(d);
    std::string fallback = "OH,OW";
    if (dims.size() != 2) {
      fallback = "O0";
      for (std::size_t d = 1; d < dims.size(); ++d) fallback += ",O" + std::to_string(d);
    }
    const int count = static_cast<int>(dims.size());
    const std::vector<Extent> to = extents.shape("to", fallback.c_str(), "extents of these axes in y", count, count);
    std::vector<ops::ResizeTo> all;
    for (std::size_t d = 0; d < dims.size(); ++d) all.emplace_back(dims[d], to[d].end());
    output("y", ops::resize(input("x", type, shape), all, {.mode = mode, .places = places, .a = a}));
  }
};
ASHLAR_GENERATOR(ResizeOp, "resize", "images", "y = x with other extents along some axes");

}  // namespace

}  // namespace ashlar::generators
