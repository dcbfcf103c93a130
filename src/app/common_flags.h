// The flags that every command has, and what each flag is about.

#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ncclog {

struct CommonOptions {
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  bool show_config = false;
  std::string config;                 ///< Read before parsing, by find_config.
  std::vector<std::string> messages;  ///< Files and folders that add to the built-in messages.
};

/// Declares them for `root` and every command below it, once all others are declared; puts each
/// flag into its group and each group into its place. `options` must outlive `root`.
void add_common_flags(CLI::App& root, CommonOptions& options);

}  // namespace ncclog
