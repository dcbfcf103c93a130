// Man pages, made of what is declared: ncclog(1), ncclog-analyze(1), ncclog-rules(1), …
//
//   .TH NCCLOG-SHOW 1 "" "ncclog 1.0.0" "User Commands"
//   .SH NAME
//   ncclog\-show \- print one table of what the logs say
//
// A page is roff with the man macros, clean under `man --warnings` and `mandoc -T lint`. Commands
// below a command, such as `rules new`, are sections of its page.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/command_table.h"

namespace ncclog {

struct ManPage {
  std::string name;  ///< "ncclog-show"; its file is ncclog-show.1.
  std::string text;
};

/// The page of ncclog itself first, then one for each command of `root`. `day` is "2026-11-21",
/// when that version was made.
std::vector<ManPage> write_man_pages(const CommandRow& root, std::string_view version,
                                     std::string_view day);

}  // namespace ncclog
