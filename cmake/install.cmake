# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts under the prefix, in components: `runtime`, what programs that call kernels link; `shared`, the
# runtime as a shared library; `generator`, the compiler that generators link; `tools`, programs with their man pages; `docs`;
# `bundle`, over these, what makes them independent of LLVM on the machine.
# Everything is relative to the prefix, which may be moved afterwards.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Ashlar)

# `cmake --install` copies and builds nothing: what was not built is named first, with what builds it.
function(ashlar_install_needs component)  # targets behind it
  set(files "")
  foreach(target IN LISTS ARGN)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND files "$<TARGET_FILE:${target}>")
      add_dependencies(ashlar_package ${target})
    endif()
  endforeach()
  install(CODE "foreach(file ${files})
    if(NOT EXISTS \"\${file}\")
      message(FATAL_ERROR \"\${file} is not built yet: cmake --build ${PROJECT_BINARY_DIR} --target ashlar_package builds what is installed\")
    endif()
  endforeach()" COMPONENT ${component})
endfunction()
add_custom_target(ashlar_package)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/ashlar COMPONENT runtime)
ashlar_install_needs(runtime ashlar_runtime)
install(TARGETS ashlar_runtime EXPORT AshlarRuntimeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(EXPORT AshlarRuntimeTargets NAMESPACE Ashlar:: DESTINATION ${package} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ashlar/runtime DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ashlar COMPONENT runtime
  FILES_MATCHING PATTERN "*.h")

if(TARGET ashlar_runtime_shared)
  ashlar_install_needs(shared ashlar_runtime_shared)
  install(TARGETS ashlar_runtime_shared EXPORT AshlarRuntimeSharedTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT shared NAMELINK_COMPONENT runtime)
  install(EXPORT AshlarRuntimeSharedTargets NAMESPACE Ashlar:: DESTINATION ${package} COMPONENT runtime)
endif()

# For pkg-config, which finds the prefix from where the file lies.
file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" ASHLAR_PC_PREFIX "\${pcfiledir}/${up}")
set(ASHLAR_PC_LIBRARIES -lpthread)
foreach(library IN LISTS CMAKE_DL_LIBS)
  string(APPEND ASHLAR_PC_LIBRARIES " -l${library}")
endforeach()
function(ashlar_pkg_config name ASHLAR_PC_LIBRARIES)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/ashlar-runtime.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
endfunction()
ashlar_pkg_config(ashlar-runtime "\${libdir}/libashlar_runtime.a ${ASHLAR_PC_LIBRARIES}")
if(TARGET ashlar_runtime_shared)
  ashlar_pkg_config(ashlar-runtime-shared "-L\${libdir} -lashlar_runtime")
endif()

# In a cross build the project's own compiler makes the runtime of these (AshlarCross.cmake).
set(ASHLAR_RUNTIME_SOURCES ${CMAKE_INSTALL_DATADIR}/ashlar/runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/runtime/ DESTINATION ${ASHLAR_RUNTIME_SOURCES} COMPONENT runtime
  FILES_MATCHING PATTERN "*.c" PATTERN "*.h")

set(layers "")
foreach(layer ir lang analysis target instructions interp schedule lower report codegen codegen_c codegen_tileir codegen_spirv codegen_llvm generator ops schedules)
  if(TARGET ashlar_${layer})
    list(APPEND layers ashlar_${layer})
  endif()
endforeach()
set(programs "")
if(TARGET ashlar_op_generators)
  set(programs ashlar_op_generators)
endif()
ashlar_install_needs(generator ${layers})
ashlar_install_needs(tools ${programs})
install(TARGETS ${layers} EXPORT AshlarGeneratorTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT generator)
install(EXPORT AshlarGeneratorTargets NAMESPACE Ashlar:: DESTINATION ${package} COMPONENT generator)
if(TARGET ashlar_op_generators)  # exported by itself: cross builds run it, and link none of the libraries
  set_target_properties(ashlar_op_generators PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ashlar_op_generators EXPORT AshlarOpGeneratorsTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(EXPORT AshlarOpGeneratorsTargets NAMESPACE Ashlar:: DESTINATION ${package} COMPONENT generator)
endif()
if(TARGET ashlar_op_generators AND NOT CMAKE_CROSSCOMPILING)  # its man page and completions, which it prints itself
  set(ashlar_ops_prints "--man=${CMAKE_INSTALL_MANDIR}/man1/ashlar-ops.1" "--completion bash=${CMAKE_INSTALL_DATADIR}/bash-completion/completions/ashlar-ops"
    "--completion zsh=${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_ashlar-ops" "--completion fish=${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/ashlar-ops.fish")
  install(CODE "set(prints \"${ashlar_ops_prints}\")
  foreach(printed IN LISTS prints)
    string(REGEX MATCH \"^([^=]*)=(.*)$\" matched \"\${printed}\")
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${CMAKE_MATCH_2}\")
    string(REPLACE \" \" \";\" options \"\${CMAKE_MATCH_1}\")
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    message(STATUS \"Installing: \${file}\")
    execute_process(COMMAND \"$<TARGET_FILE:ashlar_op_generators>\" \${options} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()" COMPONENT tools)
endif()
if(TARGET ashlar_tune_tool AND NOT ASHLAR_BUNDLE)  # which would have to bring SQLite
  install(TARGETS ashlar_tune_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(CODE "set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/ashlar-tune.1\")
  get_filename_component(folder \"\${file}\" DIRECTORY)
  file(MAKE_DIRECTORY \"\${folder}\")
  execute_process(COMMAND \"$<TARGET_FILE:ashlar_tune_tool>\" --man OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT tools)
endif()
set(internal "")
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/internal_headers.txt names REGEX "^[^#]")
foreach(name IN LISTS names)
  string(REGEX REPLACE "/\\*$" "" name "${name}")  # a whole folder
  list(APPEND internal PATTERN "include/ashlar/${name}" EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ashlar ${PROJECT_SOURCE_DIR}/ops/include/ashlar ${PROJECT_SOURCE_DIR}/schedules/include/ashlar
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT generator
  FILES_MATCHING PATTERN "*.h" PATTERN "runtime" EXCLUDE ${internal})

set(ASHLAR_HAS_SPIRV OFF)
if(TARGET ashlar_codegen_spirv)
  set(ASHLAR_HAS_SPIRV ON)
endif()
set(ASHLAR_HAS_LLVM OFF)
if(TARGET ashlar_codegen_llvm)
  set(ASHLAR_HAS_LLVM ON)
  get_target_property(ASHLAR_LLVM_MAJOR ashlar_codegen_llvm ASHLAR_LLVM_MAJOR)
  get_target_property(ASHLAR_LLVM_LIBRARY_DIR ashlar_codegen_llvm ASHLAR_LLVM_LIBRARY_DIR)
  get_target_property(ASHLAR_LLVM_SONAME ashlar_codegen_llvm ASHLAR_LLVM_SONAME)
endif()
get_filename_component(ASHLAR_ISL_SONAME "${ASHLAR_ISL_LIBRARY}" REALPATH)  # libisl.so.23.2.0
get_filename_component(ASHLAR_ISL_SONAME "${ASHLAR_ISL_SONAME}" NAME)
string(REGEX REPLACE "^(.*\\.so\\.[0-9]+).*$" "\\1" ASHLAR_ISL_SONAME "${ASHLAR_ISL_SONAME}")
set(ASHLAR_BUNDLED ${CMAKE_INSTALL_LIBDIR}/ashlar)
include(${PROJECT_SOURCE_DIR}/cmake/bundle.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/AshlarConfig.cmake.in ${PROJECT_BINARY_DIR}/AshlarConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS ASHLAR_RUNTIME_SOURCES CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR ASHLAR_BUNDLED)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AshlarConfigVersion.cmake COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)  # a cross build takes the package of the machine that builds
install(FILES ${PROJECT_BINARY_DIR}/AshlarConfig.cmake ${PROJECT_BINARY_DIR}/AshlarConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/AshlarHelpers.cmake ${PROJECT_SOURCE_DIR}/cmake/AshlarCross.cmake
  ${PROJECT_SOURCE_DIR}/cmake/AshlarKits.cmake
  ${PROJECT_SOURCE_DIR}/cmake/AshlarPresets.json DESTINATION ${package} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/kits DESTINATION ${package} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/toolchains DESTINATION ${package} COMPONENT runtime FILES_MATCHING PATTERN "*.cmake")

install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ashlar COMPONENT docs)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ashlar COMPONENT docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
install(DIRECTORY apps/tutorial apps/gallery DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ashlar/apps COMPONENT docs)
include(${PROJECT_SOURCE_DIR}/cmake/packages.cmake)
