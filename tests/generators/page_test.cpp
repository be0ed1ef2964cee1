// docs/operators.md is what the generators of ashlar-ops say of themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <ashlar/ir/print.h>

#include "generator/select.h"
#include <ashlar/lang/definition.h>
#include "tests/golden.h"

using namespace ashlar;

namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : separator) + w;
  return text;
}

// In a cell of a table a bar ends the cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string argument(const lang::ArgumentRef& a) {
  if (a.tensor.empty()) return "`" + ir::text(a.scalar) + "` " + ir::text(a.scalar.type());
  const lang::TensorDef& t = lang::tensor(a.tensor.id(), Where{});
  std::vector<std::string> extents;
  for (const lang::Bounds& b : t.shape) extents.push_back(ir::text(b.end));
  return "`" + t.name + "` " + ir::text(t.type) + "[" + joined(extents, ", ") + "]";
}

// Parameters with their meaning, and the operators that have them.
struct Meanings {
  std::map<std::vector<std::string>, std::vector<std::string>> of;  // name, values, meaning: operators
  void add(const detail::ParamInfo& p, const std::string& op) {
    std::string values = p.choices.empty() ? p.range.empty() ? p.type : p.range : joined(p.choices, ", ");
    if (p.type == "list") values = "a list";
    if (p.type == "shape")  // "1 to 8 extents, each a number of at least 4 or a name ..."
      for (const char* more : {", each a number or", " or a name"})
        if (const std::size_t end = values.find(more); end != std::string::npos) values.resize(end);
    of[{p.name, values, p.doc}].push_back(op);
  }
  std::string text() const {
    std::string rows = "| parameter | values | meaning | operators |\n|---|---|---|---|\n";
    for (const auto& [key, ops] : of) {
      std::vector<std::string> named(ops.begin(),
                                     ops.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, ops.size())));
      const std::string more = ops.size() > 3 ? ", and " + std::to_string(ops.size() - 3) + " more" : "";
      rows += "| `" + key[0] + "` | " + cell(key[1]) + " | " + cell(key[2]) + " | " + joined(named, ", ") + more + " |\n";
    }
    return rows;
  }
};

const char* const beginning =
    R"(# The operators of ashlar-ops

This page lists every operator of the tool `ashlar-ops` (in CMake, `ashlar_add_op`).
[generators.md](generators.md#operators-by-name) says how to use them, and which types, shapes and chains are possible.

- *Computes* defines the outputs. `2 x y` is a product, `x'` the transposed x, `x^2` a power; in convolutions, `x * w` is
  the convolution of x with w. An index that is not written runs over all elements.
- *Arguments* are in the order of the C interface, with the types and shapes that the default values of the parameters
  give: `x` f32[M, N] → `y` f32[M]. Each name of an extent, such as M, is a parameter too: `M=64` fixes it, and
  `M=dynamic%16` promises a multiple of 16.
- *Parameters* are shown with their default values; [the last table](#parameters) says what they mean. All operators
  also have `schedule=default`. `epilogue=` and `prologue=` take chains of elementwise operators, and are empty by
  default.

`ashlar-ops -g NAME --help PARAMETER=VALUE...` prints the same for other values. A test writes this page
(`tests/generators/page_test.cpp`).
)";

std::string page() {
  std::map<std::string, std::string> groups;
  Meanings meanings;
  for (const detail::Registration* r : generator::registered()) {
    lang::DefinitionScope definitions;
    const generator::MadeGenerator made = generator::make_generator(r->make, r->name, Target::parse("x86-64"), {}, r->where);
    std::vector<std::string> inputs, outputs, params;
    for (const lang::ArgumentRef& a : made.record->arguments) {
      const bool output = !a.tensor.empty() && lang::tensor(a.tensor.id(), Where{}).kind == lang::TensorDef::Kind::output;
      (output ? outputs : inputs).push_back(argument(a));
    }
    for (const detail::ParamInfo& p : made.record->params) {
      if (p.type == "extent" || p.name == "schedule") continue;
      params.push_back("`" + p.name + "=" + p.fallback + "`");
      meanings.add(p, r->name);
    }
    groups[r->group] += std::string("| `") + r->name + "` | " + cell(r->doc) + " | " + cell(joined(inputs, ", ")) + " → " +
                        cell(joined(outputs, ", ")) + " | " + joined(params, " ") + " |\n";
  }
  std::string text = beginning, contents;
  for (const auto& [group, rows] : groups) contents += (contents.empty() ? "" : ", ") + ("[" + group + "](#" + group + ")");
  text += "\nGroups: " + contents + ".\n";
  for (const auto& [group, rows] : groups) {
    std::string title = group;
    title[0] = static_cast<char>(std::toupper(title[0]));
    text += "\n## " + title + "\n\n| operator | computes | arguments | parameters |\n|---|---|---|---|\n" + rows;
  }
  return text + "\n## Parameters\n\nParameters with the same name and meaning share a row.\n\n" + meanings.text();
}

}  // namespace

TEST_CASE("docs/operators.md is what the generators say of themselves") { CHECK(golden("../docs/operators.md", page()) == ""); }
