// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Stages that a C function computes, one box at a time: a matrix multiplication by a BLAS, a codec, your own device.
//
//   extern "C" int my_sgemm(const ashlar_tensor* regions, const int64_t* begin);
//
//   const Tensor C = c_stage("C", f32, {M, N}, region_function("my_sgemm", my_sgemm), [&](Var i, Var j) {
//     return Needs{needs(A, i, Range{Expr(0), K}), needs(B, Range{Expr(0), K}, j)};
//   });
//
// The lambda says which region of each tensor an element needs. For a box of the result, the function gets the hull of the
// regions that the elements of the box need: here regions[0] of A and regions[1] of B, and regions[2], the box of C itself.
// Each has a shape, strides, and a pointer to its first element. `begin` holds the indices of these first elements, here two
// for each region. For any box, the function must compute every element from these regions alone, and return 0. Any other value
// fails the call. Inside parallel loops, several threads call it.
//
// The stage has no loops to schedule. compute_at places it like any other stage; its box is then the part that is read there.
// It may read caches, inputs, constants and stages whose rows are contiguous in host memory. It cannot read views, which have
// no storage.
#include <initializer_list>
#include <utility>
#include <vector>

#include <ashlar/ir/function.h>
#include <ashlar/lang/compute.h>

namespace ashlar {

class NeededRange {  // an index or a range of indices
 public:
  template <Number T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  NeededRange(T index, Where where = Where::current()) : NeededRange(Operand(index, where)) {}
  NeededRange(const Expr& index, Where where = Where::current()) : NeededRange(Operand(index, where)) {}
  NeededRange(Range r) : begin_(std::move(r.begin)), end_(std::move(r.end)) {}

  const Expr& begin() const { return begin_; }
  const Expr& end() const { return end_; }

 private:
  explicit NeededRange(const Operand& index);
  Expr begin_, end_;
};

struct Need {
  ir::Id tensor = 0;
  std::vector<NeededRange> box;
  Where where;
};
struct NeededOf {  // carries the line of the call, which cannot follow a parameter pack
  const Tensor& tensor;
  Where where;
  NeededOf(const Tensor& t, Where w = Where::current()) : tensor(t), where(w) {}
};
template <class... R>
Need needs(NeededOf of, const R&... ranges) {
  return {of.tensor.id(), {NeededRange(ranges)...}, of.where};
}
class Needs : public std::vector<Need> {
 public:
  Needs(std::initializer_list<Need> list) : std::vector<Need>(list) {}
  Needs(Need one) : std::vector<Need>{std::move(one)} {}
};

struct RegionFunctionId {
  ir::Id id;
};
// Declares a C function for c_stage. Without an address, the function is only available where the object file is linked.
// Refused: a symbol that is not a C identifier or was already declared as another function.
RegionFunctionId region_function(const char* symbol, ir::RegionFunction = nullptr, Where = Where::current());

namespace detail {
void define_by_function(const Site&, RegionFunctionId, const Type* types, std::size_t count, const Needs&, Tensor* results);
}

template <std::size_t N, class F>
Tensor c_stage(const char* name, Type type, const Extent (&extents)[N], RegionFunctionId f, F&& body,
               Where where = Where::current()) {
  static_assert(detail::one_var_per_dimension<F, N>, "c_stage: the lambda takes one Var for each extent in the braces");
  const Indices at = detail::new_indices(extents, N);
  Tensor result;
  detail::define_by_function({name, extents, at, where}, f, &type, 1, detail::call(body, at, std::make_index_sequence<N>{}),
                             &result);
  return result;
}
template <std::size_t K, std::size_t N, class F>
std::array<Tensor, K> c_stage(const char* name, const Type (&types)[K], const Extent (&extents)[N], RegionFunctionId f,
                              F&& body, Where where = Where::current()) {
  static_assert(detail::one_var_per_dimension<F, N>, "c_stage: the lambda takes one Var for each extent in the braces");
  const Indices at = detail::new_indices(extents, N);
  std::array<Tensor, K> results;
  detail::define_by_function({name, extents, at, where}, f, types, K, detail::call(body, at, std::make_index_sequence<N>{}),
                             results.data());
  return results;
}

}  // namespace ashlar
