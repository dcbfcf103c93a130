// Which connection is which rank's?
//
//   somebody connects            → waits for the token
//   "9f86d0…"                    → trusted, and nameless
//   {"at":"start","rank":1,…}    → the connection of rank 1

#pragma once

#include <string>
#include <vector>

#include "replay/exec/connection.h"
#include "replay/exec/poll_list.h"
#include "replay/exec/worker_protocol.h"

namespace ncclog {

/// The connections of the ranks of one run. Invariant: who has a rank's place said the token and
/// then, as the first one, that it is that rank.
class RankConnections {
 public:
  RankConnections(const std::string& token, size_t nranks);

  /// Somebody who knows the token, and the line that was said behind it.
  struct Greeting {
    Connection connection;
    std::string line;
  };

  /// Lets in who connected, and returns those that have greeted since the last time.
  std::vector<Greeting> admit(std::vector<Connection> newcomers);

  /// Gives the connection the place of the rank that starts with this message. False: it starts
  /// none of the plan, or the rank was here before; the connection is then left as it is.
  bool seat(const RankMessage& message, Connection& connection);

  /// Number of ranks.
  size_t size() const { return of_rank_.size(); }

  /// A closed one if the rank is not connected.
  Connection& of(int rank) { return of_rank_[static_cast<size_t>(rank)]; }
  const Connection& of(int rank) const { return of_rank_[static_cast<size_t>(rank)]; }

  /// True if the rank is connected, or was.
  bool was_connected(int rank) const { return was_connected_[static_cast<size_t>(rank)]; }

  /// To all ranks that are connected.
  void send_all(const RunOrder& order);

  /// Everybody who may speak, ranks or not.
  void add_to(PollList& polled) const;

 private:
  WaitingRoom waiting_;
  std::vector<Connection> nameless_;  ///< Said the token, and not yet who they are.
  std::vector<Connection> of_rank_;
  std::vector<bool> was_connected_;  ///< By rank.
};

}  // namespace ncclog
