# Turns a table of text into rows of C++, when the build is configured:
#
#   NCCL_RAS_ENABLE   2.24.3   -   Int   →   {"NCCL_RAS_ENABLE", "2.24.3", "", "Int"},
#
# Two blanks or more stand between columns, "-" for an empty one; lines that begin with "#" are left
# out. A line that begins with blanks goes on where the one above ends. A blank at an end of a cell is
# written ␣. A cell between backquotes is a name of C++. LAST is one more cell of each row. With ESCAPES
# backslashes mean what they mean in C++.
#
# With FIGURES, cells behind the first that are numbers are numbers of C++, and empty cells are {}:
#
#   t4   turing   -   12   →   {"t4", "turing", {}, 12},

function(make_table_rows table output)
  cmake_parse_arguments(rows "FIGURES;ESCAPES" "LAST" "" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  # All of it at once: in a list of lines, brackets and semicolons would mean something.
  file(READ ${table} rows)
  string(PREPEND rows "\n")
  string(REGEX REPLACE "\n#[^\n]*" "" rows "${rows}")
  string(REGEX REPLACE "\n +" "" rows "${rows}")
  if(NOT rows_ESCAPES)
    string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" rows "${rows}")
  endif()
  string(REGEX REPLACE "  +" "\", \"" rows "${rows}")
  string(REGEX REPLACE "\n([^\n]+)" "\n{\"\\1\"}," rows "${rows}")
  string(REPLACE "\"-\"" "\"\"" rows "${rows}")
  string(REPLACE "␣" " " rows "${rows}")
  string(REGEX REPLACE "\"`([^`\n]*)`\"" "\\1" rows "${rows}")
  if(rows_LAST)
    string(REGEX REPLACE "},(\n|$)" ", \"${rows_LAST}\"},\\1" rows "${rows}")
  endif()
  if(rows_FIGURES)
    string(REGEX REPLACE "\"([0-9]+(\\.[0-9]+)?)\"," "\\1," rows "${rows}")
    string(REPLACE " \"\"," " {}," rows "${rows}")
    string(REGEX REPLACE "\n{([0-9]+)," "\n{\"\\1\"," rows "${rows}")
  endif()
  get_filename_component(name ${table} NAME)
  file(CONFIGURE OUTPUT ${output} CONTENT "// Made of ${name} by cmake/TableRows.cmake.\n${rows}" @ONLY)
endfunction()

# The first word of each row of a table, within `text`, where it says \\0: "\\0," makes
# enumerators.
function(make_table_names table text output)
  file(STRINGS ${table} rows REGEX "^[^# ]")
  list(TRANSFORM rows REPLACE " .*" "")
  # Not a list: a semicolon of the text would mean something.
  string(REPLACE ";" "\n" rows "${rows}")
  string(REGEX REPLACE "[^\n]+" "${text}" rows "${rows}")
  get_filename_component(name ${table} NAME)
  file(CONFIGURE OUTPUT ${output}
       CONTENT "// Made of ${name} by cmake/TableRows.cmake.\n${rows}\n" @ONLY)
endfunction()
