// ashlar_fuzz as a function of the archive's library.
#define main ashlar_fuzz_main
#include "fuzz/main.cpp"
