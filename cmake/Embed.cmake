# How files of the source tree become part of the executable: one copied binary is a whole ncclog.
#
#   ncclog_embed(TARGET ncclog_core FUNCTION embedded_rules HEADER rules/embedded_rules.h
#                BASE ${PROJECT_SOURCE_DIR}/rules FILES a.yaml b.yaml)
#
# adds a generated source to TARGET that defines
#   std::span<const EmbeddedFile> ncclog::embedded_rules()
# as declared in HEADER: the files' texts with their paths relative to BASE, sorted by path.

set(NCCLOG_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)

function(ncclog_embed)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;FUNCTION;HEADER;BASE" "FILES")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${arg_FUNCTION}.cc)
  list(SORT arg_FILES)
  # The list goes through a file: a rulebook is longer than a command line should be.
  set(listing ${CMAKE_CURRENT_BINARY_DIR}/${arg_FUNCTION}.list)
  list(JOIN arg_FILES "\n" lines)
  file(CONFIGURE OUTPUT ${listing} CONTENT "${lines}" @ONLY)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFUNCTION=${arg_FUNCTION} -DHEADER=${arg_HEADER} -DBASE=${arg_BASE}
            -DLISTING=${listing} -DOUTPUT=${output} -P ${NCCLOG_EMBED_SCRIPT}
    DEPENDS ${arg_FILES} ${listing} ${NCCLOG_EMBED_SCRIPT}
    COMMENT "Embedding ${arg_FUNCTION}"
    VERBATIM)
  target_sources(${arg_TARGET} PRIVATE ${output})
endfunction()
