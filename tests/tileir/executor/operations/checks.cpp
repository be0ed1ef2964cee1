// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// assume, assert, print; tokens and what else has no values.
#include <cstdio>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

std::vector<i64> index_of(std::size_t n, const std::vector<i64>& shape) {
  std::vector<i64> index(shape.size());
  i64 rest = static_cast<i64>(n);
  for (std::size_t d = shape.size(); d-- > 0;) index[d] = rest % shape[d], rest /= shape[d];
  return index;
}

std::string text(const std::vector<i64>& index) {
  std::string s = "[";
  for (std::size_t d = 0; d < index.size(); ++d) s += (d > 0 ? ", " : "") + std::to_string(index[d]);
  return s + "]";
}

// The element that stands for the group of element n: each index is rounded down to a multiple of the group's extent.
std::size_t first_of_group(std::size_t n, const std::vector<i64>& shape, const std::vector<i64>& group) {
  const std::vector<i64> index = index_of(n, shape);
  i64 at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d] / group[d] * group[d];
  return static_cast<std::size_t>(at);
}

void check(const Run& r, const Op& op, const Tile& t) {
  const Attribute& p = op.attributes[0];
  const std::vector<i64>& shape = t.type->shape;
  const bool pointer = t.type->element() == Kind::kPointer;
  const int bits = bits_of(t.type->element());
  const i64 step = pointer ? storage_bytes(t.type->of->of->kind) : 1;
  std::vector<i64> group(shape.size(), 1);
  if (p.tag == Attribute::kSameElements) group = p.numbers;
  if (p.tag == Attribute::kDivBy && p.first) group[static_cast<std::size_t>(*p.second)] = *p.first;
  for (std::size_t n = 0; n < t.size(); ++n) {
    const std::size_t first = first_of_group(n, shape, group);
    if (t.is_vague(n) || t.is_vague(first)) continue;
    const i64 v = signed_of(t.bits[n], bits), head = signed_of(t.bits[first], bits);
    bool good = true;
    if (p.tag == Attribute::kSameElements) good = v == head;
    if (p.tag == Attribute::kBounded) good = (!p.first || v >= *p.first) && (!p.second || v <= *p.second);
    if (p.tag == Attribute::kDivBy) {
      i64 place = 0;
      if (p.first) place = index_of(n, shape)[static_cast<std::size_t>(*p.second)] % *p.first;
      good = (static_cast<u64>(head) & (p.value - 1)) == 0 && v == head + place * step;
    }
    if (!good)
      r.fault(FaultKind::kAssumption, text_of(p) +
                                          " is not so: " + (shape.empty() ? "it" : "element " + text(index_of(n, shape))) +
                                          " is " + (pointer ? std::to_string(t.bits[n]) : std::to_string(v)));
  }
}

}  // namespace

void assume(Run& r, const Op& op) {
  const u32 from = op.operands[0][0];
  if (r.device.checks.assumptions) {
    if (r.values[from].tile)
      check(r, op, *r.values[from].tile);
    else if (r.values[from].view->base % op.attributes[0].value != 0)
      r.fault(FaultKind::kAssumption,
              text_of(op.attributes[0]) + " is not so: the base is " + std::to_string(r.values[from].view->base));
  }
  r.values[op.first_result] = r.values[from];
}

void assertion(Run& r, const Op& op) {
  const Tile& t = r.tile(op, 0);
  for (std::size_t n = 0; n < t.size(); ++n) {
    if (t.is_vague(n)) r.undefined(t, "an assertion");
    if (t.bits[n] == 0)
      r.fault(FaultKind::kAssert,
              op.attributes[0].text + (t.type->shape.empty() ? "" : ", element " + text(index_of(n, t.type->shape))));
  }
}

void tokens(Run& r, const Op& op) {  // a new token after all that it gets
  std::vector<u32> before;
  for (const auto& group : op.operands)
    for (const u32 v : group)
      if (r.values[v].token != 0) before.push_back(r.values[v].token);
  r.set_token(op, r.races.node(&op, Races::kWeak, std::move(before)));
}

void block_id(Run& r, const Op& op) {
  for (std::size_t d = 0; d < 3; ++d) {
    Tile out = make(*op.results[d], 1);
    out.bits[0] = op.info->code == Code::kGetTileBlockId ? r.block[d] : r.grid[d];
    r.set(op, std::move(out), d);
  }
}

namespace {

// One element by one format of printf, whose length modifiers the element's type decides.
std::string formatted(const std::string& format, u64 bits, Kind k) {
  const char last = format.back();
  std::string plain;
  for (const char c : format.substr(0, format.size() - 1))
    if (c != 'l' && c != 'h' && c != 'z' && c != 'j' && c != 't') plain += c;
  char s[400];
  if (is_float(k)) {
    std::snprintf(s, sizeof s, (plain + (std::string("aAeEfFgG").find(last) == std::string::npos ? 'g' : last)).c_str(),
                  number_of(bits, k));
  } else {
    const bool is_unsigned = last == 'u' || last == 'x' || last == 'X' || last == 'o' || k == Kind::kPointer;
    plain += std::string("ll") + (std::string("diuxXo").find(last) == std::string::npos ? 'd' : last);
    const long long v = is_unsigned      ? static_cast<long long>(bits)
                        : k == Kind::kI1 ? static_cast<long long>(bits)
                                         : signed_of(bits, bits_of(k));
    std::snprintf(s, sizeof s, plain.c_str(), v);
  }
  return s;
}

std::string elements(const std::string& format, const Tile& t, std::size_t dim, std::size_t& at) {
  if (dim == t.type->shape.size()) return formatted(format, t.bits[at++], t.type->element());
  std::string s = "[";
  for (i64 n = 0; n < t.type->shape[dim]; ++n) s += (n > 0 ? ", " : "") + elements(format, t, dim + 1, at);
  return s + "]";
}

}  // namespace

void print(Run& r, const Op& op) {
  const std::string& f = op.attributes[0].text;
  std::size_t argument = 0;
  for (std::size_t n = 0; n < f.size();) {
    if (f[n] != '%') {
      r.report.printed += f[n++];
      continue;
    }
    if (n + 1 < f.size() && f[n + 1] == '%') {
      r.report.printed += '%', n += 2;
      continue;
    }
    std::size_t end = n + 1;
    while (end < f.size() && std::string("+-# 0123456789.lhzjt").find(f[end]) != std::string::npos && end - n < 16) ++end;
    if (end == f.size() || argument >= op.operands[0].size())
      r.fault(FaultKind::kInvalid, "its format asks for more than it gets: " + f);
    const Tile& t = r.tile(op, 0, argument++);
    for (std::size_t k = 0; k < t.size(); ++k)
      if (t.is_vague(k)) r.undefined(t, "what is printed");
    std::size_t at = 0;
    r.report.printed += elements(f.substr(n, end + 1 - n), t, 0, at);
    n = end + 1;
  }
  if (argument != op.operands[0].size()) r.fault(FaultKind::kInvalid, "its format asks for less than it gets: " + f);
  if (!op.results.empty()) tokens(r, op);
}

}  // namespace ashlar::tileir
