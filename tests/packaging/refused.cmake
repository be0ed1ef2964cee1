# What the functions of AshlarHelpers.cmake refuse before they look at targets: runs CALL, which fails.
macro(define_property)  # ExternalProject's, of which scripts have none
endmacro()
include("${HELPERS}")
cmake_language(EVAL CODE "${CALL}")
