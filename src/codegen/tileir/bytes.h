// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Bytes of a module, in the encodings of the format: numbers of seven bits a byte, the least significant first; signed ones
// with the sign in the lowest bit; and numbers of fixed width, little endian.
#include <cstdint>
#include <string>

namespace ashlar::codegen::tileir {

class Bytes {
 public:
  void byte(std::uint64_t b) { data_ += static_cast<char>(b & 0xFF); }
  void number(std::uint64_t n) {  // 300 is 0xAC 0x02
    for (; n >= 0x80; n >>= 7) byte(n | 0x80);
    byte(n);
  }
  void fixed(std::uint64_t n, int bytes) {
    for (int i = 0; i < bytes; ++i) byte(n >> (8 * i));
  }
  void append(const std::string& s) { data_ += s; }
  void append(const Bytes& b) { data_ += b.data_; }
  void align(std::size_t to) {  // the value of the bytes between is the format's
    while (data_.size() % to) byte(0xCB);
  }
  std::size_t size() const { return data_.size(); }
  const std::string& data() const { return data_; }

 private:
  std::string data_;
};

}  // namespace ashlar::codegen::tileir
