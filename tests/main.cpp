#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/source_dir.h"

std::string source_dir() { return ASHLAR_SOURCE_DIR; }
