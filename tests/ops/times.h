#pragma once
// Instead of testing: the programs of these tests scheduled by default beside unscheduled, in time, each at three sizes.
//
//   ASHLAR_OPS_TIMES=1 build/bin/test_ops            a row a program and size, where it is below 0.95: by default MISS
//
// The Symbols of a program are taken as many times as large as in its test, until its largest array has about 4096, 32768 and
// 262144 elements. A program without Symbols has one size. What an entry refuses there is named and left out.
#include <string>

#include <ashlar/lang/build_program.h>

#include "tests/ops/check.h"

namespace ops_test {

bool times_are_asked_for();
void print_times(const std::string& name, const Maker&, const lang::Built&, const Run&);

}  // namespace ops_test
