// What shells complete: commands, flags, and values where they can be listed.
//
//   ncclog show ra<TAB>              → ranks ras
//   ncclog analyze --format=j<TAB>   → json
//   ncclog count --by op,r<TAB>      → op,rank
//   ncclog explain shm<TAB>          → shm-no-space …
//
// A script knows all words from when it was written: it runs nothing.

#pragma once

#include <string>

#include "app/command_table.h"

namespace ncclog {

/// For share/bash-completion/completions/ncclog; needs no other script.
std::string write_bash_completion(const CommandRow& root);

/// For share/zsh/site-functions/_ncclog.
std::string write_zsh_completion(const CommandRow& root);

/// For share/fish/vendor_completions.d/ncclog.fish.
std::string write_fish_completion(const CommandRow& root);

}  // namespace ncclog
