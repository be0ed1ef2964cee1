#pragma once
// Programs of one to three stages, as small as an example of a step can be.
#include <ashlar/ashlar.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace primitives_page {

using namespace ashlar;

struct Plus {  // y = x + 1
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  lang::Built built = (lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return x(i, j) + 1; })),
                       lang::build_program("plus", {x, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Matmul {  // C = A B
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  lang::Built built =
      (lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); })),
       lang::build_program("matmul", {A, B, C}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Bytes {  // C = A B of bytes, summed in i32
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A = lang::make_input("A", u8, {M, K}), B = lang::make_input("B", i8, {K, N}), C = lang::make_output("C", i32, {M, N});
  Axis k{"k", K};
  lang::Built built =
      (lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(i32(A(i, k)) * i32(B(k, j)), k); })),
       lang::build_program("bytes", {A, B, C}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Sums {  // y[i] = the sum of row i; on a processor
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M});
  Axis k{"k", N};
  lang::Built built =
      (lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return sum(x(i, k), k); })), lang::build_program("sums", {x, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct StrictSums {  // the same in the order in which the terms stand
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M});
  Axis k{"k", N};
  lang::Built built = (lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return strict_sum(x(i, k), k); })),
                       lang::build_program("strict_sums", {x, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Smooth {  // y[i] = a[i] + a[i + 1], a = x * 2: a stage that is read at two places
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M + 1, N}), y = lang::make_output("y", f32, {M, N});
  Tensor a = compute("a", [&](Var i, Var j) { return x(i, j) * 2; });
  lang::Built built = (lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return a(i, j) + a(i + 1, j); })),
                       lang::build_program("smooth", {x, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Chained {  // y = b - 1, b = a * 2, a = x + 1
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  Tensor a = compute("a", {{"i", N}}, [&](Var i) { return x(i) + 1; });
  Tensor b = compute("b", {{"i", N}}, [&](Var i) { return a(i) * 2; });
  lang::Built built =
      (lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return b(i) - 1; })), lang::build_program("chained", {x, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Dense {  // y = max(p, 0) of a product p
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K", {.min = 1}};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         y = lang::make_output("y", f32, {M, N});
  Axis k{"k", K};
  Tensor p = compute("p", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::Built built = (lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return max(p(i, j), 0); })),
                       lang::build_program("dense", {A, B, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Table {  // d[i, j] of its neighbors above and to the left
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor w = lang::make_input("w", i32, {M, N}), out = lang::make_output("d", i32, {M, N});
  Tensor d = recur(
      "d", {{"i", M}, {"j", N}}, Along{0, 1}, Lag{1}, [&](Var i, Var j) { return w(i, j); },
      [&](Prior before, Var i, Var j) { return max(before(i - 1, j), before(i, j - 1)) + w(i, j); });
  lang::Built built = (lang::bind(out, d), lang::build_program("table", {w, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Triangle {  // of each row the elements up to the diagonal
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, N}), out = lang::make_output("y", f32, {N});
  Tensor y = compute("y", {{"i", N}}, [&](Var i) {
    const Axis k{"k", i};
    return sum(x(i, k), k);
  });
  lang::Built built = (lang::bind(out, y), lang::build_program("triangle", {x, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Running {  // the sums of the first elements
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N}), out = lang::make_output("t", i32, {N});
  Tensor t = scan("t", {{"i", N}}, Along{0}, Combine::add, [&](Var i) { return x(i); });
  lang::Built built = (lang::bind(out, t), lang::build_program("running", {x, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Histogram {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", u8, {N}), out = lang::make_output("counts", u32, {256});
  Tensor counts = scatter("counts", {{"b", 256}}, Combine::add, u32(0), {{"n", N}}, [&](Var n) { return put(u32(1), x(n)); });
  lang::Built built = (lang::bind(out, counts), lang::build_program("histogram", {x, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Permuted {  // y[order[n]] += x[n]
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), order = lang::make_input("order", i32, {N}),
         out = lang::make_output("sums", f32, {N});
  Tensor sums =
      scatter("sums", {{"v", N}}, Combine::add, 0.f, {{"n", N}}, [&](Var n) { return put(x(n), in_range(order(n), 0, N)); });
  lang::Built built = (lang::bind(out, sums), lang::build_program("permuted", {x, order, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Exponentials {  // the sum of exp(x - the largest), of each row
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, N}), out = lang::make_output("total", f32, {M});
  Axis k{"k", N}, l{"l", N};
  Tensor top = compute("top", {{"i", M}}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor total = compute("total", {{"i", M}}, [&](Var i) { return sum(exp(x(i, l) - top(i)), l); });
  lang::Built built = (lang::bind(out, total), lang::build_program("exponentials", {x, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Weights {  // the same, with the exponentials as a stage
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, N}), out = lang::make_output("total", f32, {M});
  Axis k{"k", N}, l{"l", N};
  Tensor top = compute("top", {{"i", M}}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor e = compute("e", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return exp(x(i, j) - top(i)); });
  Tensor total = compute("total", {{"i", M}}, [&](Var i) { return sum(e(i, l), l); });
  lang::Built built = (lang::bind(out, total), lang::build_program("weights", {x, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Attend {  // the largest x[i, k] and the sum of exp(x[i, k] - it) * v[k, c], carried together
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, C{"C"};
  Tensor x = lang::make_input("x", f32, {M, N}), v = lang::make_input("v", f32, {N, C}),
         y = lang::make_output("y", f32, {M, C});
  Axis k{"k", N};
  std::array<Tensor, 2> both = pair();
  lang::Built built = (lang::bind(y, compute("y", {{"i", M}, {"c", C}}, [&](Var i, Var c) { return both[1](i, c) * 2; })),
                       lang::build_program("attend", {x, v, y}));
  Schedule s{built, Target::parse("x86-64-v3")};

 private:
  std::array<Tensor, 2> pair() {
    const auto online = reducer(
        "online", {f32, f32}, {lowest(f32), 0},
        [](Values<2> a, Values<2> b) {
          Expr m = max(a[0], b[0]);
          return values(m, a[1] * exp(a[0] - m) + b[1] * exp(b[0] - m));
        },
        Order::any);
    return compute("o", {{"i", M}, {"c", C}}, [&](Var i, Var c) { return online(values(x(i, k), v(k, c)), k); });
  }
};

struct Zeros {  // integers with zero points
  lang::DefinitionScope scope;
  Symbol N{"N"}, K{"K"};
  Tensor x = lang::make_input("x", u8, {K}), w = lang::make_input("w", i8, {K, N}), out = lang::make_output("t", i32, {N});
  Axis k{"k", K};
  Tensor t = compute("t", {{"j", N}}, [&](Var j) { return sum((i32(x(k)) - 128) * i32(w(k, j)), k); });
  lang::Built built = (lang::bind(out, t), lang::build_program("zeros", {x, w, out}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Two {  // two readers of one stage
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {N});
  Tensor a = compute("a", {{"i", N}}, [&](Var i) { return x(i) * 2; });
  lang::Built built =
      (lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return a(i) + 1; })),
       lang::bind(z, compute("z", {{"i", N}}, [&](Var i) { return a(N - 1 - i); })), lang::build_program("two", {x, y, z}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

struct Fours {  // y = 2 x of four elements at a time, for an instruction
  lang::DefinitionScope scope;
  Symbol N{"N", {.multiple_of = 4}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::Built built =
      (lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i) + x(i); })), lang::build_program("fours", {x, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
};

// The same for a device, with blocks and threads.
template <class Program>
struct OnDevice : Program {
  OnDevice() { this->s = Schedule(this->built, Target::parse("vulkan")); }
};

// The same for a device that is programmed by tiles.
template <class Program>
struct OnTiles : Program {
  OnTiles() { this->s = Schedule(this->built, Target::parse("cuda-tile-sm_90")); }
};

}  // namespace primitives_page
