// A Fourier transform of a power of two, radix 2, as log2(n) stages of butterflies in Stockham's order (no bit reversal):
//
//   stage s, half = n / 2, block = 2^s:  point p = q * 2 block + e * block + r  from  a = y[q * block + r], b = y[q * block + r
//   + half] value a + w b for e = 0, a - w b for e = 1, w = exp(-2 pi i r / (2 block))
//
// (Van Loan, Computational frameworks for the fast Fourier transform, 1992, section 1.7.) Rows are transforms of their own.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Fourier : public Generator {
 public:
  Param<int> bits{"bits", 6, between(1, 12), "log2 of the length"};
  Symbol M{"M"};
  Input re{"re", f32, {M, 1 << *bits}}, im{"im", f32, {M, 1 << *bits}};
  Output out_re{"out_re", f32, {M, 1 << *bits}}, out_im{"out_im", f32, {M, 1 << *bits}};
  std::vector<Tensor> stages;

  void algorithm() override {
    const int n = 1 << *bits, half = n / 2;
    Tensor a = re, b = im;
    for (int s = 0; s < *bits; ++s) {
      const int block = 1 << s;
      auto [x, y] = compute("butterflies", {M, n}, [&](Var m, Var p) {
        const Expr r = p % block, e = p / block % 2, q = p / (2 * block), at = q * block + r;
        const Expr angle = f32(r) * static_cast<float>(-3.14159265358979323846 / block);
        const Expr c = cos(angle), d = sin(angle), u = a(m, at + half), v = b(m, at + half);
        const Expr wu = c * u - d * v, wv = c * v + d * u;
        return values(select(e == 0, a(m, at) + wu, a(m, at) - wu), select(e == 0, b(m, at) + wv, b(m, at) - wv));
      });
      a = x, b = y;
      stages.push_back(x);
    }
    out_re = a, out_im = b;
  }

  void schedule(Schedule& s) override {
    auto [m, p] = s[stages.back()].spatial<2>();
    s[stages.back()].parallel(m).vectorize(p, s.target().lanes(f32));
    for (std::size_t k = stages.size() - 1; k-- > 0;) {  // a row at a time
      s[stages[k]].compute_at(m);
      s[stages[k]].vectorize(s[stages[k]].spatial<2>()[1], s.target().lanes(f32));
    }
  }
};
ASHLAR_GENERATOR(Fourier, "fft");
}  // namespace
