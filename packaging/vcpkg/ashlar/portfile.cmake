# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A port for an overlay: vcpkg install ashlar --overlay-ports=packaging/vcpkg. It builds the sources that it lies in. LLVM 22 and
# isl come from the system (Debian: llvm-22-dev, libisl-dev): vcpkg has another release of the one and none of the other.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
set(VCPKG_BUILD_TYPE release)  # a compiler: nobody debugs with it
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES vulkan ASHLAR_VULKAN)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${features} -DASHLAR_TESTS=OFF -DASHLAR_APPS=OFF)
vcpkg_cmake_build(TARGET ashlar_package)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Ashlar CONFIG_PATH lib/cmake/Ashlar)
vcpkg_copy_tools(TOOL_NAMES ashlar-ops AUTO_CLEAN)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
