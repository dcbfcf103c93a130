// Complaints about a plan while they are collected: at most so many, and where each of them stands.

#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "replay/check_plan.h"

namespace ncclog {

/// Where complaints go. Once it is full, further ones are dropped: a plan with that many faults is
/// wrong as a whole.
class PlanComplaints {
 public:
  void refuse(std::string where, std::string what, std::string hint = {}) {
    ++refusals_;
    add({PlanComplaint::Weight::Refusal, std::move(where), std::move(what), std::move(hint)});
  }
  void remark(std::string where, std::string what, std::string hint = {}) {
    add({PlanComplaint::Weight::Remark, std::move(where), std::move(what), std::move(hint)});
  }

  void append(PlanComplaints more) {
    refusals_ += more.refusals_;
    for (PlanComplaint& complaint : more.all_) add(std::move(complaint));
  }

  bool is_full() const { return all_.size() >= kMost; }
  bool has_refusals() const { return refusals_ > 0; }
  std::vector<PlanComplaint> take() && { return std::move(all_); }

 private:
  static constexpr size_t kMost = 100;

  void add(PlanComplaint complaint) {
    if (!is_full()) all_.push_back(std::move(complaint));
  }

  std::vector<PlanComplaint> all_;
  size_t refusals_ = 0;
};

inline std::string place_of_rank(size_t rank) { return fmt::format("ranks[{}]", rank); }

inline std::string place_of_call(size_t rank, size_t call) {
  return fmt::format("ranks[{}].calls[{}]", rank, call);
}

inline std::string place_of_communicator(size_t communicator) {
  return fmt::format("communicators[{}]", communicator);
}

/// Each looks at one side of a plan. The first two may be given any plan; the others need one of
/// which the first has refused nothing.
void check_shape(const ReplayPlan& plan, PlanComplaints& complaints);       // check_shape.cc
void check_settings(const ReplayPlan& plan, PlanComplaints& complaints);    // check_settings.cc
void check_hypothesis(const ReplayPlan& plan, PlanComplaints& complaints);  // check_hypothesis.cc
void check_clean_run(const ReplayPlan& plan, PlanComplaints& complaints);   // check_clean_run.cc

}  // namespace ncclog
