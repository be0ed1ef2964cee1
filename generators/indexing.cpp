// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at places that data choose.
#include "generators/op.h"
#include "generators/params.h"

template <>
struct ashlar::ParamNames<ashlar::ops::Places> {
  static constexpr NamedValue<ops::Places> values[] = {{"any", ops::Places::any}, {"promised", ops::Places::promised}};
};
template <>
struct ashlar::ParamNames<ashlar::ops::ScatterMode> {
  static constexpr NamedValue<ops::ScatterMode> values[] = {{"replace", ops::ScatterMode::replace},
                                                            {"add", ops::ScatterMode::add},
                                                            {"multiply", ops::ScatterMode::multiply},
                                                            {"max", ops::ScatterMode::max},
                                                            {"min", ops::ScatterMode::min}};
};

namespace ashlar::generators {

namespace {

Param<Type> index_type() { return {"index_type", i64, {{i32, i64, u8, i8, i16, u16, u32}}, "type of the indices"}; }

class IndexOp : public Op {
 protected:
  const Param<ops::Places> places{
      "places", ops::Places::any,
      "any: negative indices count from the end, those out of range are clamped (gathers) or dropped "
      "(scatters); promised: there are none"};
};

class Gather : public IndexOp {
 public:
  Gather() {
    const Param<Type> type = type_param(Kind::any), places_type = index_type();
    Extents extents({.min = 1});
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x", 1);
    extents.without_facts();
    const std::vector<Extent> index = extents.shape("index", "P", "shape of index", 0, 4);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()), 0);
    const Tensor x = input("x", type, shape), at = input("index", places_type, index);
    output("y", ops::gather(x, at, axis, places));
  }
};
ASHLAR_GENERATOR(Gather, "gather", "indexing", "y(a, i, b) = x(a, index(i), b)");

class GatherElements : public IndexOp {
 public:
  GatherElements() {
    const Param<Type> type = type_param(Kind::any), places_type = index_type();
    Extents extents({.min = 1});
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x", 1, 4);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()), 0);
    std::vector<Extent> index = shape;
    index[static_cast<std::size_t>(*axis < 0 ? *axis + static_cast<int>(shape.size()) : *axis)] = extents["P"];
    const Tensor x = input("x", type, shape), at = input("index", places_type, index);
    output("y", ops::gather_elements(x, at, axis, places));
  }
};
ASHLAR_GENERATOR(GatherElements, "gather_elements", "indexing", "y(i) = x(i), with index(i) as the index along the axis");

class Embedding : public IndexOp {
 public:
  Embedding() {
    const Param<Type> type = type_param(Kind::any), places_type = index_type();
    Extents extents({.min = 1});
    const Expr V = extents["V"], D = extents["D"];
    extents.without_facts();
    const std::vector<Extent> ids = extents.shape("ids", "B,T", "shape of ids", 0, 6);
    const Tensor table = input("table", type, {V, D}), at = input("ids", places_type, ids);
    output("y", ops::embedding(table, at, places));
  }
};
ASHLAR_GENERATOR(Embedding, "embedding", "indexing", "y = the rows of a table [V, D] that ids name");

class EmbeddingBag : public IndexOp {
 public:
  EmbeddingBag() {
    const Param<Type> type = type_param(Kind::numbers), places_type = index_type();
    Extents extents({.min = 1});
    const Expr V = extents["V"], D = extents["D"];
    extents.without_facts();
    const Expr B = extents["B"], L = extents["L"];
    const Tensor table = input("table", type, {V, D}), ids = input("ids", places_type, {B, L});
    output("y", ops::embedding_bag(table, ids, places));
  }
};
ASHLAR_GENERATOR(EmbeddingBag, "embedding_bag", "indexing",
                 "y(b) = the sum of the rows of a table [V, D] that row b of ids [B, L] names");

class OneHot : public Op {
 public:
  OneHot() {
    const Param<Type> places_type = index_type(), type = type_param(Kind::numbers, "type", "type of y");
    Extents extents;
    const std::vector<Extent> ids = extents.shape("ids", "N", "shape of ids", 0, max_rank - 1);
    const Expr depth = extents["D"];
    output("y", ops::one_hot(input("ids", places_type, ids), depth, type));
  }
};
ASHLAR_GENERATOR(OneHot, "one_hot", "indexing", "y(i, k) = 1 where k is ids(i), else 0");

class ScatterElements : public IndexOp {
 public:
  ScatterElements() {
    const Param<Type> type = type_param(Kind::numbers), places_type = index_type();
    const Param<ops::ScatterMode> mode{"mode", ops::ScatterMode::replace, "how an update is combined with the element"};
    Extents extents(*mode == ops::ScatterMode::replace ? Symbol::Facts{.min = 1} : Symbol::Facts{});
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x", 1, 4);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()), 0);
    std::vector<Extent> index = shape;
    index[static_cast<std::size_t>(*axis < 0 ? *axis + static_cast<int>(shape.size()) : *axis)] = extents["P"];
    const Tensor x = input("x", type, shape), at = input("index", places_type, index), updates = input("updates", type, index);
    output("y", ops::scatter_elements(x, at, updates, axis, mode, places));
  }
};
ASHLAR_GENERATOR(ScatterElements, "scatter_elements", "indexing",
                 "y = x, with updates(i) at i, where index(i) is the index along the axis");

class IndexAdd : public IndexOp {
 public:
  IndexAdd() {
    const Param<Type> type = type_param(Kind::numbers), places_type = index_type();
    Extents extents;
    const Expr V = extents["V"], N = extents["N"], D = extents["D"];
    const Tensor index = input("index", places_type, {N}), updates = input("updates", type, {N, D});
    output("y", ops::index_add(V, index, updates, places));
  }
};
ASHLAR_GENERATOR(IndexAdd, "index_add", "indexing", "y(v) = the sum of the rows n of updates [N, D] whose index(n) is v");

}  // namespace

}  // namespace ashlar::generators
