#pragma once
// The folder of the sources, absolute: where goldens and sample data lie. One object a kind of main() knows it (main.cpp,
// skipping_main.cpp), so that every other object of the tests is the same for every checkout.
#include <string>

std::string source_dir();
