// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// doctest's main, which says at the end what ran. Where all tests run, each kernel of the files has to be launched by one of
// them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/ptx/corpus/corpus.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int failed = context.run();
  if (context.shouldExit()) return failed;
  ashlar::ptx_corpus::print_totals();
  if (argc > 1) return failed;
  const auto names = ashlar::ptx_corpus::not_launched();
  for (const auto& name : names) std::printf("%s is launched by no test\n", name.c_str());
  return failed != 0 || !names.empty() ? 1 : 0;
}
