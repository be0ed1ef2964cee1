// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Bytecode by hand, for tests: nearly all of it are variable numbers, so an operation is the list of its numbers.
//
//   Assembler a(4);  // 13.4
//   const auto f32x4 = a.tile(a.type({kF32}), {4});
//   a.function("kernel", {pointer}, {a.op({16, f32x4, a.constant({0, 0, 128, 63})}), a.op({92, 0, 0})});
//   Module::read(a.file());
#include <cstdint>
#include <string>
#include <vector>

#include "tests/tileir/executor/executor.h"

namespace ashlar::tileir_test {

using Numbers = std::vector<std::uint64_t>;
using Bytes = std::vector<std::uint8_t>;

enum TypeTag : std::uint64_t {
  kI1,
  kI8,
  kI16,
  kI32,
  kI64,
  kF16,
  kBf16,
  kF32,
  kTf32,
  kF64,
  kPointer = 12,
  kTile,
  kTensorView,
  kPartitionView,
  kFunction,
  kToken
};

inline void put(Bytes& to, std::uint64_t v) {
  for (; v >= 128; v >>= 7) to.push_back(static_cast<std::uint8_t>(v | 128));
  to.push_back(static_cast<std::uint8_t>(v));
}
inline void put(Bytes& to, const Numbers& numbers) {
  for (const std::uint64_t v : numbers) put(to, v);
}
inline void little(Bytes& to, std::uint64_t v, int bytes) {
  for (int n = 0; n < bytes; ++n) to.push_back(static_cast<std::uint8_t>(v >> (8 * n)));
}
inline void pad(Bytes& to, std::size_t align) {
  while (to.size() % align != 0) to.push_back(0xcb);
}
inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Assembler {
 public:
  explicit Assembler(int minor) : minor_(minor) {}

  std::uint64_t string(const std::string& s) { return add(strings_, Bytes(s.begin(), s.end())); }
  std::uint64_t constant(const Bytes& data) {
    Bytes b;
    put(b, data.size());
    return add(constants_, b + data);
  }
  std::uint64_t type(const Numbers& numbers, const Bytes& more = {}) {
    Bytes b;
    put(b, numbers);
    return add(types_, b + more);
  }
  static Bytes list(const std::vector<std::int64_t>& v, int bytes) {
    Bytes b;
    put(b, v.size());
    for (const std::int64_t e : v) little(b, static_cast<std::uint64_t>(e), bytes);
    return b;
  }
  std::uint64_t tile(std::uint64_t element, const std::vector<std::int64_t>& shape = {}) {
    return type({kTile, element}, list(shape, 8));
  }
  std::uint64_t pointer(std::uint64_t to) { return minor_ >= 4 ? type({kPointer, 0, to}) : type({kPointer, to}); }
  std::uint64_t tensor_view(std::uint64_t element, const std::vector<std::int64_t>& shape,
                            const std::vector<std::int64_t>& strides) {
    const Bytes rest = list(shape, 8) + list(strides, 8);
    return minor_ >= 4 ? type({kTensorView, 0, element}, rest) : type({kTensorView, element}, rest);
  }
  std::uint64_t partition_view(const std::vector<std::int64_t>& tile, std::uint64_t tensor,
                               const std::vector<std::int64_t>& map, int padding = -1) {
    Bytes t;
    put(t, tensor);
    Bytes end;
    if (minor_ < 3) end.push_back(padding >= 0);
    if (padding >= 0) end.push_back(static_cast<std::uint8_t>(padding));
    const Bytes rest = list(tile, 4) + t + list(map, 4) + end;
    return minor_ >= 3 ? type({kPartitionView, static_cast<std::uint64_t>(padding >= 0)}, rest) : type({kPartitionView}, rest);
  }

  static Bytes op(const Numbers& numbers, const Bytes& more = {}) {
    Bytes b;
    put(b, numbers);
    return b + more;
  }
  void function(const std::string& name, const Numbers& parameters, const std::vector<Bytes>& ops) {
    Numbers signature = {kFunction, parameters.size()};
    signature.insert(signature.end(), parameters.begin(), parameters.end());
    signature.push_back(0);
    Bytes code;
    for (const Bytes& o : ops) code = code + o;
    put(functions_, {string(name), type(signature), 2, 0});
    if (minor_ >= 5) put(functions_, {11, 0, 6, 0});  // hints, attributes of arguments
    put(functions_, code.size());
    functions_ = functions_ + code;
    ++count_;
  }
  void global(const std::string& name, std::uint64_t tile, const Bytes& data, bool constant) {
    put(globals_, {string(name), tile, this->constant(data), 16});
    if (minor_ >= 3) put(globals_, {0, constant});
    ++global_count_;
  }

  std::vector<std::byte> file() const {
    Bytes f = {0x7f, 'T', 'i', 'l', 'e', 'I', 'R', 0, 13, static_cast<std::uint8_t>(minor_), 0, 0};
    Bytes functions;
    put(functions, count_);
    section(f, 2, 8, functions + functions_);
    if (global_count_ > 0) {
      Bytes globals;
      put(globals, global_count_);
      section(f, 6, 1, globals + globals_);
    }
    section(f, 4, 8, table(constants_, 8));
    section(f, 5, 4, table(types_, 4));
    section(f, 1, 4, table(strings_, 4));
    f.push_back(0);
    const auto* first = reinterpret_cast<const std::byte*>(f.data());
    return {first, first + f.size()};
  }

 private:
  static std::uint64_t add(std::vector<Bytes>& table, const Bytes& b) {
    for (std::size_t n = 0; n < table.size(); ++n)
      if (table[n] == b) return n;
    table.push_back(b);
    return table.size() - 1;
  }
  static Bytes table(const std::vector<Bytes>& all, int bytes) {
    Bytes b, data;
    put(b, all.size());
    if (!all.empty()) pad(b, static_cast<std::size_t>(bytes));
    for (const Bytes& one : all) little(b, data.size(), bytes), data = data + one;
    return b + data;
  }
  static void section(Bytes& f, std::uint8_t id, std::uint64_t align, const Bytes& data) {
    f.push_back(static_cast<std::uint8_t>(align > 1 ? id | 0x80 : id));
    put(f, data.size());
    if (align > 1) put(f, align), pad(f, align);
    f = f + data;
  }

  int minor_;
  std::vector<Bytes> strings_, constants_, types_;
  Bytes functions_, globals_;
  std::uint64_t count_ = 0, global_count_ = 0;
};

}  // namespace ashlar::tileir_test
