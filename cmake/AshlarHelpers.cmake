# ashlar_add_generator(<name> SOURCES <file>... [LINK_LIBRARIES <library>...] [COMPILE_DEFINITIONS ...] [INCLUDE_DIRECTORIES ...])
#   An executable that holds generators (ASHLAR_GENERATOR). It has the command line tool as its main().
#
# ashlar_add_library(<name> FROM <generator> [GENERATOR <registered name>] [FUNCTION <c symbol>] [PARAMS <key>=<value>...]
#                    [TARGETS <target>] [EMIT <kind>...])
#   A static library that one run of the generator makes while the project builds, with its header <function>.h. GENERATOR and
#   FUNCTION are <name> where they are left out; TARGETS is what the project is built for. EMIT names further files to write
#   beside the library (assembly, llvm, spirv, ptx, cubin, program, schedule, explain); their folder is the target property ASHLAR_DIRECTORY.
#
# An application links the library alone: the compiler is no part of it, only the runtime is.
include_guard(GLOBAL)

function(ashlar_add_generator name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK_LIBRARIES;COMPILE_DEFINITIONS;INCLUDE_DIRECTORIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ashlar_add_generator(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "ashlar_add_generator(${name}): SOURCES is missing")
  endif()
  if(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "ashlar_add_generator(${name}): generators run on the machine that builds, and this is a cross build; "
                        "build the generator in a native build and run it there, with -e static_library,header and target=...")
  endif()
  if(NOT TARGET Ashlar::Generator)
    message(FATAL_ERROR "ashlar_add_generator(${name}): this package of Ashlar holds the runtime alone; install the compiler package")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  # file names in diagnostics and debug information are relative to the project: the same bytes in every checkout
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
  target_compile_definitions(${name} PRIVATE ${arg_COMPILE_DEFINITIONS})
  target_include_directories(${name} PRIVATE ${arg_INCLUDE_DIRECTORIES})
  target_link_libraries(${name} PRIVATE Ashlar::Generator ${arg_LINK_LIBRARIES})
endfunction()

# The target that this project is built for.
function(ashlar_default_target out)
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" cpu)
  string(TOLOWER "${CMAKE_SYSTEM_NAME}" os)
  if(NOT cpu MATCHES "^(amd64|x86_64)$" OR NOT os STREQUAL "linux")
    message(FATAL_ERROR "ashlar: no target is known for CMAKE_SYSTEM_PROCESSOR \"${CMAKE_SYSTEM_PROCESSOR}\" on "
                        "\"${CMAKE_SYSTEM_NAME}\"; give TARGETS (the generator's --list-targets names them)")
  endif()
  set(${out} x86-64-linux PARENT_SCOPE)
endfunction()

function(ashlar_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;GENERATOR;FUNCTION" "PARAMS;TARGETS;EMIT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ashlar_add_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET "${arg_FROM}")
    message(FATAL_ERROR "ashlar_add_library(${name}): FROM names no generator: \"${arg_FROM}\"")
  endif()
  if(NOT arg_GENERATOR)
    set(arg_GENERATOR "${name}")
  endif()
  if(NOT arg_FUNCTION)
    set(arg_FUNCTION "${name}")
  endif()
  if(NOT arg_TARGETS)
    ashlar_default_target(arg_TARGETS)
  endif()
  list(LENGTH arg_TARGETS count)
  if(count GREATER 1)
    message(FATAL_ERROR "ashlar_add_library(${name}): TARGETS is one target, not ${count} (${arg_TARGETS}): a library holds code for "
                        "one; make one library for each, under FUNCTION names of their own")
  endif()

  set(dir "${CMAKE_CURRENT_BINARY_DIR}/${name}.ashlar")
  set(object "${dir}/${arg_FUNCTION}${CMAKE_C_OUTPUT_EXTENSION}")
  set(header "${dir}/include/${arg_FUNCTION}.h")
  set(outputs "${object}" "${header}")
  set(emit -e "object=${object}" -e "header=${header}")
  foreach(kind IN LISTS arg_EMIT)
    if(kind STREQUAL "assembly")
      set(file "${dir}/${arg_FUNCTION}.s")
    elseif(kind STREQUAL "llvm")
      set(file "${dir}/${arg_FUNCTION}.ll")
    elseif(kind STREQUAL "spirv")
      set(file "${dir}/${arg_FUNCTION}.spv")
    elseif(kind STREQUAL "ptx" OR kind STREQUAL "cubin")
      set(file "${dir}/${arg_FUNCTION}.${kind}")
    elseif(kind STREQUAL "program")
      set(file "${dir}/${arg_FUNCTION}.program")
    elseif(kind STREQUAL "schedule")
      set(file "${dir}/${arg_FUNCTION}.schedule.json")
    elseif(kind STREQUAL "explain")
      set(file "${dir}/${arg_FUNCTION}.explain.txt")
    else()
      message(FATAL_ERROR "ashlar_add_library(${name}): EMIT is one of assembly, llvm, spirv, ptx, cubin, program, schedule, explain, not \"${kind}\"")
    endif()
    list(APPEND beside "${file}")
    list(APPEND emit -e "${kind}=${file}")
  endforeach()
  add_custom_command(OUTPUT ${outputs} ${beside}
    COMMAND ${arg_FROM} -g "${arg_GENERATOR}" -f "${arg_FUNCTION}" -t "${arg_TARGETS}" ${emit} ${arg_PARAMS}
    DEPENDS ${arg_FROM} $<TARGET_FILE:${arg_FROM}> VERBATIM COMMENT "Ashlar: ${arg_FUNCTION} for ${arg_TARGETS}")
  if(beside)  # in a STATIC library a .s file would be assembled a second time
    add_custom_target(${name}_emitted ALL DEPENDS ${beside})
  endif()

  # a real STATIC library: it can be installed and exported, unlike an IMPORTED one
  add_library(${name} STATIC ${outputs})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C POSITION_INDEPENDENT_CODE ON ASHLAR_DIRECTORY "${dir}")
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.23)
    target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${dir}/include" FILES "${header}")
  else()
    target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${dir}/include>)
  endif()
  target_link_libraries(${name} PUBLIC Ashlar::Runtime)
endfunction()
