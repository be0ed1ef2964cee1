#pragma once
// The suites of the bench: each measures one thing against its peers and adds its records.
#include "bench/report.h"

namespace bench {

struct Machine {
  int threads = 1;                                  // what is measured: on one thread, and on this many
  double fma[2] = {}, copy[2] = {}, triad[2] = {};  // GFLOP/s and GB/s, on one thread and on `threads`
};

void matmul_suite(Report&, const Machine&);
void narrow_suite(Report&, const Machine&);
void stored_suite(Report&, const Machine&);
void convolution_suite(Report&, const Machine&);
void attention_suite(Report&, const Machine&);
void memory_suite(Report&, const Machine&);
void windows_suite(Report&, const Machine&);
void unsharp_suite(Report&, const Machine&);
void scan_suite(Report&, const Machine&);
void default_suite(Report&, const Machine&);
void pool_suite(Report&, const Machine&);

}  // namespace bench
