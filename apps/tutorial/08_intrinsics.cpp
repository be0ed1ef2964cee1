// Lesson 8: an instruction of one's own.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("8. Intrinsics: an instruction of one's own");
  lesson.say(
      "An intrinsic is described in the language itself: what it reads, what it writes, and what that means; and how a back "
      "end\n"
      "says it. This one multiplies four bytes with four bytes, sums them, and adds what was there, for eight rows at once. "
      "Here\n"
      "it is a function in C, as the library of a chip's vendor has them; an instruction would be named by its LLVM "
      "intrinsic.");
  const Intrinsic dot4 = intrinsic("dot4", [](Meaning& m) {
    Tensor a = m.read("a", u8, {4}), b = m.read("b", i8, {8, 4});
    Tensor c = m.accumulate("c", i32, {8});
    Axis k{"k", 4};
    m.means(c, [&](Var i) { return sum(i32(a(k)) * i32(b(i, k)), k).from(c(i)); });
    m.emit(Backend::llvm, "call void @dot4(ptr {c.ptr}, ptr {a.ptr}, ptr {b.ptr}, i64 {b.stride0})");
  });

  lesson.say("A product of a vector of bytes with a matrix:");
  lang::DefinitionScope scope;
  Symbol N{"N", {.multiple_of = 8}}, K{"K", {.multiple_of = 4}};
  Tensor x = lang::make_input("x", u8, {K}), w = lang::make_input("w", i8, {N, K}), y = lang::make_output("y", i32, {N});
  Axis k{"k", K};
  lang::bind(y, compute("y", {{"n", N}}, [&](Var n) { return sum(i32(x(k)) * i32(w(n, k)), k); }));
  Schedule s(lang::build_program("product", {x, w, y}), Target::parse("x86-64-v4"));
  lesson.watch(s);
  auto [no, ni] = s[y].split(s[y].spatial<1>()[0], 8, Tail::exact);
  auto [ko, ki] = s[y].split(s[y].reduction(), 4, Tail::exact);
  s[y].reorder(no, ko, ni, ki);
  lesson.say("The sums start at 0 before the loop over ko, so that inside of it they are only added to:");
  s[y].decompose_init(ko);
  lesson.say(
      "The loops over ni and ki do what the intrinsic means. That is proved, by unifying the one with the other, and the call\n"
      "takes their place:");
  s[y].tensorize(ni, dot4);
  lesson.say("Where a loop does something else, both sides are shown:");
  lang::DefinitionScope other;
  Tensor p = lang::make_input("p", u8, {K}), q = lang::make_input("q", i8, {N, K}), r = lang::make_output("r", i32, {N});
  Axis l{"l", K};
  lang::bind(r, compute("r", {{"n", N}}, [&](Var n) { return sum(i32(p(l)) * i32(q(n, l)) * 2, l); }));
  Schedule t(lang::build_program("twice", {p, q, r}), Target::parse("x86-64-v4"));
  auto [ro, ri] = t[r].split(t[r].spatial<1>()[0], 8, Tail::exact);
  auto [lo, li] = t[r].split(t[r].reduction(), 4, Tail::exact);
  t[r].reorder(ro, lo, ri, li).decompose_init(lo);
  lesson.refused(t.attempt([&, ri = ri] { t[r].tensorize(ri, dot4); }));
  (void)ki;
  return 0;
}
