// What was worked out about a job, so that it is worked out once.
//
//   job.answers.of<&read_hca_lists>(job)      a dozen facts ask for the RDMA devices of each
//   process
//
// An answer is a pure function of a job that no longer changes. For one thread.

#pragma once

#include <map>
#include <memory>
#include <utility>

namespace ncclog {

/// Answers by the function that gives them. Copies and moved ones begin empty: what they belong to
/// may be changed.
class Answers {
 public:
  Answers() = default;
  Answers(const Answers&) {}
  Answers& operator=(const Answers&) {
    known_.clear();
    return *this;
  }

  /// What `derive(asked)` gives, derived on first use. Valid as long as this object is.
  template <auto derive, typename Asked>
  const auto& of(const Asked& asked) const {
    using Answer = decltype(derive(asked));
    static constexpr char kKey = 0;  // Its address stands for the function.
    const auto found = known_.find(&kKey);
    if (found != known_.end()) return *static_cast<const Answer*>(found->second.get());
    auto answer = std::make_shared<const Answer>(derive(asked));
    const Answer& result = *answer;
    known_.emplace(&kKey, std::move(answer));
    return result;
  }

 private:
  mutable std::map<const void*, std::shared_ptr<const void>> known_;
};

}  // namespace ncclog
