# Every library as an archive, for one executable that needs nothing of the system it runs on.
#
# Imported targets keep what they tell the compiler, so objects are those of any other build, and
# point the linker elsewhere. Debian 12 has archives of all our libraries but three: {fmt} is compiled
# from its headers (cmake/packaging/fmt.cc), every build uses toml++ from its own, and gzip is
# unpacked by zlib instead of ISA-L.

set(CMAKE_SKIP_RPATH ON)

# Sets `out` to the paths of archives by name; missing ones end the configuration.
function(find_archives out)
  set(found "")
  foreach(name IN LISTS ARGN)
    find_library(NCCLOG_ARCHIVE_${name} lib${name}.a REQUIRED)
    mark_as_advanced(NCCLOG_ARCHIVE_${name})
    list(APPEND found ${NCCLOG_ARCHIVE_${name}})
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Links `target` by these files: its own archive, and those that it needs.
function(link_archives target)
  list(POP_FRONT ARGN own)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${own};${ARGN}")
    return()
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${own}
      IMPORTED_SONAME_${configuration} "")
  endforeach()
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${own}
    INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()

find_archives(packers lzma zstd lz4 bz2 z)
find_archives(zlib z)
find_archives(re2 re2)
find_archives(hs hs)
find_archives(expat expat)
find_archives(yaml yaml-cpp)
find_archives(streams boost_iostreams)
find_archives(archive archive nettle acl)
find_archives(jemalloc jemalloc)

link_archives(ZLIB::ZLIB ${zlib})
link_archives(PkgConfig::RE2 ${re2})
link_archives(PkgConfig::HS ${hs})
link_archives(PkgConfig::ISAL ${zlib})
link_archives(EXPAT::EXPAT ${expat})
link_archives(yaml-cpp ${yaml})
link_archives(Boost::iostreams ${streams} ${packers})
link_archives(LibArchive::LibArchive ${archive} ${packers})
if(TARGET SQLite::SQLite3)
  find_archives(sqlite sqlite3)
  link_archives(SQLite::SQLite3 ${sqlite} m)
endif()

add_library(ncclog_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/packaging/fmt.cc)
target_include_directories(ncclog_fmt PRIVATE
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_features(ncclog_fmt PRIVATE cxx_std_20)
set_target_properties(ncclog_fmt PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
link_archives(fmt::fmt ${PROJECT_BINARY_DIR}/libncclog_fmt.a)
add_dependencies(fmt::fmt ncclog_fmt)
