// Logs of calls in a few words, for tests.
//
//   CallLog log;
//   log.init(0, 2, 0x77).init(1, 2, 0x77);          two ranks of one communicator
//   log.call(0, 0x77).call(1, 0x77, "AllGather");   each enters a collective
//   log.timeout(0, 1);                              rank 0's watchdog gives up on SeqNum 1

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ncclog::testing {

/// Lines of a job on one host whose rank r is process 50 + r on GPU r. Each process's pointer of a
/// communicator follows from its commId.
class CallLog {
 public:
  /// Rank `rank` of the job becomes rank `local` (its own number if -1) of a communicator.
  CallLog& init(int rank, int nranks, uint64_t comm_id, int local = -1);

  /// Says how many ranks a communicator has whose initialisation is not logged.
  CallLog& size(uint64_t comm_id, int nranks);

  /// A collective, or a message if `op` is Send or Recv; `root` is the peer then.
  CallLog& call(int rank, uint64_t comm_id, std::string_view op = "AllReduce", int64_t count = 512,
                int root = 0, int datatype = 7, int redop = 0);

  /// What the next calls print as opCount; 0 if it is never said, as NCCL 2.28 does over NVLink.
  CallLog& op_count(uint64_t number);

  CallLog& timeout(int rank, int seq, std::string_view op = "ALLREDUCE");
  CallLog& destroyed(int rank, int nranks, uint64_t comm_id);
  CallLog& line(std::string_view text);

  /// What stands before the next lines: a time, a launcher's prefix.
  CallLog& stamp(std::string_view text);

  const std::string& text() const { return text_; }

 private:
  void nccl(int rank, std::string_view message);

  std::map<uint64_t, int> sizes_;  ///< By commId.
  uint64_t op_count_ = 0;
  std::string stamp_;
  std::string text_;
};

/// `nranks` ranks that entered one communicator and nothing else.
CallLog inits(int nranks, uint64_t comm_id = 1);

/// The same ranks after one call that all of them made.
CallLog world(int nranks);

}  // namespace ncclog::testing
