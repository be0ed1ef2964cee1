# cmake -DPROJECT=... -DBUILD=... -DGENERATOR=... -DOPTIONS=... -DEMULATOR=... -DEXPECTED=... [-DOPERATOR=ON] -P build_and_emulate.cmake
# Configures a project once with a toolchain file, builds it, and runs its program in an emulator, which must say EXPECTED.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${BUILD}")
set(ENV{CXX} "there-is-no-such-compiler")  # an environment for the target's compiler must not reach the generator's
run(${CMAKE_COMMAND} -G "${GENERATOR}" -S "${PROJECT}" -B "${BUILD}" ${OPTIONS})
run(${CMAKE_COMMAND} --build "${BUILD}" --target app)
run(${EMULATOR} "${BUILD}/app")
if(NOT out MATCHES "${EXPECTED}")
  message(FATAL_ERROR "the program said: ${out}")
endif()
if(OPERATOR)  # an operator of the library, made by the ashlar-ops of the package
  run(${CMAKE_COMMAND} --build "${BUILD}" --target app_op)
  run(${EMULATOR} "${BUILD}/app_op")
  if(NOT out STREQUAL "C = relu(A B + bias)\n")
    message(FATAL_ERROR "app_op said: ${out}")
  endif()
endif()
run(${CMAKE_COMMAND} --build "${BUILD}" --target app)  # nothing is made again
if(out MATCHES "Ashlar: scale")
  message(FATAL_ERROR "a second build ran the generator again: ${out}")
endif()
