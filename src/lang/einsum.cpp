// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// einsum: the subscripts are read, and the stage that they mean is defined as a user would write it by hand.
#include <ashlar/lang/einsum.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::detail {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

const char* label_of(char letter) {  // lives as long as the process
  static const auto table = [] {
    std::array<std::array<char, 2>, 128> t{};
    for (std::size_t c = 0; c < t.size(); ++c) t[c] = {static_cast<char>(c), 0};
    return t;
  }();
  return table[static_cast<unsigned char>(letter)].data();
}

struct Notation {
  std::vector<std::string> operands;
  std::string result;
};

Notation read(const Subscripts& s) {
  if (!s.text) refuse("einsum", "subscripts such as \"ik,kj->ij\"", "none", s.where);
  const auto bad = [&](const std::string& found) {
    refuse("einsum", "a letter for each dimension, a comma between operands and -> before the result",
           found + " in \"" + s.text + "\"", s.where);
  };
  Notation n{{""}, ""};
  bool arrow = false;
  for (const char* c = s.text; *c; ++c) {
    if (*c == ' ') continue;
    if (c[0] == '-' && c[1] == '>' && !arrow) {
      arrow = true;
      ++c;
    } else if (*c == ',' && !arrow) {
      n.operands.emplace_back();
    } else if (is_letter(*c)) {
      (arrow ? n.result : n.operands.back()) += *c;
    } else {
      bad(c[0] == '.' ? "dots (dimensions without a name)" : std::string("'") + *c + "'");
    }
  }
  std::string all;
  for (const std::string& o : n.operands) all += o;
  if (!arrow) {
    for (char c : all)
      if (std::count(all.begin(), all.end(), c) == 1) n.result += c;
    std::sort(n.result.begin(), n.result.end());
  }
  for (char c : n.result) {
    if (all.find(c) == std::string::npos)
      refuse("einsum", "a result of letters of the operands", std::string(1, c) + ", which no operand has", s.where);
    if (std::count(n.result.begin(), n.result.end(), c) > 1)
      refuse("einsum", "a result that has each letter once", std::string(1, c) + " twice in \"" + n.result + "\"", s.where);
  }
  return n;
}

std::string said(const Extent& e) {
  const std::string end = ir::text(e.end());
  return e.begin().empty() || ir::is_int(e.begin(), std::int64_t{0}) ? end : "[" + ir::text(e.begin()) + ", " + end + ")";
}

// The extents of the letters, in the order in which they are met.
std::vector<std::pair<char, Extent>> extents_of(const Notation& n, std::initializer_list<const Tensor*> tensors, Where where) {
  std::vector<std::pair<char, Extent>> known;
  std::size_t k = 0;
  for (const Tensor* t : tensors) {
    const std::string& letters = n.operands[k++];
    if (t->rank(where) != static_cast<int>(letters.size()))
      refuse("einsum",
             "a letter for each dimension of " + std::string(t->name(where)) + ", of rank " + std::to_string(t->rank(where)),
             "\"" + letters + "\"", where);
    const Shape shape = t->shape(where);
    for (std::size_t d = 0; d < letters.size(); ++d) {
      const Extent& e = shape.extents()[d];
      const auto same = std::find_if(known.begin(), known.end(), [&](const auto& p) { return p.first == letters[d]; });
      if (same == known.end()) {
        known.emplace_back(letters[d], Extent(label_of(letters[d]), e));
        continue;
      }
      std::int64_t one = 0, other = 0;
      if (ir::is_int(same->second.end(), &one) && ir::is_int(e.end(), &other) && one != other)
        refuse("einsum", "one extent for " + std::string(1, letters[d]),
               said(same->second) + ", and " + said(e) + " in dimension " + std::to_string(d) + " of " + t->name(where), where);
    }
  }
  return known;
}

}  // namespace

Tensor einsum(const Type* as, const Subscripts& s, std::initializer_list<const Tensor*> tensors) {
  const Notation n = read(s);
  if (tensors.size() != n.operands.size())
    refuse("einsum", std::to_string(n.operands.size()) + " tensors, one for each operand of \"" + s.text + "\"",
           std::to_string(tensors.size()), s.where);
  const auto extents = extents_of(n, tensors, s.where);
  const auto extent = [&](char letter) -> const Extent& {
    return std::find_if(extents.begin(), extents.end(), [&](const auto& p) { return p.first == letter; })->second;
  };
  std::vector<Extent> shape;
  for (char c : n.result) shape.push_back(extent(c));
  const Shape result = Shape::of(std::move(shape), s.where);
  const Indices at = new_indices(result.extents().data(), result.extents().size());

  std::vector<std::pair<char, Expr>> index;
  std::vector<Axis> summed;
  for (std::size_t d = 0; d < n.result.size(); ++d) index.emplace_back(n.result[d], at[DimAt(static_cast<int>(d), s.where)]);
  for (const auto& [letter, e] : extents) {
    if (n.result.find(letter) != std::string::npos) continue;
    const Operand begin = e.begin().empty() ? Operand(0, s.where) : Operand(e.begin(), s.where);
    summed.emplace_back(label_of(letter), begin, Operand(e.end(), s.where), s.where);
    index.emplace_back(letter, summed.back());
  }

  Expr term;
  std::size_t k = 0;
  for (const Tensor* t : tensors) {
    Indices element;
    for (char c : n.operands[k++])
      Access::append(element, std::find_if(index.begin(), index.end(), [&](const auto& p) { return p.first == c; })->second);
    Expr value = (*t)(element, s.where);
    if (as) value = (*as)(Operand(value, s.where));
    term = term.empty() ? value : Operand(term, s.where) * Operand(value, s.where);
  }

  const Site site{"einsum", result.extents().data(), at, s.where};
  if (summed.empty()) return define(site, Operand(term, s.where));
  return define(site, sum(Operand(term, s.where), AxisList(std::move(summed)), s.where));
}

}  // namespace ashlar::detail
