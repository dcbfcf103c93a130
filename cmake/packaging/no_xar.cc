// Keeps one format out of the static executable: xar, which nobody writes here.
//
// libarchive's writer of tar refers to the list of all formats, that list to xar, xar to libxml2 and
// that to 30 MB of tables of ICU. What is defined here is not taken from the archive.

#include <archive.h>

int archive_write_set_format_xar(archive* /*out*/) { return ARCHIVE_FATAL; }
