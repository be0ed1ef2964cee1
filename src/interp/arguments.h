// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the three interpreters share: walking index boxes, binding symbols and scalars.
#include <span>
#include <string>

#include <ashlar/interp/interpreter.h>

#include <ashlar/interp/tape.h>

namespace ashlar::interp {

// Calls f for every index of the shape, in row-major order; once with an empty index for rank 0.
template <class F>
void for_each_index(std::span<const std::int64_t> shape, F&& f) {
  std::vector<std::int64_t> at(shape.size(), 0);
  for (std::int64_t e : shape)
    if (e <= 0) return;
  for (;;) {
    f(std::span<const std::int64_t>(at));
    std::size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

std::string text_of_index(std::span<const std::int64_t> index);  // "[3, -1]"

// The program that a call with these arguments takes: a variant, or the general one.
const ir::Program& taken(const ir::Program&, const Arguments&);

// A call whose outputs are all empty does nothing: boxes of intermediates may hold points that nobody asks for.
bool nothing_to_do(const std::vector<ir::Argument>&, const Arguments&);

// The array that a constant is.
Array constant_array(Type, const std::vector<Expr>& extents, const std::vector<std::byte>& data);

// Gives every symbol and scalar argument its value in `slots`.
void bind_values(const std::vector<ir::Argument>&, const std::map<Id, ir::ScalarArg>&,
                 const std::map<Id, std::int64_t>& symbols, const Arguments&, Slots&);

}  // namespace ashlar::interp
