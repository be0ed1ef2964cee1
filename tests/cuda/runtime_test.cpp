// What the runtime does with drivers and devices beyond a launch: what the assembler of PTX says, workspaces of a pool, calls
// that are captured in a graph, grids larger than a launch, clusters, which devices take which code.
#include <algorithm>
#include <sstream>

#include <ashlar/interp/interpreter.h>

#include "tests/cuda/on_standin.h"
#include "tests/skip.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using codegen::Compiled;
using cuda::add_bias, cuda::calls_of, cuda::driver, cuda::OnDevice, cuda::Operands, cuda::said, cuda::sum;
using Fresh = cuda::FreshDriver;

namespace {

using text_parts::has;
struct Summands {
  OnDevice x{f32, {9000}}, y{f32, {1}};
  std::vector<const void*> list = {&x.tensor, &y.tensor};
};

struct InStream {
  explicit InStream(void* stream) { context.size = sizeof context, context.stream = stream, context.error = &error; }
  InStream(const InStream&) = delete;
  InStream& operator=(const InStream&) = delete;
  ashlar_error error = {};
  ashlar_context context = {};
};

}  // namespace

TEST_CASE("what the driver's assembler says about PTX that it refuses reaches the message, on one line") {
  const Fresh fresh;
  driver().standin_takes_cubin(0);
  const Operands o;
  driver().standin_jit_log(
      "ptxas application ptx input, line 9; error   : Unknown modifier '.zz'\nptxas fatal   : Ptx assembly aborted\n",
      "info that nobody needs then");
  CHECK(add_bias().call(o.list) == ASHLAR_E_LAUNCH);
  const std::string of_ptx = said();
  CHECK(has(of_ptx, "add_bias: cuModuleLoadDataEx"));
  CHECK(has(of_ptx,
            " returned 218, CUDA_ERROR_INVALID_PTX: ptxas application ptx input, line 9; error   : Unknown modifier "
            "'.zz';ptxas fatal "
            "  : Ptx assembly aborted"));
  CHECK(!has(of_ptx, "\n"));
  CHECK(!has(of_ptx, "nobody needs"));
  driver().standin_jit_log("", "out of registers");  // there is nothing but the other log
  CHECK(add_bias().call(o.list) == ASHLAR_E_LAUNCH);
  CHECK(has(said(), "CUDA_ERROR_INVALID_PTX: out of registers"));
  driver().standin_jit_log(std::string(1000, '{').c_str(), "");
  CHECK(add_bias().call(o.list) == ASHLAR_E_LAUNCH);
  CHECK(has(said(), std::string(1000, '{')));
  driver().standin_jit_log("", "");
  CHECK(add_bias().call(o.list) == ASHLAR_OK);
}

TEST_CASE("a workspace of the runtime's pool is taken and given back in the order of the stream") {
  const Fresh fresh;
  const Summands s;
  REQUIRE_MESSAGE(sum().call(s.list) == ASHLAR_OK, said());
  CHECK(has(driver().standin_calls(),
            "cuMemPoolCreate cuMemPoolSetAttribute cuMemAllocFromPoolAsync cuLaunchKernel cuLaunchKernel cuMemFreeAsync "
            "cuStreamSynchronize "));
  CHECK(driver().standin_pool_threshold() == std::uint64_t{256} << 20);
  CHECK(calls_of([&] { REQUIRE(sum().call(s.list) == ASHLAR_OK); }) ==
        "cuCtxGetCurrent cuCtxGetDevice cuCtxGetId cuMemAllocFromPoolAsync cuLaunchKernel cuLaunchKernel cuMemFreeAsync "
        "cuStreamSynchronize ");
  InStream in(driver().standin_new_stream(fresh.context));
  CHECK(calls_of([&] { REQUIRE(sum().call(s.list, &in.context) == ASHLAR_OK); }) ==
        "cuCtxGetCurrent cuStreamGetCtx cuCtxGetDevice cuCtxGetId cuMemAllocFromPoolAsync cuLaunchKernel cuLaunchKernel "
        "cuMemFreeAsync ");  // nothing is waited for
}

TEST_CASE("a pool that cannot be made or used is an error of the call") {
  const Summands s;
  struct Row {
    const char* function;
    int result, code;
    const char* text;
  };
  for (const Row& row :
       {Row{"cuMemPoolCreate", 2, ASHLAR_E_MEMORY, "sum: cuMemPoolCreate returned 2, CUDA_ERROR_OUT_OF_MEMORY"},
        Row{"cuMemPoolSetAttribute", 1, ASHLAR_E_LAUNCH, "sum: cuMemPoolSetAttribute returned 1, CUDA_ERROR_INVALID_VALUE"},
        Row{"cuMemAllocFromPoolAsync", 2, ASHLAR_E_MEMORY, "sum: cuMemAllocFromPoolAsync returned 2, CUDA_ERROR_OUT_OF_MEMORY"},
        Row{"cuMemFreeAsync", 1, ASHLAR_E_LAUNCH, "sum: cuMemFreeAsync returned 1, CUDA_ERROR_INVALID_VALUE"}}) {
    CAPTURE(row.function);
    const Fresh fresh;
    driver().standin_fail(row.function, 1, row.result);
    CHECK(sum().call(s.list) == row.code);
    CHECK(said() == row.text);
    CHECK(sum().call(s.list) == ASHLAR_OK);
  }
  const Fresh fresh;
  driver().standin_fail("cuLaunchKernel", 2, 701);
  CHECK(sum().call(s.list) == ASHLAR_E_LAUNCH);
  CHECK(said() == "sum: cuLaunchKernel returned 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  CHECK(has(driver().standin_calls(), "cuLaunchKernel cuLaunchKernel cuMemFreeAsync cuStreamSynchronize "));
}

TEST_CASE("after f_prepare a captured call loads, allocates and waits for nothing") {
  const Fresh fresh;
  const Summands s;
  void* const stream = driver().standin_new_stream(fresh.context);
  InStream in(stream);
  driver().standin_capture(stream);
  CHECK(sum().call(s.list, &in.context) == ASHLAR_E_LAUNCH);  // unprepared
  CHECK(has(cuda::sentence(in.error),
            "returned 900, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: the stream is being captured, where nothing can be loaded, "
            "allocated or waited for (f_prepare does before)"));
  driver().standin_destroy_graph(driver().standin_end_capture());

  REQUIRE_MESSAGE(sum().prepare(s.list, &in.context) == ASHLAR_OK, cuda::sentence(in.error));
  CHECK(driver().standin_launches() == 0);
  CHECK(has(driver().standin_calls(), "cuModuleGetFunction"));
  CHECK(driver().standin_blocks_in_use() == 1);
  CHECK(calls_of([&] { REQUIRE(sum().prepare(s.list, &in.context) == ASHLAR_OK); }) ==
        "cuCtxGetCurrent cuStreamGetCtx cuCtxGetDevice cuCtxGetId ");  // it is there

  std::uint64_t workspace = 0;
  const auto captured = [&] {
    driver().standin_capture(stream);
    const int first = driver().standin_launches();
    for (int n = 0; n < 2; ++n) {  // both use the graph's workspace, one after the other
      const std::string calls = calls_of([&] { REQUIRE(sum().call(s.list, &in.context) == ASHLAR_OK); });
      CHECK(calls == std::string("cuCtxGetCurrent cuStreamGetCtx cuCtxGetDevice cuCtxGetId cuStreamGetCaptureInfo ") +
                         (n == 0 ? "cuUserObjectCreate cuGraphRetainUserObject " : "") + "cuLaunchKernel cuLaunchKernel ");
    }
    // the second launch of `sum` reads what the first wrote into the workspace
    const StandinLaunch &one = *driver().standin_launch(first), &two = *driver().standin_launch(first + 2);
    CHECK(std::vector<std::uint64_t>(one.parameters, one.parameters + one.parameter_count) ==
          std::vector<std::uint64_t>(two.parameters, two.parameters + two.parameter_count));
    workspace = 0;
    for (std::uint32_t n = 0; n < one.parameter_count; ++n)
      if (one.parameters[n] != s.x.address() && one.parameters[n] > 1u << 20) workspace = one.parameters[n];
    return driver().standin_end_capture();
  };
  driver().standin_takes_cubin(0);
  void* const graph = captured();
  // outside of the graph its memory is not touched, whatever the stream
  CHECK(calls_of([&] { REQUIRE(sum().call(s.list, &in.context) == ASHLAR_OK); }) ==
        "cuCtxGetCurrent cuStreamGetCtx cuCtxGetDevice cuCtxGetId cuStreamGetCaptureInfo cuMemPoolCreate cuMemPoolSetAttribute "
        "cuMemAllocFromPoolAsync cuLaunchKernel cuLaunchKernel cuMemFreeAsync ");
  // a second graph: without another f_prepare a node of the graph allocates; with one nothing does
  driver().standin_capture(stream);
  CHECK(has(calls_of([&] { REQUIRE(sum().call(s.list, &in.context) == ASHLAR_OK); }), "cuMemAllocFromPoolAsync"));
  driver().standin_destroy_graph(driver().standin_end_capture());
  REQUIRE(sum().prepare(s.list, &in.context) == ASHLAR_OK);
  CHECK(driver().standin_blocks_in_use() == 2);
  void* const second = captured();
  // with the graphs the workspaces are free again, and the next f_prepare finds one
  driver().standin_destroy_graph(graph);
  driver().standin_destroy_graph(second);
  REQUIRE(sum().prepare(s.list, &in.context) == ASHLAR_OK);
  CHECK(driver().standin_blocks_in_use() == 2);
  driver().standin_forget_blocks();  // they are kept for the process's life
}

TEST_CASE("f_prepare with a workspace or an allocator of the caller's checks the one and leaves the other alone") {
  const Fresh fresh;
  const Summands s;
  InStream in(driver().standin_new_stream(fresh.context));
  alignas(256) static std::uint64_t workspace[32];
  in.context.workspace = workspace, in.context.workspace_bytes = 8;
  CHECK(sum().prepare(s.list, &in.context) == ASHLAR_E_MEMORY);
  CHECK(cuda::sentence(in.error) == "sum: the workspace has 8 bytes, expected at least 64");
  in.context.workspace_bytes = sizeof workspace;
  CHECK(sum().prepare(s.list, &in.context) == ASHLAR_OK);
  in.context.workspace = nullptr;
  in.context.allocate = [](void*, std::size_t, std::size_t, std::int32_t, std::int32_t) -> void* { std::abort(); };
  CHECK(sum().prepare(s.list, &in.context) == ASHLAR_OK);
  CHECK(driver().standin_launches() == 0);
  CHECK(driver().standin_blocks_in_use() == 0);
}

TEST_CASE("f_prepare finds what would fail in the call: an argument, the device, a grid") {
  const Fresh fresh;
  Operands o;
  o.b.tensor.device_type = 1;
  CHECK(add_bias().prepare(o.list) == ASHLAR_E_DEVICE);
  CHECK(said() == "add_bias: b lies on the host, expected a CUDA device");
  o.b.tensor.device_type = 2;
  driver().standin_attribute(5, 1);
  CHECK(add_bias().prepare(o.list) == ASHLAR_E_LAUNCH);
  CHECK(has(said(), "has 2 blocks along x, expected at most 1"));
  CHECK(driver().standin_launches() == 0);
}

TEST_CASE("a workspace that cannot be given to a graph is told, and is free for the next one") {
  const Fresh fresh;
  const Summands s;
  void* const stream = driver().standin_new_stream(fresh.context);
  InStream in(stream);
  for (const char* function : {"cuMemAlloc", "cuUserObjectCreate", "cuGraphRetainUserObject", "cuStreamGetCaptureInfo"}) {
    CAPTURE(function);
    driver().standin_fail(function, 1, 1);
    const int prepared = sum().prepare(s.list, &in.context);
    if (std::string(function) == "cuMemAlloc") {
      CHECK(prepared == ASHLAR_E_LAUNCH);
      CHECK(has(cuda::sentence(in.error), "sum: cuMemAlloc returned 1"));
      continue;
    }
    REQUIRE(prepared == ASHLAR_OK);
    driver().standin_capture(stream);
    CHECK(sum().call(s.list, &in.context) == ASHLAR_E_LAUNCH);
    CHECK(has(cuda::sentence(in.error), std::string("sum: ") + function + " returned 1"));
    driver().standin_destroy_graph(driver().standin_end_capture());
  }
  CHECK(driver().standin_blocks_in_use() == 1);
  driver().standin_forget_blocks();
}

TEST_CASE("a grid beyond 65535 blocks along y is several launches, which cover it once") {
  const Fresh fresh;
  driver().standin_takes_cubin(0);
  const std::int64_t rows = 2 * 65535 + 7;
  const Operands o(rows, 70);
  REQUIRE_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said());
  REQUIRE(driver().standin_launches() == 3);
  std::uint64_t next = 0;
  for (int n = 0; n < 3; ++n) {
    const StandinLaunch& l = *driver().standin_launch(n);
    CHECK(l.grid[0] == 2);
    CHECK(l.parameters[l.parameter_count - 1] == next);  // where the blocks begin
    next += l.grid[1];
  }
  CHECK(next == static_cast<std::uint64_t>(rows));
}

namespace {

// y[c, b, a] = x[c, b, a] + 1, the first two over blocks, the last over 8 threads.
struct Cells {
  lang::DefinitionScope scope;
  Symbol C, B, A{"A"};
  Tensor x, y, more;
  lang::Built built;
  Schedule s;
  Cells(const Target& target, std::int64_t most)
      : C("C", {.max = most}),
        B("B", {.max = most}),
        x(lang::make_input("x", f32, {C, B, A})),
        y(lang::make_output("y", f32, {C, B, A})),
        more(compute("more", {C, B, A}, [&](Var c, Var b, Var a) { return x(c, b, a) + 1.0f; })),
        built((lang::bind(y, more), lang::build_program("cells", {x, y}))),
        s(built, target) {
    auto [c, b, a] = s[more].spatial<3>();
    auto [ao, ai] = s[more].split(a, 8);
    s[more].bind(c, gpu::block_z).bind(b, gpu::block_y).bind(ao, gpu::block_x).bind(ai, gpu::thread_x);
  }
};
ir::Kernel cells(const char* target, std::int64_t most) {
  Cells op{Target::parse(target), most};
  return cuda::lowered(op.s);
}

}  // namespace

TEST_CASE("grids beyond the limits along y and z: the launches cover every block once, and the values are the interpreter's") {
  const ir::Kernel k = cells("cuda-sm_90a", INT64_MAX);
  const Compiled f = codegen::compile(k, Target::parse("cuda-sm_90a"));
  struct Row {
    std::int64_t c, b;
    int launches;
  };
  for (const Row& row : {Row{1, 65535, 1}, Row{1, 65536, 2}, Row{65536, 1, 2}, Row{70000, 2, 2}, Row{2, 140000, 3}}) {
    CAPTURE(row.c);
    CAPTURE(row.b);
    const Fresh fresh;
    driver().standin_takes_cubin(0);
    const OnDevice x(f32, {row.c, row.b, 3}), y(f32, {row.c, row.b, 3});
    const std::vector<const void*> list = {&x.tensor, &y.tensor};
    REQUIRE_MESSAGE(f.call(list) == ASHLAR_OK, said());
    CHECK(driver().standin_launches() == row.launches);
    std::int64_t blocks = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> begins;
    for (int n = 0; n < driver().standin_launches(); ++n) {
      const StandinLaunch& l = *driver().standin_launch(n);
      CHECK(l.grid[1] <= 65535);
      CHECK(l.grid[2] <= 65535);
      const std::uint64_t begin = l.parameters[l.parameter_count - 1], y0 = begin & UINT32_MAX, z0 = begin >> 32;
      CHECK(y0 + l.grid[1] <= static_cast<std::uint64_t>(row.b));
      CHECK(z0 + l.grid[2] <= static_cast<std::uint64_t>(row.c));
      CHECK(std::find(begins.begin(), begins.end(), std::pair(y0, z0)) == begins.end());
      begins.emplace_back(y0, z0);
      blocks += std::int64_t{l.grid[1]} * l.grid[2];
    }
    CHECK(blocks == row.c * row.b);
  }
  interp::Arguments arguments{
      interp::Array::make(f32, {2, 70000, 1}, [](auto at) { return static_cast<double>(at[0] * 70000 + at[1]); }),
      interp::Array::zeros(f32, {2, 70000, 1})};
  interp::run(k, arguments);
  CHECK(arguments[1].array.real({1, 69999, 0}) == 140000);
  CHECK(arguments[1].array.real({0, 65536, 0}) == 65537);
}

TEST_CASE("a launch whose grid stays below the limits carries no beginning") {
  for (const std::int64_t most : {std::int64_t{65535}, std::int64_t{65536}}) {
    const codegen::ptx::Code code = codegen::ptx::translate(cells("cuda-sm_80", most), Target::parse("cuda-sm_80"));
    CHECK(code.entries.at(0).folded == (most > 65535));
  }
}

namespace {

// A module by hand: one entry of 32 threads with an address and, if it is told where it begins, that.
std::string text_of_entry(bool folded) {
  return std::string(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry e(\n.param .u64 a") +
         (folded ? ",\n.param .u64 b" : "") + "\n)\n.reqntid 32\n{\nret;\n}\n";
}

struct ByHand {
  using More = ashlar_abi1_cuda_launch_more;
  explicit ByHand(const More& m, std::uint32_t accepts = ASHLAR_ABI1_CUDA_LATER, std::uint32_t capability = 90)
      : more(m), text(text_of_entry((m.flags & ASHLAR_ABI1_CUDA_FOLDED) != 0)) {
    static std::uint64_t next = 1;
    module.abi = 1, module.size = sizeof module, module.name = "f", module.chip = "sm_90", module.capability = capability;
    module.accepts = accepts, module.ptx = text.c_str(), module.hash = next++, module.launches = &launch;
    module.launch_count = 1, module.more = &more;
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  std::string run(std::int64_t gx, std::int64_t gy, std::int64_t gz) {
    ashlar_error error = {};
    ashlar_context context = {};
    context.size = sizeof context, context.error = &error;
    ashlar_abi1_cuda_call call;
    std::uint64_t workspace = 0;
    if (ashlar_abi1_cuda_begin(&module, &context, 0, 1, &call, &workspace) != ASHLAR_OK) return cuda::sentence(error);
    const std::int64_t grid[3] = {gx, gy, gz};
    const std::uint64_t parameters[1] = {42};
    (void)ashlar_abi1_cuda_run(&call, 0, grid, parameters);
    return ashlar_abi1_cuda_end(&call) == ASHLAR_OK ? "" : cuda::sentence(error);
  }
  const ashlar_abi1_cuda_launch_more more;
  const std::string text;
  const ashlar_abi1_cuda_launch launch = {"e", nullptr, 32, 0, 1, 0};
  ashlar_abi1_cuda_module module = {};
};

}  // namespace

TEST_CASE("clusters and programmatic launches are told to drivers that take them") {
  const Fresh fresh;
  ByHand plain(ByHand::More{{1, 1, 1}, 0});
  CHECK(plain.run(4, 4, 4) == "");
  CHECK(has(driver().standin_calls(), "cuLaunchKernel cuStreamSynchronize"));
  ByHand cluster(ByHand::More{{2, 4, 1}, ASHLAR_ABI1_CUDA_PROGRAMMATIC});
  CHECK(cluster.run(4, 4, 4) == "");
  CHECK(has(driver().standin_calls(), "cuLaunchKernelEx"));
  const StandinLaunch& l = *driver().standin_launch(1);
  CHECK(std::vector<std::uint32_t>(l.cluster, l.cluster + 3) == std::vector<std::uint32_t>{2, 4, 1});
  CHECK(l.programmatic == 1);
  CHECK(driver().standin_launch(0)->cluster[0] == 0);
  CHECK(cluster.run(4, 6, 4) == "f: launch `e` has 6 blocks along y, expected a multiple of 4, the blocks of a cluster");
  ByHand folded(ByHand::More{{1, 4, 1}, ASHLAR_ABI1_CUDA_FOLDED});  // parts begin at a cluster
  CHECK(folded.run(1, 65540, 1) == "");
  CHECK(driver().standin_launch(2)->grid[1] == 65532);
  CHECK(driver().standin_launch(3)->grid[1] == 8);
  CHECK(driver().standin_launch(3)->parameters[1] == 65532);
  CHECK(folded.run(1, std::int64_t{1} << 31, 1) == "f: launch `e` has 2147483648 blocks along y, expected at most 2147483647");
  driver().standin_fail("cuLaunchKernelEx", 1, 701);
  CHECK(cluster.run(4, 4, 4) == "f: cuLaunchKernelEx returned 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
}

TEST_CASE("a module that ends before its last field is an older one") {
  const Fresh fresh;
  ByHand older(ByHand::More{{2, 1, 1}, 0});
  older.module.size = offsetof(ashlar_abi1_cuda_module, more);
  CHECK(older.run(3, 1, 1) == "");
  CHECK(driver().standin_launch(0)->cluster[0] == 0);
  older.module.size -= 8;
  CHECK(has(older.run(3, 1, 1), "made for abi"));
}

TEST_CASE("which devices take which code: later ones, one alone, a family") {
  struct Row {
    std::uint32_t capability, accepts;
    std::vector<int> takes, refuses;
  };
  const Row rows[] = {
      {80, ASHLAR_ABI1_CUDA_LATER, {80, 86, 90, 103, 120}, {75}},      {90, ASHLAR_ABI1_CUDA_EXACT, {90}, {89, 100}},
      {100, ASHLAR_ABI1_CUDA_FAMILY, {100, 103}, {90, 101, 110, 120}}, {103, ASHLAR_ABI1_CUDA_FAMILY, {103}, {100, 110}},
      {120, ASHLAR_ABI1_CUDA_FAMILY, {120, 121}, {103, 130}},          {90, 3, {90}, {91}}};  // of a later compiler
  for (const Row& row : rows)
    for (const bool taken : {true, false})
      for (const int device : taken ? row.takes : row.refuses) {
        CAPTURE(row.capability);
        CAPTURE(row.accepts);
        CAPTURE(device);
        const Fresh fresh;
        driver().standin_attribute(75, device / 10), driver().standin_attribute(76, device % 10);
        ByHand f(ByHand::More{{1, 1, 1}, 0}, row.accepts, row.capability);
        const std::string text = f.run(1, 1, 1);
        CHECK((text == "") == taken);
        if (!taken) CHECK(has(text, "Stand-in 0 has " + std::to_string(device)));
      }
}

TEST_CASE("the number of multiprocessors is the device's") {
  const Fresh fresh;
  int count = 0;
  ashlar_error error = {};
  REQUIRE(ashlar_cuda_multiprocessors(nullptr, &count, &error) == ASHLAR_OK);
  CHECK(count == 114);
  void* const other = driver().standin_new_context(0);
  REQUIRE(ashlar_cuda_multiprocessors(driver().standin_new_stream(other), &count, nullptr) == ASHLAR_OK);
  CHECK(driver().standin_current() == fresh.context);
  driver().standin_fail("cuDeviceGetAttribute", 1, 1);
  CHECK(ashlar_cuda_multiprocessors(nullptr, &count, &error) == ASHLAR_E_LAUNCH);
  CHECK(cuda::sentence(error) == "cuda: cuDeviceGetAttribute returned 1, CUDA_ERROR_INVALID_VALUE");
}

TEST_CASE("names of targets and what they have: later chips, families, single chips") {
  const auto offered = [](const char* target, const char* feature) { return Target::parse(target).has(feature); };
  CHECK(offered("cuda-sm_103a", "sm_100f"));
  CHECK(offered("cuda-sm_100a", "sm_100f"));
  CHECK(offered("cuda-sm_100f", "sm_100f"));
  CHECK(!offered("cuda-sm_103", "sm_100f"));  // its code runs on every later chip, which may lack what families have
  CHECK(!offered("cuda-sm_120f", "sm_100f"));
  CHECK(!offered("cuda-sm_100f", "sm_100a"));
  CHECK(!offered("cuda-sm_90", "sm_90a"));
  CHECK(offered("cuda-sm_90", "sm_90"));
  CHECK(offered("cuda-sm_120", "sm_103"));
  CHECK(!offered("cuda-sm_86", "sm_87"));
}

TEST_CASE("every name of a CUDA target becomes PTX for its chip") {
  for (const Device& d : Target::devices()) {
    if (d.kind != Device::Kind::cuda) continue;
    CAPTURE(d.name);
    const codegen::ptx::Code code = codegen::ptx::translate(cells(d.name, INT64_MAX), Target::parse(d.name));
    CHECK(has(code.text, std::string(".target ") + d.chip + "\n"));
  }
}

namespace {

// The instructions of a text: without directives of lines, labels of the compiler's own for them, and comments.
std::string instructions_of(const std::string& text) {
  std::istringstream lines(text);
  std::string line, all;
  while (std::getline(lines, line)) {
    line = line.substr(0, line.find("//"));
    const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
    if (first == line.npos) continue;
    line = line.substr(first, last + 1 - first);
    if (line.starts_with(".section") || line.starts_with(".loc") || line.starts_with(".file") || line.starts_with("$L__tmp") ||
        line.starts_with("$L__func"))
      continue;
    all += line + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("line tables: PTX and machine code name the user's lines, and the instructions are the same") {
  for (const char* target : {"cuda-sm_80", "cuda-sm_90a"}) {
    const Target t = Target::parse(target);
    const ir::Kernel k = cuda::kernel_of<gpu_operators::Product>(target);
    const codegen::ptx::Code plain = codegen::ptx::translate(k, t), with = codegen::ptx::translate(k, t, true);
    CHECK(!plain.lines);
    CHECK(with.lines);
    CHECK(!has(plain.text, ".loc"));
    CHECK(has(with.text, ".loc"));
    CHECK(has(with.text, "gpu_operators.h\""));
    CHECK(!has(with.text, ", debug"));  // which would switch the assembler's optimization off
    CHECK(!has(with.text, "debug_info"));
    CHECK(instructions_of(plain.text) == instructions_of(with.text));
    const auto machine_code = codegen::ptx::cubin(with.text, t.device().chip, true);
    if (!machine_code) {
      skip::because("line tables of machine code", "libnvJitLink is not on this machine");
      continue;
    }
    CHECK(has(*machine_code, "gpu_operators.h"));
    CHECK(has(*machine_code, ".debug_line"));
    CHECK(!has(*codegen::ptx::cubin(plain.text, t.device().chip), ".debug_line"));
  }
}

TEST_CASE("PTX with line tables is assembled with them by the driver, other PTX without") {
  for (const bool lines : {true, false}) {
    const Fresh fresh;
    driver().standin_takes_cubin(0);
    const Target t = Target::parse("cuda-sm_80");
    ir::Kernel k = cuda::kernel_of<gpu_operators::AddBias>("cuda-sm_80");
    const Compiled f = codegen::load(codegen::emit(k, t, codegen::Output::object, nullptr, {.line_tables = lines}), k, t);
    const Operands o;
    REQUIRE_MESSAGE(f.call(o.list) == ASHLAR_OK, said());
    CHECK(driver().standin_jit_lines() == lines);
  }
}
