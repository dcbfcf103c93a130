# What a package wants of an installed tree before it is packed: pages packed without a time in them,
# and one time for all files. In a .deb the changelog is packed, too, and completions of zsh are in
# Debian's own folder.
#
# CPack runs this after its own install step.

set(tree ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)

file(GLOB pages ${tree}/man/man1/*.1)
if(CPACK_GENERATOR STREQUAL "DEB")
  list(APPEND pages ${tree}/doc/ncclog/changelog)
  file(MAKE_DIRECTORY ${tree}/zsh/vendor-completions)
  file(RENAME ${tree}/zsh/site-functions/_ncclog ${tree}/zsh/vendor-completions/_ncclog)
  file(REMOVE_RECURSE ${tree}/zsh/site-functions)
endif()
execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND find ${CPACK_TEMPORARY_INSTALL_DIRECTORY} -exec touch -h -d @${CPACK_NCCLOG_EPOCH} {} +
  COMMAND_ERROR_IS_FATAL ANY)
