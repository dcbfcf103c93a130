#include "replay/exec/rank_connections.h"

#include <utility>

namespace ncclog {

RankConnections::RankConnections(const std::string& token, size_t nranks)
    : waiting_(token), of_rank_(nranks), was_connected_(nranks, false) {}

std::vector<RankConnections::Greeting> RankConnections::admit(std::vector<Connection> newcomers) {
  waiting_.admit(std::move(newcomers));
  for (Connection& trusted : waiting_.take_trusted()) nameless_.push_back(std::move(trusted));
  std::vector<Greeting> greetings;
  std::vector<Connection> still_nameless;
  for (Connection& connection : nameless_) {
    connection.receive();
    if (auto line = connection.next_line()) {
      greetings.push_back({std::move(connection), *std::move(line)});
    } else if (connection.is_open()) {
      still_nameless.push_back(std::move(connection));
    }
  }
  nameless_ = std::move(still_nameless);
  return greetings;
}

bool RankConnections::seat(const RankMessage& message, Connection& connection) {
  const bool is_start = message.kind == RankMessage::Kind::At && message.at == ReplayPhase::Start &&
                        message.rank >= 0 && static_cast<size_t>(message.rank) < size();
  if (!is_start || was_connected(message.rank)) return false;
  of(message.rank) = std::move(connection);
  was_connected_[static_cast<size_t>(message.rank)] = true;
  return true;
}

void RankConnections::send_all(const RunOrder& order) {
  for (Connection& connection : of_rank_) connection.send(write_order(order));
}

void RankConnections::add_to(PollList& polled) const {
  for (int descriptor : waiting_.descriptors()) polled.add(descriptor);
  for (const Connection& connection : nameless_) polled.add(connection.descriptor());
  for (const Connection& connection : of_rank_) polled.add(connection);
}

}  // namespace ncclog
