#pragma once
// A program of the bench as its author writes it: the algorithm, the sizes at which it is measured, what fills its inputs, and
// how near its results are to those of plain loops. README.md has a whole one.
//
//   PROGRAM(p) {
//     const Symbol N = p.size("N", 1 << 20);
//     const Tensor x = p.in("x", f32, {N}, uniform(-1, 1));
//     p.out(compute("y", {N}, [&](Var i) { return x(i) * 2; }));
//   }
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/ops.h>

namespace bench::programs {

using namespace ashlar;
using Dims = std::vector<std::int64_t>;

// The elements of an input, in row-major order, converted to its type.
using Fill = std::function<std::vector<double>(std::int64_t elements, std::mt19937_64&)>;
Fill uniform(double low, double high);               // fractions of [low, high)
Fill integers(std::int64_t low, std::int64_t high);  // low, …, high - 1
template <class T>
Fill numbers(const std::vector<T>& list) {  // these
  return [all = std::vector<double>(list.begin(), list.end())](std::int64_t, std::mt19937_64&) { return all; };
}

class Program {
 public:
  // What a call decides: the program is compiled for any value within the facts, and measured at this one.
  Symbol size(const char* name, std::int64_t value, Symbol::Facts = {}, Where = Where::current());
  Tensor in(const char* name, Type, const std::vector<Extent>& shape, Fill, Where = Where::current());
  void out(const Tensor&);

  // Left out: sums may be regrouped, and an element of a float result may be apart by 1e-4 of the result's largest magnitude.
  // Integers are equal in any case.
  void no_regrouping() { regroup = false; }
  void within(double of_largest) { tolerance = of_largest; }
  void exact() { regroup = false, tolerance = 0; }  // the same bits as the plain loops of -O3

  struct Array {
    std::string name;
    Type type;
    Dims shape;
    Fill fill;  // of inputs
  };
  std::vector<Array> inputs, outputs;
  std::vector<std::int64_t> sizes;
  std::vector<lang::ArgumentRef> arguments;
  bool regroup = true;
  double tolerance = 1e-4;

 private:
  Dims evaluated(const std::vector<Extent>&) const;
  std::vector<Symbol> symbols_;
};

}  // namespace bench::programs

#define PROGRAM(p)                \
  namespace bench::programs {     \
  void PROGRAM_ENTRY(Program& p); \
  }                               \
  void bench::programs::PROGRAM_ENTRY([[maybe_unused]] Program& p)
