// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The texts by which back ends say an intrinsic, and the operands that they name in braces:
//
//   "call void @gemm(ptr {A.ptr}, i64 {A.stride0}, i32 {zero})"     {A.ptr} is {"A", "ptr"}, {zero} is {"zero", ""}
//
// "{{" and "}}" stand for braces. Of a fragment {A} are all registers of a lane, {A.2} is its third, {A.2-3} the list of two.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/device.h>

namespace ashlar::ir {

struct Placeholder {
  std::string name, field;
};
struct Placeholders {
  std::vector<Placeholder> list;
  std::string wrong;  // where a brace has no partner: the rest of the text from there
};
Placeholders placeholders_of(std::string_view text);
// The text with each placeholder replaced. InternalError where a brace has no partner.
std::string filled(std::string_view text, const std::function<std::string(const Placeholder&)>& value);

struct RegisterRange {  // of 32 bits each, both ends included
  std::int64_t first = 0, last = 0;
  bool single = false;  // {A.2}: the register, not a list of one
};
// The registers of a fragment that a placeholder's field names; empty if it names none.
std::optional<RegisterRange> registers_named(const Placeholder&);

// Does the text for a back end name the stride of a tile along this dimension? What it does not name must be dense.
bool names_stride(const Intrinsic&, const std::string& back_end, const IntrinsicOperand&, std::size_t dimension);

// Does the text for a back end have the tile's elements and not its address? {A.value} is what it holds before the call, in
// row-major order; {A.result}, which the text defines, what it holds behind it.
bool by_value(const Intrinsic&, const std::string& back_end, const IntrinsicOperand&);
bool has_result(const Intrinsic&, const std::string& back_end, const IntrinsicOperand&);

}  // namespace ashlar::ir
