#include "bench/kernels/attention_kernel.h"

ASHLAR_GENERATOR(kernels::Attention, "attention");
