# What turns a fault of ours, or of a library, into an end instead of a way in. Every build that no
# sanitizer watches has it; the test `Install.BuiltHardened` asks the executable.
#
# Debian's g++ makes position-independent executables by itself; that of other systems may not.

if(NCCLOG_SANITIZE)
  return()
endif()

# Addresses differ from run to run, also those of a static executable, and nothing that the loader
# has filled in can be written afterwards.
# What is compiled for an executable can stay without the detours of a shared library.
target_compile_options(ncclog_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fPIE>)
if(NCCLOG_STATIC)
  target_link_options(ncclog_options INTERFACE -static-pie)
else()
  target_link_options(ncclog_options INTERFACE -pie)
endif()
target_link_options(ncclog_options INTERFACE LINKER:-z,relro,-z,now,-z,noexecstack)

target_compile_options(ncclog_program_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -fstack-protector-strong -fstack-clash-protection>)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(ncclog_program_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fcf-protection>)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  target_compile_options(ncclog_program_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-mbranch-protection=standard>)
endif()
# The C library's checks of sizes need an optimised build.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" MATCHES "-O[1-3s]")
  target_compile_options(ncclog_program_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
endif()
