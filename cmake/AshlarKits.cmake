# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Kits: kernels as functions of other languages' frameworks (docs/kits.md).
#
# ashlar_add_torch_ops(<name> NAMESPACE <namespace> FROM <generator> OPS <function>[=<registered name>]...
#                      [GRADIENTS <function>...] [PARAMS [<function>:]<key>=<value>...] [TARGETS <target>...] [TARGETS_FILE <file>...])
#   A Python package <name> with operators of PyTorch, torch.ops.<namespace>.<function>, and a function for each: kernels that
#   the generator makes, under the name <registered name>, which is <function> where it is left out. GRADIENTS names those that
#   can be differentiated: their derivatives are generated and compiled too. PARAMS are for all, or for one function and its
#   derivative. TARGETS are as in ashlar_add_library, and may have processors and CUDA devices. PyTorch is not needed to build it.
#
# ashlar_add_jax_ops(<name> NAMESPACE <namespace> FROM <generator> OPS <function>[=<registered name>]...
#                    [GRADIENTS <function>...] [PARAMS ...] [TARGETS <target>...] [TARGETS_FILE ...])
#   A Python package <name> with a function of JAX for each kernel, an operator <namespace>.<function> in compiled programs; the
#   arguments are those of ashlar_add_torch_ops. The header of XLA's FFI comes from jaxlib, in the Python that ASHLAR_JAX_PYTHON
#   names; without, in CMake's.
#
# ashlar_add_python_module(<name> FROM <generator> OPS <function>[=<registered name>]... [PARAMS ...] [TARGETS ...] [TARGETS_FILE ...])
#   A Python package <name> with a function for each kernel, on arrays of NumPy and whatever has the buffer protocol or DLPack's:
#   an extension module for Python's limited API of 3.11. Python's headers are needed to build it.
#
# ashlar_add_onnxruntime_ops(<name> NAMESPACE <namespace> FROM <generator> OPS <function>[=<registered name>]... [PARAMS ...]
#                            [TARGETS ...] [TARGETS_FILE ...])
#   A library lib<name>.so of custom operators of ONNX Runtime, in the domain <namespace>: sessions load it, in Python and C++.
#   onnxruntime_c_api.h is looked for where CMake looks for headers; ASHLAR_ONNXRUNTIME_INCLUDE_DIR names another folder.
#
# ashlar_add_rust_crate(<name> FROM <generator> OPS <function>[=<registered name>]... [PARAMS ...] [TARGETS ...] [TARGETS_FILE ...])
#   A crate <name> of Rust with a module for each kernel, in the folder of the target property ASHLAR_CRATE. It holds the kernels and
#   the runtime, and needs nothing else. Rust is not needed to build it.
#
#   The folder of a package is the target property ASHLAR_PACKAGE; its parent, for PYTHONPATH, is ASHLAR_PYTHON.
#   install(DIRECTORY "$<TARGET_PROPERTY:<name>,ASHLAR_PACKAGE>" DESTINATION ...) installs it.
include_guard(GLOBAL)
set(ASHLAR_KITS_DIR "${CMAKE_CURRENT_LIST_DIR}/kits")

# What all kits take, checked and completed, in the function that calls this: sets arg_..., dir, package, targets, files_given and
# files_needed. `needed` are the keywords without which there is nothing to do, `several` those of the kit's own with lists.
macro(ashlar_kit_arguments function needed several)
  set(call "${function}(${name})")
  set(one ${needed})
  list(REMOVE_ITEM one OPS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "${one}" "OPS;${several}PARAMS;TARGETS;TARGETS_FILE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call}: unknown arguments ${arg_UNPARSED_ARGUMENTS}; valid: ${needed};${several}PARAMS;TARGETS;TARGETS_FILE")
  endif()
  foreach(keyword ${needed})
    if("${arg_${keyword}}" STREQUAL "")  # a namespace may be called n, which is false
      message(FATAL_ERROR "${call}: ${keyword} is missing")
    endif()
  endforeach()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z_0-9]*$")
    message(FATAL_ERROR "${call}: a kit has a name of letters, digits and _")
  endif()
  if(NOT TARGET "${arg_FROM}")
    message(FATAL_ERROR "${call}: FROM names no generator: \"${arg_FROM}\" (ashlar_add_generator(${arg_FROM} SOURCES ...) comes first)")
  endif()
  if(NOT UNIX OR APPLE)
    message(FATAL_ERROR "${call}: kits are built for systems with ELF (Linux), and this is ${CMAKE_SYSTEM_NAME}")
  endif()
  set(functions ${arg_OPS})
  list(TRANSFORM functions REPLACE "=.*$" "")
  foreach(function_ IN LISTS arg_GRADIENTS)
    if(NOT function_ IN_LIST functions)
      message(FATAL_ERROR "${call}: GRADIENTS names \"${function_}\", which is none of OPS (${functions})")
    endif()
  endforeach()
  foreach(param IN LISTS arg_PARAMS)
    if(param MATCHES "^([A-Za-z_0-9]+):.*=" AND NOT CMAKE_MATCH_1 IN_LIST functions)
      message(FATAL_ERROR "${call}: PARAMS has \"${param}\", and \"${CMAKE_MATCH_1}\" is none of OPS (${functions})")
    endif()
  endforeach()
  if(NOT arg_TARGETS)
    ashlar_default_targets(arg_TARGETS)
  endif()
  string(REPLACE "," ";" arg_TARGETS "${arg_TARGETS}")
  ashlar_launched_here(arg_TARGETS)
  if(arg_TARGETS MATCHES "(^|;)vulkan")
    message(FATAL_ERROR "${call}: TARGETS has vulkan, which no framework has tensors of; expected processors and CUDA devices")
  endif()
  list(JOIN arg_TARGETS "," targets)
  set(files_given "")
  set(files_needed "")
  foreach(file IN LISTS arg_TARGETS_FILE)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files_given --targets "${file}")
    list(APPEND files_needed "${file}")
  endforeach()
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/${name}.ashlar")
  set(package "${dir}/python/${name}")
  set(ASHLAR_KIT "${name}")
  set(files "")
endmacro()

# One run of the generator, with the options behind the outputs, KIND=FILE each: those, the object and the header. Appends them to
# `files`.
macro(ashlar_kit_run op function outputs)
  string(REGEX REPLACE "^[^=]*=" "" registered "${op}")
  string(REGEX REPLACE "=.*$" "" of "${op}")
  set(object "${dir}/${function}${CMAKE_C_OUTPUT_EXTENSION}")
  set(made "${object}" "${dir}/include/${function}.h")
  set(emit -e "object=${object}" -e "header=${dir}/include/${function}.h")
  foreach(output ${outputs})
    list(APPEND emit -e "${output}")
    string(REGEX REPLACE "^[a-z_]+=" "" file "${output}")
    list(APPEND made "${file}")
  endforeach()
  set(params "")  # those for all functions, and those for this one
  foreach(param IN LISTS arg_PARAMS)
    if(param MATCHES "^([A-Za-z_0-9]+):(.*=.*)$")
      if(CMAKE_MATCH_1 STREQUAL "${of}")
        list(APPEND params "${CMAKE_MATCH_2}")
      endif()
    else()
      list(APPEND params "${param}")
    endif()
  endforeach()
  add_custom_command(OUTPUT ${made}
    COMMAND ${arg_FROM} -g "${registered}" -f "${function}" ${files_given} -t "${targets}" ${emit} ${ARGN} ${params}
    DEPENDS ${arg_FROM} $<TARGET_FILE:${arg_FROM}> ${files_needed} VERBATIM COMMENT "Ashlar: ${function} for ${targets}")
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  list(APPEND files ${made})
endmacro()

# The library, in a folder, of the C and the objects among `files`; the others are made before.
macro(ashlar_kit_library library folder)
  set(others ${files})
  list(FILTER others EXCLUDE REGEX "\\.(c|h)$|\\${CMAKE_C_OUTPUT_EXTENSION}$")
  list(FILTER files INCLUDE REGEX "\\.c$|\\${CMAKE_C_OUTPUT_EXTENSION}$")
  add_library(${name} MODULE ${files})
  add_custom_target(${name}_files DEPENDS ${others})
  add_dependencies(${name} ${name}_files)
  get_filename_component(stem "${library}" NAME_WE)
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME "${stem}" LIBRARY_OUTPUT_DIRECTORY "${folder}" LINKER_LANGUAGE C
    C_STANDARD 11 C_VISIBILITY_PRESET hidden ASHLAR_DIRECTORY "${dir}")
  string(REPLACE "${stem}" "" suffix "${library}")
  set_target_properties(${name} PROPERTIES SUFFIX "${suffix}")
  target_include_directories(${name} PRIVATE "${dir}/include")
  target_link_libraries(${name} PRIVATE Ashlar::Runtime ${CMAKE_DL_LIBS})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)  # each library has a runtime of its own; threads outlive a dlclose
endmacro()

# The same, in a Python package.
macro(ashlar_kit_package library)
  file(CONFIGURE OUTPUT "${package}/py.typed" CONTENT "")
  ashlar_kit_library("${library}" "${package}")
  set_target_properties(${name} PROPERTIES ASHLAR_PACKAGE "${package}" ASHLAR_PYTHON "${dir}/python")
endmacro()

# NAMESPACE is an identifier.
macro(ashlar_kit_namespace)
  if(NOT arg_NAMESPACE MATCHES "^[A-Za-z_][A-Za-z_0-9]*$")
    message(FATAL_ERROR "${call}: a namespace has a name of letters, digits and _, not \"${arg_NAMESPACE}\"")
  endif()
endmacro()

macro(ashlar_kit_on_processors)
  if(arg_TARGETS MATCHES "(^|;)cuda")
    message(FATAL_ERROR "${call}: TARGETS has a CUDA device, and this kit is for processors")
  endif()
endmacro()

# The runs for a kit that has a C file and a Python module for each operator, and for its derivative. Sets init and all, of which
# __init__.py consists.
macro(ashlar_kit_operators kind)
  ashlar_kit_namespace()
  set(init "")
  set(all "")
  foreach(op IN LISTS arg_OPS)
    string(REGEX REPLACE "=.*$" "" f "${op}")
    ashlar_kit_run("${op}" "${f}" "${kind}=${dir}/${f}.${kind}.c;${kind}_python=${package}/_${f}.py" --namespace "${arg_NAMESPACE}")
    string(APPEND init "from ._${f} import ${f}\n")
    string(APPEND all "\"${f}\", ")
    if(f IN_LIST arg_GRADIENTS)
      ashlar_kit_run("${op}" "${f}_backward" "${kind}=${dir}/${f}_backward.${kind}.c;${kind}_python=${package}/_${f}_backward.py"
        --namespace "${arg_NAMESPACE}" --backward "${f}")
      string(APPEND init "from . import _${f}_backward\n")
    endif()
  endforeach()
  set(ASHLAR_KIT_FILE "lib${name}.so")
  configure_file("${ASHLAR_KITS_DIR}/${kind}_library.py.in" "${package}/_ashlar_library.py" @ONLY)
endmacro()

function(ashlar_add_torch_ops name)
  ashlar_kit_arguments(ashlar_add_torch_ops "NAMESPACE;FROM;OPS" "GRADIENTS;")
  ashlar_kit_operators(torch)
  file(CONFIGURE OUTPUT "${package}/__init__.py" CONTENT "\"\"\"Operators of PyTorch: torch.ops.${arg_NAMESPACE}.\"\"\"\n${init}\n__all__ = [${all}]\n" @ONLY)
  ashlar_kit_package("lib${name}.so")
  target_compile_options(${name} PRIVATE -fexceptions)  # PyTorch throws through the frames of this C
endfunction()

# Where the headers of the user's jaxlib are.
function(ashlar_jax_include_dir call out)
  set(python "${ASHLAR_JAX_PYTHON}")
  if(NOT python)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    set(python "${Python3_EXECUTABLE}")
  endif()
  execute_process(COMMAND "${python}" -c "import jax.ffi; print(jax.ffi.include_dir())"
    OUTPUT_VARIABLE folder ERROR_VARIABLE said RESULT_VARIABLE code OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0 OR NOT EXISTS "${folder}/xla/ffi/api/c_api.h")
    string(REGEX REPLACE "^.*\n" "" said "${said}")
    message(FATAL_ERROR "${call}: no JAX 0.5 or later in ${python} (${said}), whose jaxlib has the header xla/ffi/api/c_api.h; "
                        "ASHLAR_JAX_PYTHON names a Python that has it")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

function(ashlar_add_jax_ops name)
  ashlar_kit_arguments(ashlar_add_jax_ops "NAMESPACE;FROM;OPS" "GRADIENTS;")
  ashlar_kit_on_processors()
  ashlar_jax_include_dir("${call}" include)
  ashlar_kit_operators(jax)
  file(CONFIGURE OUTPUT "${package}/__init__.py" CONTENT "\"\"\"Operators of JAX.\"\"\"\n${init}\n__all__ = [${all}]\n" @ONLY)
  ashlar_kit_package("lib${name}.so")
  target_include_directories(${name} SYSTEM PRIVATE "${include}")
endfunction()

function(ashlar_add_python_module name)
  ashlar_kit_arguments(ashlar_add_python_module "FROM;OPS" "")
  find_package(Python3 3.11 QUIET COMPONENTS Interpreter Development.Module)
  if(NOT Python3_Development.Module_FOUND)
    message(FATAL_ERROR "${call}: the headers of Python 3.11 or later were not found (Debian: python3-dev); Python3_ROOT_DIR names their place")
  endif()
  set(ASHLAR_KIT_DECLARED "")
  set(ASHLAR_KIT_METHODS "")
  set(all "")
  set(stubs "")
  foreach(op IN LISTS arg_OPS)
    string(REGEX REPLACE "=.*$" "" f "${op}")
    ashlar_kit_run("${op}" "${f}" "python=${dir}/${f}.python.c;python_stub=${dir}/${f}.pyi")
    string(APPEND ASHLAR_KIT_DECLARED "extern const PyMethodDef ${f}_python_method;\n")
    string(APPEND ASHLAR_KIT_METHODS "&${f}_python_method, ")
    string(APPEND all "\"${f}\", ")
    list(APPEND stubs "${dir}/${f}.pyi")
  endforeach()
  configure_file("${ASHLAR_KITS_DIR}/python_module.c.in" "${dir}/_${name}.c" @ONLY)
  file(CONFIGURE OUTPUT "${package}/__init__.py" CONTENT "\"\"\"Kernels on arrays.\"\"\"\nfrom ._${name} import *\n\n__all__ = [${all}]\n" @ONLY)
  add_custom_command(OUTPUT "${package}/__init__.pyi"
    COMMAND ${CMAKE_COMMAND} "-DSTUBS=${stubs}" "-DBEGIN=${ASHLAR_KITS_DIR}/python_module.pyi" "-DOUT=${package}/__init__.pyi" -P "${ASHLAR_KITS_DIR}/join.cmake"
    DEPENDS ${stubs} "${ASHLAR_KITS_DIR}/python_module.pyi" "${ASHLAR_KITS_DIR}/join.cmake" VERBATIM)
  list(APPEND files "${dir}/_${name}.c" "${package}/__init__.pyi")
  ashlar_kit_package("_${name}.abi3.so")
  target_include_directories(${name} SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
endfunction()

function(ashlar_add_onnxruntime_ops name)
  ashlar_kit_arguments(ashlar_add_onnxruntime_ops "NAMESPACE;FROM;OPS" "")
  ashlar_kit_on_processors()
  ashlar_kit_namespace()
  find_path(ASHLAR_ONNXRUNTIME_INCLUDE_DIR onnxruntime_c_api.h PATH_SUFFIXES onnxruntime onnxruntime/core/session
    DOC "The folder of onnxruntime_c_api.h, for kits")
  if(NOT ASHLAR_ONNXRUNTIME_INCLUDE_DIR)
    message(FATAL_ERROR "${call}: no onnxruntime_c_api.h was found (Debian 13: libonnxruntime-dev; or the archive of a release of ONNX Runtime); "
                        "ASHLAR_ONNXRUNTIME_INCLUDE_DIR names its folder")
  endif()
  file(STRINGS "${ASHLAR_ONNXRUNTIME_INCLUDE_DIR}/onnxruntime_c_api.h" version REGEX "^#define ORT_API_VERSION ")
  string(REGEX REPLACE "[^0-9]" "" version "${version}")
  if(NOT version GREATER_EQUAL 17)
    message(FATAL_ERROR "${call}: ${ASHLAR_ONNXRUNTIME_INCLUDE_DIR}/onnxruntime_c_api.h is of ONNX Runtime 1.${version}, and that of 1.17 or "
                        "later is needed")
  endif()
  set(ASHLAR_KIT_NAMESPACE "${arg_NAMESPACE}")
  set(ASHLAR_KIT_DECLARED "")
  set(ASHLAR_KIT_OPS "")
  foreach(op IN LISTS arg_OPS)
    string(REGEX REPLACE "=.*$" "" f "${op}")
    ashlar_kit_run("${op}" "${f}" "onnxruntime=${dir}/${f}.onnxruntime.c")
    string(APPEND ASHLAR_KIT_DECLARED "extern const ashlar_ort_op ${f}_onnxruntime_op;\n")
    string(APPEND ASHLAR_KIT_OPS "&${f}_onnxruntime_op, ")
  endforeach()
  configure_file("${ASHLAR_KITS_DIR}/onnxruntime_library.c.in" "${dir}/${name}.c" @ONLY)
  list(APPEND files "${dir}/${name}.c")
  ashlar_kit_library("lib${name}.so" "${CMAKE_CURRENT_BINARY_DIR}")
  target_include_directories(${name} SYSTEM PRIVATE "${ASHLAR_ONNXRUNTIME_INCLUDE_DIR}")
endfunction()

function(ashlar_add_rust_crate name)
  ashlar_kit_arguments(ashlar_add_rust_crate "FROM;OPS" "")
  set(crate "${dir}/crate")
  set(modules "//! Kernels that Ashlar made.\npub mod ashlar;\n")
  foreach(op IN LISTS arg_OPS)
    string(REGEX REPLACE "=.*$" "" f "${op}")
    ashlar_kit_run("${op}" "${f}" "rust=${crate}/src/${f}.rs")
    string(APPEND modules "pub mod ${f};\npub use ${f}::${f};\n")
  endforeach()
  file(CONFIGURE OUTPUT "${crate}/src/lib.rs" CONTENT "${modules}" @ONLY)
  configure_file("${ASHLAR_KITS_DIR}/ashlar.rs" "${crate}/src/ashlar.rs" COPYONLY)
  configure_file("${ASHLAR_KITS_DIR}/rust_build.rs.in" "${crate}/build.rs" @ONLY)
  configure_file("${ASHLAR_KITS_DIR}/rust_cargo.toml.in" "${crate}/Cargo.toml" @ONLY)
  set(modules ${files})
  list(FILTER modules INCLUDE REGEX "\\.rs$")
  list(FILTER files INCLUDE REGEX "\\${CMAKE_C_OUTPUT_EXTENSION}$")
  add_library(${name} STATIC ${files})
  add_custom_target(${name}_files DEPENDS ${modules})
  add_dependencies(${name} ${name}_files)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY "${crate}/native" ASHLAR_DIRECTORY "${dir}" ASHLAR_CRATE "${crate}")
  add_custom_command(TARGET ${name} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:Ashlar::Runtime> "${crate}/native" VERBATIM)
  if(TARGET ashlar_runtime)  # of this build, not installed
    add_dependencies(${name} ashlar_runtime)
  endif()
endfunction()
