#include "replay/exec/hear_ranks.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "replay/exec/end_run.h"

namespace ncclog {
namespace {

/// Longest error text of a rank that is kept.
constexpr size_t kLongestError = 2000;

std::string readable_error(const RankMessage& message) {
  return printable(message.error.substr(0, kLongestError));
}

void take_error(RunState& run, int rank, RankMessage message) {
  const bool is_of_the_fault =
      run.stage == EndStage::Running ||
      (run.trouble->end == RunEnd::Failed && !run.said_aborted[static_cast<size_t>(rank)]);
  if (!is_of_the_fault) return;
  message.error = readable_error(message);
  run.progress.hear(rank, message, RunClock::now());
  const RankOutcome& outcome = run.progress.outcomes()[rank];
  const bool has_begun = outcome.reached > ReplayPhase::Start;
  stop_run(run, {has_begun ? RunEnd::Failed : RunEnd::NotStarted, outcome.reached, rank,
                 fmt::format("rank {}: {}", rank, outcome.error)});
}

/// A rank that ends on "abort" tells what it had compared by then.
void take_aborted(RunState& run, int rank, const RankMessage& message) {
  run.said_aborted[static_cast<size_t>(rank)] = true;
  Verification& verified = run.progress.outcomes()[rank].verified;
  if (verified == Verification{}) verified = message.verified;
}

void take(RunState& run, int rank, const std::string& line) {
  const auto message = parse_message(line);
  const ReplayPhase phase = run.progress.outcomes()[rank].reached;
  if (!message) {
    run.connections.of(rank).close();
    stop_run(run,
             {RunEnd::Failed, phase, rank, fmt::format("rank {} sent what is no message", rank)});
    return;
  }
  if (message->kind == RankMessage::Kind::Aborted) take_aborted(run, rank, *message);
  if (message->kind == RankMessage::Kind::Error) return take_error(run, rank, *message);
  // What comes after the end was decided is of ranks that are being stopped.
  if (run.stage != EndStage::Running) return;
  const std::string complaint = run.progress.hear(rank, *message, RunClock::now());
  if (!complaint.empty()) {
    stop_run(run, {RunEnd::Failed, phase, rank, fmt::format("rank {} {}", rank, complaint)});
  }
}

/// True if something came.
bool hear(RunState& run, int rank) {
  Connection& connection = run.connections.of(rank);
  const size_t bytes = connection.receive();
  while (auto line = connection.next_line()) take(run, rank, *line);
  return bytes > 0;
}

void welcome(RunState& run, RankConnections::Greeting greeting) {
  const auto message = parse_message(greeting.line);
  if (message && message->kind == RankMessage::Kind::Error) {
    stop_run(run, {RunEnd::NotStarted, ReplayPhase::Start, -1, readable_error(*message)});
  }
  if (!message || !run.connections.seat(*message, greeting.connection)) return;
  take(run, message->rank, greeting.line);
  if (run.stage != EndStage::Running) {
    run.connections.of(message->rank).send(write_order({.kind = RunOrder::Kind::Abort}));
  }
}

void note_broken_connection(RunState& run, int rank) {
  if (run.progress.is_done(rank)) return;
  stop_run(run, {RunEnd::Died, run.progress.outcomes()[rank].reached, rank, {}});
}

}  // namespace

void admit_ranks(RunState& run, std::vector<Connection> newcomers) {
  for (RankConnections::Greeting& greeting : run.connections.admit(std::move(newcomers))) {
    welcome(run, std::move(greeting));
  }
}

void hear_ranks(RunState& run) {
  for (int rank = 0; rank < static_cast<int>(run.connections.size()); ++rank) {
    Connection& connection = run.connections.of(rank);
    if (!connection.is_open()) continue;
    connection.flush();
    hear(run, rank);
    if (!connection.is_open()) note_broken_connection(run, rank);
  }
}

void hear_last_words(RunState& run, int rank) {
  Connection& connection = run.connections.of(rank);
  for (int round = 0; round < 16 && connection.is_open() && hear(run, rank); ++round) {
  }
  connection.close();
}

}  // namespace ncclog
