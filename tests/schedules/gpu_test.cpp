// The families for devices: their launches in the interpreter, blocks and threads in any order with the search for races on,
// beside the algorithm; what their loops are; and what they refuse.
#include <ashlar/schedules.h>

#include "tests/schedules/gpu_programs.h"
#include "tests/schedules/scheduled.h"

using namespace schedules_test;

TEST_CASE("on devices: launches compute what the algorithm says") {
  for (const DeviceProgram& p : device_programs())
    for (const char* target : {"vulkan", "cuda-sm_80"}) {
      CAPTURE(p.name);
      CAPTURE(target);
      try {
        const DeviceRuns r = runs_of(p, Target::parse(target));
        for (std::size_t k = 0; k < r.given.size(); ++k) {
          CAPTURE(k);
          interp::Arguments found = r.given[k];
          interp::run(r.kernel, found, {.parallel_order = interp::Options::Order::shuffled, .seed = 7, .races = true});
          for (std::size_t n = 0; n < found.size(); ++n)
            CHECK(interp::difference(found[n].array, r.meant[k][n].array, p.tolerance, p.tolerance) == "");
        }
      } catch (const std::exception& e) { FAIL_CHECK(std::string(e.what())); }
    }
}

namespace {

const Target device = Target::parse("cuda-sm_80");

std::string refused_by(const std::function<Steps(Maker&)>& build, const Target& target = device) {
  return refused_schedule(build, target);
}
// A family on a matrix and a stage of it.
std::string of_matrix(const std::function<Tensor(const Tensor&)>& stage,
                      const std::function<void(Schedule&, const Tensor& y, const Tensor& x)>& family,
                      const Target& target = device) {
  return refused_by(
      [=](Maker& m) {
        const Tensor x = m.in("x", f32, {Symbol("M"), Symbol("N")}), y = stage(x);
        m.out(y);
        return Steps([=](Schedule& s) { family(s, y, x); });
      },
      target);
}
std::string of_product(const schedules::GpuMatmulOptions& o, const Target& target = device) {
  return refused_by(
      [=](Maker& m) {
        const Symbol M{"M"}, N{"N"}, K{"K"};
        const Tensor A = m.in("A", f32, {M, K}), B = m.in("B", f32, {K, N}), y = ops::matmul(A, B);
        m.out(y);
        return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[y], A, B, o); });
      },
      target);
}
Tensor relu(const Tensor& x) { return ops::relu(x); }
Tensor total(const Tensor& x) { return ops::reduce_sum(x); }
Tensor running(const Tensor& x) { return ops::cumsum(x, 0); }
Tensor turned(const Tensor& x) { return ops::copy(ops::transpose(x)); }

}  // namespace

TEST_CASE("on devices: the loops") {
  const auto counts = [](const std::function<Steps(Maker&)>& build, const Target& target = device) {
    const std::string text = text_of(build, target);
    return [=](const std::string& word) {
      int n = 0;
      for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
      return n;
    };
  };
  const auto softmax = [](const schedules::GpuRowsOptions& o) {
    return [=](Maker& m) {
      const auto y = ops::softmax(m.in("x", f32, {Symbol("M"), Symbol("N")}));
      m.out(y);
      return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}, o); });
    };
  };
  const auto row = counts(softmax({}));  // one launch, a block a row; what reductions read of it in registers
  CHECK(row("nest ") == 5);
  CHECK(row("vectorized where aligned") == 3);
  CHECK(row("block_x") == 1);
  CHECK(row("in 256") == 3);
  CHECK(row("combined") == 2);
  CHECK(row("thread_y") == 0);
  CHECK(counts(softmax({.threads = 32}))("thread_y") == 1);
  CHECK(counts(softmax({.threads = 32}))("in 8 ") == 1);

  const auto matmul = [](const schedules::GpuMatmulOptions& o) {
    return [=](Maker& m) {
      const Symbol M{"M"}, N{"N"}, K{"K"};
      const Tensor A = m.in("A", f32, {M, K}), B = m.in("B", f32, {K, N}), y = ops::matmul(A, B);
      m.out(y);
      return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[y], A, B, o); });
    };
  };
  const auto product = counts(matmul({}));
  CHECK(product("in shared") == 2);
  CHECK(product("in registers") == 1);
  CHECK(product("vthread") == 1);
  CHECK(product("pipeline of 2") == 1);
  CHECK(product("asynchronous") == 1);
  CHECK(counts(matmul({}), Target::parse("vulkan"))("asynchronous") == 0);
  CHECK(counts(matmul({.stages = 1}))("pipeline") == 0);
  CHECK(counts(matmul({.tile_i = 4, .tile_j = 4}))("vthread") == 0);
}

TEST_CASE("by default: which family takes what on devices, and which stages are points") {
  const auto choices = [](const std::function<Tensor(Maker&)>& made, const schedules::DefaultOptions& o = {}) {
    std::string text;
    (void)text_of(
        [&](Maker& m) {
          m.out(made(m));
          return Steps([&](Schedule& s) { text = schedule_by_default(s, o).text(); });
        },
        Target::parse("vulkan"));
    return text;
  };
  const auto says = [](const std::string& text, const std::string& part) {
    const bool found = text.find(part) != std::string::npos;
    CHECK_MESSAGE(found, text);
  };
  const std::string softmax = choices([](Maker& m) { return ops::softmax(m.in("x", f32, {Symbol("M"), Symbol("N")})).result; });
  says(softmax, "reduce_max: row reduction; in the launch of softmax\n");
  says(softmax, "softmax_exp: elementwise; in the launch of softmax\n");
  says(softmax, "softmax: elementwise; a block of threads for each row (schedules::gpu_rows)\n");
  const auto sums = [](Maker& m) {
    return ops::reduce_sum(m.in("x", f32, {Symbol("M"), Symbol("N")}), {.axes = {1}}).accumulated;
  };
  says(choices(sums), "a block of threads for each row (schedules::gpu_rows)");
  says(choices(sums, {.regroup = false}), "a point a thread, blocks of 256 (schedules::gpu_points)");
  says(choices([](Maker& m) { return ops::reduce_sum(m.in("x", f32, {99, 8}), {.axes = {1}}).accumulated; }),
       "a point a thread, blocks of 256 (schedules::gpu_points)");
  const auto product = [](int rows, bool transposed = false) {
    return [=](Maker& m) {
      const Symbol N{"N"}, K{"K"};
      const Tensor A = m.in("A", f32, {rows, K}),
                   B = m.in("B", f32, transposed ? std::vector<Extent>{N, K} : std::vector<Extent>{K, N});
      return ops::matmul(A, B, {.transpose_b = transposed}).result;
    };
  };
  says(choices(product(8)), "schedules::gpu_points");
  says(choices(product(8, true)), "schedules::gpu_rows");
  says(choices(product(64)), "schedules::gpu_matmul");
  says(choices([](Maker& m) {
         const Symbol M{"M"};
         return ops::matmul(m.in("A", f32, {M, M}), m.in("B", f32, {M, M}), {.transpose_a = true}).result;
       }),
       "schedules::gpu_matmul");
  says(choices([](Maker& m) { return turned(m.in("x", u8, {Symbol("M"), Symbol("N")})); }), "schedules::gpu_transpose");
  says(choices([](Maker& m) { return ops::reduce_max(m.in("x", f32, {Symbol("N")}), {.axes = {0}}); }, {.extent = 100000}),
       "schedules::gpu_reduction");
}

TEST_CASE("scatters: what is refused") {
  const auto scatter = [](const schedules::GpuScatterOptions& o = {}) {
    return [=](Schedule& s, const Tensor& y, const Tensor&) { schedules::gpu_scatter(s, s[y], o); };
  };
  CHECK(of_matrix(relu, scatter()) == "gpu_test.cpp: gpu_scatter: expected a scatter, found relu");
  CHECK(of_matrix(relu, scatter(), Target::parse("aarch64")) ==
        "gpu_test.cpp: gpu_scatter: expected a device, found the target aarch64");
  const auto histogram = [](const schedules::GpuScatterOptions& o) {
    return refused_by([=](Maker& m) {
      const Tensor y = ops::histogram(m.in("x", u8, {Symbol("N")}));
      m.out(y);
      return Steps([=](Schedule& s) { schedules::gpu_scatter(s, s[y], o); });
    });
  };
  CHECK(histogram({}) == "");
  CHECK(histogram({.threads = 2000}) ==
        "gpu_test.cpp: gpu_scatter: expected threads from 1 to 1024, what a block has on cuda-sm_80, found 2000");
  CHECK(histogram({.part = 0}) == "gpu_test.cpp: gpu_scatter: expected part of at least 1, found 0");
}

TEST_CASE("scans: what is refused") {
  const auto scan = [](const schedules::GpuScanOptions& o = {}) {
    return [=](Schedule& s, const Tensor& y, const Tensor&) { schedules::gpu_scan(s, s[y], o); };
  };
  const auto along_rows = [](const Tensor& x) { return ops::cumsum(x, 1); };
  CHECK(of_matrix(along_rows, scan()) == "");
  CHECK(of_matrix(running, scan()) == "gpu_test.cpp: gpu_scan: expected a scan along the last dimension, found cumsum");
  CHECK(of_matrix(relu, scan()) == "gpu_test.cpp: gpu_scan: expected a scan along the last dimension, found relu");
  CHECK(of_matrix(along_rows, scan({.part = 100})) ==
        "gpu_test.cpp: gpu_scan: expected parts of a multiple of 8 steps, those of a thread, found 100");
  CHECK(of_matrix(along_rows, scan(), Target::parse("aarch64")) ==
        "gpu_test.cpp: gpu_scan: expected a device, found the target aarch64");
}

TEST_CASE("points: what is refused") {
  const auto points = [](int threads) {
    return [=](Schedule& s, const Tensor& y, const Tensor&) { schedules::gpu_points(s, s[y], {.threads = threads}); };
  };
  CHECK(of_matrix(relu, points(1024)) == "");
  CHECK(of_matrix(relu, points(1025)) ==
        "gpu_test.cpp: gpu_points: expected threads from 1 to 1024, what a block has on cuda-sm_80, found 1025");
  CHECK(of_matrix(relu, points(0)) == "");  // as many as the device's blocks have by default
  CHECK(of_matrix(relu, points(-1)) ==
        "gpu_test.cpp: gpu_points: expected threads from 1 to 1024, what a block has on cuda-sm_80, found -1");
  const std::string expected =
      "gpu_test.cpp: gpu_points: expected a stage with dimensions, whose points are computed each by itself, found ";
  CHECK(of_matrix(total, points(256)) == expected + "reduce_sum, which has one point");
  CHECK(of_matrix(running, points(256)) == expected + "cumsum, a recurrence");
  CHECK(of_matrix(relu, points(256), Target::parse("x86-64-v3")) ==
        "gpu_test.cpp: gpu_points: expected a device, found the target x86-64-v3");
}

TEST_CASE("rows: what is refused") {
  const auto rows = [](const schedules::GpuRowsOptions& o) {
    return [=](Schedule& s, const Tensor& y, const Tensor&) { schedules::gpu_rows(s, {s[y]}, o); };
  };
  CHECK(of_matrix(relu, rows({})) == "");
  CHECK(of_matrix(relu, rows({.threads = 32, .rows = 40})) ==
        "gpu_test.cpp: gpu_rows: expected rows * threads from 1 to 1024, what a block has on cuda-sm_80, found 1280");
  CHECK(of_matrix(relu, rows({.threads = -1})) == "gpu_test.cpp: gpu_rows: expected threads of at least 0, found -1");
  CHECK(of_matrix(relu, rows({.dims = 3})) == "gpu_test.cpp: gpu_rows: expected at most the 2 dimensions of relu, found 3");
  CHECK(
      of_matrix(running, rows({})) ==
      "gpu_test.cpp: gpu_rows: expected reductions and stages that compute each element by itself, found cumsum, a recurrence");
  CHECK(of_matrix(relu, [](Schedule& s, const Tensor&, const Tensor&) { schedules::gpu_rows(s, {}); }) ==
        "gpu_test.cpp: gpu_rows: expected at least one stage, the result as the last one, found none");
  CHECK(of_matrix(relu, rows({}), Target::parse("aarch64")) ==
        "gpu_test.cpp: gpu_rows: expected a device, found the target aarch64");
  const auto between = [](Maker& m) {  // a sum that is a result itself
    const Tensor x = m.in("x", f32, {Symbol("M"), Symbol("N")});
    const auto y = ops::softmax(x);
    m.out(y.sum), m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}); });
  };
  CHECK(refused_by(between) ==
        "gpu_test.cpp: compute_at: expected a stage that is not an output (an output is computed at root), found softmax_sum");
}

TEST_CASE("products: what is refused") {
  CHECK(of_product({}) == "");
  CHECK(of_product({.threads_i = 64, .threads_j = 64}) ==
        "gpu_test.cpp: gpu_matmul: expected threads_i * threads_j from 1 to 1024, what a block has on cuda-sm_80, found 4096");
  CHECK(of_product({.block_k = -1}) == "gpu_test.cpp: gpu_matmul: expected block_k of at least 0, found -1");
  CHECK(of_product({.block_k = 32}, Target::parse("vulkan")) ==
        "gpu_test.cpp: gpu_matmul: expected tiles in at most 32768 bytes of shared memory, what a block has on vulkan, found "
        "65536 bytes");
  CHECK(of_product({.part_k = -1}) == "gpu_test.cpp: gpu_matmul: expected part_k of at least 0, found -1");
  CHECK(of_product({.raster = -1}) == "gpu_test.cpp: gpu_matmul: expected raster of at least 0, found -1");
  CHECK(of_product({.part_k = 32}, Target::parse("vulkan")) ==
        "gpu_test.cpp: gpu_matmul: expected a CUDA device, for parts of k, found vulkan");
  CHECK(of_product({.math = schedules::GpuMatmulOptions::Math::tf32, .stages = 7}, Target::parse("cuda-sm_86")) ==
        "gpu_test.cpp: gpu_matmul: expected tiles in at most 101376 bytes of shared memory, what a block has on cuda-sm_86, "
        "found "
        "114688 bytes");
  CHECK(of_product({}, Target::parse("zen4")) == "gpu_test.cpp: gpu_matmul: expected a device, found the target zen4");
  const auto factors = [](Maker& m) {
    const Symbol M{"M"}, N{"N"}, K{"K"};
    const Tensor A = m.in("A", f32, {M, K}), B = m.in("B", f32, {N, K}), y = ops::matmul(A, B, {.transpose_b = true});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[y], A, B); });
  };
  CHECK(refused_by(factors).find("gpu_test.cpp: gpu_matmul: expected B read at [.., k, j], found other indices in ") == 0);
  const auto shorter = [](Maker& m) {
    const Symbol M{"M"}, N{"N"}, K{"K"};
    const Tensor A = m.in("A", f32, {M, K}), B = m.in("B", f32, {K, N}), C = ops::matmul(A, B),
                 y = ops::reduce_sum(C, {.axes = {1}});
    m.out(y);
    return Steps([=](Schedule& s) { schedules::gpu_matmul(s, s[C], A, B, s[y]); });
  };
  CHECK(
      refused_by(shorter) ==
      "gpu_test.cpp: gpu_matmul: expected an elementwise result with the dimensions of matmul, found reduce_sum, a reduction");
}

TEST_CASE("reductions: what is refused") {
  const auto reduction = [](const schedules::GpuReductionOptions& o) {
    return [=](Schedule& s, const Tensor& y, const Tensor&) { schedules::gpu_reduction(s, s[y], o); };
  };
  CHECK(of_matrix(total, reduction({})) == "");
  CHECK(of_matrix(total, reduction({.threads = 2048})) ==
        "gpu_test.cpp: gpu_reduction: expected threads from 1 to 1024, what a block has on cuda-sm_80, found 2048");
  CHECK(of_matrix(total, reduction({.part = 0})) == "gpu_test.cpp: gpu_reduction: expected part of at least 1, found 0");
  CHECK(of_matrix(relu, reduction({})) ==
        "gpu_test.cpp: gpu_reduction: expected a stage that reduces, found relu, which does not");
  CHECK(of_matrix(total, reduction({}), Target::parse("zen4")) ==
        "gpu_test.cpp: gpu_reduction: expected a device, found the target zen4");
}

TEST_CASE("windows on a device: what is refused") {
  const auto stencil = [](const schedules::GpuStencilOptions& o) {
    return [=](Schedule& s, const Tensor& y, const Tensor&) { schedules::gpu_stencil(s, {s[y]}, {}, o); };
  };
  const auto down = [](const Tensor& x) {
    return compute("down", {x.extent(0), x.extent(1)}, [&](Var i, Var j) { return max(x(i, j), x(max(i - 1, 0), j)); });
  };
  CHECK(of_matrix(down, stencil({})) == "");
  CHECK(of_matrix(down, stencil({.threads_i = 64, .threads_j = 32})) ==
        "gpu_test.cpp: gpu_stencil: expected threads_i * threads_j from 1 to 1024, what a block has on cuda-sm_80, found 2048");
  CHECK(of_matrix(down, stencil({.rows = 0})) == "gpu_test.cpp: gpu_stencil: expected rows of at least 1, found 0");
  CHECK(of_matrix(total, stencil({})) ==
        "gpu_test.cpp: gpu_stencil: expected a result of at least two dimensions, found reduce_sum of 0");
  CHECK(of_matrix(running, stencil({})) ==
        "gpu_test.cpp: gpu_stencil: expected stages that compute each point by itself, found cumsum, a recurrence");
  CHECK(of_matrix(down, [](Schedule& s, const Tensor&, const Tensor&) { schedules::gpu_stencil(s, {}); }) ==
        "gpu_test.cpp: gpu_stencil: expected at least one stage, the result as the last one, found none");
  CHECK(of_matrix(down, [](Schedule& s, const Tensor& y, const Tensor&) { schedules::gpu_stencil(s, {s[y]}, {y}); }) ==
        "gpu_test.cpp: gpu_stencil: expected sources that a stage of it reads, found down, which does not");
  CHECK(of_matrix(down, stencil({}), Target::parse("zen4")) ==
        "gpu_test.cpp: gpu_stencil: expected a device, found the target zen4");
}

TEST_CASE("transpositions: what is refused") {
  const auto transpose = [](const schedules::GpuTransposeOptions& o) {
    return [=](Schedule& s, const Tensor& y, const Tensor& x) { schedules::gpu_transpose(s, s[y], x, o); };
  };
  CHECK(of_matrix(turned, transpose({})) == "");
  CHECK(of_matrix(turned, transpose({.tile = 64, .rows = 32}), Target::parse("vulkan-1024")) ==
        "gpu_test.cpp: gpu_transpose: expected tile * rows from 1 to 1024, what a block has on vulkan-1024, found 2048");
  CHECK(of_matrix(turned, transpose({.tile = 64, .rows = 128})) ==
        "gpu_test.cpp: gpu_transpose: expected tile / 4 * rows from 1 to 1024, what a block has on cuda-sm_80, found 2048");
  CHECK(of_matrix(relu, transpose({}))
            .find("gpu_test.cpp: gpu_transpose: expected a stage that copies the elements of one tensor") == 0);
  CHECK(of_matrix(turned, transpose({}), Target::parse("zen4")) ==
        "gpu_test.cpp: gpu_transpose: expected a device, found the target zen4");
}
