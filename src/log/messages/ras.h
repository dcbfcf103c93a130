// The RAS service: a helper thread that keeps watch over all processes of a job (2.24.3 and later).
//
//   RAS declaring peer 10.1.2.3<54043> as DEAD; rasDeadPeersHash 0x6382c216b0817ae5
//
// Only a dead peer and the timeouts before it say something about the job; the rest is the
// service's own housekeeping (subsystem RAS, off by default).

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Where the ncclras client is answered (ras/client_support.cc).
struct RasListening {
  std::string_view address;

  static constexpr std::string_view kKind = "ras_listening";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Ras;
  static constexpr Wording kWordings[] = {
      {.text = "RAS client listening socket at {address...}",
       .example = "RAS client listening socket at 127.0.0.1<28028>"},
      {.text = "RAS network listening socket at {address...}",
       .example = "RAS network listening socket at 10.1.2.3<54043>"},
  };
  static void each_field(auto& self, auto&& visit) { visit("address", self.address); }
};

/// The client's port is taken, as a rule by another process of this host
/// (ras/client_support.cc): harmless.
struct RasListenFailed {
  std::string_view address;

  static constexpr std::string_view kKind = "ras_listen_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Ras;
  static constexpr Wording kWordings[] = {
      {.text = "RAS failed to establish a client listening socket at {address...}",
       .example = "RAS failed to establish a client listening socket at 127.0.0.1<28028>"},
  };
  static void each_field(auto& self, auto&& visit) { visit("address", self.address); }
};

/// A process of the job did not answer for about a minute (ras/peers.cc): it is gone or its
/// host is.
struct RasPeerDead {
  std::string_view peer;

  static constexpr std::string_view kKind = "ras_peer_dead";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Ras;
  static constexpr Wording kWordings[] = {
      {.text = "RAS declaring peer {peer:word} as DEAD; rasDeadPeersHash {:hex}",
       .example =
           "RAS declaring peer 10.1.2.3<54043> as DEAD; rasDeadPeersHash 0x6382c216b0817ae5"},
      {.text = "RAS dead peer {:int}: {peer...}", .example = "RAS dead peer 3: 10.1.2.3<54043>"},
  };
  static void each_field(auto& self, auto&& visit) { visit("peer", self.peer); }
};

/// A process of the job is silent (ras/rasnet.cc, ras/ras.cc). Warnings come after 5 s, errors
/// after 20 s.
struct RasTimeout {
  std::string_view what;      ///< "keep-alive", "connect", "init" …
  std::string_view severity;  ///< "warning", "error"; empty if not printed.
  std::string_view peer;

  static constexpr std::string_view kKind = "ras_timeout";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Ras;
  static constexpr Wording kWordings[] = {
      {.text = "RAS {what:keep-alive|connect|connect retry|init|connection} timeout "
               "{severity:warning|error} ({:word}) on socket connection with {peer...}",
       .example = "RAS keep-alive timeout warning (5s) on socket connection with 10.1.2.3<54043>"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("what", self.what);
    visit("severity", self.severity);
    visit("peer", self.peer);
  }
};

using RasMessages = Kinds<RasListening, RasListenFailed, RasPeerDead, RasTimeout>;

}  // namespace ncclog
