// Dumps of PyTorch's Flight Recorder in a few words, for tests.
//
//   DumpLine(3).done(1).done(2).open(3).text()   a dump of a rank of a job of three ranks: it
//   called
//                                                three collectives, and waits in the third one

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

/// What one rank recorded on process group "0" of all ranks, as a line of JSON that
/// app/read/read_job.h reads. The n-th collective is made n seconds after a fixed moment.
class DumpLine {
 public:
  explicit DumpLine(int world) : world_(world) {}

  DumpLine& done(int64_t seq, int64_t elements = 512, std::string_view op = "all_reduce");
  DumpLine& open(int64_t seq, int64_t elements = 512, std::string_view op = "all_reduce");

  /// Members of the entry added last: ",\"p2p_seq_id\":1".
  DumpLine& with(std::string_view members);

  /// Everything that follows was made so much later.
  DumpLine& later_s(int64_t seconds);

  /// Members of the dump: ",\"pg_status\":{…}".
  DumpLine& status(std::string_view members);

  /// The dump, with a line feed.
  std::string text() const;

 private:
  DumpLine& add(int64_t seq, int64_t elements, std::string_view op, std::string_view state);

  int world_ = 0;
  int64_t start_s_ = 1700000000;
  std::vector<std::string> entries_;
  std::string status_;
};

}  // namespace ncclog::testing
