// Lesson 8: an instruction that you describe.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("8. Intrinsics: an instruction that you describe");
  lesson.say(
      "An intrinsic is described in the language itself: what it reads, what it writes, what it computes, and the text for\n"
      "each back end. This one multiplies four bytes with four bytes, sums the products, and adds the sum to an accumulator,\n"
      "for eight rows at a time. Here it is a C function, as in the library of a chip's vendor; an instruction would be named\n"
      "by its LLVM intrinsic.");
  const Intrinsic dot4 = intrinsic("dot4", [](Meaning& m) {
    Tensor a = m.read("a", u8, {4}), b = m.read("b", i8, {8, 4});
    Tensor c = m.accumulate("c", i32, {8});
    Axis k{"k", 4};
    m.means(c, [&](Var i) { return sum(i32(a(k)) * i32(b(i, k)), k).from(c(i)); });
    m.emit(Backend::llvm, "call void @dot4(ptr {c.ptr}, ptr {a.ptr}, ptr {b.ptr}, i64 {b.stride0})");
  });

  lesson.say("A vector of bytes times a matrix:");
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
  lesson.say("The sums start at 0 before the loop over ko, so that the loop only adds:");
  s[y].decompose_init(ko);
  lesson.say(
      "The loops over ni and ki compute what the intrinsic means. The step proves this by unification, and the call replaces\n"
      "the loops:");
  s[y].tensorize(ni, dot4);
  lesson.say("If a loop computes something else, the refusal shows both sides:");
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
