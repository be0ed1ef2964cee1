#pragma once
// Plain loops over recurrences, compiled by two compilers: LOOPS is the name of the table that one of them makes.
#include <cstdint>

namespace bench {

using Size = std::int64_t;

struct RecurrenceLoops {
  void (*sums)(const float* x, float* y, Size n);
  void (*maxima)(const float* x, float* y, Size n);
  void (*first_rows)(const float* x, float* y, Size rows, Size steps);
  void (*first_columns)(const float* x, float* y, Size steps, Size columns);
  void (*second_rows)(const float* x, float* y, Size rows, Size steps);
  void (*second_columns)(const float* x, float* y, Size steps, Size columns);
  void (*last)(const float* x, float* y, Size steps, Size columns);  // of first_columns, the last step alone
  // a x[i - 1] + b x[i] + c x[i + 1] = d in each column, or in each row; scratch has two arrays of the size
  void (*systems_columns)(const float* a, const float* b, const float* c, const float* d, float* x, float* scratch, Size n,
                          Size columns);
  void (*systems_rows)(const float* a, const float* b, const float* c, const float* d, float* x, float* scratch, Size rows,
                       Size n);
  void (*distance)(const int* a, const int* b, int* d, Size m, Size n);
  void (*states)(const float* x, float* y, Size rows,
                 Size steps);  // two states of a Markov chain: the best of both, at the end
  void (*counts)(const int* x, int* y, Size n);
  void (*averages)(const float* x, float* fast, float* slow, Size n, bool backwards);
};
extern const RecurrenceLoops loops_of_gcc, loops_of_clang;

}  // namespace bench
