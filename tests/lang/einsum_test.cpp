// einsum beside plain loops, and every way in which it refuses.
#include <ashlar/ashlar.h>

#include "tests/support/refused.h"
#include "run.h"

using namespace ashlar;

namespace {

struct Letters {  // the extent of each letter
  std::map<char, std::int64_t> of;
  std::vector<std::int64_t> shape(const std::string& letters) const {
    std::vector<std::int64_t> s;
    for (char c : letters) s.push_back(of.at(c));
    return s;
  }
};

// What a notation means, by its definition: for every point of all letters the product is added to the element of the result.
std::vector<double> meant(const Letters& l, const std::vector<std::string>& operands, const std::string& result) {
  std::string all;
  for (const std::string& o : operands)
    for (char c : o)
      if (all.find(c) == std::string::npos) all += c;
  const auto place = [&](const std::string& letters, const std::map<char, std::int64_t>& at) {
    std::int64_t p = 0;
    for (char c : letters) p = p * l.of.at(c) + at.at(c);
    return p;
  };
  std::int64_t size = 1, points = 1;
  for (char c : result) size *= l.of.at(c);
  for (char c : all) points *= l.of.at(c);
  std::vector<double> sums(static_cast<std::size_t>(size), 0);
  for (std::int64_t n = 0; n < points; ++n) {
    std::map<char, std::int64_t> at;
    std::int64_t rest = n;
    for (char c : all) at[c] = rest % l.of.at(c), rest /= l.of.at(c);
    double product = 1;
    for (const std::string& o : operands) product *= static_cast<double>(place(o, at) + 1);
    sums[static_cast<std::size_t>(place(result, at))] += product;
  }
  return sums;
}

template <class... Operand>
void same(const Letters& l, const char* text, const std::string& result, const Operand&... letters) {
  CAPTURE(text);
  lang::DefinitionScope scope;
  const std::vector<std::string> operands{letters...};
  std::vector<Tensor> tensors;
  std::vector<lang::ArgumentRef> arguments;
  interp::Arguments actual;
  const auto extents = [&](const std::string& s) {
    std::vector<Extent> e;
    for (std::int64_t n : l.shape(s)) e.emplace_back(n);
    return e;
  };
  for (const std::string& o : operands) {
    tensors.push_back(lang::make_input(("x" + std::to_string(tensors.size())).c_str(), f32, extents(o)));
    arguments.emplace_back(tensors.back());
    actual.emplace_back(counting(f32, l.shape(o)));
  }
  const Tensor y = lang::make_output("y", f32, extents(result));
  std::size_t k = 0;
  const auto next = [&](const std::string&) -> const Tensor& { return tensors[k++]; };
  if constexpr (sizeof...(letters) == 1)
    lang::bind(y, einsum(text, next(letters...)));
  else if constexpr (sizeof...(letters) == 2)
    lang::bind(y, einsum(text, tensors[0], tensors[1]));
  else
    lang::bind(y, einsum(text, tensors[0], tensors[1], tensors[2]));
  arguments.emplace_back(y);
  actual.emplace_back(interp::Array::zeros(f32, l.shape(result)));
  CHECK(run(arguments, actual) == meant(l, operands, result));
}

}  // namespace

TEST_CASE("a notation computes what it says") {
  const Letters l{{{'b', 2}, {'h', 3}, {'i', 4}, {'j', 3}, {'k', 5}, {'q', 2}, {'d', 3}, {'Z', 2}}};
  same(l, "ik,kj->ij", "ij", "ik", "kj");
  same(l, " i k , k j -> i j ", "ij", "ik", "kj");
  same(l, "bhqd,bhkd->bhqk", "bhqk", "bhqd", "bhkd");
  same(l, "ij->ji", "ji", "ij");
  same(l, "ij->i", "i", "ij");
  same(l, "ij->", "", "ij");
  same(l, "ii->", "", "ii");
  same(l, "ii->i", "i", "ii");
  same(l, "i,j->ij", "ij", "i", "j");
  same(l, "i,i->", "", "i", "i");
  same(l, "ik,kj,jZ->iZ", "iZ", "ik", "kj", "jZ");
  same(l, "kji,i->jk", "jk", "kji", "i");
  same(l, "ij,ij->ij", "ij", "ij", "ij");
  same(l, ",i->i", "i", "", "i");
}

TEST_CASE("without an arrow the letters that stand once are the result, in the order of the alphabet") {
  const Letters l{{{'a', 2}, {'b', 3}, {'c', 4}}};
  same(l, "ba,cb", "ac", "ba", "cb");
  same(l, "ba", "ab", "ba");
  same(l, "bb", "", "bb");
}

TEST_CASE("the stage has the letters for loops, and a sum that accumulates by fma") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor A = lang::make_input("A", f16, {M, K}), B = lang::make_input("B", f16, {K, N}),
               C = lang::make_output("C", f32, {M, N});
  lang::bind(C, einsum(f32, "ik,kj->ij", A, B));
  const ir::Program p = lang::build_program("product", {A, B, C}).program;
  const ir::Stage& s = p.stages.begin()->second;
  std::string names;
  for (const ir::IterVar& v : s.iters) names += v.name;
  CHECK(names == "ijk");
  CHECK(s.reducer.kind == ir::ReducerKind::sum);
  CHECK(s.reducer.fused);
  CHECK(s.values[0].type() == f32);
}

TEST_CASE("what a notation does not say is refused at its line") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, K{"K"};
  const Tensor A = lang::make_input("A", f32, {4, K}), B = lang::make_input("B", f32, {5, N});
  const auto says = [](const std::string& text, const char* expected, const char* found) {
    CAPTURE(text);
    CHECK(text.find("einsum_test.cpp") != std::string::npos);
    CHECK(text.find("einsum: expected ") != std::string::npos);
    CHECK(text.find(expected) != std::string::npos);
    CHECK(text.find(found) != std::string::npos);
  };
  says(refused([&] { einsum("ij,jk->ik", A); }), "2 tensors, one for each operand", "found 1");
  says(refused([&] { einsum("ijk,jk->i", A, B); }), "a letter for each dimension of A, of rank 2", "\"ijk\"");
  says(refused([&] { einsum("ij,jk->iz", A, B); }), "a result of letters of the operands", "z, which no operand has");
  says(refused([&] { einsum("ij->ii", A); }), "a result that has each letter once", "i twice in \"ii\"");
  says(refused([&] { einsum("ij,ik->jk", A, B); }), "one extent for i", "4, and 5 in dimension 0 of B");
  says(refused([&] { einsum("...j->j", A); }), "a letter for each dimension, a comma", "dots (dimensions without a name)");
  says(refused([&] { einsum("i1->i", A); }), "a letter for each dimension", "'1' in \"i1->i\"");
  says(refused([&] { einsum("ij->i->j", A); }), "-> before the result", "'-'");
  says(refused([&] { einsum("ij->i,j", A); }), "-> before the result", "','");
  says(refused([&] { einsum(nullptr, A); }), "subscripts such as", "none");
  CHECK(refused([&] { einsum("ij", Tensor()); }).find("einsum_test.cpp") != std::string::npos);
}
