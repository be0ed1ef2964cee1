#pragma once
// What ashlar_programs prints and saves.
#include <string>
#include <vector>

#include "bench/programs/measure.h"

namespace bench::programs {

std::string processor();
void print_heading();
void print_row(const Result&, bool repeated);
void print_outcome(const std::vector<Result>&);  // how many miss their goals, and which
void save(const std::string& path, const std::vector<Result>&);

}  // namespace bench::programs
