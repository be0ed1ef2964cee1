// Values in Scope::registers fit a thread, and those of all threads of a block the registers of a multiprocessor; otherwise the
// user is told at the line of the contract.
#include <doctest/doctest.h>

#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedule/schedule.h>

using namespace ashlar;

namespace {

// Each thread of a block keeps `values` of f32 (or pairs of them, of f64) at once.
std::string refusal(const char* target, int threads, int values, Type type = f32) {
  lang::DefinitionScope scope;
  Symbol N{"N", {.multiple_of = threads * values}};
  Tensor x = lang::make_input("x", type, {N}), y = lang::make_output("y", type, {N});
  Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
  lang::bind(y, twice);
  Schedule s(lang::build_program("twice", {x, y}), Target::parse(target));
  Stage kept = s.cache_write(twice, Scope::registers);
  auto [block, within] = s[twice].split(s[twice].spatial<1>()[0], threads * values, Tail::exact);
  auto [thread, each] = s[twice].split(within, values, Tail::exact);
  s[twice].bind(block, gpu::block_x).bind(thread, gpu::thread_x).unroll(each);
  kept.compute_at(thread);
  kept.unroll(kept.spatial<1>()[0]);
  try {
    (void)lower(s.scheduled().program, options_for(s.target()));
  } catch (const RefusalError& e) { return e.refusal.text(); }
  return "accepted";
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("all threads of a block share the registers of a multiprocessor") {
  for (const char* target : {"cuda-sm_80", "cuda-sm_90a", "cuda-sm_100a"}) {
    CAPTURE(target);
    CHECK(refusal(target, 1024, 64) == "accepted");
    const std::string text = refusal(target, 1024, 65);
    CAPTURE(text);
    CHECK(text.find("register_file_test.cpp") == 0);
    CHECK(says(text, "store_in: expected values of y_cache"));
    CHECK(says(text, "in at most 64 registers of each of 1024 threads, which share 65536, found 65 alive at once"));
    // 65536 / 480 = 136.5: registers are given in eights
    CHECK(refusal(target, 480, 136) == "accepted");
    CHECK(says(refusal(target, 480, 137), "in at most 136 registers of each of 480 threads"));
    CHECK(refusal(target, 480, 68, f64) == "accepted");
    CHECK(says(refusal(target, 480, 69, f64), "found 138 alive at once"));
  }
  CHECK(refusal("vulkan", 1024, 65) == "accepted");  // tells nothing of its registers
}

TEST_CASE("a thread has at most so many registers") {
  for (const char* target : {"cuda-sm_80", "cuda-sm_90a", "cuda-sm_100a"}) {
    CAPTURE(target);
    CHECK(refusal(target, 32, 255) == "accepted");
    const std::string text = refusal(target, 32, 256);
    CAPTURE(text);
    CHECK(text.find("register_file_test.cpp") == 0);
    CHECK(says(text, "in at most 255 registers of a thread, found 256 alive at once"));
  }
}

TEST_CASE("an index into registers that is no constant is refused at the line of store_in") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
  lang::bind(y, compute("y", {N}, [&](Var i) { return twice(i) + 1; }));
  Schedule s(lang::build_program("kept", {x, y}), Target::parse("x86-64-v3"));
  s[twice].compute_at(s[y].split(s[y].spatial<1>()[0], 8).outer);
  s[twice].store_in(Scope::registers);
  const std::string here = "register_file_test.cpp:" + std::to_string(__LINE__ - 1);
  try {
    (void)lower(s.scheduled().program, options_for(s.target()));
    FAIL("accepted");
  } catch (const RefusalError& e) {
    CAPTURE(e.refusal.text());
    CHECK(e.refusal.text().find(here + ": store_in: expected constant indices into twice") == 0);
  }
}
