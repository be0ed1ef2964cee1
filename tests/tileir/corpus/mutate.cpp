// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads files with bytes changed at random: each must be read and printed, or refused with an Error. What was read is launched
// too: it ends, with a Fault or without.
//
//   tileir_mutate SEED COUNT FILE...
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "tests/tileir/executor/image.h"

namespace {

using namespace ashlar::tileir;

constexpr std::int64_t kMostElements = 1 << 14;  // of a tile that is computed with here

bool is_small(const Block& b) {
  return std::all_of(b.ops.begin(), b.ops.end(), [](const Op& op) {
    return std::all_of(op.results.begin(), op.results.end(),
                       [](const Type* t) { return !t->is_tile() || t->elements() <= kMostElements; }) &&
           std::all_of(op.regions.begin(), op.regions.end(), is_small);
  });
}

bool launch(const Module& m) {  // false: it was too large
  for (const Function& f : m.image().functions)
    if (!is_small(f.body)) return false;
  for (const Kernel& k : m.kernels()) {
    Device device;
    device.checks().most_operations = 300;
    const std::uint64_t memory = device.alloc(1 << 14);
    const std::vector<char> zeros(1 << 13);
    device.write(memory, zeros.data(), zeros.size());
    std::vector<Argument> arguments;
    for (const Parameter& p : k.parameters) {
      arguments.push_back(argument(p.type.find("ptr") != std::string::npos ? memory : std::uint64_t{8}));
      arguments.back().size = p.bytes;
    }
    try {
      device.run(m, k.name, {2, 1, 1}, arguments);
    } catch (const Fault&) {
    } catch (const Error&) {}
  }
  return true;
}

std::vector<char> changed(const std::vector<char>& file, std::mt19937_64& random) {
  std::vector<char> c = file;
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (std::size_t k = 0, most = 1 + any(3) / 2; k < most; ++k) {
    switch (any(16)) {
      case 0:
        c.resize(1 + any(c.size()));
        break;
      case 1:
        c.insert(c.begin() + static_cast<std::ptrdiff_t>(any(c.size())), static_cast<char>(random()));
        break;
      case 2:
        c[any(c.size())] = static_cast<char>(random());
        break;
      case 3:
      case 4:
        c[any(c.size())] ^= static_cast<char>(1 << any(8));
        break;
      default:
        c[any(c.size())] += static_cast<char>(any(2) == 0 ? 1 : -1);
        break;  // the next type, value, flag
    }
  }
  return c;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return std::cerr << "usage: tileir_mutate SEED COUNT FILE...\n", 2;
  std::mt19937_64 random(std::strtoull(words[1], nullptr, 10));
  const long changes = std::atol(words[2]);
  long launched = 0, large = 0, refused = 0;
  for (int n = 3; n < count; ++n) {
    std::ifstream in(words[n], std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(in), {}};
    if (file.empty()) return std::cerr << "cannot read " << words[n] << '\n', 2;
    for (long c = 0; c < changes; ++c) {
      const std::vector<char> bytes = changed(file, random);
      try {
        const Module m = Module::read(std::as_bytes(std::span(bytes)));
        m.text();
        ++(launch(m) ? launched : large);
      } catch (const Error&) { ++refused; }
    }
  }
  std::cout << refused << " refused, " << launched << " launched, " << large << " too large\n";
  return refused > 0 && launched > 0 ? 0 : 1;
}
