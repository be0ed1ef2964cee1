// ashlar_gpu as a function of the archive's library.
#define main ashlar_gpu_main
#include "bench/gpu/main.cpp"
