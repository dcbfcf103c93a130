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

/// The RAS service does not understand a peer or a client (ras/*.cc, 2.24.3 and later).
struct RasProtocolError {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ras_protocol_error";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Ras;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "The RAS service got a message that it does not understand, from another NCCL version or a "
      "foreign program on its port. The job itself goes on."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Invalid client status} {...}", .example = "Invalid client status 3"},
      {.text = "RAS {text:received unknown message type|received unknown notification type} {...}",
       .example = "RAS received unknown message type (3) from mlx5_0"},
      {.text = "{text:fatal error - RAS thread terminating}",
       .example = "fatal error - RAS thread terminating",
       .warning = {WarnSeverity::Degraded, WarnOrigin::System,
                   "The RAS service gave up; the job goes on without its health reports."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Housekeeping of the RAS service (ras/*.cc).
struct RasNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ras_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Ras;
  static constexpr Wording kWordings[] = {
      {.text = "RAS {text:already knew it was dead|collective lacks a list entry -- internal "
               "error?|excessively long input line; terminating the client socket|failed to find a "
               "matching client!|failed to find a matching ongoing collective|failed to find "
               "missingRank data -- internal error?|found a duplicate finished collective|found a "
               "duplicate ongoing collective|handling local termination request|keeping the new "
               "socket and terminating the existing one|peersUpdate discrepancy: updateDeadPeers "
               "is true but nRasDeadPeers is 0 -- internal error?|peersUpdate discrepancy: "
               "updatePeers is true but nPeers is 0 -- internal error?}",
       .example = "RAS already knew it was dead"},
      {.text = "RAS {text:socket closed by the client on receive; terminating it|socket closed by "
               "the client on send; terminating it|socket in closed state passed for termination "
               "-- internal error?|terminating the new socket|thread started|thread "
               "terminating|unexpected error from recv; terminating the client socket|unexpected "
               "error from send; terminating the client socket}",
       .example = "RAS socket closed by the client on receive; terminating it"},
      {.text =
           "RAS {text:collective comms merge mismatch for newIdx|collective type mismatch: "
           "request|connInit hash mismatch (my peersHash|connect-side socket with|connected "
           "with|connection experiencingDelays|connection from peer|continuing in spite of an "
           "unexpected error from poll:|deadPeersHash|encountered duplicate data for rank} {...}",
       .example = "RAS collective comms merge mismatch for newIdx 3: nRanks 3, nMissingRanks 3, "
                  "commNRanks 3 -- internal error?"},
      {.text = "RAS {text:encountered inconsistent communicator data: size|encountered more "
               "ranks|enqueued message type|failed to find|finished local processing of addRanks "
               "request (new nRasPeers|finished local processing of peersUpdate (new "
               "nRasPeers|found a matching existing connection (sendQ|found an alternative "
               "existing socket (status|handling collReq from|handling collResp from|handling "
               "connInit from|handling connInitAck from} {...}",
       .example = "RAS encountered inconsistent communicator data: size 3 != 3 -- possible hash "
                  "collision (0x1a2b, 0x1a2b, 0x1a2b)"},
      {.text = "RAS {text:handling deadPeer (addr|handling local addRanks request (old "
               "nRasPeers|handling peersUpdate from|idle timeout|init timeout error|invalid "
               "address family|invalid client status|invalid collective operation status; client "
               "status|keepAlive hash mismatch from|my old rasPeersHash|my peersHash|new incoming "
               "socket connection from} {...}",
       .example = "RAS handling deadPeer (addr 10.1.2.3<54043>)"},
      {.text = "RAS {text:new peer|non-terminating socket with|not waiting for response from|old "
               "peer|overflow of auxPeersBuf: nPeersBuf|overflow of collData: collIdx|overflow of "
               "commsData: collCommIdx|overflow of msgData: msgIdx|overflow of negativeMins: "
               "connsData.nNegativeMins|overflow of newData: newIdx|overflow of rankPeer: "
               "rankPeerIdx|peer connect timeout warning} {...}",
       .example =
           "RAS new peer 10.1.2.3<54043> but there's no room for it: newPeerIdx 3, newNRasPeers 3, "
           "nRasPeers 3 -- internal error?"},
      {.text = "RAS {text:peersHash|pid mismatch for the same address|poll returned POLLNVAL on "
               "pollIdx|post-merge discrepancy: found value|post-merge discrepancy: "
               "myPeerIdx|post-merge discrepancy: newPeerIdx|purging collective|ranks discrepancy "
               "for|received a keep-alive message on socket with|send stuck timeout error|sending "
               "NACK to|sending a peersUpdate to} {...}",
       .example = "RAS peersHash 0x1a2b"},
      {.text = "RAS {text:sending back a peersUpdate (nPeers|socket connection with|socket lacks a "
               "connection: status|terminating a connection with|termination stuck timeout "
               "error|trying to reconnect with|unexpected error from ncclSocketReady; terminating "
               "the socket connection with|unexpected error from rasConnPrepare; terminating the "
               "socket connection with|unexpected error from rasConnSendMsg; terminating the "
               "socket connection with|unexpected error from rasMsgRecv; terminating the socket "
               "connection with} {...}",
       .example = "RAS sending back a peersUpdate (nPeers 3, nDeadPeers 3)"},
      {.text = "RAS {text:collective} {}:{:int} timeout error ({:int}s) -- giving up on {:int} "
               "missing responses",
       .example = "RAS collective 10.1.2.3<54043>:12 timeout error (3s) -- giving up on 3 missing "
                  "responses"},
      {.text =
           "RAS {text:collective} {}:{:int} timeout warning ({:int}s) -- {:int} responses missing",
       .example = "RAS collective 10.1.2.3<54043>:12 timeout warning (3s) -- 3 responses missing"},
      {.text = "RAS {text:connect retry timeout} ({:int}s) on socket connection with {}",
       .example = "RAS connect retry timeout (3s) on socket connection with 10.1.2.3<54043>"},
      {.text = "RAS {text:link} {:int}: adding external fallback connection {:int} with {}",
       .example = "RAS link 3: adding external fallback connection 3 with 10.1.2.3<54043>"},
      {.text =
           "RAS {text:link} {:int}: adding external fallback with {} as a new primary connection",
       .example =
           "RAS link 3: adding external fallback with 10.1.2.3<54043> as a new primary connection"},
      {.text = "RAS {text:link} {:int}: calculated existing fallback connection {:int} with {}",
       .example = "RAS link 3: calculated existing fallback connection 3 with 10.1.2.3<54043>"},
      {.text = "RAS {text:link} {:int}: calculated existing primary connection with {}",
       .example = "RAS link 3: calculated existing primary connection with 10.1.2.3<54043>"},
      {.text =
           "RAS {text:link} {:int}: could not add a fallback connection with {} -- internal error?",
       .example = "RAS link 3: could not add a fallback connection with 10.1.2.3<54043> -- "
                  "internal error?"},
      {.text = "RAS {text:link} {:int}: dropping {}fallback connection {:int} with {}",
       .example = "RAS link 3: dropping former fallback connection 3 with 10.1.2.3<54043>"},
      {.text = "RAS {text:link} {:int}: dropping primary connection with {}",
       .example = "RAS link 3: dropping primary connection with 10.1.2.3<54043>"},
      {.text = "RAS {text:link} {:int}: former fallback connection 1 with {} is the new primary",
       .example =
           "RAS link 3: former fallback connection 1 with 10.1.2.3<54043> is the new primary"},
      {.text = "RAS {text:link} {:int}: found connection with {} that has uninitialized peerIdx -- "
               "internal error?",
       .example =
           "RAS link 3: found connection with 10.1.2.3<54043> that has uninitialized peerIdx -- "
           "internal error?"},
      {.text = "RAS {text:link} {:int}: moving {}fallback connection with {} from {:int} to {:int}",
       .example = "RAS link 3: moving former fallback connection with 10.1.2.3<54043> from 3 to 3"},
      {.text = "RAS {text:link} {:int}: no more fallbacks to add (nConns {:int})",
       .example = "RAS link 3: no more fallbacks to add (nConns 3)"},
      {.text = "RAS {text:link} {:int}: no more fallbacks to add (total {:int})",
       .example = "RAS link 3: no more fallbacks to add (total 3)"},
      {.text = "RAS {text:link} {:int}: opening new fallback connection {:int} with {}",
       .example = "RAS link 3: opening new fallback connection 3 with 10.1.2.3<54043>"},
      {.text = "RAS {text:link} {:int}: rasLinkConnAdd attempting to replace an existing primary "
               "connection with {} -- internal error?",
       .example = "RAS link 3: rasLinkConnAdd attempting to replace an existing primary connection "
                  "with 10.1.2.3<54043> -- internal error?"},
      {.text = "RAS {text:link} {:int}: rasLinkConnAdd connection mismatch: linkConn {}, conn {} "
               "(peerIdx {:int}, pretend {:int}, insert {:int}) -- internal error?",
       .example = "RAS link 3: rasLinkConnAdd connection mismatch: linkConn 10.1.2.3<54043>, conn "
                  "10.1.2.3<54043> "
                  "(peerIdx 3, pretend 3, insert 3) -- internal error?"},
      {.text = "RAS {text:link} {:int}: rasLinkConnAdd invoked with invalid peerIdx (pretend "
               "{:int}, insert {:int}) -- internal error?",
       .example = "RAS link 3: rasLinkConnAdd invoked with invalid peerIdx (pretend 3, insert 3) "
                  "-- internal error?"},
      {.text =
           "RAS {text:link} {:int}: rasLinkConnAdd new link index {:int} later in the list than "
           "the old one (insert {:int}, oldLinkConn {}, oldLinkIdx {:int}) -- internal error?",
       .example = "RAS link 3: rasLinkConnAdd new link index 3 later in the list than the old one "
                  "(insert 3, oldLinkConn 10.1.2.3<54043>, oldLinkIdx 3) -- internal error?"},
      {.text =
           "RAS {text:link} {:int}: rasLinkConnAdd peerIdx {:int} mismatch with connection with {} "
           "(pretend {:int}, insert {:int}, oldLinkConn->peerIdx {:int}) -- internal error?",
       .example =
           "RAS link 3: rasLinkConnAdd peerIdx 3 mismatch with connection with 10.1.2.3<54043> "
           "(pretend 3, insert 3, oldLinkConn->peerIdx 3) -- internal error?"},
      {.text = "RAS {text:link} {:int}: rasLinkConnAddExternal connection mismatch: linkConn {}, "
               "conn {} (peerIdx {:int}) -- internal error?",
       .example =
           "RAS link 3: rasLinkConnAddExternal connection mismatch: linkConn 10.1.2.3<54043>, conn "
           "10.1.2.3<54043> (peerIdx 3) -- internal error?"},
      {.text = "RAS {text:link} {:int}: rasLinkConnAddExternal invoked with nullptr conn (peerIdx "
               "{:int}) -- internal error?",
       .example = "RAS link 3: rasLinkConnAddExternal invoked with nullptr conn (peerIdx 3) -- "
                  "internal error?"},
      {.text = "RAS {text:link} {:int}: rasLinkConnAddExternal new link index {:int} later in the "
               "list than the old one (oldLinkConn {}, oldLinkIdx {:int}) -- internal error?",
       .example = "RAS link 3: rasLinkConnAddExternal new link index 3 later in the list than the "
                  "old one (oldLinkConn 10.1.2.3<54043>, oldLinkIdx 3) -- internal error?"},
      {.text = "RAS {text:link} {:int}: rasLinkConnAddExternald peerIdx {:int} mismatch with "
               "connection with {} (oldLinkConn->peerIdx {:int}) -- internal error?",
       .example = "RAS link 3: rasLinkConnAddExternald peerIdx 3 mismatch with connection with "
                  "10.1.2.3<54043> (oldLinkConn->peerIdx 3) -- internal error?"},
      {.text = "RAS {text:link} {:int}: rasLinkConnUpdate invoked with conn {}, peerIdx {:int} -- "
               "internal error?",
       .example = "RAS link 3: rasLinkConnUpdate invoked with conn 10.1.2.3<54043>, peerIdx 3 -- "
                  "internal error?"},
      {.text = "RAS {text:peer} {:int}: {}", .example = "RAS peer 3: 10.1.2.3<54043> (pid 41)"},
      {.text = "RAS {text:word} connection with {...}",
       .example = "RAS established connection with 10.1.2.3<57233> (sendQ empty, "
                  "experiencingDelays 0, startRetryTime 0.00s)"},
      {.text = "RAS {text:word} socket connection with {...}",
       .example = "RAS current socket connection with 10.1.2.3<54043> closed by peer on receive; "
                  "terminating it"},
      {.text = "RAS {text:link} {:int}: {} fallback connection {:int} with {}",
       .example = "RAS link 3: retrying fallback connection 3 with 10.1.2.3<54043>",
       .general = true},
      {.text = "RAS {text:link} {:int}: {} primary connection with {}",
       .example = "RAS link 3: retrying primary connection with 10.1.2.3<54043>",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using RasMessages =
    Kinds<RasListening, RasListenFailed, RasPeerDead, RasTimeout, RasProtocolError, RasNote>;

}  // namespace ncclog
