// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A place in the file that moves forward. Whatever is not there is an Error with the offset.
#include <span>
#include <string>

#include "tests/tileir/executor/executor.h"
#include "tests/tileir/executor/numbers.h"

namespace ashlar::tileir {

class Cursor {
 public:
  Cursor() = default;
  Cursor(std::span<const u8> file, std::size_t begin, std::size_t end) : file_(file), begin_(begin), at_(begin), end_(end) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return end_ - at_; }
  bool done() const { return at_ == end_; }
  [[noreturn]] void fail(const std::string& what) const { throw Error(what, at_); }
  [[noreturn]] static void fail(const std::string& what, std::size_t at) { throw Error(what, at); }

  u8 byte(const char* what) {
    if (done()) fail(std::string("expected ") + what + ", and the data ends");
    return file_[at_++];
  }
  u64 varint(const char* what) {
    u64 value = 0;
    for (int shift = 0;; shift += 7) {
      const u8 b = byte(what);
      if (shift == 63 && b > 1) fail(std::string(what) + ": a number of more than 64 bits");
      value |= static_cast<u64>(b & 0x7f) << shift;
      if ((b & 0x80) == 0) return value;
    }
  }
  i64 signed_varint(const char* what) {
    const u64 v = varint(what);
    return static_cast<i64>(v >> 1) ^ -static_cast<i64>(v & 1);
  }
  u64 little(int bytes, const char* what) {
    u64 value = 0;
    for (int n = 0; n < bytes; ++n) value |= static_cast<u64>(byte(what)) << (8 * n);
    return value;
  }
  // A count of things that take at least `each` bytes: more cannot be there.
  u64 count(const char* what, std::size_t each = 1) {
    const std::size_t start = at_;
    const u64 n = varint(what);
    if (n > left() / each)
      fail(std::string(what) + ": " + std::to_string(n) + " do not fit in " + std::to_string(left()) + " bytes", start);
    return n;
  }
  Cursor part(u64 bytes, const char* what) {
    if (bytes > left())
      fail(std::string(what) + ": " + std::to_string(bytes) + " bytes, and " + std::to_string(left()) + " are left");
    Cursor c(file_, at_, at_ + bytes);
    at_ += bytes;
    return c;
  }
  void pad(u64 align, std::size_t from) {               // to a multiple, counted from an offset of the file
    while ((at_ - from) % align != 0) byte("padding");  // 0xcb by custom, which nobody demands
  }
  void pad(u64 align) { pad(align, begin_); }
  std::string text() const {
    std::string s;
    for (std::size_t n = at_; n < end_; ++n) s += static_cast<char>(file_[n]);
    return s;
  }

 private:
  std::span<const u8> file_;
  std::size_t begin_ = 0, at_ = 0, end_ = 0;
};

}  // namespace ashlar::tileir
