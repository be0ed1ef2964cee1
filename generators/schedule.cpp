#include "generators/op.h"

namespace ashlar::generators {

void schedule_op(Schedule&) {}  // as the algorithm stands: every stage a nest of serial loops

}  // namespace ashlar::generators
