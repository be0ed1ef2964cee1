// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/simplify/bits.h"

#include <algorithm>
#include <bit>

#include "analysis/simplify/engine.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr std::size_t constant_bit = BitSystem::most_inputs;

bool power_of_two(const Expr& e, std::size_t* log) {
  std::int64_t c = 0;
  if (!ir::is_int(e, &c) || c <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(c))) return false;
  *log = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(c)));
  return true;
}

void trim(BitSystem::Word& w) {
  while (!w.empty() && w.back().none()) w.pop_back();
}

BitSystem::Word constant(std::uint64_t v) {
  BitSystem::Word w;
  for (; v; v >>= 1) {
    w.emplace_back();
    w.back()[constant_bit] = v & 1;
  }
  return w;
}

}  // namespace

std::optional<BitSystem::Word> BitSystem::word(const Expr& e) {
  const ir::Node* n = e.node();
  if (!is_scalar_index(e)) return std::nullopt;
  std::size_t log = 0;
  switch (n->op) {
    case Op::int_const:
      if (n->i < 0) return std::nullopt;
      return constant(static_cast<std::uint64_t>(n->i));
    case Op::var: {
      auto it = std::find_if(inputs_.begin(), inputs_.end(), [&](const Input& i) { return i.var.node()->id == n->id; });
      if (it == inputs_.end()) {
        Engine engine(facts_);
        const Range r = engine.range(e);
        if (r.lo < 0) return std::nullopt;
        const std::size_t width =
            r.has_hi() ? static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(r.hi, 0))))
                       : 62;
        if (used_ + width > most_inputs) return std::nullopt;
        inputs_.push_back({e, used_, width});
        used_ += width;
        it = inputs_.end() - 1;
      }
      Word w(it->width);
      for (std::size_t k = 0; k < it->width; ++k) w[k][it->first + k] = true;
      return w;
    }
    case Op::mul: {
      const bool second = power_of_two(n->args[1], &log);
      if (!second && !power_of_two(n->args[0], &log)) return std::nullopt;
      auto w = word(n->args[second ? 0 : 1]);
      if (!w) return w;
      w->insert(w->begin(), log, Row{});
      trim(*w);
      return w;
    }
    case Op::shl:
    case Op::shr: {
      std::int64_t c = 0;
      if (!ir::is_int(n->args[1], &c) || c < 0 || c > 62) return std::nullopt;
      auto w = word(n->args[0]);
      if (!w) return w;
      if (n->op == Op::shl)
        w->insert(w->begin(), static_cast<std::size_t>(c), Row{});
      else
        w->erase(w->begin(), w->begin() + static_cast<std::ptrdiff_t>(std::min(w->size(), static_cast<std::size_t>(c))));
      trim(*w);
      return w;
    }
    case Op::div:
    case Op::mod: {
      if (!power_of_two(n->args[1], &log)) return std::nullopt;
      auto w = word(n->args[0]);
      if (!w) return w;
      const std::size_t cut = std::min(w->size(), log);
      if (n->op == Op::div)
        w->erase(w->begin(), w->begin() + static_cast<std::ptrdiff_t>(cut));
      else
        w->resize(cut);
      trim(*w);
      return w;
    }
    case Op::bit_xor:
    case Op::add:
    case Op::bit_or: {
      auto a = word(n->args[0]), b = word(n->args[1]);
      if (!a || !b) return std::nullopt;
      if (a->size() < b->size()) std::swap(a, b);
      for (std::size_t k = 0; k < b->size(); ++k) {
        if (n->op != Op::bit_xor && (*a)[k].any() && (*b)[k].any()) return std::nullopt;  // may carry
        (*a)[k] ^= (*b)[k];
      }
      trim(*a);
      return a;
    }
    case Op::bit_and: {
      std::int64_t mask = 0;
      const bool second = ir::is_int(n->args[1], &mask);
      if ((!second && !ir::is_int(n->args[0], &mask)) || mask < 0) return std::nullopt;
      auto w = word(n->args[second ? 0 : 1]);
      if (!w) return w;
      for (std::size_t k = 0; k < w->size(); ++k)
        if (k >= 63 || !(mask >> k & 1)) (*w)[k].reset();
      trim(*w);
      return w;
    }
    default:
      return std::nullopt;
  }
}

BitSystem::Row BitSystem::reduce(Row row) const {
  for (std::size_t k = 0; k < rows_.size(); ++k)
    if (row[leads_[k]]) row ^= rows_[k];
  return row;
}

bool BitSystem::add(Row row) {
  row = reduce(row);
  std::size_t lead = 0;
  while (lead < constant_bit && !row[lead]) ++lead;
  if (lead == constant_bit) {
    if (row[constant_bit]) consistent_ = false;  // 1 = 0
    return consistent_;
  }
  for (Row& other : rows_)
    if (other[lead]) other ^= row;
  rows_.push_back(row);
  leads_.push_back(lead);
  return true;
}

std::pair<std::size_t, std::size_t> BitSystem::bits_of(ir::Id var) const {
  for (const Input& i : inputs_)
    if (i.var.node()->id == var) return {i.first, i.width};
  return {0, 0};
}

std::optional<std::vector<BitSystem::Row>> BitSystem::differences(const Expr& a, const Expr& b) {
  const auto x = word(a), y = word(b);
  if (!x || !y) return std::nullopt;
  std::vector<Row> rows(std::max(x->size(), y->size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k < x->size()) rows[k] ^= (*x)[k];
    if (k < y->size()) rows[k] ^= (*y)[k];
  }
  return rows;
}

bool BitSystem::equate(const Expr& a, const Expr& b) {
  const auto rows = differences(a, b);
  if (!rows) return false;
  for (const Row& row : *rows) add(row);
  return true;
}

bool BitSystem::implies_equal(const Expr& a, const Expr& b) {
  if (!consistent_) return true;
  const auto rows = differences(a, b);
  return rows && std::none_of(rows->begin(), rows->end(), [&](const Row& row) { return reduce(row).any(); });
}

std::optional<Assignment> BitSystem::solution_with_difference(const Expr& a, const Expr& b) {
  if (!consistent_) return std::nullopt;
  const auto x = word(a), y = word(b);
  if (!x || !y) return std::nullopt;
  for (std::size_t k = 0; k < std::max(x->size(), y->size()); ++k) {
    Row row;
    if (k < x->size()) row ^= (*x)[k];
    if (k < y->size()) row ^= (*y)[k];
    if (!reduce(row).any()) continue;
    // This bit can be made to differ; free inputs are 0 otherwise, so the values stay small.
    BitSystem with = *this;
    row[constant_bit] = !row[constant_bit];
    if (!with.add(row)) continue;
    std::vector<bool> value(used_, false);
    for (std::size_t r = 0; r < with.rows_.size(); ++r) value[with.leads_[r]] = with.rows_[r][constant_bit];
    Assignment at;
    for (const Input& i : inputs_) {
      std::uint64_t v = 0;
      for (std::size_t j = 0; j < i.width; ++j) v |= static_cast<std::uint64_t>(value[i.first + j]) << j;
      at.push_back({i.var.node()->id, i.var.node()->name, static_cast<std::int64_t>(v)});
    }
    return at;
  }
  return std::nullopt;
}

}  // namespace ashlar::analysis
