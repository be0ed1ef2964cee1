# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a cross build does otherwise: generators are built for, and run on, the machine that builds; the runtime is compiled from
# its sources by the project's toolchain; the target of the code is what the toolchain file says. One configure, one build.
#
#   cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE=aarch64.cmake -DAshlar_DIR=<prefix>/lib/cmake/Ashlar
#
# AshlarPresets.json has presets for that, with the toolchain files of the folder toolchains.
include_guard(GLOBAL)
include(ExternalProject)

set(Ashlar_HOST_CXX_COMPILER "" CACHE FILEPATH "C++20 compiler of the machine that builds, for generators in cross builds; empty: CMake finds one")

# Vulkan's headers, which are the same for every processor: those of the toolchain, else of the machine that builds. They are
# copied: the folder that they lie in may have the headers of another processor's libc. `out` is empty if there are none.
function(ashlar_cross_vulkan_headers out)
  find_path(Ashlar_VULKAN_INCLUDE_DIR vulkan/vulkan.h DOC "Folder that holds vulkan/vulkan.h, for the runtime of a cross build")
  find_path(Ashlar_VULKAN_INCLUDE_DIR vulkan/vulkan.h HINTS ENV VULKAN_SDK PATHS /usr/include /usr/local/include PATH_SUFFIXES include
    NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  set(${out} "" PARENT_SCOPE)
  if(Ashlar_VULKAN_INCLUDE_DIR)
    set(headers "${CMAKE_CURRENT_BINARY_DIR}/ashlar_vulkan_headers")
    foreach(folder vulkan vk_video)  # the second: of 1.3 and later
      if(EXISTS "${Ashlar_VULKAN_INCLUDE_DIR}/${folder}")
        file(COPY "${Ashlar_VULKAN_INCLUDE_DIR}/${folder}" DESTINATION "${headers}" FILES_MATCHING PATTERN "*.h")
      endif()
    endforeach()
    set(${out} "${headers}" PARENT_SCOPE)
  endif()
endfunction()

# Ashlar::Runtime for the machine that is built for. Without an operating system: the headers alone, for f_run needs no runtime.
function(ashlar_cross_runtime sources include version)
  if(TARGET Ashlar::Runtime)
    return()
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
    add_library(Ashlar::Runtime INTERFACE IMPORTED GLOBAL)
    target_include_directories(Ashlar::Runtime INTERFACE "${include}")
    return()
  endif()
  set(threads "")
  if(NOT WIN32)  # whose threads are a part of the system
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
    set(threads Threads::Threads)
  endif()
  file(GLOB files "${sources}/*.c" "${sources}/cuda/*.c")
  ashlar_cross_vulkan_headers(headers)
  if(headers)
    file(GLOB vulkan "${sources}/vulkan/*.c")
    list(APPEND files ${vulkan})
  else()
    set_property(GLOBAL PROPERTY ASHLAR_RUNTIME_WITHOUT_VULKAN ON)
  endif()
  add_library(ashlar_runtime STATIC EXCLUDE_FROM_ALL ${files})
  add_library(Ashlar::Runtime ALIAS ashlar_runtime)
  set_target_properties(ashlar_runtime PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(ashlar_runtime PRIVATE ASHLAR_VERSION="${version}")
  target_include_directories(ashlar_runtime PUBLIC "${include}" PRIVATE ${headers})
  target_link_libraries(ashlar_runtime PUBLIC ${threads} ${CMAKE_DL_LIBS})
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_link_libraries(ashlar_runtime PUBLIC atomic)  # atomics of less than a word are functions there
  endif()
endfunction()

# The generator as an imported executable that a project written here makes.
function(ashlar_cross_generator name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK_LIBRARIES;COMPILE_DEFINITIONS;INCLUDE_DIRECTORIES")
  if(NOT Ashlar_DIR)
    message(FATAL_ERROR "ashlar_add_generator(${name}): generators run on the machine that builds, and this is a cross build with Ashlar as a "
                        "part of it; install Ashlar for that machine, and find_package(Ashlar) with -DAshlar_DIR=<prefix>/lib/cmake/Ashlar")
  endif()
  foreach(kind SOURCES INCLUDE_DIRECTORIES)
    set(${kind} "")
    foreach(path IN LISTS arg_${kind})
      get_filename_component(path "${path}" ABSOLUTE)
      string(APPEND ${kind} " [==[${path}]==]")
    endforeach()
  endforeach()
  foreach(kind LINK_LIBRARIES COMPILE_DEFINITIONS)
    set(${kind} "")
    foreach(word IN LISTS arg_${kind})
      string(APPEND ${kind} " [==[${word}]==]")
    endforeach()
  endforeach()
  set(nested "${CMAKE_CURRENT_BINARY_DIR}/${name}.host")
  file(WRITE "${nested}/CMakeLists.txt.new" "cmake_minimum_required(VERSION 3.22)
project(${name}_host C CXX)
find_package(Ashlar REQUIRED CONFIG)
ashlar_add_generator(${name} SOURCES${SOURCES} LINK_LIBRARIES${LINK_LIBRARIES} COMPILE_DEFINITIONS${COMPILE_DEFINITIONS} INCLUDE_DIRECTORIES${INCLUDE_DIRECTORIES})
target_compile_options(${name} PRIVATE [==[-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=]==])
set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY \"\${CMAKE_BINARY_DIR}/out\" RUNTIME_OUTPUT_DIRECTORY_RELEASE \"\${CMAKE_BINARY_DIR}/out\")
")
  configure_file("${nested}/CMakeLists.txt.new" "${nested}/CMakeLists.txt" COPYONLY)  # written anew only where it differs
  set(options -DCMAKE_BUILD_TYPE=Release "-DAshlar_DIR=${Ashlar_DIR}")
  if(Ashlar_HOST_CXX_COMPILER)
    list(APPEND options "-DCMAKE_CXX_COMPILER=${Ashlar_HOST_CXX_COMPILER}")
  endif()
  set(executable "${nested}/build/out/${name}")
  if(CMAKE_HOST_WIN32)
    string(APPEND executable ".exe")
  endif()
  # an environment made for the target's compiler is not for the host's
  set(clean ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS --unset=LDFLAGS --unset=CMAKE_TOOLCHAIN_FILE
            --unset=SDKROOT --unset=PKG_CONFIG_SYSROOT_DIR --unset=PKG_CONFIG_LIBDIR)
  ExternalProject_Add(${name}_host SOURCE_DIR "${nested}" BINARY_DIR "${nested}/build" PREFIX "${nested}/steps" EXCLUDE_FROM_ALL ON
    CONFIGURE_COMMAND ${clean} ${CMAKE_COMMAND} -G "${CMAKE_GENERATOR}" -S "${nested}" -B "${nested}/build" ${options}
    BUILD_COMMAND ${clean} ${CMAKE_COMMAND} --build "${nested}/build" --config Release
    INSTALL_COMMAND "" BUILD_ALWAYS ON BUILD_BYPRODUCTS "${executable}" LOG_CONFIGURE ON LOG_BUILD ON LOG_OUTPUT_ON_FAILURE ON)
  add_executable(${name} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${executable}")
  add_dependencies(${name} ${name}_host)
endfunction()
