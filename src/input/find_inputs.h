// Which files does the user mean?
//
//   find_inputs({"logs/", "more/*.txt.gz", "-"})
//   -> {"-", "logs/node1/nccl.4711.log", "logs/node2/nccl.4712.log", "more/a.txt.gz"}
//
// The result is sorted by bytes and names each file once, however often and under how many names
// (links, "./x" and "x") it was given: the order of the arguments never reaches a report. The same
// file read twice would count every event twice.

#pragma once

#include <span>
#include <string>
#include <vector>

namespace ncclog {

/// The argument, and the path in the result, that stands for standard input.
inline constexpr const char* kStdinPath = "-";

/// The inputs that `arguments` name: files, folders, glob patterns (where the shell left them
/// alone) and "-".
///
/// Folders are entered to any depth; entries whose name starts with a dot, and sockets, pipes and
/// devices inside folders, are left out. Of a folder inside another one in which ncclog-replay left
/// the logs of its runs, only the outcome is found: those are logs of another job. Links are
/// followed, after all that is reached without them, so a file that has a path without links keeps
/// that one; loops end. A subfolder that cannot be listed and a link that leads nowhere stand in
/// the result, to be reported as unreadable when they are read.
///
/// Throws Error (where = the argument) for a path that does not exist, a pattern without match, a
/// folder that cannot be listed or holds no file; without where if `arguments` is empty.
std::vector<std::string> find_inputs(std::span<const std::string> arguments);

}  // namespace ncclog
