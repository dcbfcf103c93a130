// One stream that several workers read stretch by stretch, and what all of it says.

#pragma once

#include <functional>
#include <span>

#include "app/ordered_merge.h"
#include "app/read_job.h"
#include "input/input_walk.h"
#include "input/line_stream.h"
#include "model/shard.h"

namespace ncclog {

/// Made by the worker who opened the input; others call `work` as well.
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

}  // namespace ncclog
