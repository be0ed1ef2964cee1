// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/tile.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::ir::tile {

namespace {
template <class T>
const T& named(const std::vector<T>& list, Id id, const char* what) {
  for (const T& t : list)
    if (t.id == id) return t;
  throw InternalError(std::string("the tile form has no ") + what + " of number " + std::to_string(id));
}
}  // namespace

const Tensor& Kernel::tensor(Id id) const {
  for (const Tensor& t : constants)
    if (t.id == id) return t;
  return named(tensors, id, "tensor");
}
const View& Kernel::view(Id id) const { return named(views, id, "view"); }

bool has_operator(Op op, Type operand) {
  const bool wide_float = operand == f32 || operand == f64, integer = operand.is_data_integer(), flag = operand.is_bool();
  switch (op) {
    case Op::cast:
    case Op::bitcast:
    case Op::select:
      return true;
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::neg:
    case Op::abs:
    case Op::min:
    case Op::max:
      return wide_float || integer;
    case Op::mod:
    case Op::trunc_div:
    case Op::trunc_rem:
    case Op::bit_not:
    case Op::shl:
    case Op::shr:
      return integer;
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      return integer || flag;
    case Op::logic_and:
    case Op::logic_or:
    case Op::logic_not:
    case Op::rare:
      return flag;
    case Op::sqrt:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::isnan:
    case Op::isinf:
    case Op::copysign:
    case Op::fma:
      return wide_float;
    case Op::approximate_exp2:
      return operand == f32;
    default:
      return is_comparison(op) && (wide_float || integer || flag);
  }
}

}  // namespace ashlar::ir::tile
