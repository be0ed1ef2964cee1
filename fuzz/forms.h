#pragma once
// The forms of the language and of schedules that are drawn, by name: the report has a line for each, a 0 where none ran.
#include <algorithm>
#include <string>
#include <string_view>

#include <ashlar/ir/refusal.h>

namespace fuzz {

inline constexpr std::string_view all_forms[] = {
    // of the language (docs/language.md), in its order
    "fixed point", "function of a float", "saturate", "bitcast", "fp8", "packed", "select", "inferred domain", "number",
    "gather", "arithmetic of data as an index", "in_range", "tuple", "sum", "sum of products", "strict sum", "product",
    "minimum or maximum", "from", "where", "triangle", "bounds of a table", "argmax", "reducer of any order",
    "reducer that regroups", "reducer in order", "maximum and a sum by it", "terms by a maximum", "scatter", "puts",
    "scatter by a table", "einsum", "product of tiles", "chain of windows", "gradient", "recurrence",
    "stage inside a recurrence", "reduction in a step", "scan", "scan by a reducer", "boundary", "repeat", "mirror", "reflect",
    "wrap", "constant boundary", "transpose view", "slice view", "reverse view", "broadcast view", "reshape view", "constant",
    "C function", "stage of a C function",
    // of schedules
    "scalable lanes", "tile: element by element", "tile: sum", "tile: sum that goes on", "tile of any size", "fragment",
    "broken assumption", "injective scatter at once",
    // of tiles
    "mma of tiles", "reduction in a tile", "carried tile", "gathered tile", "tile of a view", "tiles stored between launches",
    "scan in a tile", "atomic update of a tile", "product of rows in lines", "hint"};

inline std::string known_form(std::string_view name) {
  if (std::find(std::begin(all_forms), std::end(all_forms), name) == std::end(all_forms))
    throw ashlar::InternalError("a form that the report does not list: " + std::string(name));
  return std::string(name);
}

}  // namespace fuzz
