#include "bench/kernels/memory_kernels.h"

ASHLAR_GENERATOR(kernels::Softmax, "softmax");
ASHLAR_GENERATOR(kernels::LayerNorm, "layer_norm");
ASHLAR_GENERATOR(kernels::Gelu, "gelu");
ASHLAR_GENERATOR(kernels::Sum, "sum");
ASHLAR_GENERATOR(kernels::Transpose, "transpose");
ASHLAR_GENERATOR(kernels::Depthwise, "depthwise");
ASHLAR_GENERATOR(kernels::BoxBlur, "box_blur");
