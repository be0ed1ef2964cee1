// A case that is skipped beside one that fails where ASHLAR_SKIP_FAILS is set: what the executable returns is a test of its
// own.
#include <cstdlib>

#include <doctest/doctest.h>

#include "tests/skip.h"

TEST_CASE("something is skipped") { skip::because("a case", "to see that the failure beside it shows"); }

TEST_CASE("something may fail") { CHECK(std::getenv("ASHLAR_SKIP_FAILS") == nullptr); }
