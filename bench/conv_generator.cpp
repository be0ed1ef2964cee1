#include "bench/conv_kernel.h"

ASHLAR_GENERATOR(kernels::Convolution, "conv2d");
