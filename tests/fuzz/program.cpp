// Random programs: stages over [H, W] that read one another at a point, around it, along a row or a column, or as a product.
#include <algorithm>
#include <sstream>

#include <ashlar/ashlar.h>

#include "tests/fuzz/case.h"

namespace fuzz {
namespace {

struct Random {  // splitmix64
  std::uint64_t state;
  std::uint32_t next() {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 16);
  }
  std::uint32_t below(std::uint32_t n) { return next() % n; }
};

constexpr Type types[] = {f32, i32, u8, f64, bf16, i16};
struct Facts {
  std::int64_t min, multiple_of;
};
constexpr Facts facts[] = {{0, 1}, {1, 1}, {16, 1}, {8, 8}};

// What a stage can read: its element type is the program's, its rank says how.
struct Source {
  Tensor tensor;
  enum class Shape { matrix, rows, columns } shape = Shape::matrix;  // [H, W], [H], [W]
  bool everywhere = false;                                           // inferred domain: may be read at any offset
  bool read = false;
};

}  // namespace

Type type_of(const Case& c) { return types[c.type % std::size(types)]; }

Case random_case(std::uint64_t seed) {
  Random r{seed};
  Case c;
  c.type = r.below(std::size(types));
  c.facts = r.below(std::size(facts));
  const Facts f = facts[c.facts];
  for (int k = 0; k < 3; ++k) {
    auto extent = [&] { return std::max<std::int64_t>(f.min, r.below(k == 0 ? 4 : 40)) / f.multiple_of * f.multiple_of; };
    const std::int64_t h = extent(), w = extent();
    c.shapes.push_back({h, w});
  }
  for (std::uint32_t n = 1 + r.below(4); n > 0; --n)
    c.stages.push_back({r.next() % 64, r.next() % 64, r.next() % 64, r.next() % 64});
  for (std::uint32_t n = 1 + r.below(10); n > 0; --n)
    c.steps.push_back({r.next() % 64, r.next() % 64, r.next() % 64, r.next() % 64});
  return c;
}

std::string text(const Case& c) {
  std::ostringstream s;
  s << "type " << c.type << " facts " << c.facts << " shapes";
  for (const auto& shape : c.shapes) s << " " << shape[0] << "x" << shape[1];
  for (const auto* list : {&c.stages, &c.steps}) {
    s << (list == &c.stages ? " stages" : " steps");
    for (const Entry& e : *list) s << " " << e[0] << "." << e[1] << "." << e[2] << "." << e[3];
  }
  return s.str();
}

Case parse(const std::string& line) {
  Case c;
  std::istringstream s(line);
  std::string word, section;
  while (s >> word) {
    if (word == "type" || word == "facts" || word == "shapes" || word == "stages" || word == "steps") {
      section = word;
      continue;
    }
    std::istringstream number(word);
    char dot = 0;
    if (section == "type")
      number >> c.type;
    else if (section == "facts")
      number >> c.facts;
    else if (section == "shapes")
      number >> c.shapes.emplace_back()[0] >> dot >> c.shapes.back()[1];
    else {
      Entry& e = (section == "stages" ? c.stages : c.steps).emplace_back();
      number >> e[0] >> dot >> e[1] >> dot >> e[2] >> dot >> e[3];
    }
    if (number.fail()) throw std::runtime_error("not a case: " + word);
  }
  return c;
}

lang::Built build(const Case& c) {
  const Type t = type_of(c);
  const Facts f = facts[c.facts % std::size(facts)];
  Symbol H{"H", {.min = f.min, .multiple_of = f.multiple_of}}, W{"W", {.min = f.min, .multiple_of = f.multiple_of}};
  const Tensor x = lang::make_input("x", t, {H, W}), B = lang::make_input("B", t, {W, W});
  std::vector<Source> all{{x}};
  auto matrix = [&](std::uint32_t n) -> Source& {  // the n-th, counted from the latest
    std::vector<Source*> found;
    for (Source& s : all)
      if (s.shape == Source::Shape::matrix) found.push_back(&s);
    Source& s = *found[found.size() - 1 - n % found.size()];
    s.read = true;
    return s;
  };
  int count = 0;
  for (const Entry& e : c.stages) {
    const std::string name = "s" + std::to_string(count++);
    const char* n = name.c_str();
    Source& a = matrix(e[1]);
    Source& b = matrix(e[2]);
    const int k = static_cast<int>(e[3] % 3) + 1;
    auto around = [&](const Source& s) { return s.everywhere ? s.tensor : boundary::repeat(s.tensor); };
    auto reduced = [&](const Expr& value, const Axis& axis) {
      return e[3] % 4 == 0 ? minimum(value, axis) : e[3] % 4 == 1 ? maximum(value, axis) : sum(value, axis);
    };
    Source made;
    switch (e[0] % 12) {
      case 0:
        made.tensor = compute(n, {H, W}, [&](Var i, Var j) { return a.tensor(i, j) + b.tensor(i, j) * k; });
        break;
      case 1: {
        const Tensor v = around(a);
        made.tensor = compute(n, {H, W}, [&](Var i, Var j) { return v(i, j - 1) + v(i, j) * k + v(i, j + 2); });
        break;
      }
      case 2: {
        const Tensor v = around(a);
        made.tensor = compute(n, {H, W}, [&](Var i, Var j) { return v(i - 1, j) + v(i, j) * k + v(i + 1, j); });
        break;
      }
      case 3: {  // its readers decide where
        const Tensor v = around(a);
        made.tensor = compute(n, [&](Var i, Var j) { return v(i, j) * k; });
        made.everywhere = true;
        break;
      }
      case 4:
      case 5: {
        Axis r{"r", W};
        made.tensor = compute(n, {H}, [&](Var i) { return reduced(a.tensor(i, r), r); });
        made.shape = Source::Shape::rows;
        break;
      }
      case 6: {
        Axis r{"r", H};
        made.tensor = compute(n, {W}, [&](Var j) { return reduced(a.tensor(r, j), r); });
        made.shape = Source::Shape::columns;
        break;
      }
      case 7:
      case 8: {
        Axis r{"r", W};
        made.tensor = compute(n, {H, W}, [&](Var i, Var j) { return sum(a.tensor(i, r) * B(r, j), r); });
        break;
      }
      case 9:
        made.tensor = compute(n, {H, W}, [&](Var i, Var j) { return select(i > 0, a.tensor(i - 1, j), b.tensor(i, j)); });
        break;
      case 10:
        made.tensor = compute(n, {H, W}, [&](Var i, Var j) { return a.tensor(H - 1 - i, j) - k; });
        break;
      default: {  // the part of a row up to here
        made.tensor = compute(n, {H, W}, [&](Var i, Var j) {
          Axis r{"r", j + 1};
          return sum(a.tensor(i, r), r);
        });
      }
    }
    // Vectors over rows and columns come back as matrices, so that there is always something two-dimensional to read.
    all.push_back(made);
    if (made.shape != Source::Shape::matrix) {
      all.back().read = true;
      const Tensor v = made.tensor;
      const bool rows = made.shape == Source::Shape::rows;
      const std::string wide = name + "w";
      Source back;
      const Tensor with = matrix(e[2]).tensor;
      back.tensor = compute(wide.c_str(), {H, W}, [&](Var i, Var j) { return with(i, j) - (rows ? v(i) : v(j)); });
      all.push_back(back);
    }
  }
  const Tensor y = lang::make_output("y", t, {H, W});
  lang::bind(y, compute("out", {H, W}, [&](Var i, Var j) {
               Expr total;
               for (const Source& s : all) {
                 if (s.read || s.shape != Source::Shape::matrix) continue;
                 total = total.empty() ? s.tensor(i, j) : total + s.tensor(i, j);
               }
               return total.empty() ? x(i, j) : total;
             }));
  return lang::build_program("fuzzed", {x, B, y});
}

}  // namespace fuzz
