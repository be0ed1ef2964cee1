# cmake -DGIT=... -DSOURCES=... -DPROJECT=... -DBUILD=... -DGENERATOR=... -DOPTIONS=... -P fetched.cmake: the last commit of the sources, fetched from
# their folder as a URL of git.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${BUILD}")
run("${GIT}" -C "${SOURCES}" rev-parse HEAD)
string(STRIP "${out}" commit)
run(${CMAKE_COMMAND} -G "${GENERATOR}" -S "${PROJECT}" -B "${BUILD}" ${OPTIONS} "-DASHLAR_URL=file://${SOURCES}" "-DASHLAR_TAG=${commit}")
run(${CMAKE_COMMAND} --build "${BUILD}" --target app)
run("${BUILD}/app")
if(NOT out STREQUAL "three threads\n")
  message(FATAL_ERROR "app said: ${out}")
endif()
file(REMOVE_RECURSE "${BUILD}/_deps")  # a copy of all sources
