// Every operator of ashlar-ops, and what its parameters make of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "generator/select.h"
#include "generator/tool.h"
#include "tests/generators/sample.h"

using namespace op_tests;

TEST_CASE("operators are made for this machine with their default parameters, and compute what the interpreter does") {
  CHECK(op_names().size() > 220);
  for (const std::string& name : sampled_ops(3)) {
    CAPTURE(name);
    try {
      CHECK(run_op(name).wrong == "");
    } catch (const std::exception& e) { FAIL_CHECK(std::string(e.what())); }
  }
}

TEST_CASE("every operator is in a group and says what it computes") {
  for (const ashlar::detail::Registration* r : ashlar::generator::registered()) {
    CAPTURE(std::string(r->name));
    CHECK(std::string(r->group) != "");
    CHECK(std::string(r->doc) != "");
  }
}

TEST_CASE("parameters: shapes, types, layouts, fusion") {
  const struct {
    const char* name;
    Params params;
    Sizes sizes;
  } runs[] = {
      {"sqrt", {{"shape", "2,3,N"}, {"type", "f64"}}, {{"N", 4}}},
      {"relu", {{"type", "i8"}, {"epilogue", "neg,mul"}}, {}},
      {"gelu", {{"type", "bf16"}, {"shape", "M,64"}}, {{"M", 0}}},
      {"hard_tanh", {{"low", "-0.5"}, {"high", "0.25"}}, {{"N", 1}}},
      {"add", {{"a", "B,C,H,W"}, {"b", "C,1,1"}, {"epilogue", "relu"}}, {}},
      {"less", {{"type", "u8"}, {"b", "N"}}, {}},
      {"softmax", {{"M", "3"}, {"N", "65"}}, {}},
      {"softmax", {{"shape", "B,C,H,W"}, {"axis", "1"}, {"C", "5"}, {"prologue", "scale:0.5"}}, {}},
      {"log_softmax", {{"type", "f16"}, {"epilogue", "neg,residual"}}, {{"N", 33}}},
      {"matmul", {{"N", "64"}, {"K", "dynamic%16"}}, {{"M", 5}, {"K", 32}}},
      {"matmul", {{"type", "f16"}, {"transpose_b", "true"}, {"epilogue", "bias,leaky_relu:0.2,residual"}}, {}},
      {"matmul", {{"type", "i8"}, {"epilogue", "relu,add,add"}}, {{"M", 0}}},
      {"matmul", {{"type", "i8"}, {"transpose_b", "true"}, {"epilogue", "dequantize,bias,gelu,residual,cast:f16"}}, {}},
      {"matmul", {{"prologue", "relu,scale:0.5"}, {"N", "64"}, {"epilogue", "quantize:u8"}}, {}},
      {"matmul", {{"type", "bf16"}, {"epilogue", "tanh,cast:f32,residual"}, {"M", "7"}, {"N", "33"}, {"K", "12"}}, {}},
      {"quantized_matmul", {{"bias", "true"}, {"epilogue", "requantize:u8"}}, {}},
      {"quantized_conv2d", {{"layout", "nchw8c"}, {"epilogue", "bias,dequantize,relu,quantize:i8"}}, {}},
      {"quantized_depthwise_conv2d", {{"layout", "nhwc"}, {"padding", "same"}, {"epilogue", "dequantize,relu6"}}, {}},
      {"int4_gemv", {{"epilogue", "bias,silu"}}, {{"G", 2}}},
      {"conv2d", {{"layout", "nchw16c"}, {"type", "u8"}, {"bias", "false"}, {"epilogue", "requantize:u8"}}, {}},
      {"conv2d", {{"layout", "nhwc"}, {"type", "bf16"}, {"prologue", "relu"}, {"H", "7"}, {"W", "9"}, {"C", "5"}}, {}},
      {"attention", {{"epilogue", "residual"}, {"D", "8"}, {"E", "8"}, {"type", "f16"}}, {}},
      {"add", {{"type", "i32"}, {"epilogue", "dequantize,sigmoid,quantize:u8"}}, {}},
      {"batch_matmul", {{"batch_a", "2,1"}, {"batch_b", "B"}, {"epilogue", "gelu"}}, {}},
      {"dense", {{"rows", "B,T"}, {"bias", "false"}, {"transpose_b", "true"}, {"epilogue", "silu,mul"}}, {}},
      {"gemv", {{"transpose_a", "true"}, {"epilogue", "bias"}}, {}},
      {"gemm", {{"c", "N"}, {"type", "f64"}}, {}},
      {"layer_norm", {{"shape", "B,T,16"}, {"prologue", "relu"}, {"epilogue", "residual"}}, {}},
      {"layer_norm", {{"dims", "2"}, {"scale", "false"}, {"shift", "false"}}, {}},
      {"group_norm", {{"shape", "N,6,W"}, {"groups", "3"}, {"epilogue", "silu"}}, {}},
      {"reduce_sum",
       {{"shape", "A,B,C"}, {"axes", "0,-1"}, {"keep_dims", "true"}, {"prologue", "abs"}, {"epilogue", "sqrt"}},
       {}},
      {"reduce_max", {{"type", "u8"}, {"axes", "all"}}, {}},
      {"argmax", {{"axis", "0"}, {"values", "true"}, {"type", "i16"}}, {}},
      {"conv1d", {{"layout", "nwc"}, {"stride", "2"}, {"padding", "same"}, {"epilogue", "relu"}}, {}},
      {"conv2d",
       {{"layout", "nhwc"}, {"stride", "2,1"}, {"padding", "1:0,1"}, {"dilation", "1,2"}, {"epilogue", "bias,residual"}},
       {}},
      {"conv2d", {{"layout", "nchw8c"}, {"window", "1"}, {"bias", "true"}, {"epilogue", "relu6,bias"}}, {}},
      {"conv2d", {{"groups", "2"}, {"C", "4"}, {"O", "6"}, {"type", "f16"}, {"window", "3,1"}}, {}},
      {"conv2d", {{"type", "i8"}, {"bias", "false"}, {"epilogue", "relu"}}, {}},
      {"conv3d", {{"layout", "ndhwc"}, {"window", "2"}}, {}},
      {"depthwise_conv2d", {{"layout", "nhwc"}, {"multiplier", "2"}, {"padding", "same"}, {"epilogue", "relu6"}}, {}},
      {"depthwise_conv2d", {{"layout", "nchw4c"}}, {}},
      {"conv_transpose2d", {{"stride", "2"}, {"output_padding", "1,0"}, {"padding", "1"}}, {}},
      {"conv_transpose2d", {{"layout", "nhwc"}, {"bias", "false"}, {"epilogue", "tanh"}}, {}},
      {"conv2d_winograd", {{"tile", "2"}, {"padding", "1"}, {"epilogue", "relu"}}, {}},
      {"max_pool2d", {{"layout", "nhwc"}, {"window", "3"}, {"stride", "2"}, {"padding", "1"}, {"ceil", "true"}}, {}},
      {"average_pool2d", {{"count_padding", "false"}, {"padding", "1,0"}, {"epilogue", "scale:2"}}, {}},
      {"transpose", {{"shape", "A,B,C,D"}, {"order", "0,2,3,1"}, {"type", "u8"}}, {}},
      {"reshape", {{"shape", "B,T,H*8"}, {"to", "B*T,H,8"}, {"type", "u8"}}, {}},
      {"reshape", {{"shape", "6,M"}, {"to", "2,3*M"}}, {{"M", 0}}},
      {"reshape", {{"shape", ""}, {"to", "1,1"}}, {}},
      {"separable_filter", {{"down", "1"}, {"across", "-1,0,1"}, {"type", "f16"}}, {}},
      {"concat", {{"parts", "3"}, {"axis", "-1"}, {"x0", "M,2"}, {"x1", "M,N"}, {"x2", "M,3"}}, {}},
      {"pad", {{"mode", "reflect"}, {"padding", "2:1,0"}, {"type", "i16"}}, {}},
      {"pad", {{"value", "-1"}, {"type", "i8"}}, {}},
      {"split", {{"parts", "4"}, {"axis", "0"}, {"shape", "M,3"}, {"M", "dynamic%2"}}, {{"M", 8}}},
      {"gather", {{"axis", "1"}, {"index", "P,Q"}, {"index_type", "i32"}}, {}},
      {"gather", {{"index", "N,2"}}, {{"N", 3}}},
      {"separable_filter", {{"down", "0"}}, {}},
      {"scatter_elements", {{"mode", "add"}, {"type", "i32"}}, {}},
      {"sort", {{"descending", "true"}, {"axis", "0"}}, {}},
      {"sort", {{"by", "network"}, {"N", "21"}}, {}},
      {"topk", {{"k", "3"}, {"largest", "false"}, {"type", "i8"}}, {}},
      {"cumsum", {{"exclusive", "true"}, {"reverse", "true"}, {"axis", "0"}}, {}},
      {"resize", {{"mode", "cubic"}, {"shape", "N,H,W,C"}, {"axes", "1,2"}, {"to", "9,OW"}}, {}},
      {"attention", {{"causal", "last"}, {"groups", "2"}, {"mask", "added"}, {"D", "8"}, {"E", "4"}}, {}},
      {"attention_online", {{"window", "3"}, {"causal", "first"}, {"D", "8"}, {"E", "8"}}, {}},
      {"rotary_embedding", {{"interleaved", "true"}, {"D", "16"}, {"P", "4"}, {"heads", ""}}, {}},
      {"quantize", {{"per_channel", "true"}, {"type", "u8"}, {"from", "f16"}}, {}},
      {"quantized_matmul", {{"bias", "true"}, {"per_channel", "true"}, {"transpose_b", "true"}}, {}},
      {"quantized_conv2d", {{"layout", "nhwc"}, {"per_channel", "true"}, {"padding", "1"}}, {}},
      {"quantized_conv2d", {{"layout", "nchw4c"}, {"zeros", "false"}}, {}},
      {"int4_matmul", {{"w_type", "u4"}, {"zero", "true"}, {"group", "16"}, {"type", "bf16"}}, {{"G", 2}}},
      {"dropout", {{"p", "0.5"}, {"mask", "true"}, {"type", "f16"}}, {}},
      {"huber_loss", {{"delta", "0.5"}, {"reduction", "none"}}, {}},
      {"cross_entropy", {{"smoothing", "0.1"}, {"reduction", "sum"}}, {}},
      {"gaussian_blur", {{"border", "edge"}, {"sigma", "0.8"}, {"type", "f32"}}, {}},
      {"dilate", {{"radius", "2,0"}, {"shape", "N,H,W"}}, {}},
      {"warp_affine", {{"sampling", "nearest"}, {"repeat", "true"}, {"type", "f32"}}, {}},
  };
  std::size_t number = 0;
  for (const auto& run : runs) {
    std::string line = run.name;
    for (const auto& [key, value] : run.params) line += " " + key + "=" + value;
    CAPTURE(line);
    try {
      CHECK(run_op(run.name, run.params, run.sizes, sampled(number++, 3)).wrong == "");
    } catch (const std::exception& e) { FAIL_CHECK(std::string(e.what())); }
  }
}

TEST_CASE("an epilogue is what its links say, in their order") {
  const Run r = run_op("matmul", {{"epilogue", "bias,relu,residual,scale:2"}}, {{"M", 3}, {"N", 4}, {"K", 5}});
  REQUIRE(r.inputs.size() == 4);  // A, B, bias, residual
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 5; ++k) sum += r.inputs[0].real({i, k}) * r.inputs[1].real({k, j});
      const double biased = sum + r.inputs[2].real({j});
      const double y = ((biased > 0 ? biased : 0) + r.inputs[3].real({i, j})) * 2;
      CHECK(r.results[0].real({i, j}) == doctest::Approx(y));
    }
}

TEST_CASE("a convolution in nhwc, with a stride, a padding on one side and a chain") {
  const Run r = run_op(
      "conv2d", {{"layout", "nhwc"}, {"stride", "2,1"}, {"padding", "1:0,0"}, {"window", "3,2"}, {"epilogue", "relu,mul"}},
      {{"N", 2}, {"C", 3}, {"O", 4}, {"H", 6}, {"W", 5}});
  CHECK(r.wrong == "");
  REQUIRE(r.inputs.size() == 4);  // x [2, 6, 5, 3], w [3, 2, 3, 4], b [4], mul [2, 3, 4, 4]
  REQUIRE(r.results[0].shape == std::vector<std::int64_t>{2, 3, 4, 4});
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        for (std::int64_t o = 0; o < 4; ++o) {
          double sum = r.inputs[2].real({o});
          for (std::int64_t c = 0; c < 3; ++c)
            for (std::int64_t p = 0; p < 3; ++p)
              for (std::int64_t q = 0; q < 2; ++q)
                if (const std::int64_t row = 2 * i + p - 1; row >= 0 && row < 6)
                  sum += r.inputs[0].real({n, row, j + q, c}) * r.inputs[1].real({p, q, c, o});
          CHECK(r.results[0].real({n, i, j, o}) == doctest::Approx((sum > 0 ? sum : 0) * r.inputs[3].real({n, i, j, o})));
        }
}

TEST_CASE("what parameters refuse, by the name of the parameter and with what it may be") {
  const struct {
    const char *name, *param, *said;
  } refusals[] = {
      {"matmul", "type=q8", "parameter type=q8: expected one of f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64"},
      {"matmul", "M=-3", "parameter M=-3: expected a number of at least 0, dynamic, or dynamic%N for multiples of N"},
      {"matmul", "m=3", "generator \"matmul\": unknown parameter \"m\"; valid: schedule, type, M, N, K, transpose_a"},
      {"softmax", "shape=m,n",
       "parameter shape=m,n: expected 1 to 8 extents, each a number or a name that begins with a capital letter"},
      {"softmax", "axis=2", "parameter axis=2: expected -2 to 1"},
      {"matmul", "epilogue=bias,rleu",
       "parameter epilogue=bias,rleu: expected in the place of \"rleu\" one of abs, acos, add, "},
      {"matmul", "epilogue=relu:1", "parameter epilogue=relu:1: expected no numbers behind relu"},
      {"softmax", "prologue=bias", "parameter prologue=bias: expected in the place of \"bias\" one of abs, "},
      {"conv2d", "layout=nhcw", "parameter layout=nhcw: expected one of nchw, nhwc, nchw4c, nchw8c, nchw16c, nchw32c"},
      {"conv2d", "stride=0", "parameter stride=0: expected 2 numbers of at least 1, or one for all"},
      {"conv2d", "stride=1,2,3", "parameter stride=1,2,3: expected 2 numbers of at least 1, or one for all"},
      {"conv2d", "padding=valid",
       "parameter padding=valid: expected 2 numbers of at least 0, each may be BEFORE:AFTER, or one for all; or same"},
      {"conv2d", "groups=3",
       "parameter groups=3: expected 1, or what divides C and O, which are numbers then, in a layout without blocks"},
      {"max_pool2d", "padding=2", "parameter padding=2: expected less than the window, dilated"},
      {"reduce_sum", "axes=0,-2", "parameter axes=0,-2: expected all, or axes from -2 to 1, each once"},
      {"transpose", "order=0", "parameter order=0: expected all, or each of the 2 dimensions"},
      {"split", "shape=M,5", "parameter parts=2: expected what divides the extent of the axis, 5"},
      {"glu", "shape=M,5", "parameter shape=M,5: expected an even extent of the axis, found 5"},
      {"slice", "shape=M,3", "parameter end=4: expected from begin, 0, to the extent of the axis, 3"},
      {"group_norm", "groups=5", "parameter groups=5: expected what divides the channels of the shape, a number"},
      {"attention", "window=4", "parameter window=4: expected 0 where causal=no"},
      {"reshape", "to=M,2", "parameter to=M,2: expected a shape of M * N elements, as x has, found "},
      {"separable_filter", "down=1,2", "parameter down=1,2: expected an odd number of numbers"},
      {"topk", "N=2", "parameter N=2: expected a number from 4 to 2147483647, dynamic, or dynamic%N for multiples of N"},
      {"gather", "shape=0,4",
       "parameter shape=0,4: expected 1 to 8 extents, each a number of at least 1 or a name that begins with a capital letter"},
      {"rgb_to_grey", "shape=H,W,4", "parameter shape=H,W,4: expected 3 as the last extent"},
      {"add", "b=5,N",
       "parameter b=5,N: expected b whose dimension 0 has the extent M, as the others, or the number 1, found 5"},
      {"broadcast_to", "to=4", "parameter to=4: expected a shape of at least the rank of x, 2, found rank 1"},
      {"concat", "axis=1",
       "parameter axis=1: expected parts[1] whose dimension 0 has the extent M0, as parts[0] has, found M1"},
      {"reduce_var", "shape=", "parameter shape=: expected 1 to 8 extents, each a number"},
      {"harris", "H=3", "parameter H=3: expected a number of at least 4, "},
      {"conv1d", "W=1", "parameter window=3: expected extents that are not negative, found -1 in dimension 2"},
      {"im2col", "C=0", "parameter C=0: expected a number of at least 1, "},
      {"relu", "epilogue=isnan", "parameter epilogue=isnan: expected in the place of \"isnan\" one of "},
  };
  for (const auto& r : refusals) {
    CAPTURE(std::string(r.param));
    const auto result = ashlar::generator::run_tool(std::vector<std::string>{"-g", r.name, r.param, "-e", "header=nothing.h"});
    CHECK(result.code == 2);
    CHECK(result.err.substr(0, std::string(r.said).size()) == r.said);
  }
}

TEST_CASE("a link of a chain refuses what it does not take") {
  const struct {
    const char *name, *type, *chain, *said;
  } refusals[] = {
      {"matmul", "i8", "epilogue=gelu", "expected gelu on floating types, and here it meets i32"},
      {"matmul", "f16", "epilogue=requantize:i8", "expected requantize on i32, and here it meets f32"},
      {"matmul", "u8", "epilogue=relu,dequantize,requantize:u8", "expected requantize on i32, and here it meets f32"},
      {"matmul", "i64", "epilogue=quantize:i8", "expected quantize on floating types, and here it meets i64"},
      {"conv2d", "f32", "epilogue=dequantize", "expected dequantize on integers, and here it meets f32"},
      {"equal", "f32", "epilogue=mul", "expected mul on numbers, and here it meets bool"},
      {"softmax", "f32", "prologue=bitwise_not", "expected bitwise_not on integers, and here it meets f32"},
      {"matmul", "i8", "epilogue=quantize", "expected a type behind quantize, quantize:i8, one of i8, u8, i16, u16"},
      {"matmul", "i8", "epilogue=requantize:f32", "expected a type behind requantize, requantize:i8, one of "},
      {"matmul", "f32", "epilogue=leaky_relu:x", "expected a number behind leaky_relu, or none"},
      {"matmul", "f32", "epilogue=bias:1", "expected nothing behind bias"},
      {"matmul", "f32", "prologue=bias", "expected in the place of \"bias\" one of abs, acos, "},
  };
  for (const auto& r : refusals) {
    CAPTURE(std::string(r.chain));
    const auto result = ashlar::generator::run_tool(
        std::vector<std::string>{"-g", r.name, "type=" + std::string(r.type), r.chain, "-e", "header=nothing.h"});
    CHECK(result.code == 2);
    const std::string said = "parameter " + std::string(r.chain) + ": " + r.said;
    CHECK(result.err.substr(0, said.size()) == said);
  }
}

TEST_CASE("bytes by way of floats to bytes") {
  const Run r =
      run_op("matmul", {{"type", "i8"}, {"epilogue", "dequantize,bias,relu,quantize:u8"}}, {{"M", 3}, {"N", 4}, {"K", 5}});
  CHECK(r.wrong == "");
  REQUIRE(r.inputs.size() == 4);  // A, B, scale, bias; out_scale 0.75 and out_zero 1 are Scalars
  CHECK(r.inputs[2].shape == std::vector<std::int64_t>{4});
  CHECK(r.inputs[3].type == ashlar::f32);
  CHECK(r.results[0].type == ashlar::u8);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 5; ++k) sum += r.inputs[0].real({i, k}) * r.inputs[1].real({k, j});
      const double y = std::max(sum * r.inputs[2].real({j}) + r.inputs[3].real({j}), 0.0);
      CHECK(r.results[0].real({i, j}) == doctest::Approx(std::min(std::nearbyint(y / 0.75) + 1, 255.0)));
    }
}
