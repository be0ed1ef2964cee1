// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The main() of a generator executable that has none of its own: a static library gives it only where it is asked for.
#include <ashlar/generator/generator.h>

int main(int argc, char** argv) { return ashlar::generator_main(argc, argv); }
