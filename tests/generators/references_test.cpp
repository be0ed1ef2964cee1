// Parameters reach the operator: results of operators made by name beside plain loops. (The operators themselves: tests/ops.)
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/generators/op_run.h"

using namespace op_tests;
using ashlar::interp::Array;
using I = std::int64_t;
using At = std::vector<I>;

namespace {

// Array::real takes a list that is written out.
double at(const Array& a, const At& i) {
  REQUIRE(i.size() <= 5);
  return i.size() == 1   ? a.real({i[0]})
         : i.size() == 2 ? a.real({i[0], i[1]})
         : i.size() == 3 ? a.real({i[0], i[1], i[2]})
         : i.size() == 4 ? a.real({i[0], i[1], i[2], i[3]})
                         : a.real({i[0], i[1], i[2], i[3], i[4]});
}

// Every element of the first result is what `meant` says of it.
void expect(const Run& r, const At& shape, double bound, const std::function<double(const At&)>& meant) {
  CHECK(r.wrong == "");
  const Array& y = r.results.at(0);
  REQUIRE(y.shape == shape);
  At i(shape.size(), 0);
  const auto empty = std::any_of(shape.begin(), shape.end(), [](I n) { return n == 0; });
  for (bool more = !empty; more;) {
    const double expected = meant(i), found = at(y, i);
    if (!(std::fabs(found - expected) <= bound * std::max(1.0, std::fabs(expected)))) {
      std::string place;
      for (const I d : i) place += " " + std::to_string(d);
      FAIL_CHECK("at" << place << ": " << found << ", expected " << expected);
      return;
    }
    std::size_t d = shape.size();
    while (d-- > 0 && ++i[d] == shape[d]) i[d] = 0;
    more = d != SIZE_MAX;
  }
}

double relu(double v) { return v > 0 ? v : 0; }

}  // namespace

TEST_CASE("softmax along an axis in the middle, of scaled elements") {
  const Run r = run_op("softmax", {{"shape", "2,C,5"}, {"axis", "1"}, {"prologue", "scale:0.5"}, {"C", "7"}});
  expect(r, {2, 7, 5}, 1e-6, [&](const At& i) {
    double sum = 0;
    for (I c = 0; c < 7; ++c) sum += std::exp(0.5 * r.inputs[0].real({i[0], c, i[2]}));
    return std::exp(0.5 * at(r.inputs[0], i)) / sum;
  });
}

TEST_CASE("dense over rows of rows, with the weights of PyTorch") {
  const Run r = run_op("dense", {{"rows", "B,T"}, {"transpose_b", "true"}, {"prologue", "relu"}, {"epilogue", "tanh,residual"}},
                       {{"B", 2}, {"T", 3}, {"I", 6}, {"O", 4}});
  expect(r, {2, 3, 4}, 1e-5, [&](const At& i) {
    double sum = r.inputs[2].real({i[2]});
    for (I k = 0; k < 6; ++k) sum += relu(r.inputs[0].real({i[0], i[1], k})) * r.inputs[1].real({i[2], k});
    return std::tanh(sum) + at(r.inputs[3], i);
  });
}

TEST_CASE("a product of transposed matrices in batches that broadcast") {
  const Run r = run_op("batch_matmul",
                       {{"batch_a", "2,1"}, {"batch_b", "3"}, {"transpose_a", "true"}, {"type", "i16"}, {"epilogue", "neg"}},
                       {{"M", 4}, {"N", 5}, {"K", 3}});
  expect(r, {2, 3, 4, 5}, 0, [&](const At& i) {
    double sum = 0;
    for (I k = 0; k < 3; ++k) sum += r.inputs[0].real({i[0], 0, k, i[2]}) * r.inputs[1].real({i[1], k, i[3]});
    return -sum;
  });
}

TEST_CASE("a convolution of bytes in blocks of channels, from sums to bytes") {
  const Run r = run_op("conv2d",
                       {{"layout", "nchw4c"},
                        {"type", "i8"},
                        {"bias", "false"},
                        {"window", "3,1"},
                        {"stride", "2,1"},
                        {"padding", "1,0"},
                        {"epilogue", "requantize:u8"}},
                       {{"N", 1}, {"CB", 2}, {"OB", 2}, {"H", 5}, {"W", 3}});
  REQUIRE(r.inputs.size() == 3);  // x [1, 2, 5, 3, 4], w [2, 2, 3, 1, 4, 4], scale [2, 4]; zero is 1
  CHECK(r.inputs[2].shape == At{2, 4});
  expect(r, {1, 2, 3, 3, 4}, 0, [&](const At& i) {
    double sum = 0;
    for (I cb = 0; cb < 2; ++cb)
      for (I c = 0; c < 4; ++c)
        for (I p = 0; p < 3; ++p)
          if (const I row = 2 * i[2] + p - 1; row >= 0 && row < 5)
            sum += r.inputs[0].real({0, cb, row, i[3], c}) * r.inputs[1].real({i[1], cb, p, 0, c, i[4]});
    return std::clamp(std::nearbyint(sum * r.inputs[2].real({i[1], i[4]})) + 1, 0.0, 255.0);
  });
}

TEST_CASE("a depthwise convolution in nhwc with two results a channel") {
  const Run r = run_op("depthwise_conv2d",
                       {{"layout", "nhwc"}, {"multiplier", "2"}, {"window", "1,3"}, {"padding", "same"}, {"epilogue", "bias"}},
                       {{"N", 1}, {"C", 3}, {"H", 2}, {"W", 6}});
  REQUIRE(r.inputs.size() == 4);  // x [1, 2, 6, 3], w [1, 3, 3, 2], b [6], bias [6]
  expect(r, {1, 2, 6, 6}, 1e-5, [&](const At& i) {
    double sum = r.inputs[2].real({i[3]}) + r.inputs[3].real({i[3]});
    for (I q = 0; q < 3; ++q)
      if (const I column = i[2] + q - 1; column >= 0 && column < 6)
        sum += r.inputs[0].real({0, i[1], column, i[3] / 2}) * r.inputs[1].real({0, q, i[3] / 2, i[3] % 2});
    return sum;
  });
}

TEST_CASE("pooling with a stride, a padding and windows that hang over the end") {
  const Run r = run_op(
      "max_pool1d", {{"layout", "nwc"}, {"window", "3"}, {"stride", "2"}, {"padding", "1"}, {"ceil", "true"}, {"type", "i8"}},
      {{"N", 2}, {"C", 2}, {"W", 6}});
  expect(r, {2, 4, 2}, 0, [&](const At& i) {
    double most = -128;
    for (I q = 0; q < 3; ++q)
      if (const I place = 2 * i[1] + q - 1; place >= 0 && place < 6)
        most = std::max(most, r.inputs[0].real({i[0], place, i[2]}));
    return most;
  });
}

TEST_CASE("layer_norm over two dimensions with an epilogue") {
  const Run r =
      run_op("layer_norm",
             {{"shape", "M,3,4"}, {"dims", "2"}, {"shift", "false"}, {"epsilon", "0.5"}, {"epilogue", "residual"}}, {{"M", 2}});
  REQUIRE(r.inputs.size() == 3);  // x, scale [3, 4], residual
  expect(r, {2, 3, 4}, 1e-5, [&](const At& i) {
    double mean = 0, squares = 0;
    for (I k = 0; k < 12; ++k) mean += r.inputs[0].real({i[0], k / 4, k % 4}) / 12;
    for (I k = 0; k < 12; ++k) squares += std::pow(r.inputs[0].real({i[0], k / 4, k % 4}) - mean, 2) / 12;
    return (at(r.inputs[0], i) - mean) / std::sqrt(squares + 0.5) * r.inputs[1].real({i[1], i[2]}) + at(r.inputs[2], i);
  });
}

TEST_CASE("causal attention with queries that share a head") {
  const Run r = run_op("attention", {{"causal", "last"}, {"groups", "2"}, {"D", "4"}, {"E", "3"}, {"scale", "0.25"}},
                       {{"B", 1}, {"H", 2}, {"M", 3}, {"N", 5}});
  expect(r, {1, 4, 3, 3}, 1e-5, [&](const At& i) {
    double sum = 0, y = 0;
    for (I j = 0; j <= i[2] + 2; ++j) {
      double score = 0;
      for (I d = 0; d < 4; ++d) score += r.inputs[0].real({0, i[1], i[2], d}) * r.inputs[1].real({0, i[1] / 2, j, d});
      sum += std::exp(0.25 * score), y += std::exp(0.25 * score) * r.inputs[2].real({0, i[1] / 2, j, i[3]});
    }
    return y / sum;
  });
}

TEST_CASE("other shapes: reshape, transpose, gather, concat") {
  const Run shaped = run_op("reshape", {{"shape", "B,T,6"}, {"to", "B*T,2,3"}, {"type", "i32"}}, {{"B", 2}, {"T", 3}});
  expect(shaped, {6, 2, 3}, 0, [&](const At& i) { return shaped.inputs[0].real({i[0] / 3, i[0] % 3, i[1] * 3 + i[2]}); });
  const Run turned = run_op("transpose", {{"shape", "2,3,4"}, {"order", "2,0,1"}, {"type", "u8"}});
  expect(turned, {4, 2, 3}, 0, [&](const At& i) { return turned.inputs[0].real({i[1], i[2], i[0]}); });
  const Run joined = run_op("concat", {{"parts", "2"}, {"axis", "1"}, {"x0", "2,3"}, {"x1", "2,N"}}, {{"N", 4}});
  expect(joined, {2, 7}, 0,
         [&](const At& i) { return joined.inputs[i[1] < 3 ? 0 : 1].real({i[0], i[1] < 3 ? i[1] : i[1] - 3}); });
  const Run found = run_op("gather", {{"shape", "3,4"}, {"axis", "1"}, {"index", "K"}, {"index_type", "i32"}}, {{"K", 5}});
  expect(found, {3, 5}, 0, [&](const At& i) {
    const auto place = static_cast<I>(found.inputs[1].real({i[1]}));
    return found.inputs[0].real({i[0], std::clamp<I>(place < 0 ? place + 4 : place, 0, 3)});
  });
}
