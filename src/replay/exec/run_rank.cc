#include "replay/exec/run_rank.h"

#include <poll.h>
#include <unistd.h>

#include <exception>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "replay/exec/comm_steps.h"
#include "replay/exec/communicators.h"
#include "replay/exec/connection.h"
#include "replay/exec/rank_program.h"
#include "replay/exec/rank_talk.h"
#include "replay/exec/time_calls.h"
#include "replay/exec/verification.h"

namespace ncclog {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenOrders{5};
constexpr std::chrono::milliseconds kBetweenProgress{50};
constexpr std::chrono::seconds kPatience{20};

/// How long an aborted rank may take to tell what it had completed.
constexpr std::chrono::milliseconds kLastWords{1500};

RankMessage at_phase(ReplayPhase phase) { return {.kind = RankMessage::Kind::At, .at = phase}; }

/// The working half of a rank. It outlives run_rank() where NCCL does not let it end, so it owns
/// or shares all that it uses.
class RankWork {
 public:
  RankWork(RankTask task, std::shared_ptr<const NcclLibrary> nccl)
      : task_(std::move(task)),
        nccl_(std::move(nccl)),
        communicators_(*nccl_, *task_.plan, task_.rank, task_.gpu, [this] { look_around(); }),
        program_(*task_.plan, task_.rank, task_.mode, *nccl_, communicators_) {}

  /// The whole life of the rank; never throws.
  void run() noexcept {
    live_safely();
    state_.end();
  }

  RankTalk& state() { return state_; }
  Communicators& communicators() { return communicators_; }

 private:
  void live_safely() {
    try {
      live();
    } catch (const RunAborted&) {
      verify_completed();
    } catch (const Error& error) {
      complain(error.hint().empty() ? error.what() : error.what() + ("; " + error.hint()));
    } catch (const std::exception& error) {
      complain(error.what());
    }
  }

  void live() {
    say_hello();
    std::map<int, std::string> ids;
    await(ReplayPhase::Init, &ids);
    initialise(ids);
    await(ReplayPhase::Enqueue);
    program_.enqueue_all([this] { look_around(); });
    post_at(ReplayPhase::Completion);
    program_.wait_for_all([this] { look_around(); });
    post_results();
    await(ReplayPhase::Teardown);
    communicators_.finish();
    program_.release();
    state_.post(at_phase(ReplayPhase::Done));
  }

  void await(ReplayPhase phase, std::map<int, std::string>* ids = nullptr) {
    if (!state_.await(phase, ids)) throw RunAborted{};
  }

  void complain(const std::string& error) {
    state_.post({.kind = RankMessage::Kind::Error, .rank = task_.rank, .error = error});
  }

  void say_hello() {
    RankMessage hello = at_phase(ReplayPhase::Start);
    hello.rank = task_.rank;
    hello.pid = getpid();
    hello.gpu = task_.gpu;
    hello.nccl_version = nccl_->version;
    try {
      check(cudaSetDevice(task_.gpu), {"cudaSetDevice", task_.rank});
      hello.ids = make_ids();
    } catch (const Error&) {
      state_.post(hello);  // Who does not say who it is cannot complain either.
      throw;
    }
    state_.post(std::move(hello));
  }

  std::map<int, std::string> make_ids() {
    std::map<int, std::string> ids;
    for (const int communicator : communicators_led_by(*task_.plan, task_.rank)) {
      ncclUniqueId id{};
      check(nccl_->get_unique_id(&id), {"ncclGetUniqueId", task_.rank, communicator}, *nccl_,
            nullptr);
      ids[communicator] = hex_text({id.internal, sizeof id.internal});
    }
    return ids;
  }

  void initialise(const std::map<int, std::string>& ids) {
    program_.allocate();
    if (task_.corrupt) program_.plant(*task_.corrupt);
    const Clock::time_point start = Clock::now();
    communicators_.make(unique_ids(ids));
    RankMessage message = at_phase(ReplayPhase::Enqueue);
    message.init_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    state_.post(std::move(message));
  }

  std::vector<ncclUniqueId> unique_ids(const std::map<int, std::string>& ids) const {
    std::vector<ncclUniqueId> unique(task_.plan->communicators.size());
    for (const auto& [communicator, text] : ids) {
      ncclUniqueId id{};
      const auto bytes = bytes_of_hex(text, sizeof id.internal);
      if (!bytes || communicator < 0 || static_cast<size_t>(communicator) >= unique.size()) {
        throw Error("the coordinator sent an id of no communicator");
      }
      bytes->copy(id.internal, sizeof id.internal);
      unique[static_cast<size_t>(communicator)] = id;
    }
    return unique;
  }

  void post_results() {
    const std::vector<ComparedElements> results = program_.results();
    if (task_.tell_results) task_.tell_results(results);
    RankMessage message = with_progress(at_phase(ReplayPhase::Teardown));
    message.verified =
        verification_of(*task_.plan, task_.rank, program_.calls(), results, program_.completed());
    if (task_.timed_runs > 0 && task_.mode == MadeIn::Clean) {
      const auto timing =
          time_program(*task_.plan, task_.rank, task_.timed_runs, program_, *nccl_, communicators_);
      if (timing) message.timings.push_back(*timing);
    }
    state_.post(std::move(message));
  }

  /// After an abort: what was completed before it counts all the same.
  void verify_completed() {
    RankMessage message{.kind = RankMessage::Kind::Aborted};
    try {
      message.verified = verification_of(*task_.plan, task_.rank, program_.calls(),
                                         program_.results(), program_.completed());
    } catch (const std::exception&) {
      // Nothing is known then, which is what the message says.
    }
    state_.post(std::move(message));
  }

  RankMessage with_progress(RankMessage message) const {
    const CallProgress& progress = program_.progress();
    message.entered = progress.entered;
    message.completed = progress.completed;
    message.open = progress.open;
    return message;
  }

  void post_at(ReplayPhase phase) { state_.post(with_progress(at_phase(phase))); }

  /// While something is waited for: tells how far the calls are.
  void look_around() {
    program_.look();
    if (program_.progress() == told_) return;
    told_ = program_.progress();
    state_.post_progress(with_progress({.kind = RankMessage::Kind::Progress}));
  }

  RankTask task_;
  std::shared_ptr<const NcclLibrary> nccl_;
  RankTalk state_;
  Communicators communicators_;
  RankProgram program_;
  CallProgress told_;
};

/// The serving half. Sends what is due and hears what is said until the rank ends.
class RankService {
 public:
  RankService(RankWork& work, const RankLink& link) : work_(work), link_(link) {}

  RankExit serve() {
    for (;;) {
      say_what_is_due();
      if (is_done_) return RankExit::Done;
      const std::optional<RunOrder> order = link_.hear(kBetweenOrders);
      if (!order) continue;
      work_.state().hear(*order);
      if (order->kind == RunOrder::Kind::Abort) return abort();
    }
  }

 private:
  void say_what_is_due() {
    const bool with_progress = Clock::now() >= next_progress_;
    for (const RankMessage& message : work_.state().take_posted(with_progress)) {
      if (message.kind == RankMessage::Kind::Progress) {
        next_progress_ = Clock::now() + kBetweenProgress;
      }
      has_failed_ = has_failed_ || message.kind == RankMessage::Kind::Error;
      is_done_ = message.kind == RankMessage::Kind::At && message.at == ReplayPhase::Done;
      link_.say(message);
    }
  }

  RankExit abort() {
    work_.communicators().abort();
    work_.state().await_end(kLastWords);
    bool has_said_so = false;
    for (const RankMessage& message : work_.state().take_posted(true)) {
      has_said_so = has_said_so || message.kind == RankMessage::Kind::Aborted;
      link_.say(message);
    }
    if (!has_said_so) link_.say({.kind = RankMessage::Kind::Aborted});
    return has_failed_ ? RankExit::Error : RankExit::Aborted;
  }

  RankWork& work_;
  const RankLink& link_;
  Clock::time_point next_progress_{};
  bool has_failed_ = false;
  bool is_done_ = false;
};

void wait_for_input(const Connection& connection, std::chrono::milliseconds patience) {
  pollfd waited{.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
  poll(&waited, 1, static_cast<int>(patience.count()));
}

std::optional<RunOrder> hear_from(Connection& connection, std::chrono::milliseconds patience) {
  connection.flush();
  std::optional<std::string> line = connection.next_line();
  if (!line && connection.is_open()) {
    wait_for_input(connection, patience);
    connection.receive();
    line = connection.next_line();
  }
  if (line) return parse_order(*line);
  if (!connection.is_open()) return RunOrder{.kind = RunOrder::Kind::Abort};
  return std::nullopt;
}

}  // namespace

RankExit run_rank(const RankTask& task, std::shared_ptr<const NcclLibrary> nccl,
                  const RankLink& link) {
  auto work = std::make_shared<RankWork>(task, std::move(nccl));
  std::thread worker([work] { work->run(); });
  const RankExit end = RankService(*work, link).serve();
  if (end == RankExit::Done) {
    worker.join();
  } else {
    worker.detach();
    // What it holds of the GPU may wait for a call that hangs, so nobody gives it back.
    new std::shared_ptr<RankWork>(work);
  }
  return end;
}

RankLink connect_rank(const std::string& address, const std::string& token) {
  auto connection = std::make_shared<Connection>(connect_to(address, token, kPatience));
  return {
      .say = [connection](const RankMessage& message) { connection->send(write_message(message)); },
      .hear = [connection](
                  std::chrono::milliseconds patience) { return hear_from(*connection, patience); }};
}

}  // namespace ncclog
