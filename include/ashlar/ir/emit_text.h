// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The texts of an intrinsic for back ends, and the operands that they name in braces:
//
//   "call void @gemm(ptr {A.ptr}, i64 {A.stride0}, i32 {zero})"     {A.ptr} is {"A", "ptr"}, {zero} is {"zero", ""}
//
// "{{" and "}}" stand for braces. For a fragment, {A} is the list of all registers of a lane, {A.2} the third register, and
// {A.2-3} a list of two.
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
  std::string wrong;  // if a brace has no partner: the text from there on
};
Placeholders placeholders_of(std::string_view text);
// The text with each placeholder replaced. InternalError if a brace has no partner.
std::string filled(std::string_view text, const std::function<std::string(const Placeholder&)>& value);

struct RegisterRange {  // of 32 bits each, both ends included
  std::int64_t first = 0, last = 0;
  bool single = false;  // {A.2}: the register, not a list of one
};
// The registers of a fragment that a placeholder's field names; empty if it names none.
std::optional<RegisterRange> registers_named(const Placeholder&);

// Whether the text for a back end names the stride of a tile along this dimension. If not, the tile must be dense there.
bool names_stride(const Intrinsic&, const std::string& back_end, const IntrinsicOperand&, std::size_t dimension);

// Whether the text for a back end takes the tile's elements instead of its address. {A.value} is its contents before the call,
// in row-major order; {A.result}, which the text defines, its contents after it.
bool by_value(const Intrinsic&, const std::string& back_end, const IntrinsicOperand&);
bool has_result(const Intrinsic&, const std::string& back_end, const IntrinsicOperand&);

}  // namespace ashlar::ir
