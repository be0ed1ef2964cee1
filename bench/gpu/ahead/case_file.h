// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Cases that were compiled where LLVM is, for a machine without it: their inputs as seeds, and what the interpreter left as
// hashes or as bounds. A text of lines, in which numbers and words are separated by blanks:
//
//   case NAME                 begins one
//   refused SENTENCE          it cannot be compiled for this target
//   symbol transpose_12       the function in the table of the program
//   call                      begins the arguments of a call
//   scalar BITS
//   tensor CODE BITS RANK SHAPE... STRIDES... ELEMENTS SOURCE EXPECTED        see Source and Expected
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "bench/gpu/ahead/values.h"

namespace ahead {

// Where the elements of a tensor come from.
struct Source {
  enum class Kind {
    fill,     // every byte is `seed`
    reals,    // n / 4096 for n from -10000 to 10000; for integer types, whole numbers
    whole,    // whole numbers from -2 to 2, from 0 to 4 where unsigned
    bits,     // any bytes
    numbers,  // tests/generators/op_arguments.h, from the state `seed` on
    stored    // `bytes`
  };
  Kind kind = Kind::fill;
  std::uint64_t seed = 0;
  Bytes bytes = {};
};
Bytes generate(const Source&, Type, std::int64_t elements);

// What a tensor holds behind the call.
struct Expected {
  enum class Kind {
    hash,  // to the bit
    near,  // within max(absolute, relative * the larger magnitude) of `bytes`: a kernel with a bound of its own
    sums   // within most[n] + last * (the sum of the magnitudes) of `bytes`: sums that a device may round otherwise
  };
  Kind kind = Kind::hash;
  std::uint64_t hash = 0;
  double relative = 0, absolute = 0, last = 0;
  Bytes bytes = {};
  std::vector<float> most = {};
};
std::string difference(const Expected&, const Bytes& found, Type, std::int64_t elements);  // "": none

struct Argument {
  bool scalar = false;
  std::uint64_t value = 0;
  Type type = {};
  std::vector<std::int64_t> shape = {}, strides = {};
  std::int64_t elements = 0;  // those that lie in memory
  Source source = {};
  Expected expected = {};
};
struct Case {
  std::string name, refused, symbol;
  std::vector<std::vector<Argument>> calls;
};

void write(std::ostream&, const Case&);
std::vector<Case> read(std::istream&);  // throws std::runtime_error, with the line

}  // namespace ahead
