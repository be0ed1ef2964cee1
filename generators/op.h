// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// An operator of the library as a generator. Its arguments depend on its parameters: of the inputs the shapes, of the results
// what the operator says of them, and how many there are on the epilogue. So the constructor of an Op does all that
// algorithm() does of an ordinary generator:
//
//   class Gemv : public Op {
//     Param<Type> type = type_param(Kind::floats);          // parameters first: what --help shows
//     ExtentParam M{"M"}, K{"K"};
//    public:
//     Gemv() {
//       const Tensor A = input("A", type, {M, K}), x = input("x", type, {K});
//       output("y", ops::gemv(A, x));                       // of the result's own type and shape
//     }
//   };
//   ASHLAR_GENERATOR(Gemv, "gemv", "products", "y(i) = sum over k of A(i, k) x(k)");
//
// Invariant: arguments are in the order of the C interface, inputs and scalars before results. The schedule is the one for
// programs that have none (schedules/by_default.h), as the parameter `schedule` says.
#include <deque>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ashlar.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ops.h>

namespace ashlar::generators {

enum class Scheduled { by_default, exact, none };

}  // namespace ashlar::generators

template <>
struct ashlar::ParamNames<ashlar::generators::Scheduled> {
  using Scheduled = generators::Scheduled;
  static constexpr NamedValue<Scheduled> values[] = {
      {"default", Scheduled::by_default}, {"exact", Scheduled::exact}, {"none", Scheduled::none}};
};

namespace ashlar::generators {

class Op : public Generator {
 public:
  void algorithm() final;
  void schedule(Schedule&) override;
  const Param<Scheduled> scheduled{"schedule", Scheduled::by_default,
                                   "exact: sums in the order of their terms; none: serial loops"};

 protected:
  Tensor input(const std::string& name, Type, const std::vector<Extent>& shape);
  Expr scalar(const std::string& name, Type);
  void output(const char* name, const Tensor& value);
  std::string free_name(const std::string& name) const;  // the name, or with the first number from 2 that no argument has
  // "N channels that `groups` divides": a Param is rejected where the condition does not hold.
  void require(bool holds, const char* param, const std::string& expected) {
    if (!holds) reject(param, expected);
  }
  // An operator, made(), of which one Param says what it may refuse: that is rejected then.
  template <class F>
  auto decided_by(const char* param, F made) {
    try {
      return made();
    } catch (const RefusalError& e) {
      reject(param, e.refusal.expected + ", found " + e.refusal.found);
      throw;  // and the rejection is what is reported
    }
  }

 private:
  std::vector<std::string> names_;  // of inputs and scalars
  std::deque<Input> inputs_;
  std::deque<Scalar> scalars_;
  std::deque<Output> outputs_;
  std::vector<Tensor> values_;  // of the outputs
};

// ---- registration ----------------------------------------------------------------------------------------------------------

// An operator that is a class of its own is registered by ASHLAR_GENERATOR(Gemv, "gemv", "products", "y = A x"). Operators
// that differ by a row of a table, with members name and formula, and are made as Unary(row):
//
//   const auto registered = register_rows<Unary, unary_rows>("elementwise");
template <class G, const auto& rows, std::size_t I>
Generator* make_row() {
  return new G(rows[I]);
}
template <std::size_t N>
struct RegisteredRows {
  detail::Registration of[N];
};
template <class G, const auto& rows, std::size_t... I>
RegisteredRows<sizeof...(I)> register_rows(const char* group, std::index_sequence<I...>, Where where) {
  return {{detail::Registration(rows[I].name, make_row<G, rows, I>, where, group, rows[I].formula)...}};
}
template <class G, const auto& rows>
auto register_rows(const char* group, Where where = Where::current()) {
  return register_rows<G, rows>(group, std::make_index_sequence<std::size(rows)>(), where);
}

}  // namespace ashlar::generators
