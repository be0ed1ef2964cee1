# cmake -DPKG_CONFIG=... -DC_COMPILER=... -DPROJECT=... -DBUILD=... -DPREFIX=... -DLIBDIR=... -DVERSION=... -DMANDIR=... -DDATADIR=... -P pkg_config.cmake
# A program that calls an operator, built by the C compiler alone with what pkg-config says of a prefix that was moved.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${BUILD}")
file(MAKE_DIRECTORY "${BUILD}")
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")
run("${PKG_CONFIG}" --modversion ashlar-runtime)
if(NOT out STREQUAL "${VERSION}\n")
  message(FATAL_ERROR "expected version ${VERSION}, found ${out}")
endif()
run("${PKG_CONFIG}" --cflags --libs ashlar-runtime)
separate_arguments(options UNIX_COMMAND "${out}")
run("${PREFIX}/bin/ashlar-ops" -g matmul -f mlp_up -o "${BUILD}" --quiet epilogue=bias,relu)
run("${C_COMPILER}" -Wall -Werror "-I${BUILD}" "${PROJECT}/op.c" "${BUILD}/mlp_up.o" ${options} -o "${BUILD}/app")
run("${BUILD}/app")
if(NOT out STREQUAL "C = relu(A B + bias)\n")
  message(FATAL_ERROR "the program said: ${out}")
endif()

# The same on the shared runtime, which other libraries of the process share.
run("${PKG_CONFIG}" --cflags --libs ashlar-runtime-shared)
separate_arguments(options UNIX_COMMAND "${out}")
run("${C_COMPILER}" -Wall -Werror "-I${BUILD}" "${PROJECT}/op.c" "${BUILD}/mlp_up.o" ${options} "-Wl,-rpath,${PREFIX}/${LIBDIR}" -o "${BUILD}/app_shared")
run("${BUILD}/app_shared")
if(NOT out STREQUAL "C = relu(A B + bias)\n")
  message(FATAL_ERROR "the program on the shared runtime said: ${out}")
endif()
run(readelf -d "${BUILD}/app_shared")
if(NOT out MATCHES "NEEDED[^\n]*libashlar_runtime[.]so[.]1")
  message(FATAL_ERROR "app_shared does not load libashlar_runtime.so.1: ${out}")
endif()

# What ashlar-ops printed when it was installed.
foreach(file "${MANDIR}/man1/ashlar-ops.1" "${DATADIR}/bash-completion/completions/ashlar-ops" "${DATADIR}/zsh/site-functions/_ashlar-ops"
    "${DATADIR}/fish/vendor_completions.d/ashlar-ops.fish")
  file(READ "${PREFIX}/${file}" text)
  if(NOT text MATCHES "ashlar.?-ops")  # a man page has a backslash in it
    message(FATAL_ERROR "${PREFIX}/${file} does not name ashlar-ops")
  endif()
endforeach()
