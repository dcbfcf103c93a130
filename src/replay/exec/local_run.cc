#include "replay/exec/local_run.h"

namespace ncclog {
namespace {

/// The phase that ranks enter once all have said that they are there; nullopt: they do not wait.
std::optional<ReplayPhase> phase_after(ReplayPhase at) {
  if (at == ReplayPhase::Start) return ReplayPhase::Init;
  if (at == ReplayPhase::Enqueue || at == ReplayPhase::Teardown) return at;
  return std::nullopt;
}

}  // namespace

LocalBoard::LocalBoard(size_t nranks, std::chrono::milliseconds patience)
    : end_(std::chrono::steady_clock::now() + patience), orders_(nranks), verified_(nranks) {}

void LocalBoard::order_all(const RunOrder& order) {
  for (std::vector<RunOrder>& orders : orders_) orders.push_back(order);
  ordered_.notify_all();
}

void LocalBoard::fail(const std::string& error) {
  if (!error_.empty()) return;
  error_ = error;
  order_all({.kind = RunOrder::Kind::Abort});
}

void LocalBoard::say(size_t rank, const RankMessage& message) {
  const std::lock_guard lock(mutex_);
  if (message.kind == RankMessage::Kind::Error) fail(message.error);
  if (message.kind != RankMessage::Kind::At) return;
  ids_.insert(message.ids.begin(), message.ids.end());
  if (message.at == ReplayPhase::Teardown) verified_[rank] = message.verified;
  const std::optional<ReplayPhase> next = phase_after(message.at);
  if (++arrived_[message.at] < orders_.size() || !next) return;
  order_all({.kind = RunOrder::Kind::Go, .phase = *next, .ids = ids_});
}

std::optional<RunOrder> LocalBoard::hear(size_t rank, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  ordered_.wait_for(lock, patience, [&] { return !orders_[rank].empty(); });
  if (orders_[rank].empty() && std::chrono::steady_clock::now() > end_) {
    fail("the run took too long");
  }
  if (orders_[rank].empty()) return std::nullopt;
  RunOrder order = orders_[rank].front();
  orders_[rank].erase(orders_[rank].begin());
  return order;
}

std::string LocalBoard::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::vector<Verification> LocalBoard::verified() const {
  const std::lock_guard lock(mutex_);
  return verified_;
}

}  // namespace ncclog
