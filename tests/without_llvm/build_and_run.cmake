# cmake -DSOURCE=... -DBUILD=... -DGENERATOR=... -DOPTIONS=... -P build_and_run.cmake
# Configures Ashlar where LLVM cannot be found, and where it is not wanted; builds what a generator needs and the interpreter's
# tests, and runs them.
include("${CMAKE_CURRENT_LIST_DIR}/../packaging/run.cmake")

set(configure ${CMAKE_COMMAND} -G "${GENERATOR}" -S "${SOURCE}" -B "${BUILD}" ${OPTIONS} -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON
  -DASHLAR_VULKAN=OFF -DASHLAR_APPS=OFF -DASHLAR_INSTALL=OFF)
file(REMOVE "${BUILD}/CMakeCache.txt")
run(${configure} -DASHLAR_LLVM=ON)
if(NOT "${out}${err}" MATCHES "LLVM 22.1 was not found")
  message(FATAL_ERROR "nothing was said of LLVM's absence: ${out}${err}")
endif()
run(${configure} -DASHLAR_LLVM=OFF)
run(${CMAKE_COMMAND} --build "${BUILD}" --target test_interp smooth_gen without_llvm_app)
run(${CMAKE_CTEST_COMMAND} --test-dir "${BUILD}" -R "^(interp|without_llvm_app|without_llvm_object)$" --no-tests=error --output-on-failure)
if(NOT "${out}${err}" MATCHES "100% tests passed, 0 tests failed out of 3")
  message(FATAL_ERROR "${out}")
endif()
