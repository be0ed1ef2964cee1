// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/keywords.h>

#include <algorithm>
#include <iterator>

namespace ashlar::ir {

bool is_keyword(std::string_view word) {
  // clang-format off
  static constexpr std::string_view words[] = {  // sorted
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t",
      "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast",
      "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do",
      "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
      "float", "for", "friend", "goto", "if", "inline", "int", "linux",
      "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
      "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
      "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
      "try", "typedef", "typeid", "typename", "union", "unix", "unsigned", "using",
      "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"};
  // clang-format on
  return std::binary_search(std::begin(words), std::end(words), word);
}

}  // namespace ashlar::ir
