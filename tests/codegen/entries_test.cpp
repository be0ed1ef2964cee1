// The C entries: right calls compute, wrong calls return a code with numbers and write nothing.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/runtime/runtime.h>

#include "tests/codegen/kernels.h"
#include "tests/source_dir.h"
#include "tests/support/sentence.h"

using namespace ashlar;
using kernels::Maker;

namespace {

// scale: C[M, N] = A[M, N] * alpha + row sums kept in a workspace slice of each worker; rows in parallel. N is a multiple of 4.
ir::Kernel scale(const std::string& name = "scale") {
  Maker m(name);
  const Expr M = m.symbol("M"), N = m.symbol("N", 4, 4);
  const ir::Id a = m.tensor("A", f32, {M, N});
  const Expr alpha = m.scalar("alpha", f32);
  const ir::Id c = m.tensor("C", f32, {M, N}, true, 16);
  const Expr as = m.stride(a, 0), cs = m.stride(c, 0);
  const ir::Id row = m.storage("row", f32, ir::Storage::workspace, N, ir::index(0), true);
  m.k.workspace_per_worker = ir::mul(N, ir::index(4));
  const Expr i = ir::var(m.fresh(), "i"), j = ir::var(m.fresh(), "j"), l = ir::var(m.fresh(), "l");
  m.k.body = {
      kernels::loop(i, M,
                    {kernels::loop(j, N, {kernels::store(row, j, ir::mul(m.load(a, ir::add(ir::mul(i, as), j)), alpha))}),
                     kernels::loop(l, N, {kernels::store(c, ir::add(ir::mul(i, cs), l), m.load(row, l))})},
                    ir::LoopKind::parallel)};
  return m.k;
}

struct Args {  // scale_args, as codegen/abi_layout.h lays it out
  const float* A;
  float* C;
  std::int64_t M, N, A_stride0, C_stride0;
  float alpha;
};

struct Fixture {
  alignas(64) float a[64], c[64];
  alignas(64) unsigned char workspace[4096];
  ashlar_error error{};
  ashlar_context ctx{};
  Args args{a, c, 5, 8, 0, 0, 2.0f};
  codegen::Compiled code = codegen::compile(scale(), Target::host());

  Fixture() {
    for (int k = 0; k < 64; ++k) a[k] = static_cast<float>(k), c[k] = -1;
    ctx.size = sizeof ctx;
    ctx.error = &error;
    ctx.workspace = workspace;
    ctx.workspace_bytes = sizeof workspace;
  }
  bool untouched() const {
    for (float v : c)
      if (v != -1) return false;
    return true;
  }
  int run() { return code.run(&args, &ctx); }
};

}  // namespace

TEST_CASE("the layout of the argument structure") {
  const codegen::AbiLayout layout = codegen::abi_layout(scale(), 8);
  std::string all;
  for (const codegen::ArgField& f : layout.fields) all += f.declaration() + "; ";
  CHECK(all == "const float *A; float *C; int64_t M; int64_t N; int64_t A_stride0; int64_t C_stride0; float alpha; ");
  CHECK(layout.bytes == sizeof(Args));
  CHECK(layout.field(codegen::ArgField::Kind::scalar, layout.fields.back().id).offset == offsetof(Args, alpha));
  CHECK(codegen::c_identifier("int") == "int_");
  CHECK(codegen::c_identifier("a.b") == "a_b");
  CHECK(codegen::c_identifier("2x") == "_2x");
}

TEST_CASE_FIXTURE(Fixture, "f_run computes, dense where strides are 0") {
  CHECK(run() == ASHLAR_OK);
  for (int k = 0; k < 40; ++k) CHECK(c[k] == 2.0f * static_cast<float>(k));
  CHECK(c[40] == -1);
}

TEST_CASE_FIXTURE(Fixture, "f_run takes strides") {
  args.A_stride0 = 9;
  args.C_stride0 = 12;
  CHECK(run() == ASHLAR_OK);
  CHECK(c[12 + 3] == 2.0f * 12);
  CHECK(c[8] == -1);
}

TEST_CASE_FIXTURE(Fixture, "f_run refuses what is wrong, with numbers, and writes nothing") {
  auto refused = [&](int want, std::int64_t expected, std::int64_t found) {
    CHECK(run() == want);
    CHECK(error.code == want);
    CHECK(error.expected == expected);
    CHECK(error.found == found);
    CHECK(untouched());
    return std::string(error.what);
  };
  SUBCASE("null") {
    args.A = nullptr;
    CHECK(refused(ASHLAR_E_NULL, 160, 0) == "scale: A is NULL, expected {expected} bytes");
    CHECK(error.argument == 0);
  }
  SUBCASE("no arguments") {
    CHECK(code.run(nullptr, &ctx) == ASHLAR_E_NULL);
    CHECK(std::string(error.what) == "scale: the argument structure is NULL");
  }
  SUBCASE("fact") {
    args.N = 6;
    CHECK(refused(ASHLAR_E_FACT, 4, 6) == "scale: N is {found}, expected a multiple of {expected}");
    args.N = 0;
    CHECK(refused(ASHLAR_E_FACT, 4, 0) == "scale: N is {found}, expected at least {expected}");
  }
  SUBCASE("negative extent") {
    args.M = -3;
    CHECK(refused(ASHLAR_E_SHAPE, 0, -3) == "scale: M is {found}, expected at least {expected}");
  }
  SUBCASE("negative stride") {
    args.A_stride0 = -8;
    CHECK(refused(ASHLAR_E_STRIDE, 0, -8) == "scale: A.strides[0] is {found}, expected at least {expected}");
    CHECK(error.dimension == 0);
  }
  SUBCASE("rows of the output on top of each other") {
    args.C_stride0 = 7;
    CHECK(refused(ASHLAR_E_ALIAS, 8, 7) == "scale: C overlaps itself: a stride is {found}, expected at least {expected}");
  }
  SUBCASE("alignment") {
    args.C = c + 1;
    CHECK(refused(ASHLAR_E_ALIGN, 16, 4) ==
          "scale: C begins {found} bytes past a multiple of {expected} bytes, expected a multiple of {expected}");
    CHECK(error.argument == 2);
  }
  SUBCASE("overlap") {
    args.A = c + 8;
    CHECK(refused(ASHLAR_E_ALIAS, -1, 0) == "scale: C overlaps A, expected memory of its own");
  }
  SUBCASE("overflow") {
    args.M = std::numeric_limits<std::int64_t>::max() / 8;
    args.A_stride0 = 1 << 20;
    CHECK(run() == ASHLAR_E_OVERFLOW);
    CHECK(std::string(error.what) == "scale: A reaches past {expected} bytes");
    CHECK(untouched());
  }
  SUBCASE("workspace") {
    ctx.workspace_bytes = 63;
    CHECK(refused(ASHLAR_E_MEMORY, 64, 63) == "scale: the workspace has {found} bytes, expected at least {expected}");
    ctx.workspace = workspace + 8;
    ctx.workspace_bytes = 4000;
    CHECK(refused(ASHLAR_E_ALIGN, 64, 8) ==
          "scale: the workspace begins {found} bytes past a multiple of {expected} bytes, expected a multiple of {expected}");
    ctx.workspace = nullptr;
    ctx.workspace_bytes = 0;
    CHECK(refused(ASHLAR_E_MEMORY, 64, 0) ==
          "scale: the workspace has {found} bytes, expected at least {expected}, and the context has no allocator");
  }
  SUBCASE("a context of another size") {
    ctx.size = 40;
    CHECK(run() == ASHLAR_E_ABI);
    CHECK(untouched());
  }
}

TEST_CASE_FIXTURE(Fixture, "parts of one matrix lie beside each other") {
  args.M = 4;  // A in columns 0 to 7, C in columns 8 to 15 of 4 rows of 16
  args.A = c;
  args.C = c + 8;
  args.A_stride0 = args.C_stride0 = 16;
  CHECK(run() == ASHLAR_OK);
  CHECK(c[8] == -2);
  CHECK(c[0] == -1);
  args.C = c + 4;
  CHECK(run() == ASHLAR_E_ALIAS);
  CHECK(std::string(error.what) == "scale: C overlaps A, expected memory of its own");
}

TEST_CASE_FIXTURE(Fixture, "zero extents succeed without any memory") {
  args.M = 0;
  args.A = nullptr;
  args.C = nullptr;
  ctx.workspace = nullptr;
  CHECK(run() == ASHLAR_OK);
}

TEST_CASE_FIXTURE(Fixture, "a workspace is asked for and given back") {
  struct Counts {
    int allocated = 0, released = 0;
    void* block = nullptr;
  } counts;
  ctx.workspace = nullptr;
  ctx.workspace_bytes = 0;
  ctx.user = &counts;
  ctx.allocate = [](void* user, std::size_t bytes, std::size_t align, std::int32_t device, std::int32_t) -> void* {
    CHECK(bytes == 64);
    CHECK(device == 1);
    auto* n = static_cast<Counts*>(user);
    ++n->allocated;
    return n->block = std::aligned_alloc(align, bytes);
  };
  ctx.release = [](void* user, void* block, std::int32_t, std::int32_t) {
    CHECK(block == static_cast<Counts*>(user)->block);
    ++static_cast<Counts*>(user)->released;
    std::free(block);
  };
  CHECK(run() == ASHLAR_OK);
  CHECK(counts.allocated == 1);
  CHECK(counts.released == 1);
  CHECK(c[9] == 18);
}

TEST_CASE_FIXTURE(Fixture, "parallel bodies pull rows; each slot has its own slice") {
  struct Calls {
    std::int32_t count = 0;
    bool reverse = false;
    int rc = 0;
  } calls;
  ctx.user = &calls;
  ctx.parallelism = 3;
  ctx.parallel_for = [](void* user, std::int32_t count, int (*body)(void*, std::int32_t), void* closure) {
    auto* n = static_cast<Calls*>(user);
    n->count = count;
    if (n->rc) return n->rc;
    for (std::int32_t s = count; s-- > 0;)
      if (const int rc = body(closure, s)) return rc;
    return 0;
  };
  CHECK(code.workspace_bytes(&args, &ctx) == 3 * 64);
  CHECK(code.workspace_bytes(&args, nullptr) == 64);
  CHECK(code.workspace_bytes(nullptr, &ctx) == SIZE_MAX);  // no allocation of so much succeeds
  CHECK(run() == ASHLAR_OK);
  CHECK(calls.count == 3);
  for (int k = 0; k < 40; ++k) CHECK(c[k] == 2.0f * static_cast<float>(k));
  args.M = 2;
  CHECK(run() == ASHLAR_OK);
  CHECK(calls.count == 2);
  args.M = 1;
  calls.count = 0;
  CHECK(run() == ASHLAR_OK);
  CHECK(calls.count == 0);  // one row is not worth sharing
  args.M = 5;
  calls.rc = 42;
  CHECK(run() == ASHLAR_E_LAUNCH);
  CHECK(std::string(error.what) == "scale: parallel_for returned {found}, expected {expected}");
  CHECK(error.found == 42);
}

TEST_CASE_FIXTURE(Fixture, "the tensor entries check, solve the symbols and use the pool") {
  std::int64_t shape[] = {5, 8}, wrong[] = {4, 8};
  auto tensor = [&](float* data, std::int64_t* extents) {
    ashlar_tensor t{};
    t.data = data;
    t.device_type = 1;
    t.ndim = 2;
    t.type_code = 2;
    t.type_bits = 32;
    t.type_lanes = 1;
    t.shape = extents;
    return t;
  };
  const ashlar_tensor A = tensor(a, shape), C = tensor(c, shape), bad = tensor(c, wrong);
  const float alpha = 3;
  const void* arguments[] = {&A, &alpha, &bad};
  CHECK(code.call(arguments) == ASHLAR_E_SHAPE);
  CHECK(untouched());
  CHECK(test::last_error() == "scale: C.shape[0] is 4, expected 5 (M, from A.shape[0])");
  auto* simple = reinterpret_cast<int (*)(const ashlar_tensor*, float, const ashlar_tensor*)>(code.address("scale"));
  auto* with = reinterpret_cast<int (*)(const ashlar_tensor*, float, const ashlar_tensor*, const ashlar_context*)>(
      code.address("scale_with"));
  CHECK(simple(&A, 3, &C) == ASHLAR_OK);
  CHECK(c[39] == 3 * 39);
  CHECK(with(&A, 5, &C, &ctx) == ASHLAR_OK);
  CHECK(c[39] == 5 * 39);
  CHECK(code.address("scale_other") == nullptr);
}

TEST_CASE("extents that are not affine and assumptions are checked through callbacks") {
  Maker m("halves");
  const Expr N = m.symbol("N"), M = m.symbol("M");
  const ir::Id x = m.tensor("x", f64, {N}), y = m.tensor("y", f64, {M}),
               out = m.tensor("out", f64, {ir::div(N, ir::index(2))}, true);
  m.k.assumptions = {ir::le(M, N)};
  const Expr i = ir::var(m.fresh(), "i");
  m.k.body = {kernels::loop(i, ir::div(N, ir::index(2)),
                            {kernels::store(out, i, ir::add(m.load(x, ir::mul(i, ir::index(2))), m.load(y, ir::index(0))))})};
  const codegen::Compiled code = codegen::compile(m.k, Target::host());
  double xs[7] = {0, 1, 2, 3, 4, 5, 6}, ys[9] = {10}, outs[4] = {-1, -1, -1, -1};
  std::int64_t n = 7, mm = 1, half = 3;
  auto tensor = [](double* data, std::int64_t* shape) {
    ashlar_tensor t{};
    t.data = data, t.device_type = 1, t.ndim = 1, t.type_code = 2, t.type_bits = 64, t.type_lanes = 1, t.shape = shape;
    return t;
  };
  const ashlar_tensor X = tensor(xs, &n), Y = tensor(ys, &mm), O = tensor(outs, &half);
  const void* arguments[] = {&X, &Y, &O};
  CHECK(code.call(arguments) == ASHLAR_OK);
  CHECK(outs[2] == 14);
  CHECK(outs[3] == -1);
  half = 4;
  CHECK(code.call(arguments) == ASHLAR_E_SHAPE);
  CHECK(test::last_error() == "halves: out.shape[0] is 4, expected 3 (N / 2)");
  half = 3;
  mm = 9;
  outs[0] = -1;
  CHECK(code.call(arguments) == ASHLAR_E_FACT);
  CHECK(test::last_error() == "halves: expected M <= N, which does not hold");
  struct {
    const void *x, *y, *out;
    std::int64_t N, M;
  } args{xs, ys, outs, 7, 9};
  CHECK(code.run(&args, nullptr) == ASHLAR_E_FACT);
  CHECK(outs[0] == -1);
}

TEST_CASE("an object defines the entries, refers to the closed list, and is the same every time") {
  const std::string folder =
      std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") + "/ashlar_codegen_" + std::to_string(std::rand());
  for (const char* name : {"x86-64", "x86-64-v3", "x86-64-v4", "x86-64-v3-none"}) {
    const Target target = Target::parse(name);
    const codegen::Output kinds[] = {codegen::Output::object, codegen::Output::static_library, codegen::Output::assembly,
                                     codegen::Output::llvm};
    const auto first = codegen::emit(scale(), target, kinds), second = codegen::emit(scale(), target, kinds);
    CHECK(first == second);
    CHECK(first[1].starts_with("!<arch>\n"));
    CHECK(first[3].find("define") != std::string::npos);
    for (const std::string& bytes : first) CHECK(bytes.find(source_dir()) == std::string::npos);
    const std::string path = folder + ".a";
    std::ofstream(path, std::ios::binary) << first[1];
    std::FILE* nm = popen(("nm " + path).c_str(), "r");
    REQUIRE(nm != nullptr);
    std::string listing;
    for (int ch; (ch = std::fgetc(nm)) != EOF;) listing += static_cast<char>(ch);
    REQUIRE(pclose(nm) == 0);
    std::remove(path.c_str());
    std::set<std::string> defined, undefined;
    std::istringstream lines(listing);
    for (std::string line; std::getline(lines, line);) {
      if (line.size() < 20) continue;
      if (line[17] == 'U')
        undefined.insert(line.substr(19));
      else if (line[17] >= 'A' && line[17] <= 'Z')
        defined.insert(line.substr(19));
    }
    const bool hosted = target.os() != "none";
    CHECK(defined ==
          (hosted ? std::set<std::string>{"scale", "scale_with", "scale_run", "scale_workspace_bytes", "scale_abi1_desc"}
                  : std::set<std::string>{"scale_run", "scale_workspace_bytes"}));
    CHECK(undefined == (hosted ? std::set<std::string>{"ashlar_abi1_call"} : std::set<std::string>{}));
  }
}
