#include <ashlar/ir/recurrence.h>

#include <algorithm>

namespace ashlar::ir {
namespace {

// e = constant + sum of coefficient * var, with at most the one variable asked for; false where it is anything else.
bool read_linear(const Expr& e, Id id, std::int64_t factor, std::int64_t& constant, std::int64_t& coefficient) {
  const auto args = args_of(e);
  std::int64_t v = 0;
  switch (op_of(e)) {
    case Op::int_const:
      constant += factor * e.node()->i;
      return true;
    case Op::var:
      coefficient += factor;
      return e.node()->id == id;
    case Op::add:
      return read_linear(args[0], id, factor, constant, coefficient) && read_linear(args[1], id, factor, constant, coefficient);
    case Op::sub:
      return read_linear(args[0], id, factor, constant, coefficient) &&
             read_linear(args[1], id, -factor, constant, coefficient);
    case Op::neg:
      return read_linear(args[0], id, -factor, constant, coefficient);
    case Op::mul:
      for (std::size_t k = 0; k < 2; ++k)
        if (is_int(args[k], &v)) return read_linear(args[1 - k], id, factor * v, constant, coefficient);
      return false;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::int64_t> distance_before(const Expr& index, Id var) {
  std::int64_t constant = 0, coefficient = 0;
  if (!read_linear(index, var, 1, constant, coefficient) || coefficient != 1) return std::nullopt;
  return -constant;
}

std::vector<SelfRead> self_reads(const Stage& stage) {
  std::vector<SelfRead> result;
  if (!stage.is_recurrence()) return result;
  for (const Expr& value : stage.values)
    walk(value, [&](const Expr& e) {
      if (!is(e, Op::load) || std::find(stage.buffers.begin(), stage.buffers.end(), e.node()->id) == stage.buffers.end())
        return true;
      if (std::any_of(result.begin(), result.end(), [&](const SelfRead& r) { return same(r.load, e); })) return true;
      SelfRead r{e, {}};
      for (std::size_t d = 0; d < args_of(e).size(); ++d) {
        const IterVar& v = stage.iters.at(d);
        auto back = distance_before(args_of(e)[d], v.id);
        if (back && v.descending) back = -*back;
        r.back.push_back(back);
      }
      result.push_back(std::move(r));
      return true;
    });
  return result;
}

bool lies_before(const SelfRead& r, std::span<const std::size_t> dimensions) {
  for (std::size_t d : dimensions) {
    if (!r.back.at(d) || *r.back[d] < 0) return false;
    if (*r.back[d] > 0) return true;
  }
  return false;
}

std::vector<std::size_t> loop_order(const Stage& stage) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < stage.iters.size(); ++k) order.push_back(k);
  const auto reads = self_reads(stage);
  if (std::all_of(reads.begin(), reads.end(), [&](const SelfRead& r) { return lies_before(r, order); })) return order;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t k) {
    return std::find(stage.along.begin(), stage.along.end(), k) != stage.along.end();
  });
  std::copy(stage.along.begin(), stage.along.end(), order.begin());
  return order;
}

}  // namespace ashlar::ir
