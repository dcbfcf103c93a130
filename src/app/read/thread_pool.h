// Which worker reads what next, and how are the parts put together in input order?
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
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "app/read/read_job.h"
#include "input/input_walk.h"
#include "input/line_reader.h"
#include "model/shard/read_log.h"
#include "model/shard/shard.h"

namespace ncclog {

/// What `lines`, a UnitReader or a Stretch of the input `name`, say. Every line of every log passes
/// here.
Shard read_lines(auto& lines, const WalkedInput& name, const ReadSettings& settings) {
  LogReader reader(name.number, name.input_number, settings.matcher, settings.finder,
                   settings.filter);
  for (Line line;;) {
    const TakenLines taken = reader.take_known(lines.ahead(), lines.next_number());
    if (taken.lines > 0) lines.skip(taken.bytes, taken.lines, taken.is_ascii);
    // What was taken is where it lay; the next line may lie in its place.
    if (lines.will_refill()) reader.settle();
    if (!lines.next(line)) return reader.finish();
    reader.add(line);
  }
}

/// Joins the shards 0, 1, 2, … whatever the order in which several threads put them. Invariant:
/// merged_ holds exactly those before next_; all keys of waiting_ are behind it.
class OrderedMerge {
 public:
  /// Waits until `index` is near enough to what is merged, so that shards do not pile up behind a
  /// slow one. False if the whole is given up.
  bool wait_for(uint32_t index);

  /// Whether wait_for(index) would return at once.
  bool has_room(uint32_t index);

  void put(uint32_t index, Shard&& shard);

  /// `take` will throw this, unless there was a failure before.
  void give_up(std::exception_ptr failure);

  bool is_given_up();

  /// The whole, once all have been put. Rethrows a failure.
  Shard take();

 private:
  /// So many shards may wait for a slow one before them: enough that nobody stands still for one
  /// large file, few enough that memory does not grow with the number of files.
  static constexpr uint32_t kAhead = 64;

  std::mutex mutex_;
  std::condition_variable progress_;
  uint32_t next_ = 0;
  Shard merged_;
  std::map<uint32_t, Shard> waiting_;
  std::exception_ptr failure_;
};

/// One stream that several workers read stretch by stretch, and what all of it says. Made by the
/// worker who opened the input; others call `work` as well.
class SharedStream {
 public:
  /// All must outlive the stream.
  SharedStream(UnitReader& input, const WalkedInput& name, const ReadSettings& settings);

  /// Reads stretches until none is left. `memory`: see Stretch. `on_more` is called by the worker
  /// who finds that there is more than one. Throws nothing: `take` does.
  void work(std::span<char> memory, const std::function<void()>& on_more = {});

  /// What the stream says, once all who worked on it are done.
  Shard take() { return merge_.take(); }

 private:
  bool read_stretch(std::span<char> memory, const std::function<void()>& on_more);

  const WalkedInput& name_;
  const ReadSettings& settings_;
  LineStream lines_;
  OrderedMerge merge_;
};

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
