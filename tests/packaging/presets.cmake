# cmake -DPROJECT=... -DBUILD=... -DPACKAGE=... -DPRESET=... -P presets.cmake
# A project that has the package's presets from its CMakeUserPresets.json, as docs/targets.md says, is configured, built and tested
# by one of them, where there is no Vulkan.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${BUILD}")
file(COPY "${PROJECT}/" DESTINATION "${BUILD}")
file(WRITE "${BUILD}/CMakeUserPresets.json" "{\"version\": 4, \"include\": [\"${PACKAGE}/AshlarPresets.json\"]}\n")
set(ENV{CC} "there-is-no-such-compiler")
set(ENV{ASHLAR_VULKAN_LIBRARY} none.so)
function(in_project)
  run(${CMAKE_COMMAND} -E chdir "${BUILD}" ${ARGN})
  set(out "${out}" PARENT_SCOPE)
endfunction()
in_project(${CMAKE_COMMAND} --preset ${PRESET})
in_project(${CMAKE_COMMAND} --build --preset ${PRESET})
in_project(${CMAKE_CTEST_COMMAND} --preset ${PRESET} --verbose)
set(expected "the processor is right\n[^\n]*turned: x lies on the host, expected a Vulkan device\n[^\n]*vulkan: none.so cannot be opened: no Vulkan loader is here\n")
if(NOT out MATCHES "${expected}")
  message(FATAL_ERROR "the program said: ${out}")
endif()

# A runtime without Vulkan does not call a device: that is said when the project is configured.
execute_process(COMMAND ${CMAKE_COMMAND} -E chdir "${BUILD}" ${CMAKE_COMMAND} --preset ${PRESET} -B "${BUILD}/without" -DAshlar_VULKAN_INCLUDE_DIR=
  RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE err)
string(REGEX REPLACE "[ \n]+" " " err "${err}")
if(code EQUAL 0 OR NOT err MATCHES "ashlar_add_library.mlp_up.: TARGETS has vulkan, and the runtime of this cross build is without Vulkan")
  message(FATAL_ERROR "without Vulkan's headers, code ${code}: ${err}")
endif()
