// Which worker does what next?
//
//   units:    a.log  b.log.gz  c.log           workers 1 and 2
//   worker 1  a.log            c.log  b's stretches 5, 7, …
//   worker 2         b.log.gz: stretches 0, 1, 2, 3, 4, 6, …
//
// A worker opens a unit of its own as long as there are any; when there are none, it takes
// stretches of a stream that another one has open. So many inputs are read side by side, and a
// single large one occupies everybody.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "app/ordered_merge.h"
#include "app/shared_stream.h"

namespace ncclog {

/// The units 0 … count - 1, handed out in order and merged in order.
class Workload {
 public:
  explicit Workload(uint32_t count) : count_(count) {}

  /// One of the two, or neither: then there is nothing left to do.
  struct Task {
    std::optional<uint32_t> unit;    ///< To be read and given to `done`.
    SharedStream* stream = nullptr;  ///< To be worked on and given to `leave`.
  };

  /// What the calling worker does next. Waits while that cannot be told.
  Task next();

  void done(uint32_t unit, Shard&& shard);

  /// Others may work on `stream` from now on.
  void open(SharedStream& stream);

  /// Nobody comes to it any more. Waits until all have left.
  void close(SharedStream& stream);

  void leave(SharedStream& stream);

  /// Ends the work early; `take` throws this.
  void give_up(std::exception_ptr failure);

  /// What all units say, once all workers are done.
  Shard take() { return merge_.take(); }

 private:
  struct Open {
    SharedStream* stream;
    int guests = 0;
    bool is_over = false;  ///< A guest left it at its end.
  };

  std::vector<Open>::iterator find(const SharedStream& stream);
  bool is_over();
  Task find_task();

  std::mutex mutex_;
  std::condition_variable change_;
  uint32_t count_;
  uint32_t next_ = 0;     ///< Of the units: the first that nobody has taken.
  uint32_t reading_ = 0;  ///< Units that are taken and not done.
  bool is_given_up_ = false;
  std::vector<Open> open_;  ///< By the time at which they were opened.
  OrderedMerge merge_;
};

}  // namespace ncclog
