// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/ahead/compile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/emit.h>
#include <ashlar/ir/refusal.h>

#include "bench/gpu/ahead/case_file.h"
#include "bench/gpu/kernels.h"
#include "bench/gpu/lines.h"
#include "bench/gpu/rounding.h"
#include "fuzz/each.h"
#include "tests/generators/op_arguments.h"

namespace gpu_bench {

using namespace ashlar;
using interp::Arguments;
using interp::Array;

namespace {

constexpr std::size_t kMost = std::size_t{4} << 20;  // of an object, so that a few do not fill the archive

ahead::Bytes in_memory(const Array& a) { return a.type.is_packed() ? op_tests::packed_bytes(a) : a.bytes; }

// Finds the seed that a tensor was made of. Bytes that no seed gives are stored.
class Seeds {
 public:
  ahead::Source of(const Array& a, ahead::Type type, std::int64_t elements) {
    const ahead::Bytes bytes = in_memory(a);
    using Kind = ahead::Source::Kind;
    const auto gives = [&](const ahead::Source& s) { return generate(s, type, elements) == bytes; };
    ahead::Source fill{Kind::fill, bytes.empty() ? 0 : static_cast<std::uint64_t>(bytes.front())};
    if (gives(fill)) return fill;
    if (ahead::Source s{Kind::numbers, state_}; gives(s)) {
      for (std::int64_t n = 0; n < elements; ++n) state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      return s;
    }
    for (std::uint64_t seed = 1; seed <= 16; ++seed)
      for (Kind kind : {Kind::reals, Kind::whole, Kind::bits})
        if (ahead::Source s{kind, seed}; gives(s)) return s;
    return {Kind::stored, 0, bytes};
  }

 private:
  std::uint64_t state_ = 1;  // of op_tests::Numbers
};

// In the order of memory.
std::vector<float> bounds(const FreeSums& sums, std::size_t n, const Array& a) {
  std::vector<float> all(a.bytes.size() / static_cast<std::size_t>(a.type.bytes()));
  fuzz::each(a.shape, [&](const auto& at) {
    const auto most = static_cast<float>(sums.most(n, at));
    all[static_cast<std::size_t>(a.offset(at))] = std::nextafter(most, std::numeric_limits<float>::infinity());  // never less
  });
  return all;
}

std::vector<ahead::Argument> call(const Prepared& p, const Arguments& given) {
  Arguments meant = given;
  p.expect(meant);
  std::optional<FreeSums> sums;
  if (rounds_freely(p.kernel) && !p.whole && p.relative == 0) sums.emplace(p.kernel, given);
  Seeds seeds;
  std::vector<ahead::Argument> all;
  for (std::size_t n = 0; n < given.size(); ++n) {
    ahead::Argument& a = all.emplace_back();
    if (given[n].is_scalar) {
      a.scalar = true, a.value = ir::to_bits(given[n].scalar);
      continue;
    }
    const Array& array = given[n].array;
    const codegen::TensorType t = codegen::tensor_type(array.type);
    a.type = {t.code, t.bits};
    a.shape = array.shape, a.strides = array.strides;
    a.strides.resize(a.shape.size());
    if (array.strides.empty())
      for (std::size_t d = a.shape.size(); d-- > 0;)
        a.strides[d] = d + 1 == a.shape.size() ? 1 : a.strides[d + 1] * a.shape[d + 1];
    a.elements = static_cast<std::int64_t>(array.bytes.size()) / array.type.bytes();
    a.source = seeds.of(array, a.type, a.elements);
    ahead::Expected& e = a.expected;
    const bool output = p.kernel.arguments[n].kind == ir::ArgumentKind::output, real = array.type.is_float();
    e.bytes = in_memory(meant[n].array);
    if (output && real && p.relative != 0) {
      e.kind = ahead::Expected::Kind::near, e.relative = e.absolute = p.relative;
    } else if (output && real && sums) {
      e.kind = ahead::Expected::Kind::sums, e.last = FreeSums::last(array.type), e.most = bounds(*sums, n, array);
    } else
      e.hash = ahead::hash(e.bytes, a.type);
  }
  return all;
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    throw std::runtime_error(path + " cannot be written");
}

}  // namespace

void compile_ahead(const std::string& folder, const std::string& target, const std::vector<Case>& all, std::size_t part,
                   std::size_t parts) {
  for (std::size_t n = part; n < all.size(); n += parts) {
    ahead::Case c;
    c.name = all[n].name;
    const std::string stem = folder + "/" + std::to_string(n);
    try {
      Prepared p = all[n].prepare();
      c.symbol = p.kernel.name = codegen::c_identifier(p.kernel.name) + "_" + std::to_string(n);
      const std::string object =
          codegen::emit(p.kernel, Target::parse(target), codegen::Output::object, nullptr, {.line_tables = true});
      if (object.size() > kMost)
        refuse("a pack", "objects of at most " + std::to_string(kMost >> 20) + " MiB", std::to_string(object.size()) + " bytes",
               Where::current());
      write(stem + ".o", object);
      const auto begun = std::chrono::steady_clock::now();
      for (const Arguments& given : p.data) {
        if (p.growing && std::chrono::steady_clock::now() - begun > std::chrono::seconds(1))
          break;  // the larger ones take longer
        // no memory is given out of 0 bytes, and nothing is computed
        if (std::none_of(given.begin(), given.end(),
                         [](const interp::Actual& a) { return !a.is_scalar && a.array.bytes.empty(); }))
          c.calls.push_back(call(p, given));
      }
    } catch (const RefusalError& e) { c.refused = e.what(); }
    std::ofstream out(stem + ".case");
    ahead::write(out, c);
    if (!out.flush()) throw std::runtime_error(stem + ".case cannot be written");
    Line line("case", c.name);
    line.text("result", c.refused.empty() ? "compiled" : "refused").number("calls", static_cast<double>(c.calls.size()));
    line.print();
  }
}

void compile_kernels_ahead(const std::string& folder, const std::string& target, const std::vector<std::string>& names) {
  std::string suffix = "_of_" + codegen::c_identifier(target) + "_";
  for (std::size_t n = 0; n < names.size(); ++n) {
    ir::Kernel k = kernel_named(names[n], target);
    k.name = codegen::c_identifier(k.name) + suffix + std::to_string(n);
    write(folder + "/" + std::to_string(n) + ".o",
          codegen::emit(k, Target::parse(target), codegen::Output::object, nullptr, {.line_tables = true}));
    std::printf("%s\n", k.name.c_str());
  }
}

}  // namespace gpu_bench
