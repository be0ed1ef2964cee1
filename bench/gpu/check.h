#pragma once
// Cases on the device against the interpreter, one line of JSON each (lines.h): {"begin": NAME}, {"stage": ...} for what may
// take long, then {"case": NAME, "result": passed, close, differs, error or refused, ...} with the seconds that its parts took.
#include <string>
#include <vector>

#include "bench/gpu/cases.h"
#include "bench/gpu/device.h"

namespace gpu_bench {

enum class Checked { well, bad, lost };  // lost: a kernel failed, and nothing runs in this process any more

// Without a device the cases are made, translated and interpreted, which shows how long that takes.
Checked check(const Device*, const std::string& target, const std::vector<Case>&);

// The cases with these names, or all of them if no name is given. Throws std::runtime_error for an unknown name.
std::vector<Case> chosen(std::vector<Case> all, const std::vector<std::string>& names);

// Writes the PTX of every case to FOLDER/NUMBER.ptx, its name in a comment in front: for an assembler.
void write_ptx(const std::string& folder, const std::string& target, const std::vector<Case>&);

}  // namespace gpu_bench
