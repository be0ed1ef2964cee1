#include "bench/gpu/cases.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

#include <ashlar/ir/math.h>
#include <ashlar/ir/print.h>

#include "bench/gpu/kernels.h"
#include "bench/gpu/tile_kernels.h"
#include "tests/cuda/every_operator.h"
#include "tests/cuda/programs.h"
#include "tests/interp/launch_attention.h"
#include "tests/interp/launch_matmul.h"
#include "tests/interp/launch_small.h"
#include "tests/schedules/gpu_programs.h"
#include "tests/support/ampere_operators.h"
#include "tests/vulkan/programs.h"

namespace gpu_bench {

using namespace ashlar;
using interp::Arguments;

namespace {

void expand(std::vector<ir::KStmt>& list) {  // math functions as lowering leaves them
  for (ir::KStmt& s : list) {
    for_each_expr(s, [](Expr& e) { e = ir::expand_math(e); });
    for (auto* part : s.bodies()) expand(*part);
  }
}

using Shapes = std::vector<Sizes>;

const std::map<std::string, Shapes>& operator_shapes() {
  static const std::map<std::string, Shapes> all = {
      {"add_bias", {{{"M", 3}, {"N", 64}}, {{"M", 2}, {"N", 130}}, {{"M", 1}, {"N", 1}}}},
      {"transpose", {{{"M", 32}, {"N", 64}}, {{"M", 33}, {"N", 40}}, {{"M", 1}, {"N", 1}}}},
      {"product", {{{"M", 32}, {"N", 32}, {"K", 32}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}}},
      {"pipelined_product",
       {{{"M", 32}, {"N", 32}, {"K", 112}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}}},
      {"softmax_tree", {{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}}},
      {"row_sums", {{{"M", 4}, {"N", 64}}, {{"M", 5}, {"N", 100}}, {{"M", 1}, {"N", 1}}}},
      {"sum_tree", {{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}}},
      {"softmax", {{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}}},
      {"sum", {{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}}},
      {"conv3x3", {{{"H", 8}, {"W", 16}, {"C", 2}, {"D", 2}}, {{"H", 9}, {"W", 3}, {"C", 1}, {"D", 1}}}},
      {"attention", {{{"H", 2}, {"M", 2}, {"N", 70}}, {{"H", 1}, {"M", 1}, {"N", 1}}}},
      {"argmax", {{{"M", 3}, {"N", 200}}, {{"M", 1}, {"N", 1}}}},
      {"complex_product", {{{"M", 5}, {"N", 131}}, {{"M", 1}, {"N", 1}}}},
      {"online_attention", {{{"M", 40}, {"N", 21}}, {{"M", 1}, {"N", 1}}}},
      {"differences_by_size", {{{"N", 7}}, {{"N", 100}}, {{"N", 1}}}},
      {"turned", {{{"M", 64}}, {{"M", 4}}}},
      {"ring_of_warps", {{{"M", 64}, {"K", 9}}, {{"M", 4}, {"K", 1}}}},
      {"recurrence_of_rows", {{{"R", 67}, {"T", 40}}, {{"R", 1}, {"T", 1}}}},
      {"recurrence_of_columns", {{{"R", 40}, {"T", 67}}, {{"R", 1}, {"T", 1}}}},
      {"scans_in_shared_memory", {{{"R", 33}}, {{"R", 1}}}},
      {"scans_in_blocks", {{{"R", 3}, {"T", 301}}, {{"R", 1}, {"T", 1}}}},
      {"counts_of_blocks", {{{"H", 9}, {"W", 70}}, {{"H", 1}, {"W", 1}}}},
      {"counts_in_shared_memory", {{{"H", 9}, {"W", 70}}, {{"H", 1}, {"W", 1}}}}};
  return all;
}

const Shapes& shapes_of(const std::string& name) {
  const auto known = operator_shapes().find(name);
  if (known == operator_shapes().end()) throw std::runtime_error("no shapes to run the operator " + name + " at");
  return known->second;
}

using Kernel = ir::Kernel;

class List {
 public:
  void add(const std::string& name, std::function<Kernel()> make, const Shapes& shapes, Data data = Data::reals,
           double relative = 0) {
    all.push_back({name, [=] {
                     Prepared p{make(), relative, {}, false, data == Data::integers};
                     expand(p.kernel.body);
                     for (const auto& s : shapes) p.data.push_back(arguments_of(p.kernel, s, data));
                     return p;
                   }});
  }
  std::vector<Case> all;
};

// Every operation on every type, a few in a kernel.
void operations(List& list) {
  for (Type t : {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2}) {
    std::size_t number = 0;
    for (const Kernel& k : cuda::every_operator(t))
      list.add("operations on " + ir::text(t) + ", " + std::to_string(++number), [k] { return k; }, {{}}, Data::bits);
  }
}

void by_hand(List& list, const std::string& target) {
  const Shapes matrix = {{{"M", 5}, {"N", 8}}, {{"M", 40}, {"N", 64}}};
  list.add("elementwise", [] { return programs::elementwise().k; }, matrix);
  list.add("elementwise, vectors", [] { return programs::elementwise_vectors().k; }, matrix);
  list.add("large_sum", [] { return programs::large_sum(f32).k; }, {{{"N", 1}}, {{"N", 5000}}});
  list.add("transposition", [] { return programs::transposition().k; }, matrix);
  list.add("matmul by hand", [] { return programs::matmul().k; }, {{{"M", 45}, {"K", 19}, {"N", 70}}});
  list.add("row_softmax", [] { return programs::row_softmax().k; }, matrix);
  list.add("warp_reversed", [] { return programs::warp_reversed(f32, 32).k; }, {{{"M", 9}}});
  for (Type t : {f32, i64, i8, f16})
    list.add("warp_sums of " + ir::text(t), [t] { return programs::warp_sums(t, 32).k; }, {{{"M", 9}}});
  list.add("block_sum", [] { return launches::small::block_sum().k; }, {{{"M", 6}, {"N", 600}}, {{"M", 67}, {"N", 45}}});
  for (auto form : {launches::small::Tile::padded, launches::small::Tile::swizzled})
    list.add(std::string("transposition by hand, ") + (form == launches::small::Tile::padded ? "padded" : "swizzled"),
             [form] { return launches::small::transposition(form).k; }, {{{"M", 67}, {"N", 45}}});
  list.add(
      "a tile of attention", [] { return launches::fragments::attention().k; },
      {{{"S", 64}, {"T", 160}}, {{"S", 40}, {"T", 75}}}, Data::reals, 0.02);
  if (target == "cuda-sm_90a")
    list.add(
        "persistent product", [] { return launches::persistent::matmul().k; },
        {{{"M", 128}, {"N", 256}, {"K", 640}}, {{"M", 200}, {"N", 264}, {"K", 200}}, {{"M", 40}, {"N", 24}, {"K", 8}}},
        Data::integers);
}

// Whole numbers of both signs and zeros times whole numbers, infinities and NaNs.
Prepared skipping_zeros(const std::string& target, Type half) {
  const ampere_operators::Product op(Target::parse(target), {.a = f32, .b = half, .skips = true});
  Prepared p{cuda::lowered(op.s), 0, {}, false, true};
  p.data.push_back(arguments_of(p.kernel, {{"M", 64}, {"N", 32}, {"K", 128}}, Data::integers));
  interp::Array& b = p.data.front()[1].array;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [j, k, v] : {std::tuple{3, 5, infinity},
                                {4, 90, -infinity},
                                {4, 17, infinity},
                                {9, 127, infinity},
                                {12, 0, std::numeric_limits<double>::quiet_NaN()},
                                {31, 64, -infinity},
                                {31, 65, -infinity}})
    b.set(std::array<std::int64_t, 2>{j, k}, ir::float_value(half, v));
  return p;
}

void by_instructions(List& list, const std::string& target) {
  for (Type half : {f16, bf16})
    for (bool matrices : {false, true})
      for (int stages : {2, 3})
        list.add(
            "product by a user's instruction, " + ir::text(half) + (matrices ? ", ldmatrix, " : ", ") + std::to_string(stages),
            [=] { return mma_product(target, {.half = half, .stages = stages, .matrices = matrices}); },
            {{{"M", 64}, {"N", 64}, {"K", 160}}, {{"M", 80}, {"N", 72}, {"K", 48}}, {{"M", 16}, {"N", 8}, {"K", 16}}},
            Data::integers);
  for (const Type half : {f16, bf16})
    list.all.push_back({"product that skips zeros, " + ir::text(half), [=] { return skipping_zeros(target, half); }});
  list.add(
      "whole tiles by a user's instruction", [=] { return kernel_named("mma_product", target); },
      {{{"M", 128}, {"N", 256}, {"K", 160}}}, Data::integers);
}

}  // namespace

std::vector<Case> cases(const std::string& target) {
  List list;
  if (Target::parse(target).has_tiles()) {
    list.all = tile_cases(target);
    for (Case& c : library_cases(target)) list.all.push_back(std::move(c));
    return std::move(list.all);
  }
  for (const auto& [name, make] : cuda::operators()) list.add(name, [=, make = make] { return make(target); }, shapes_of(name));
  by_hand(list, target);
  by_instructions(list, target);
  operations(list);
  for (const schedules_test::DeviceProgram& p : schedules_test::device_programs())
    list.all.push_back({"by family: " + p.name, [&p, target] {
                          schedules_test::DeviceRuns r = runs_of(p, Target::parse(target));
                          return Prepared{std::move(r.kernel), 0, std::move(r.given)};
                        }});
  for (Case& c : library_cases(target)) list.all.push_back(std::move(c));
  return std::move(list.all);
}

}  // namespace gpu_bench
