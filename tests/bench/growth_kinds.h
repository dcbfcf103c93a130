// Of what may a log hold thousands, and what do thousands of it look like?
//
//   tracebacks      [rank17]: Traceback (most recent call last): …       of every rank its own
//   communicators   … ncclCommInitRankConfig comm 0x… - Init COMPLETE     among eight processes
//
// One row a kind. count_growth asks of each what twice as many cost.

#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

namespace ncclog::testing {

/// Writes lines into files of a folder, "job.log" unless another one is begun.
class EntityLog {
 public:
  /// The folder has to be there.
  explicit EntityLog(std::filesystem::path folder) : folder_(std::move(folder)) {}
  EntityLog(const EntityLog&) = delete;
  EntityLog& operator=(const EntityLog&) = delete;
  ~EntityLog() { flush(); }

  /// What follows stands in a file of that name, which may name folders.
  void begin_file(std::string_view name) {
    flush();
    file_ = folder_ / name;
    std::filesystem::create_directories(file_.parent_path());
  }

  template <typename... Values>
  void line(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Values>(values)...);
    text_.push_back('\n');
  }

  /// A line of NCCL of a rank, eight of which are on a host.
  template <typename... Values>
  void info(int rank, fmt::format_string<Values...> text, Values&&... values) {
    header(rank, {}, "INFO");
    line(text, std::forward<Values>(values)...);
  }
  template <typename... Values>
  void warn(int rank, std::string_view place, fmt::format_string<Values...> text,
            Values&&... values) {
    header(rank, place, "WARN");
    line(text, std::forward<Values>(values)...);
  }

 private:
  void header(int rank, std::string_view place, std::string_view level);
  void flush();

  std::filesystem::path folder_;
  std::filesystem::path file_ = folder_ / "job.log";
  fmt::memory_buffer text_;
};

struct GrowthKind {
  std::string_view name;
  void (*write)(EntityLog& log, int n);  ///< So many entities.
};

std::span<const GrowthKind> growth_kinds();

}  // namespace ncclog::testing
