#include "bench/attention_kernel.h"

ASHLAR_GENERATOR(kernels::Attention, "attention");
