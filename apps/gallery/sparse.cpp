// A sparse matrix times a dense one. The sparse matrix is given by rows (CSR): those of its entries that belong to row i are
// numbers first(i) to first(i + 1) - 1; entry p stands in column col(p) and is val(p).
//
// How far the axis over a row's entries runs is read from a table. What the tables promise is written down, since it cannot be
// known here: in_range is checked by the interpreter, and relied on by the library.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Sparse : public Generator {
 public:
  Symbol M{"M"}, K{"K"}, N{"N"}, Z{"Z", {.max = 2147483646}};  // entries are numbered by i32
  Input first{"first", i32, {M + 1}}, col{"col", i32, {Z}}, val{"val", f32, {Z}}, B{"B", f32, {K, N}};
  Output C{"C", f32, {M, N}};

  void algorithm() override {
    C = compute("C", {M, N}, [&](Var i, Var j) {
      Axis p{"p", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
      return sum(val(p) * B(in_range(col(p), 0, K), j), p);
    });
  }

  // Each row by itself; of it, four vectors at a time are summed over all of the row's entries. The last ones, which may lie
  // past the end, have loops of their own.
  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    auto [i, j] = s[C].spatial<2>();
    auto p = s[C].reduction();
    auto [jo, ji] = s[C].split(j, 4 * lanes);
    auto [jv, lane] = s[C].split(ji, lanes);
    s[C].reorder(i, jo, jv, p, lane).parallel(i).vectorize(lane).unroll_and_jam(jv).peel(jo, Peel::last);
  }
};
ASHLAR_GENERATOR(Sparse, "sparse");
}  // namespace
