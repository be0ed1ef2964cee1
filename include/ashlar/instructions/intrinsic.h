// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// User-defined intrinsics: the meaning of an instruction (or of a function, or an accelerator), and its text for each back end.
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
// The description is one value in the language: an elementwise value, or a sum that starts from 0 (write) or from the old value
// (accumulate). Each dimension of an operand is indexed by its own variable of the description. tensorize proves that a loop
// computes exactly this, and replaces the loop with the call. The interpreter runs the description.
//
// Texts name operands in braces: {a.ptr} is the address of a tile's first element, {a.stride0} the distance between its rows in
// elements, {name} a parameter or a Symbol. If the text does not name a stride, the tile must be dense and row-major in that
// dimension.
//
// An Intrinsic is always well formed: errors in the description are refused at their line, when it is created.
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ashlar/ir/scope.h>
#include <ashlar/lang/compute.h>

namespace ashlar {

enum class Backend { c, llvm, ptx, spirv };

struct Held {  // where an element of a fragment is: the lane that holds it, and the register of that lane
  Expr lane, slot;
};
inline Held held(Operand lane, Operand slot) { return {value_of(lane), value_of(slot)}; }

namespace ir {
struct Intrinsic;
}
namespace detail {
struct Described;  // the description so far
}

class Meaning {  // receives the description, inside intrinsic(name, lambda)
 public:
  Meaning(const char* name, Where);
  ~Meaning();
  Meaning(const Meaning&) = delete;
  Meaning& operator=(const Meaning&) = delete;

  // Declare an operand, in any scope. (In a scope of your own, the tile also has the scope's alignment.) Extents are numbers or
  // Symbols. A Symbol takes the extent that tensorize finds, within its facts.
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
  // A value that is the same for the whole tile; tensorize determines it.
  Expr parameter(const char* name, Type, Where = Where::current());

  // The description, for every element of the result.
  template <class F>
  void means(const Tensor& result, F&& value, Where w = Where::current()) {
    static_assert(detail::written_out_parameters<F>, "means: write the parameters as Var, not auto, so that the rank is known");
    if constexpr (detail::written_out_parameters<F>) {
      constexpr std::size_t rank = detail::arity<decltype(&std::remove_cvref_t<F>::operator())>::value;
      const std::vector<Extent> extents = extents_of(result, rank, w);
      means_(result, detail::build<rank>(result.name(w), extents.data(), value, w), w);
    }
  }
  // The map of a fragment: which of the `lanes` lanes holds element (i, j, ...), and in which register. Each register of a lane
  // holds one element, and each element has one place. Lanes that differ only in bits that never occur in the map hold copies:
  // with i % 8 * 4 of 32 lanes, four lanes hold each row.
  template <class F>
  void holds(const Tensor& fragment, int lanes, F&& map, Where w = Where::current()) {
    static_assert(detail::written_out_parameters<F>, "holds: write the parameters as Var, not auto, so that the rank is known");
    if constexpr (detail::written_out_parameters<F>) {
      constexpr std::size_t rank = detail::arity<decltype(&std::remove_cvref_t<F>::operator())>::value;
      const auto [vars, h] = held_at<rank>(map);
      holds_(fragment, lanes, vars, h, w);
    }
  }
  // A tile in shared memory for which each lane passes its own address, {tile.ptr}, to the text. Element (i, j, ...) lies
  // `slot` elements after the address that `lane` passes. Runs start at multiples of their size.
  //
  //   m.address(rows, 32, [](Var i, Var j) { return held(i % 16 + j / 8 * 16, j % 8); });      ldmatrix.x4: a row of 8 for each
  template <class F>
  void address(const Tensor& tile, int lanes, F&& map, Where w = Where::current()) {
    static_assert(detail::written_out_parameters<F>,
                  "address: write the parameters as Var, not auto, so that the rank is known");
    if constexpr (detail::written_out_parameters<F>) {
      constexpr std::size_t rank = detail::arity<decltype(&std::remove_cvref_t<F>::operator())>::value;
      const auto [vars, h] = held_at<rank>(map);
      address_(tile, lanes, vars, h, w);
    }
  }
  // For a sum of floats that is not a strict_sum: the hardware chooses the order of the additions and their rounding. Compiled
  // sums are then within a bound of the described ones (docs/ir.md, "Tensor cores"), but need not have the same bits.
  void rounds_freely(Where = Where::current());
  void emit(Backend, const char* text, Where = Where::current());          // the text for a back end
  void asynchronous(Backend, const char* wait, Where = Where::current());  // complete after this text has waited for {token}
  void needs(const char* feature, Where = Where::current());               // a feature that the target must have

 private:
  friend class Intrinsic;
  template <std::size_t rank, class F>  // fresh indices, and where the map holds the element at them
  static std::pair<std::vector<Expr>, Held> held_at(F& map) {
    const Indices at = detail::new_indices(nullptr, rank);
    const Held h = detail::call(map, at, std::make_index_sequence<rank>{});
    std::vector<Expr> vars;
    for (std::size_t k = 0; k < rank; ++k) vars.push_back(at[static_cast<int>(k)]);
    return {std::move(vars), h};
  }
  Tensor operand(const char*, Type, const Extent*, std::size_t rank, const Scope&, int access, Where);
  std::vector<Extent> extents_of(const Tensor&, std::size_t rank, Where);
  void means_(const Tensor& result, const Tensor& value, Where);
  void holds_(const Tensor&, int lanes, const std::vector<Expr>& vars, const Held&, Where);
  void address_(const Tensor&, int lanes, const std::vector<Expr>& vars, const Held&, Where);
  detail::Described* state_;
};

class Intrinsic {  // a complete description; the argument of tensorize
 public:
  // Checks and stores the description. `intrinsic` calls it.
  static Intrinsic seal(const Meaning&);
  std::string_view name() const;
  const ir::Intrinsic& node() const { return *node_; }

 private:
  explicit Intrinsic(const ir::Intrinsic* node) : node_(node) {}
  const ir::Intrinsic* node_;  // kept until the process ends
};

// Describes an intrinsic: the lambda states operands, meaning and texts. An error in the description is refused at its line.
template <class F>
Intrinsic intrinsic(const char* name, F&& describe, Where w = Where::current()) {
  Meaning m(name, w);
  describe(m);
  return Intrinsic::seal(m);
}

}  // namespace ashlar
