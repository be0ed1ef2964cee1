// The k largest elements of each row, in falling order, with the columns where they stand; of equal ones the lower column
// comes first, and a NaN stands before numbers, as in argmax.
//
// An element and its column are one integer that sorts as they do: the bits of the element, turned so that they compare as
// integers do, above the column counted from the end. No two are equal, so the k largest are k maxima, each of what lies below
// the one before. A row becomes such words once, and the k passes over them stay in the cache: x is read once.
//
// Why not lists of k that merge, or an insertion? A reducer promises its laws for all tuples, and merging lists obeys them for
// sorted ones alone; a recurrence that inserts into k registers keeps the registers of all steps.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class TopK : public Generator {
 public:
  Param<int> k{"k", 4, between(1, 32), "how many"};
  Symbol M{"M"}, N{"N", {.min = *k, .max = 2147483647}};
  Input x{"x", f32, {M, N}};
  Output value{"value", f32, {M, *k}}, column{"column", i32, {M, *k}};
  Tensor words;
  std::vector<Tensor> found;

  static Expr word(const Expr& v, const Expr& at) {
    const Expr bits = bitcast(i32, v + 0.0f);  // -0 + 0 = 0: the zeros are equal
    const Expr key = select(isnan(v), highest(i32), bits ^ ((bits >> 31) & 0x7fffffff));
    return (i64(key) << 32) | i64(0x7fffffff - at);
  }
  static Expr element(const Expr& w) {
    const Expr key = i32(w >> 32);
    return bitcast(f32, key ^ ((key >> 31) & 0x7fffffff));
  }

  void algorithm() override {
    words = compute("words", {M, N}, [&](Var i, Var j) { return word(x(i, j), j); });
    Axis j{"j", N};
    for (int r = 0; r < *k; ++r)
      found.push_back(compute("found", {M}, [&](Var i) {
        const Expr w = words(i, j);
        return maximum(r == 0 ? w : select(w < found.back()(i), w, lowest(i64)), j);
      }));
    auto [v, at] = compute("top", {M, *k}, [&](Var i, Var r) {
      Expr w = found[0](i);
      for (int b = 1; b < *k; ++b) w = select(r == b, found[static_cast<std::size_t>(b)](i), w);
      return values(element(w), 0x7fffffff - i32(w & 0x7fffffff));
    });
    value = v, column = at;
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(i64);
    auto [i, r] = s[value].spatial<2>();
    s[value].parallel(i).unroll(r);
    for (std::size_t b = found.size(); b-- > 0;) {
      s[found[b]].compute_at(i).store_in(Scope::stack);
      auto [strip, lane] = s[found[b]].split(s[found[b]].reduction(), 4 * lanes);
      Stage part = s[found[b]].rfactor(lane);  // four vectors of maxima
      part.store_in(Scope::stack);
      auto [four, one] = part.split(part.spatial<2>()[1], lanes);
      part.vectorize(one).unroll(four);
      (void)strip;
    }
    s[words].compute_at(i).vectorize(s[words].spatial<2>()[1], lanes);
  }
};
ASHLAR_GENERATOR(TopK, "top_k");
}  // namespace
