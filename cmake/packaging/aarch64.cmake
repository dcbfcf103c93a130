# What builds for aarch64 on another machine: Debian's cross compiler, and Debian's arm64 packages
# that cmake/packaging/arm64_root.sh unpacks into build/arm64.
#
# Tools of the build, and the program that writes its own pages, run under QEMU.

get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/../../build/arm64 ABSOLUTE)
set(libraries ${root}/usr/lib/aarch64-linux-gnu)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT ${root})
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# Before the cross compiler's own C library, which gets no security updates.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${root}/usr/share/pkgconfig)
