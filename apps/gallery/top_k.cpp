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
#include <ashlar/ops/sort.h>
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

  void algorithm() override {
    const auto top = ops::topk(x, k, -1, true, i32);
    words = top.words, found = top.found;
    value = top.result, column = top.index;
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
