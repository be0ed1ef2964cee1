#pragma once
// Which of the machine's instructions a run may use: all (`native`), or AVX2 at most, ours and the peers' alike, so that a
// machine with AVX-512 also shows what those without it would see. The program that was compiled for the one starts the other.
#include <string>

namespace bench {

const char* isa();          // of this program: "native", "avx2"
const char* target_name();  // that its kernels were made for, and that programs scheduled here are compiled for

// Runs the program for `isa` in the place of this one, with what holds the peers to the same in its environment. Returns where
// this is it; std::runtime_error with what is missing.
void become(const std::string& isa, char** argv);

}  // namespace bench
