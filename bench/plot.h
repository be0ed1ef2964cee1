#pragma once
// A picture of the bench's outcomes.
#include <string>

#include "bench/report.h"

namespace bench {

// A bar for each race: how often ours runs while the fastest peer runs once, on a logarithmic axis whose middle is 1; beside it
// the peer, and the share of the machine's peak. An SVG file; throws std::runtime_error when it cannot be written.
void plot(const Report&, const std::string& title, const std::string& path);

}  // namespace bench
