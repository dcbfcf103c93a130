# What Debian wants of an installed tree before it is packed: pages and changelog packed without a
# time in them, completions of zsh in its own folder, one time for all files.
#
# CPack runs this behind its own install step.

set(tree ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)

file(GLOB pages ${tree}/man/man1/*.1)
execute_process(COMMAND gzip -9nf ${pages} ${tree}/doc/ncclog/changelog COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${tree}/zsh/vendor-completions)
file(RENAME ${tree}/zsh/site-functions/_ncclog ${tree}/zsh/vendor-completions/_ncclog)
file(REMOVE_RECURSE ${tree}/zsh/site-functions)
execute_process(
  COMMAND find ${CPACK_TEMPORARY_INSTALL_DIRECTORY} -exec touch -h -d @${CPACK_NCCLOG_EPOCH} {} +
  COMMAND_ERROR_IS_FATAL ANY)
