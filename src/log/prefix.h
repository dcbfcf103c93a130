// What launchers and log collectors put in front of every line.
//
//   [1,3]<stdout>:…   3: …   [default3]:[rank3]: …   (TrainWorker pid=4242,
//   ip=10.0.0.7) …
//
// Prefixes nest. They are recognised by shape, one after the other, until
// nothing more fits.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ncclog {

/// What stands in front of a line, added up over nested prefixes.
struct Prefix {
  size_t length = 0; ///< Bytes of the line that are prefix.
  /// Global rank as the framework states it ("[rank3]: "), else as the launcher
  /// numbers its tasks
  /// ("[1,3]<stdout>:", "3: "); -1 if none. Task numbers equal ranks with one
  /// task per GPU.
  int rank = -1;
  int local_rank = -1; ///< torchrun's "[default3]:"; -1 if none.
  std::string_view
      host;         ///< "nodea: ", "[pod/worker-3/pytorch] "; empty if none.
  int64_t pid = -1; ///< Ray's and vLLM's "pid="; -1 if none.
};

/// The prefixes at the start of `line`; length 0 if there are none.
Prefix parse_prefix(std::string_view line);

/// Removes ANSI escape sequences; `buffer` holds the result. Returns `line`
/// itself if it has none.
std::string_view strip_ansi(std::string_view line, std::string &buffer);

} // namespace ncclog
