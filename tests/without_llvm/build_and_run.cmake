# cmake -DSOURCE=... -DBUILD=... -DGENERATOR=... -DOPTIONS=... -P build_and_run.cmake
# Configures Ashlar where LLVM cannot be found, and where it is not wanted; builds what a generator needs and the interpreter's
# tests, and runs them.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nexit code ${code}\n${out}${err}")
  endif()
  set(out "${out}${err}" PARENT_SCOPE)
endfunction()

set(configure ${CMAKE_COMMAND} -G "${GENERATOR}" -S "${SOURCE}" -B "${BUILD}" ${OPTIONS} -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON
  -DASHLAR_VULKAN=OFF -DASHLAR_APPS=OFF -DASHLAR_INSTALL=OFF)
file(REMOVE "${BUILD}/CMakeCache.txt")
run(${configure} -DASHLAR_LLVM=ON)
if(NOT out MATCHES "LLVM 22.1 was not found")
  message(FATAL_ERROR "nothing was said of LLVM's absence: ${out}")
endif()
run(${configure} -DASHLAR_LLVM=OFF)
run(${CMAKE_COMMAND} --build "${BUILD}" --target test_interp smooth_gen without_llvm_app)
run(${CMAKE_CTEST_COMMAND} --test-dir "${BUILD}" -R "^(interp|without_llvm_app|without_llvm_object)$" --no-tests=error --output-on-failure)
if(NOT out MATCHES "100% tests passed, 0 tests failed out of 3")
  message(FATAL_ERROR "${out}")
endif()
