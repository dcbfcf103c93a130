# Turns a table of text into rows of C++, when the build is configured:
#
#   NCCL_RAS_ENABLE   2.24.3   -   Int   →   row("NCCL_RAS_ENABLE", "2.24.3", "", "Int"),
#
# Two blanks or more stand between columns, "-" for an empty one; lines that begin with "#" are left
# out.

function(make_table_rows table output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} lines REGEX "^[^#]" ENCODING UTF-8)
  get_filename_component(name ${table} NAME)
  set(rows "// Made of ${name} by cmake/TableRows.cmake.\n")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" row "${line}")
    string(REGEX REPLACE "  +" "\", \"" row "${row}")
    string(REPLACE "\"-\"" "\"\"" row "row(\"${row}\"),")
    string(APPEND rows "${row}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${rows}" @ONLY)
endfunction()
