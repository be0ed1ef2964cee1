# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recipe for Conan 2: conan create packaging/conan. It builds the sources that it lies in, for the machine that builds.

LLVM 22, isl, fmt, CLI11 and what Vulkan needs come from the system, as ./dev installs them. The package is what `cmake --install`
gives; its own CMake package describes it, so Conan writes none. `-c user.ashlar:build_folder=DIR` packs a build folder that is there
and builds nothing.
"""
import os

from conan import ConanFile
from conan.errors import ConanException, ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy


class Ashlar(ConanFile):
    name = "ashlar"
    version = "0.1.0"
    description = "A C++20 embedded language for tensor operators that compiles to object files"
    license = "Apache-2.0 WITH LLVM-exception"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"bundle": [True, False], "vulkan": [True, False]}
    default_options = {"bundle": False, "vulkan": True}
    no_copy_source = True

    def layout(self):  # the recipe lies in packaging/conan of the sources
        self.folders.root = os.path.join("..", "..")
        self.folders.source = "."
        self.folders.build = os.path.join("build", "conan")
        self.folders.generators = os.path.join("build", "conan", "generators")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Ashlar builds on Linux")

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for folder in ("cmake", "include", "src", "ops", "schedules", "generators", "docs", "apps/tutorial", "apps/gallery"):
            copy(self, f"{folder}/*", root, self.export_sources_folder)
        for name in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md"):
            copy(self, name, root, self.export_sources_folder)

    def built(self):
        """The build folder that `-c user.ashlar:build_folder` names, or None."""
        folder = self.conf.get("user.ashlar:build_folder", check_type=str)
        if folder and not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
            raise ConanException(f"user.ashlar:build_folder is {folder}, expected a build folder of Ashlar")
        return folder

    def generate(self):
        toolchain = CMakeToolchain(self, generator="Ninja")
        toolchain.user_presets_path = False  # no file beside the sources
        toolchain.cache_variables.update({"ASHLAR_TESTS": False, "ASHLAR_APPS": False, "ASHLAR_BUNDLE": bool(self.options.bundle),
                                          "ASHLAR_VULKAN": bool(self.options.vulkan), "CMAKE_INSTALL_LIBDIR": "lib"})
        toolchain.blocks.remove("arch_flags")  # there is one architecture: that of the machine
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if not self.built():
            cmake.build(target="ashlar_package")

    def package(self):
        if self.built():
            components = ["runtime", "shared", "generator", "tools", "docs"] + (["bundle"] if self.options.bundle else [])
            for component in components:
                self.run(f'cmake --install "{self.built()}" --prefix "{self.package_folder}" --component {component}')
        else:
            CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package has its own
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "Ashlar")]
        self.cpp_info.libs = ["ashlar_runtime"]
        self.cpp_info.system_libs = ["pthread", "dl"]
