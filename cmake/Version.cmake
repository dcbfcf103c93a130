# Which commit is being built? Asked of git; of cmake/version.txt where `git archive` filled it in.
#
#   NCCLOG_FULL_VERSION     1.0.0 (4218094)          what --version prints
#   NCCLOG_PACKAGE_VERSION  1.0.0~20261121.4218094   of packages: before the release of that number
#                           1.0.0, 1.0.0+3.4218094   at the tag v1.0.0, and three commits later
#   NCCLOG_DAY              2026-11-21               of that commit; empty if it is not known
#   NCCLOG_EPOCH            1795283570               the same in seconds since 1970; 0

set(NCCLOG_FULL_VERSION ${PROJECT_VERSION})
set(NCCLOG_PACKAGE_VERSION ${PROJECT_VERSION})
set(NCCLOG_DAY "")
set(NCCLOG_EPOCH 0)

file(READ ${PROJECT_SOURCE_DIR}/cmake/version.txt described)
find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --tags
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT_EXECUTABLE} log -1 --format=%cs|%ct|%h
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(described "${name}|${commit}")
  if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
      CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
  endif()
endif()

if(described MATCHES "^([^|$]*)\\|([0-9-]+)\\|([0-9]+)\\|([0-9a-f]+)")
  set(name "${CMAKE_MATCH_1}")
  set(NCCLOG_DAY ${CMAKE_MATCH_2})
  set(NCCLOG_EPOCH ${CMAKE_MATCH_3})
  set(hash ${CMAKE_MATCH_4})
  if(name STREQUAL "")
    set(name ${hash})
  endif()
  set(NCCLOG_FULL_VERSION "${PROJECT_VERSION} (${name})")
  string(REPLACE "-" "" compact_day ${NCCLOG_DAY})
  if(name STREQUAL "v${PROJECT_VERSION}")
    set(NCCLOG_PACKAGE_VERSION ${PROJECT_VERSION})
  elseif(name MATCHES "^v${PROJECT_VERSION}-([0-9]+)-g")
    set(NCCLOG_PACKAGE_VERSION "${PROJECT_VERSION}+${CMAKE_MATCH_1}.${hash}")
  else()
    set(NCCLOG_PACKAGE_VERSION "${PROJECT_VERSION}~${compact_day}.${hash}")
  endif()
endif()
