# What is installed, and the .deb and .rpm that `cpack -G DEB` and `cpack -G RPM` make of it.

install(TARGETS ncclog RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY rules DESTINATION ${CMAKE_INSTALL_DATADIR}/ncclog
  FILES_MATCHING PATTERN "*.yaml" PATTERN "README.md")
install(DIRECTORY src/rules/profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/ncclog)
install(FILES ${PROJECT_BINARY_DIR}/rule.schema.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/ncclog/rules)
install(FILES ${PROJECT_BINARY_DIR}/report.schema.json ${PROJECT_BINARY_DIR}/diff.schema.json
  ${PROJECT_BINARY_DIR}/perf.schema.json ${PROJECT_BINARY_DIR}/table.schema.json
  ${PROJECT_BINARY_DIR}/env.schema.json
  src/replay/plan/plan.schema.json src/replay/judge/outcome.schema.json
  src/replay/judge/result.schema.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/ncclog)
install(FILES src/report/nccl.lnav.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ncclog/lnav
  RENAME nccl.json)
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The page for agents, with the head by which they find a skill.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/app/pages/agents.md)
file(READ src/app/pages/agents.md agents_page)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/SKILL.md CONTENT "---
name: ncclog
description: Judges NCCL and RCCL logs, Flight Recorder dumps, RAS answers and stacks of a multi-GPU job
  that hung, crashed or is slow. Use it when such a job failed, or when somebody shows such a log.
---

@agents_page@" @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/SKILL.md DESTINATION ${CMAKE_INSTALL_DATADIR}/ncclog/skill)
install(DIRECTORY src/app/pages/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/src/app/pages)

install(DIRECTORY ${PROJECT_BINARY_DIR}/pages/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/pages/ncclog.bash RENAME ncclog
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/pages/_ncclog
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/pages/ncclog.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# All that is installed: `./dev run` makes it, without tests.
add_custom_target(ncclog_installed)
add_dependencies(ncclog_installed ncclog ncclog_schemas ncclog_pages)
if(NCCLOG_BUILDS_REPLAY)
  add_dependencies(ncclog_installed ncclog-replay)
endif()

# Only packages carry these.
if(NCCLOG_PACKAGE)
  set(ENV{SOURCE_DATE_EPOCH} ${NCCLOG_EPOCH})
  string(TIMESTAMP NCCLOG_CHANGELOG_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
  unset(ENV{SOURCE_DATE_EPOCH})
  configure_file(cmake/packaging/changelog.in ${PROJECT_BINARY_DIR}/changelog @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/changelog cmake/packaging/copyright
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

# For ./dev package. Versions of conda have letters instead of "~".
string(REGEX REPLACE "~([0-9]+)\\." ".dev\\1+" conda_version ${NCCLOG_PACKAGE_VERSION})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package.env @ONLY
  CONTENT "version=@NCCLOG_PACKAGE_VERSION@
conda_version=@conda_version@
epoch=@NCCLOG_EPOCH@
")

set(CPACK_PACKAGE_NAME ncclog)
set(CPACK_PACKAGE_VERSION ${NCCLOG_PACKAGE_VERSION})
set(CPACK_PACKAGE_VENDOR "ncclog maintainers")
set(CPACK_PACKAGE_CONTACT "ncclog maintainers <ncclog@ncclog.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 1)  # Bytes that xz packs depend on how many there are.
set(CPACK_NCCLOG_EPOCH ${NCCLOG_EPOCH})
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/packaging/finish_tree.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(summary "analyser for the logs of NCCL jobs")
set(description "ncclog reads the logs of a multi-GPU job and says what went wrong first, on
which host and rank, how sure that is, which lines show it, what to check,
what to change, and what these logs cannot tell. It works offline and without
a GPU.")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${summary}\n${description}")

# Made of the static executable: no two distributions with .rpm call the same libraries the same.
set(CPACK_RPM_PACKAGE_DESCRIPTION "${description}")
set(CPACK_RPM_PACKAGE_SUMMARY "Analyser for the logs of NCCL jobs")
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RPM_PACKAGE_LICENSE LicenseRef-none-chosen)
set(CPACK_RPM_PACKAGE_GROUP Applications/System)
set(CPACK_RPM_PACKAGE_AUTOREQPROV no)
set(CPACK_RPM_COMPRESSION_TYPE xz)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1
  /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh
  /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d)
# Nothing in it but the commit decides on its bytes; and it is stripped already, by a tool that knows
# the other architecture.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _buildhost ncclog.invalid
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _build_id_links none
%define debug_package %{nil}
%define __os_install_post %{nil}")
include(CPack)
