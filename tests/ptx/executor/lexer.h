// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The words of PTX. A word holds dots and double colons: "ld.shared::cta.b32", "%tid.x", ".reg"; so an opcode is one.
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/executor/types.h"

namespace ashlar::ptx {

struct Token {
  enum Kind : u8 { kEnd, kWord, kInteger, kFloat32, kFloat64, kString, kPunctuation } kind = kEnd;
  std::string_view text;
  u64 value = 0;  // of a number: its bits
  int line = 0;
  u32 begin = 0, end = 0;
  bool is(char c) const { return kind == kPunctuation && text[0] == c; }
  bool word(std::string_view s) const { return kind == kWord && text == s; }
};

// Error on what is not a word of PTX. The views are into the text.
std::vector<Token> tokens_of(const std::string& text);

}  // namespace ashlar::ptx
