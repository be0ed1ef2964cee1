# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The component `bundle`: with it an installed Ashlar needs none of LLVM, isl and SPIRV-Tools. In <prefix>/<libdir>/ashlar it has
# a shared library of the parts of LLVM that Ashlar's objects ask for, made of LLVM's static libraries, and copies of the others.
# Programs find it by a path relative to themselves, as DT_RPATH, which the libraries inherit that they load. ashlar-ops is linked
# anew for it and takes the place of the one of `tools`. Without ASHLAR_BUNDLE, `cmake --install` has to be asked for the component.
set(missing "")
if(NOT TARGET ashlar_op_generators OR NOT TARGET ashlar_codegen_llvm)
  set(missing "the LLVM back end (ASHLAR_LLVM, llvm-22-dev)")
elseif(NOT UNIX OR APPLE OR CMAKE_CROSSCOMPILING)
  set(missing "a system with ELF that is not built for from another")
else()
  find_library(ASHLAR_GMP_LIBRARY gmp NAMES libgmp.so.10)
  get_filename_component(llvm_config ${ASHLAR_LLVM_LIBRARY_DIR}/../bin/llvm-config ABSOLUTE)
  if(NOT EXISTS ${llvm_config} OR NOT EXISTS ${ASHLAR_LLVM_LIBRARY_DIR}/libLLVMCore.a)
    set(missing "LLVM's static libraries and llvm-config beside them (llvm-22-dev)")
  elseif(NOT ASHLAR_GMP_LIBRARY)
    set(missing "libgmp.so.10, which isl loads")
  endif()
endif()
if(missing)
  if(ASHLAR_BUNDLE)
    message(FATAL_ERROR "ASHLAR_BUNDLE needs ${missing}")
  endif()
  return()
endif()

set(bundled_llvm ${PROJECT_BINARY_DIR}/bundle/libashlar_llvm.so)
add_custom_command(OUTPUT ${bundled_llvm} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DARCHIVE=$<TARGET_FILE:ashlar_codegen_llvm> -DNM=${CMAKE_NM} -DSTRIP=${CMAKE_STRIP} -DCOMPILER=${CMAKE_CXX_COMPILER}
    -DLLVM_CONFIG=${llvm_config} "-DCOMPONENTS=aarch64;arm;nvptx;riscv;webassembly;x86;passes;orcjit" -DOUTPUT=${bundled_llvm}
    -P ${PROJECT_SOURCE_DIR}/cmake/bundle_llvm.cmake
  DEPENDS ashlar_codegen_llvm ${PROJECT_SOURCE_DIR}/cmake/bundle_llvm.cmake COMMENT "The parts of LLVM that Ashlar asks for")
add_custom_target(ashlar_bundled_llvm DEPENDS ${bundled_llvm})

add_executable(ashlar_bundled_ops EXCLUDE_FROM_ALL $<TARGET_OBJECTS:ashlar_op_objects>)
add_dependencies(ashlar_bundled_ops ashlar_bundled_llvm)
target_link_libraries(ashlar_bundled_ops PRIVATE ashlar_schedules ashlar_generator)
target_link_options(ashlar_bundled_ops PRIVATE LINKER:--disable-new-dtags)
file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${ASHLAR_BUNDLED}")
set_target_properties(ashlar_bundled_ops PROPERTIES ASHLAR_BUNDLED ON OUTPUT_NAME ashlar-ops INSTALL_RPATH "$ORIGIN/${up}"
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bundle)

set(bundle COMPONENT bundle)
if(ASHLAR_BUNDLE)
  add_dependencies(ashlar_package ashlar_bundled_ops)
  set_target_properties(ashlar_bundled_ops PROPERTIES EXCLUDE_FROM_ALL OFF)
else()
  list(APPEND bundle EXCLUDE_FROM_ALL)
endif()
install(CODE "if(NOT EXISTS \"$<TARGET_FILE:ashlar_bundled_ops>\")
    message(FATAL_ERROR \"the bundle is not built yet: cmake --build ${PROJECT_BINARY_DIR} --target ashlar_bundled_ops builds it\")
  endif()" ${bundle})
install(TARGETS ashlar_bundled_ops RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ${bundle})
get_filename_component(isl "${ASHLAR_ISL_LIBRARY}" REALPATH)
get_filename_component(gmp "${ASHLAR_GMP_LIBRARY}" REALPATH)
install(FILES ${isl} RENAME ${ASHLAR_ISL_SONAME} DESTINATION ${ASHLAR_BUNDLED} ${bundle})
install(FILES ${gmp} RENAME libgmp.so.10 DESTINATION ${ASHLAR_BUNDLED} ${bundle})
set(copied ${bundled_llvm})
if(TARGET ashlar_codegen_spirv)
  list(APPEND copied $<TARGET_FILE:SPIRV-Tools-opt> $<TARGET_FILE:SPIRV-Tools-static>)
endif()
install(FILES ${copied} DESTINATION ${ASHLAR_BUNDLED} ${bundle})
foreach(package libllvm${ASHLAR_LLVM_MAJOR} libisl23 libgmp10 spirv-tools)  # what their licenses ask for
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright RENAME ${package}.copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/ashlar/licenses ${bundle})
  endif()
endforeach()
