// Every operator of ashlar-ops, and what its parameters make of it.
#include <doctest/doctest.h>

#include <string>

#include "generator/select.h"
#include "generator/tool.h"
#include "tests/generators/op_run.h"

using namespace op_tests;

TEST_CASE("every operator is made for this machine with its default parameters, and computes what the interpreter does") {
  const std::vector<std::string> names = op_names();
  CHECK(names.size() > 60);
  for (const std::string& name : names) {
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
      {"batch_matmul", {{"batch_a", "2,1"}, {"batch_b", "B"}, {"epilogue", "gelu"}}, {}},
      {"dense", {{"rows", "B,T"}, {"bias", "false"}, {"transpose_b", "true"}, {"epilogue", "silu,mul"}}, {}},
      {"gemv", {{"transpose_a", "true"}, {"epilogue", "bias"}}, {}},
      {"gemm", {{"c", "N"}, {"type", "f64"}}, {}},
  };
  for (const auto& run : runs) {
    std::string line = run.name;
    for (const auto& [key, value] : run.params) line += " " + key + "=" + value;
    CAPTURE(line);
    try {
      CHECK(run_op(run.name, run.params, run.sizes).wrong == "");
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

TEST_CASE("what parameters refuse, by the name of the parameter and with what it may be") {
  const struct {
    const char *name, *param, *said;
  } refusals[] = {
      {"matmul", "type=q8", "parameter type=q8: expected one of f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64"},
      {"matmul", "M=-3", "parameter M=-3: expected a number of at least 0, dynamic, or dynamic%N for multiples of N"},
      {"matmul", "m=3", "generator \"matmul\": unknown parameter \"m\"; valid: type, M, N, K, transpose_a"},
      {"softmax", "shape=m,n",
       "parameter shape=m,n: expected 1 to 8 extents, each a number or a name that begins with a capital letter"},
      {"softmax", "axis=2", "parameter axis=2: expected -2 to 1"},
      {"matmul", "epilogue=bias,rleu",
       "parameter epilogue=bias,rleu: expected a list of bias, residual, add, sub, mul, div, minimum, maximum, abs, "},
      {"matmul", "epilogue=relu:1", "parameter epilogue=relu:1: expected a list of "},
      {"softmax", "prologue=bias", "parameter prologue=bias: expected a list of abs, "},
      {"relu", "epilogue=isnan", "parameter epilogue=isnan: expected a list of "},
  };
  for (const auto& r : refusals) {
    CAPTURE(std::string(r.param));
    const auto result = ashlar::generator::run_tool(std::vector<std::string>{"-g", r.name, r.param, "-e", "header=nothing.h"});
    CHECK(result.code == 2);
    CHECK(result.err.substr(0, std::string(r.said).size()) == r.said);
  }
  const auto wrong_type = ashlar::generator::run_tool(
      std::vector<std::string>{"-g", "matmul", "type=i8", "epilogue=gelu", "-e", "header=nothing.h"});
  CHECK(wrong_type.err == "parameter epilogue=gelu: expected gelu on floating types, and here it meets i32\n");
}
