// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Intrinsics of the user's own: what an instruction (or a function, or an engine) means, and how each back end says it.
//
//   Intrinsic dot4 = intrinsic("dot4", [](Meaning& m) {
//     Tensor a = m.read("a", i8, {8, 4}), b = m.read("b", i8, {8, 4});
//     Tensor c = m.accumulate("c", i32, {8});
//     Axis k{"k", 4};
//     m.means(c, [&](Var i) { return sum(i32(a(i, k)) * i32(b(i, k)), k).from(c(i)); });
//     m.emit(Backend::llvm, "call void @dot4(ptr {c.ptr}, ptr {a.ptr}, ptr {b.ptr})");
//   });
//   s[C].tensorize(i, dot4);
//
// The description is one value in this language: elementwise, or a sum that starts from 0 (write) or from what was there
// (accumulate). Each operand is read at indices that are variables of the description, a different one for each dimension.
// tensorize proves that a loop does just that, and the call takes the loop's place; the interpreter runs the description.
//
// Texts name operands in braces: {a.ptr} the address of a tile's first element, {a.stride0} the distance of its rows in
// elements, {name} a parameter or a Symbol. A stride that the text does not name must be that of a row-major tile without gaps.
// Invariant: an Intrinsic that exists is well formed: what is not is refused, at the line that says it, when it is described.
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ashlar/ir/scope.h>
#include <ashlar/lang/compute.h>

namespace ashlar {

enum class Backend { c, llvm, ptx, spirv };

struct Held {  // who holds an element of a fragment: the lane, and which of its registers
  Expr lane, slot;
};
inline Held held(Operand lane, Operand slot) { return {value_of(lane), value_of(slot)}; }

namespace ir {
struct Intrinsic;
}
namespace detail {
struct Described;  // what was said so far
}

class Meaning {  // what is said of an intrinsic, inside of intrinsic(name, lambda)
 public:
  Meaning(const char* name, Where);
  ~Meaning();
  Meaning(const Meaning&) = delete;
  Meaning& operator=(const Meaning&) = delete;

  // Operands, in any scope (of a user's scope the alignment is the tile's too). Extents are numbers or Symbols: a Symbol takes
  // the extent that is found, within its facts.
  template <std::size_t N>
  Tensor read(const char* name, Type type, const Extent (&extents)[N], Scope scope = Scope::global,
              Where w = Where::current()) {
    return operand(name, type, extents, N, scope, 0, w);
  }
  template <std::size_t N>
  Tensor write(const char* name, Type type, const Extent (&extents)[N], Scope scope = Scope::global,
               Where w = Where::current()) {
    return operand(name, type, extents, N, scope, 1, w);
  }
  template <std::size_t N>  // C = C + ...
  Tensor accumulate(const char* name, Type type, const Extent (&extents)[N], Scope scope = Scope::global,
                    Where w = Where::current()) {
    return operand(name, type, extents, N, scope, 2, w);
  }
  Expr parameter(const char* name, Type, Where = Where::current());  // unified with the site: one value for the whole tile

  template <class F>
  void means(const Tensor& result, F&& value, Where w = Where::current()) {  // the description, over the result's whole extent
    static_assert(detail::written_out_parameters<F>, "means: write the parameters as Var, not auto, so that the rank is known");
    if constexpr (detail::written_out_parameters<F>) {
      constexpr std::size_t rank = detail::arity<decltype(&std::remove_cvref_t<F>::operator())>::value;
      const std::vector<Extent> extents = extents_of(result, rank, w);
      means_(result, detail::build<rank>(result.name(w), extents.data(), value, w), w);
    }
  }
  // A fragment: which of `lanes` lanes holds element (i, j, ...), in which of its registers. Each lane's register holds one
  // element, and each element has one place.
  template <class F>
  void holds(const Tensor& fragment, int lanes, F&& map, Where w = Where::current()) {
    static_assert(detail::written_out_parameters<F>, "holds: write the parameters as Var, not auto, so that the rank is known");
    if constexpr (detail::written_out_parameters<F>) {
      constexpr std::size_t rank = detail::arity<decltype(&std::remove_cvref_t<F>::operator())>::value;
      const Indices at = detail::new_indices(nullptr, rank);
      const Held h = detail::call(map, at, std::make_index_sequence<rank>{});
      std::vector<Expr> vars;
      for (std::size_t k = 0; k < rank; ++k) vars.push_back(at[static_cast<int>(k)]);
      holds_(fragment, lanes, vars, h, w);
    }
  }
  // A tile in shared memory of which each lane gives the text an address of its own, {tile.ptr}: element (i, j, ...) lies in
  // the run of elements from the address that `lane` gives, `slot` elements behind it. Runs start at multiples of their size.
  //
  //   m.address(rows, 32, [](Var i, Var j) { return held(i % 16 + j / 8 * 16, j % 8); });      ldmatrix.x4: a row of 8 for each
  template <class F>
  void address(const Tensor& tile, int lanes, F&& map, Where w = Where::current()) {
    static_assert(detail::written_out_parameters<F>,
                  "address: write the parameters as Var, not auto, so that the rank is known");
    if constexpr (detail::written_out_parameters<F>) {
      constexpr std::size_t rank = detail::arity<decltype(&std::remove_cvref_t<F>::operator())>::value;
      const Indices at = detail::new_indices(nullptr, rank);
      const Held h = detail::call(map, at, std::make_index_sequence<rank>{});
      std::vector<Expr> vars;
      for (std::size_t k = 0; k < rank; ++k) vars.push_back(at[static_cast<int>(k)]);
      address_(tile, lanes, vars, h, w);
    }
  }
  void emit(Backend, const char* text, Where = Where::current());          // how a back end says it
  void asynchronous(Backend, const char* wait, Where = Where::current());  // complete once this text has waited for {token}
  void needs(const char* feature, Where = Where::current());               // of the target

 private:
  friend class Intrinsic;
  Tensor operand(const char*, Type, const Extent*, std::size_t rank, const Scope&, int access, Where);
  std::vector<Extent> extents_of(const Tensor&, std::size_t rank, Where);
  void means_(const Tensor& result, const Tensor& value, Where);
  void holds_(const Tensor&, int lanes, const std::vector<Expr>& vars, const Held&, Where);
  void address_(const Tensor&, int lanes, const std::vector<Expr>& vars, const Held&, Where);
  detail::Described* state_;
};

class Intrinsic {  // described and checked; what tensorize takes
 public:
  // Checks the whole and keeps it; what `intrinsic` does.
  static Intrinsic seal(const Meaning&);
  std::string_view name() const;
  const ir::Intrinsic& node() const { return *node_; }

 private:
  explicit Intrinsic(const ir::Intrinsic* node) : node_(node) {}
  const ir::Intrinsic* node_;  // lives as long as the process
};

template <class F>
Intrinsic intrinsic(const char* name, F&& describe, Where w = Where::current()) {
  Meaning m(name, w);
  describe(m);
  return Intrinsic::seal(m);
}

}  // namespace ashlar
