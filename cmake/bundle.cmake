# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ASHLAR_BUNDLE: an installed Ashlar that needs none of LLVM, isl and SPIRV-Tools, in <prefix>/<libdir>/ashlar. Of LLVM that is
# a shared library of the parts that Ashlar's objects ask for, made of LLVM's static libraries; the others are copied.
# Programs find it by a path relative to themselves, as DT_RPATH, which the libraries inherit that they load.
if(NOT TARGET ashlar_codegen_llvm OR NOT UNIX OR APPLE OR CMAKE_CROSSCOMPILING)
  message(FATAL_ERROR "ASHLAR_BUNDLE needs the LLVM back end (ASHLAR_LLVM, llvm-22-dev), and a system with ELF that is not built for from another")
endif()
set(bundled_llvm ${PROJECT_BINARY_DIR}/bundle/libashlar_llvm.so)
add_custom_command(OUTPUT ${bundled_llvm} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DARCHIVE=$<TARGET_FILE:ashlar_codegen_llvm> -DNM=${CMAKE_NM} -DSTRIP=${CMAKE_STRIP} -DCOMPILER=${CMAKE_CXX_COMPILER}
    -DLLVM_CONFIG=${LLVM_TOOLS_BINARY_DIR}/llvm-config "-DCOMPONENTS=aarch64;arm;nvptx;riscv;webassembly;x86;passes;orcjit" -DOUTPUT=${bundled_llvm}
    -P ${PROJECT_SOURCE_DIR}/cmake/bundle_llvm.cmake
  DEPENDS ashlar_codegen_llvm ${PROJECT_SOURCE_DIR}/cmake/bundle_llvm.cmake COMMENT "The parts of LLVM that Ashlar asks for")
add_custom_target(ashlar_bundled_llvm ALL DEPENDS ${bundled_llvm})
add_dependencies(ashlar_package ashlar_bundled_llvm)

file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${ASHLAR_BUNDLED}")
set_target_properties(ashlar_op_generators PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
target_link_options(ashlar_op_generators PRIVATE LINKER:--disable-new-dtags)

set(copied ${bundled_llvm})
get_filename_component(isl "${ASHLAR_ISL_LIBRARY}" REALPATH)
find_library(ASHLAR_GMP_LIBRARY gmp NAMES libgmp.so.10 REQUIRED)
get_filename_component(gmp "${ASHLAR_GMP_LIBRARY}" REALPATH)
install(FILES ${isl} RENAME ${ASHLAR_ISL_SONAME} DESTINATION ${ASHLAR_BUNDLED} COMPONENT generator)
install(FILES ${gmp} RENAME libgmp.so.10 DESTINATION ${ASHLAR_BUNDLED} COMPONENT generator)
if(TARGET ashlar_codegen_spirv)
  list(APPEND copied $<TARGET_FILE:SPIRV-Tools-opt> $<TARGET_FILE:SPIRV-Tools-static>)
endif()
install(FILES ${copied} DESTINATION ${ASHLAR_BUNDLED} COMPONENT generator)
foreach(package libllvm${LLVM_VERSION_MAJOR} libisl23 libgmp10 spirv-tools)  # what their licenses ask for
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright RENAME ${package}.copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/ashlar/licenses COMPONENT generator)
  endif()
endforeach()
