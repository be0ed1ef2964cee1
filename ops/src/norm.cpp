// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/norm.h>

#include <limits>

namespace ashlar::ops {

namespace {

struct AlongAxis {  // what a softmax reduces: x along one axis, summed in `wide`
  detail::Reducing r;
  Type type, wide;
};
AlongAxis along(const char* op, const Tensor& x, int axis, Where where) {
  detail::expect_float(op, "x", x, where);
  const Type type = x.type(where);
  return {detail::reducing(op, x, {axis}, false, where), type, accumulator(type)};
}

}  // namespace

Softmax softmax(const Tensor& x, int axis, Where where) {
  const auto [r, type, wide] = along("softmax", x, axis, where);
  Softmax s;
  s.maximum = reduce_max(x, {.axes = {axis}}, where);
  s.exp = compute(
      "softmax_exp", x.shape(where),
      [&](Indices i) { return ashlar::exp(wide(x(i, where)) - wide(s.maximum(r.point_of(i), where))); }, where);
  s.sum = compute("softmax_sum", r.result, [&](Indices i) { return sum(s.exp(r.element(i), where), r.list(), where); }, where);
  s.result = compute(
      "softmax", x.shape(where), [&](Indices i) { return type(s.exp(i, where) * (1 / s.sum(r.point_of(i), where))); }, where);
  return s;
}

OnlineSoftmax softmax_online(const Tensor& x, int axis, Where where) {
  const auto [r, type, wide] = along("softmax_online", x, axis, where);
  // {m, s}: the largest so far, and the sum of exp(x - m). A finite number below all others is the identity: the difference of
  // two infinities would be none.
  const auto online = reducer(
      "online", {wide, wide}, {wide == f64 ? -std::numeric_limits<double>::max() : -std::numeric_limits<float>::max(), 0},
      [](Values<2> a, Values<2> b) {
        const Expr less = ashlar::exp(-ashlar::abs(a[0] - b[0]));  // what the part with the smaller maximum is worth
        return values(max(a[0], b[0]), select(a[0] < b[0], a[1] * less + b[1], a[1] + b[1] * less));
      },
      Order::any, where);
  auto [m, s] = compute(
      "softmax_online", r.result,
      [&](Indices i) { return online(values(wide(x(r.element(i), where)), wide(1)), r.list(), where); }, where);
  const Tensor maximum = m, total = s;
  const Tensor result = compute(
      "softmax", x.shape(where),
      [&](Indices i) {
        const Indices row = r.point_of(i);
        return type(ashlar::exp(wide(x(i, where)) - maximum(row, where)) * (1 / total(row, where)));
      },
      where);
  return {maximum, total, result};
}

LogSoftmax log_softmax(const Tensor& x, int axis, Where where) {
  const auto [r, type, wide] = along("log_softmax", x, axis, where);
  LogSoftmax s;
  s.maximum = reduce_max(x, {.axes = {axis}}, where);
  s.sum = compute(
      "log_softmax_sum", r.result,
      [&](Indices i) { return sum(ashlar::exp(wide(x(r.element(i), where)) - wide(s.maximum(i, where))), r.list(), where); },
      where);
  s.result = compute(
      "log_softmax", x.shape(where),
      [&](Indices i) {
        const Indices row = r.point_of(i);
        return type(wide(x(i, where)) - wide(s.maximum(row, where)) - ashlar::log(s.sum(row, where)));
      },
      where);
  return s;
}

namespace {

using namespace detail;

// 1 / sqrt(variance + epsilon)
Tensor inverse_deviation(const Moments& m, const Expr& count, const Operand& epsilon, Where where) {
  return map("inverse", m.deviations, where, [&](const Operand& d) { return ashlar::rsqrt(d / count + epsilon); });
}
// (x - mean) inverse scale + shift, in the accumulator's type.
Expr normalized(const Expr& x, const Expr& mean, const Expr& inverse, const Expr& scale, const Expr& shift) {
  Expr e = (x - mean) * inverse;
  if (!scale.empty()) e = e * scale;
  if (!shift.empty()) e = e + shift;
  return e;
}
Expr optional(const Tensor& t, const Indices& i, Type wide, Where where) { return t.empty() ? Expr() : wide(t(i, where)); }
void expect_parameter(const char* op, const char* argument, const Tensor& t, Type type, const std::vector<Expr>& shape,
                      const char* what, Where where) {
  if (!t.empty()) expect_beside(op, argument, t, type, where), expect_shape(op, argument, t, shape, what, where);
}

struct Affine {
  const Tensor &scale, &shift;
  const Operand& epsilon;
};
// Each element of x beside the moments of its group of `count` elements: `group_of` gives the group of an index, `inner_of` the
// element of scale and shift.
template <class G, class I>
Normalized normalize(const char* op, const Tensor& x, const Moments& m, const Expr& count, const Affine& by, Where where,
                     const G& group_of, const I& inner_of) {
  const Type type = x.type(where), wide = accumulator(type);
  const Tensor inverse = inverse_deviation(m, wide(count), by.epsilon, where);
  const Tensor result = compute(
      op, x.shape(where),
      [&](Indices i) {
        const Indices group = group_of(i), inner = inner_of(i);
        return type(normalized(wide(x(i, where)), m.mean(group, where), inverse(group, where),
                               optional(by.scale, inner, wide, where), optional(by.shift, inner, wide, where)));
      },
      where);
  return {m.sum, m.mean, m.deviations, inverse, result, Tensor()};
}
Indices channel_of(const Indices& i) { return detail::point({i[1]}); }

}  // namespace

Normalized layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon, int dims, Where where) {
  detail::expect_float("layer_norm", "x", x, where);
  detail::expect(dims >= 1 && dims <= x.rank(where), "layer_norm",
                 "dims from 1 to the rank of x, " + std::to_string(x.rank(where)), std::to_string(dims), where);
  std::vector<int> axes;
  std::vector<Expr> inner;
  for (int d = x.rank(where) - dims; d < x.rank(where); ++d) axes.push_back(d), inner.push_back(x.extent(d, where));
  expect_parameter("layer_norm", "scale", scale, x.type(where), inner, "as x has", where);
  expect_parameter("layer_norm", "shift", shift, x.type(where), inner, "as x has", where);
  const auto r = detail::reducing("layer_norm", x, axes, false, where);
  const auto inner_of = [&](const Indices& i) {
    Indices in;
    for (const int d : axes) detail::Access::append(in, i[d]);
    return in;
  };
  return normalize(
      "layer_norm", x, detail::moments(x, r, where), r.count(), {scale, shift, epsilon}, where,
      [&](const Indices& i) { return r.point_of(i); }, inner_of);
}

RmsNorm rms_norm(const Tensor& x, const Tensor& scale, Operand epsilon, Where where) {
  detail::expect_float("rms_norm", "x", x, where);
  detail::expect_rank_from("rms_norm", "x", x, 1, where);
  const int last = x.rank(where) - 1;
  expect_parameter("rms_norm", "scale", scale, x.type(where), {x.extent(last, where)}, "as the last of x", where);
  const Type type = x.type(where), wide = accumulator(type);
  const Tensor total = reduce_sum_square(x, {.axes = {last}}, where).accumulated;
  const Tensor result = compute(
      "rms_norm", x.shape(where),
      [&](Indices i) {
        const Expr mean = total(i.drop(last), where) / wide(x.extent(last, where));
        Expr e = wide(x(i, where)) * ashlar::rsqrt(mean + epsilon);
        if (!scale.empty()) e = e * wide(scale(i[last]));
        return type(e);
      },
      where);
  return {total, result};
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& scale, const Tensor& shift,
                  Operand epsilon, int channel, Where where) {
  detail::expect_float("batch_norm", "x", x, where);
  const int c = detail::dimension("batch_norm", channel, x.rank(where), where);
  const std::vector<Expr> channels{x.extent(c, where)};
  for (const auto& [name, t] : {std::pair{"mean", &mean}, {"variance", &variance}}) {
    detail::expect_beside("batch_norm", name, *t, x.type(where), where);
    detail::expect_shape("batch_norm", name, *t, channels, "the channels of x", where);
  }
  expect_parameter("batch_norm", "scale", scale, x.type(where), channels, "the channels of x", where);
  expect_parameter("batch_norm", "shift", shift, x.type(where), channels, "the channels of x", where);
  const Type type = x.type(where), wide = accumulator(type);
  return compute(
      "batch_norm", x.shape(where),
      [&](Indices i) {
        const Indices at = detail::point({i[c]});
        return type(normalized(wide(x(i, where)), wide(mean(at, where)), ashlar::rsqrt(wide(variance(at, where)) + epsilon),
                               optional(scale, at, wide, where), optional(shift, at, wide, where)));
      },
      where);
}
Normalized batch_norm_training(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon, int channel,
                               Where where) {
  detail::expect_float("batch_norm_training", "x", x, where);
  const int c = detail::dimension("batch_norm_training", channel, x.rank(where), where);
  std::vector<int> axes;
  for (int d = 0; d < x.rank(where); ++d)
    if (d != c) axes.push_back(d);
  const auto r = detail::reducing("batch_norm_training", x, axes, false, where);
  const Moments m = detail::moments(x, r, where);
  const Tensor variance =
      detail::map("variance", m.deviations, where, [&](const Operand& d) { return d / accumulator(x.type(where))(r.count()); });
  return {m.sum,   m.mean, m.deviations, Tensor(), batch_norm(x, m.mean, variance, scale, shift, epsilon, channel, where),
          variance};
}

Normalized group_norm(const Tensor& x, int groups, const Tensor& scale, const Tensor& shift, Operand epsilon, Where where) {
  detail::expect_float("group_norm", "x", x, where);
  detail::expect_rank_from("group_norm", "x", x, 2, where);
  const Expr C = x.extent(1, where);
  const std::int64_t channels = detail::number_or(C, 0);
  detail::expect(groups > 0 && channels > 0 && channels % groups == 0, "group_norm",
                 "x with a number of channels that " + std::to_string(groups) + " groups divide", ir::text(C), where);
  expect_parameter("group_norm", "scale", scale, x.type(where), {C}, "the channels of x", where);
  expect_parameter("group_norm", "shift", shift, x.type(where), {C}, "the channels of x", where);
  const Type type = x.type(where), wide = accumulator(type);
  const std::int64_t each = channels / groups;
  std::vector<Axis> axes;
  axes.emplace_back("c", Operand(each, where), where);
  Expr count = ir::index(each);
  for (int d = 2; d < x.rank(where); ++d) {
    axes.emplace_back("k", Operand(x.extent(d, where), where), where);
    count = count * x.extent(d, where);
  }
  const Moments m = detail::moments(Shape::of({Extent(x.extent(0, where)), Extent(groups)}, where), axes, wide(count), where,
                                    [&](const Indices& i) {
                                      Indices at = detail::point({i[0], i[1] * each + axes[0]});
                                      for (std::size_t a = 1; a < axes.size(); ++a) detail::Access::append(at, axes[a]);
                                      return wide(x(at, where));
                                    });
  return normalize(
      "group_norm", x, m, count, {scale, shift, epsilon}, where,
      [&](const Indices& i) { return detail::point({i[0], i[1] / each}); }, channel_of);
}
Normalized instance_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon, Where where) {
  detail::expect_float("instance_norm", "x", x, where);
  detail::expect_rank_from("instance_norm", "x", x, 3, where);
  expect_parameter("instance_norm", "scale", scale, x.type(where), {x.extent(1, where)}, "the channels of x", where);
  expect_parameter("instance_norm", "shift", shift, x.type(where), {x.extent(1, where)}, "the channels of x", where);
  std::vector<int> axes;
  for (int d = 2; d < x.rank(where); ++d) axes.push_back(d);
  const auto r = detail::reducing("instance_norm", x, axes, false, where);
  return normalize(
      "instance_norm", x, detail::moments(x, r, where), r.count(), {scale, shift, epsilon}, where,
      [&](const Indices& i) { return r.point_of(i); }, channel_of);
}

}  // namespace ashlar::ops
