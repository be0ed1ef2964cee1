// gpu_elementwise: every type and kind of operand, rows that begin and end at multiples of 16 bytes and rows that do not, in
// the interpreter of launches with the search for races; its loops, what it refuses, and where the default schedule takes it.
// Rows that several stages of a launch read are copied into shared memory where they fit.
#include <ashlar/lang/build_program.h>
#include <ashlar/ir/print.h>
#include <ashlar/lower/lower.h>
#include <ashlar/ops.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules.h>

#include "tests/schedules/gpu_programs.h"
#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

const Target cuda = Target::parse("cuda-sm_80");

using Made = std::function<Tensor(DeviceMaker&)>;

DeviceProgram program(const Made& made, const std::vector<std::vector<Dims>>& shapes,
                      const schedules::GpuElementwiseOptions& o = {},
                      const std::function<std::vector<Dims>(const std::vector<Dims>&)>& results = {}) {
  return {"elementwise",
          [=](DeviceMaker& m) {
            const Tensor y = made(m);
            m.out(y);
            return Steps([=](Schedule& s) { schedules::gpu_elementwise(s, s[y], o); });
          },
          shapes, results};
}

void computes(const char* name, const DeviceProgram& p) {
  CAPTURE(name);
  const DeviceRuns r = runs_of(p, cuda);
  for (std::size_t k = 0; k < r.given.size(); ++k)
    for (const std::int64_t misaligned : {0, 8}) {
      CAPTURE(k);
      CAPTURE(misaligned);
      interp::Arguments found = r.given[k];
      interp::Options options;
      options.races = true, options.misaligned = misaligned;
      REQUIRE_NOTHROW(interp::run(r.kernel, found, options));
      CHECK(interp::difference(found.back().array, r.meant[k].back().array) == "");
    }
}

Made sum_of(Type type, const std::vector<Extent>& extents) {
  return [=](DeviceMaker& m) {
    const Tensor a = m.in("a", type, extents), b = m.in("b", type, extents);
    return ops::add(a, b);
  };
}

std::string chosen(const Made& made, const Target& target, std::string* program = nullptr) {
  lang::DefinitionScope scope;
  DeviceMaker m;
  const Tensor t = made(m), out = lang::make_output("out", t.type(), t.shape().extents());
  lang::bind(out, t);
  std::vector<lang::ArgumentRef> arguments;
  for (const DeviceMaker::Input& i : m.inputs) arguments.emplace_back(i.tensor);
  arguments.emplace_back(out);
  Schedule s(lang::build_program("chosen", arguments), target);
  const std::string text = schedule_by_default(s).text();
  if (program) *program = s.text();
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("gpu_elementwise computes what the algorithm says, whatever the rows") {
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const std::vector<std::vector<Dims>> matrices = {{{3, 520}, {3, 520}}, {{9, 37}, {9, 37}}, {{1, 1}, {1, 1}},
                                                   {{17, 64}, {17, 64}}, {{0, 4}, {0, 4}},   {{2, 0}, {2, 0}}};
  for (const Type type : {f32, bf16, f64, i8, i32}) computes(ir::text(type).c_str(), program(sum_of(type, {M, N}), matrices));
  computes("one dimension", program(sum_of(f32, {N}), {{{5000}, {5000}}, {{1023}, {1023}}, {{0}, {0}}}));
  computes("three", program(sum_of(f16, {K, M, N}), {{{2, 3, 72}, {2, 3, 72}}, {{2, 2, 7}, {2, 2, 7}}}));
  computes("numbers", program(sum_of(f32, {7, 24}), {{{7, 24}, {7, 24}}}));
  computes("few threads", program(sum_of(f32, {M, N}), matrices, {.threads = 64, .vectors = 1}));
  computes("halves of 16 bytes", program(sum_of(f16, {M, N}), matrices, {.lanes = 4}));
  computes("of a row and of a column",
           program(
               [&](DeviceMaker& m) {
                 const Tensor x = m.in("x", f32, {M, N}), row = m.in("row", f32, {N}), column = m.in("column", f32, {M});
                 return compute("y", {M, N}, [&](Var i, Var j) { return x(i, j) * row(j) + column(i); });
               },
               {{{5, 68}, {68}, {5}}, {{5, 67}, {67}, {5}}}));
  computes(
      "another type, and neighbors",
      program(
          [&](DeviceMaker& m) {
            const Tensor x = m.in("x", u8, {M, N + 1});
            return compute("y", {M, N}, [&](Var i, Var j) { return f32(x(i, j)) - f32(x(i, j + 1)); });
          },
          {{{5, 65}}, {{3, 34}}}, {}, [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][0], in[0][1] - 1}}; }));
}

TEST_CASE("gpu_elementwise: a call with aligned rows accesses vectors, another one elements that neighboring threads access") {
  const Symbol M{"M"}, N{"N"};
  const DeviceRuns r = runs_of(program(sum_of(f32, {M, N}), {}), cuda);
  const std::string text = ir::text(r.kernel);
  CHECK(has(text, "a_begin == 0"));
  CHECK(has(text, "N % 4 == 0"));
  CHECK(has(text, "result0[ramp4("));
  const auto* choice = r.kernel.body.front().as<ir::KIf>();
  REQUIRE(choice);
  ir::Kernel elements = r.kernel;
  elements.body = choice->otherwise;
  CHECK_FALSE(has(ir::text(elements), "ramp"));
}

TEST_CASE("gpu_elementwise: results without elements leave nothing to choose between") {
  CHECK(runs_of(program(sum_of(f32, {Symbol("M"), 0}), {}), cuda).kernel.body.empty());
}

TEST_CASE("gpu_elementwise: explain() counts the kernel that a call with such rows takes") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", f32, {M, N}), y = ops::relu(x), out = lang::make_output("y", f32, {M, N});
  lang::bind(out, y);
  Schedule s(lang::build_program("relu", {lang::ArgumentRef(x), lang::ArgumentRef(out)}), cuda);
  schedules::gpu_elementwise(s, s[y]);
  const std::string whole = explain(s, {{"M", 64}, {"N", 1024}}), odd = explain(s, {{"M", 64}, {"N", 1023}});
  CHECK(has(whole, "launch relu:"));
  CHECK_FALSE(has(whole, "launch relu_2:"));
  CHECK(has(whole, "4 elements at once"));
  CHECK(has(whole, "524.3 kB, each once; requested 524.3 kB"));
  CHECK_FALSE(has(odd, "launch relu:"));
  CHECK(has(odd, "launch relu_2:"));
}

TEST_CASE("gpu_elementwise: what is refused") {
  const Symbol M{"M"}, N{"N"};
  const auto refused = [](const Made& made, const schedules::GpuElementwiseOptions& o, const Target& target) {
    try {
      (void)runs_of(program(made, {}, o), target);
    } catch (const std::exception& e) {
      const std::string text = e.what(), before = "gpu_elementwise: expected ";
      const std::size_t at = text.find(before);
      return at == text.npos ? text : text.substr(at + before.size());
    }
    return std::string();
  };
  CHECK(refused(sum_of(f32, {M, N}), {}, Target::parse("vulkan")) == "a CUDA device, found the target vulkan");
  CHECK(refused(sum_of(f32, {M, 7}), {}, cuda) == "rows that are a multiple of 4 elements, found 7");
  CHECK(refused(sum_of(f32, {M, N}), {.lanes = 3}, cuda) == "lanes that are a power of two, found 3");
  CHECK(refused([&](DeviceMaker& m) { return ops::reduce_sum(m.in("x", f32, {M, N}), {.axes = {1}}).accumulated; }, {}, cuda) ==
        "a stage with dimensions that computes each point by itself, found reduce_sum, a reduction");
}

TEST_CASE("the default schedule on CUDA: accesses of 16 bytes, rows in shared memory, sums in two launches") {
  const Symbol M{"M"}, N{"N"};
  const Target vulkan = Target::parse("vulkan");
  CHECK(has(chosen(sum_of(f32, {M, N}), cuda), "(schedules::gpu_elementwise)"));
  CHECK(has(chosen(sum_of(f32, {M, N}), vulkan), "(schedules::gpu_points)"));
  const std::string odd = chosen(sum_of(f32, {M, 7}), cuda);
  CHECK(has(odd, "expects rows that are a multiple of 4 elements, found 7"));
  CHECK(has(odd, "(schedules::gpu_points)"));
  const Made softmax = [&](DeviceMaker& m) { return ops::softmax(m.in("x", f32, {M, N})).result; };
  std::string text;
  CHECK(has(chosen(softmax, cuda, &text), "a variant for N <= 8192, whose rows are read once, into shared memory"));
  CHECK(has(text, "x_cache: f32 in shared"));
  CHECK_FALSE(has(chosen(softmax, vulkan), "a variant"));
  const Made total = [&](DeviceMaker& m) { return ops::reduce_sum(m.in("x", f32, {N})).accumulated; };
  CHECK(has(chosen(total, cuda), "(schedules::gpu_reduction)"));
}

TEST_CASE("gpu_rows: rows that several stages read are read once, where their length is known and they fit shared memory") {
  const auto copies = [](Type type, std::int64_t length, const Target& target) {
    lang::DefinitionScope scope;
    const Symbol M{"M"};
    const Tensor x = lang::make_input("x", type, {M, length});
    const ops::Softmax y = ops::softmax(x);
    const Tensor out = lang::make_output("out", type, {M, length});
    lang::bind(out, y.result);
    Schedule s(lang::build_program("rows", {lang::ArgumentRef(x), lang::ArgumentRef(out)}), target);
    schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
    return has(s.text(), "x_cache");
  };
  CHECK(copies(f32, 8192, cuda));
  CHECK_FALSE(copies(f32, 8193, cuda));
  CHECK(copies(bf16, 16384, cuda));
  CHECK(copies(f32, 33, Target::parse("vulkan")));
  CHECK_FALSE(copies(f32, 8192, Target::parse("vulkan")));
}
