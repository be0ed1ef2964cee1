#include "bench/kernels/conv_kernel.h"

ASHLAR_GENERATOR(kernels::Convolution, "conv2d");
