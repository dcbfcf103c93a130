// TCP connections between ranks: refused, closed, answered by a stranger.
//
//   socketPollConnect: connect to 10.1.2.3<34599> returned Connection refused, exceeded error retry
//   count after 35 attempts
//
// Addresses read "ip<port>" (log/address.h); some releases print a host name instead of the ip.
// A closed connection is a symptom: the peer ended before.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// No connection to a peer (misc/socket.cc, os/linux.cc). Retries are over, or the error cannot
/// pass.
struct ConnectFailed {
  std::string_view address;  ///< "10.1.2.3<34599>"; empty where it is not printed (2.16 to 2.26).
  std::string_view error;    ///< strerror's text; empty where it is not printed.
  int attempts = -1;         ///< Connection attempts; -1 if not printed.

  static constexpr std::string_view kKind = "connect_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A rank could not connect to another: the peer is not there, or the way to it is blocked. "
      "Check the peer's log, firewall, routing, and NCCL_SOCKET_IFNAME on both hosts."};
  static constexpr Wording kWordings[] = {
      {.text = "Connect to {address} failed : {error...}",
       .example = "Connect to 172.17.0.3<41877> failed : Connection refused",
       .quotable = true},
      {.text = "Net : Connect to {address} failed : {error...}",
       .example = "Net : Connect to 10.1.2.3<41877> failed : No route to host",
       .quotable = true},
      {.text = "{:word}: Connect to {address:word} failed : {error...}",
       .example = "socketStartConnect: Connect to 10.1.2.3<41877> failed : No route to host",
       .quotable = true},
      {.text = "{:word}: connect to {address:word} failed : {error...}",
       .example = "socketStartConnect: connect to 10.1.2.3<41877> failed : No route to host",
       .quotable = true},
      {.text = "{:word}: connect to {address:word} returned {error}, exceeded error retry count "
               "after {attempts} attempts",
       .example = "socketPollConnect: connect to 10.1.2.3<34599> returned Connection refused, "
                  "exceeded error retry count after 35 attempts",
       .quotable = true},
      {.text = "{:word}: connect returned {error}, exceeded error retry count ({attempts})",
       .example = "socketPollConnect: connect returned Connection refused, exceeded error retry "
                  "count (34)",
       .quotable = true},
      {.text = "{:socketPollConnect|socketStartConnect}: exceeded {:retries|timeouts} ({attempts})",
       .example = "socketPollConnect: exceeded retries (20000)",
       .quotable = true},
      {.text = "{:socketPollConnect|socketStartConnect}: Connect to {address:word} returned "
               "{:int}({error}) errno {:int}({})",
       .example = "socketPollConnect: Connect to 10.1.2.3<34599> returned 111(Connection refused) "
                  "errno 115(Operation now in progress)",
       .quotable = true},
      {.text = "{:socketPollConnect|ncclOsSocketPollConnect} to {address:word} failed with error "
               "{error...}",
       .example =
           "ncclOsSocketPollConnect to 10.1.2.3<34599> failed with error Bad file descriptor",
       .quotable = true},
      {.text = "socketPollConnect poll() failed with error {error...}",
       .example = "socketPollConnect poll() failed with error Bad file descriptor",
       .quotable = true},
      {.text = "socketPollConnect poll() returned {error...}",
       .example = "socketPollConnect poll() returned 1, no POLLOUT events",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("address", self.address);
    visit("error", self.error);
    visit("attempts", self.attempts);
  }
};

/// A peer did not answer and is tried again (misc/socket.cc, os/linux.cc, 2.24.3 and later).
/// Some of these are normal while the other side starts.
struct ConnectRetry {
  std::string_view address;  ///< Empty to 2.26.
  std::string_view error;
  int attempt = -1;
  int attempts = -1;  ///< Attempts that will be made in all.
  int sleep = -1;     ///< Milliseconds.

  static constexpr std::string_view kKind = "connect_retry";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{:word}: connect to {address:word} returned {error}, retrying "
               "({attempt}/{attempts}) after sleep for {sleep} msec",
       .example = "socketPollConnect: connect to 10.1.2.3<34599> returned Connection refused, "
                  "retrying (1/34) after sleep for 100 msec"},
      {.text = "{:word}: connect returned {error}, retrying ({attempt}/{attempts}) after sleep for "
               "{sleep} msec",
       .example = "socketPollConnect: connect returned Connection refused, retrying (1/34) after "
                  "sleep for 100 msec"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("address", self.address);
    visit("error", self.error);
    visit("attempt", self.attempt);
    visit("attempts", self.attempts);
    visit("sleep", self.sleep);
  }
};

/// No connection from a peer could be taken (misc/socket.cc, os/linux.cc, 2.18.1 and later).
struct AcceptFailed {
  std::string_view error;

  static constexpr std::string_view kKind = "accept_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Connections from a peer could not be accepted, and retrying did not help. Check the limit "
      "on open files and the host's network."};
  static constexpr Wording kWordings[] = {
      {.text = "{:socketTryAccept|ncclOsSocketTryAccept}: Accept failed: {error...}",
       .example = "socketTryAccept: Accept failed: Too many open files",
       .quotable = true},
      {.text = "{:socketTryAccept|ncclOsSocketTryAccept}: exceeded error retry count after {:int} "
               "attempts, {error...}",
       .example = "ncclOsSocketTryAccept: exceeded error retry count after 35 attempts, Connection "
                  "aborted",
       .quotable = true},
      {.text = "{:socketTryAccept}: exceeded error retry count ({:int}), {error...}",
       .example = "socketTryAccept: exceeded error retry count (34), Connection aborted",
       .quotable = true},
      {.text = "{:socketTryAccept}: get errno {error:int} that is not EAGAIN or EWOULDBLOCK",
       .example = "socketTryAccept: get errno 24 that is not EAGAIN or EWOULDBLOCK",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("error", self.error); }
};

/// The other end closed the connection (misc/socket.cc). Look at the peer: it crashed, was
/// killed or gave up.
struct PeerClosed {
  /// "10.1.2.3<41822>" or "node09.cluster<41822>"; empty up to 2.9 and when the address is
  /// unknown.
  std::string_view peer;

  static constexpr std::string_view kKind = "peer_closed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Symptom,
                                    "The other end closed the connection, so it died, was killed "
                                    "or gave up first. Look at that peer's log."};
  static constexpr Wording kWordings[] = {
      {.text = "Net : Connection closed by remote peer {peer...}",
       .example = "Net : Connection closed by remote peer 10.1.2.3<41822>",
       .quotable = true},
      {.text = "Net : Connection closed by remote peer",
       .example = "Net : Connection closed by remote peer",
       .quotable = true},
      {.text = "socketProgress: Connection closed by remote peer {peer...}",
       .example = "socketProgress: Connection closed by remote peer node09.cluster<41822>",
       .quotable = true},
      {.text = "socketProgress: Connection closed by remote peer",
       .example = "socketProgress: Connection closed by remote peer",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("peer", self.peer); }
};

/// Sending or receiving failed, other than by an orderly end (misc/socket.cc, os/linux.cc).
struct SocketTransferFailed {
  std::string_view call;  ///< "recv from" or "send to".
  std::string_view peer;
  std::string_view error;

  static constexpr std::string_view kKind = "socket_transfer_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Sending to or receiving from a peer failed while the job ran: a link or the peer's host "
      "went down, or the peer reset the connection. Look at the peer."};
  static constexpr Wording kWordings[] = {
      {.text = "{:socketProgressOpt|ncclOsSocketProgressOpt}: Call to {call:recv from|send to} "
               "{peer:word} failed : {error...}",
       .example =
           "socketProgressOpt: Call to recv from 10.1.2.3<41822> failed : Connection reset by peer",
       .quotable = true},
      {.text = "{:socketProgressOpt|ncclOsSocketProgressOpt}: Call to {call:word} {peer:word} "
               "failed : {error...}",
       .example = "ncclOsSocketProgressOpt: Call to recv 10.1.2.3<41822> failed : Connection reset "
                  "by peer",
       .quotable = true},
      {.text = "Net : Call to {call:recv from|send to} {peer:word} failed : {error...}",
       .example = "Net : Call to recv from 10.1.2.3<41822> failed : Connection reset by peer",
       .quotable = true},
      {.text = "NET/Socket : socket progress error",
       .example = "NET/Socket : socket progress error",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::Symptom,
                   "A helper thread of the socket network ended after a failed transfer. The WARN "
                   "before it says which."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("call", self.call);
    visit("peer", self.peer);
    visit("error", self.error);
  }
};

/// Something that is no rank of this job, or the wrong socket of one, connected to an NCCL port
/// (misc/socket.cc): port scanners, health checks, another job. The connection is dropped.
struct SocketHandshakeMismatch {
  std::string_view what;      ///< "magic" or "type".
  std::string_view got;       ///< Empty where it is not printed.
  std::string_view expected;  ///< Empty where it is not printed.
  std::string_view peer;      ///< Empty up to 2.26.

  static constexpr std::string_view kKind = "socket_handshake_mismatch";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "Something that is no rank of this job connected to an NCCL port: a port scanner, a health "
      "check, another job or version. The connection is dropped."};
  static constexpr Wording kWordings[] = {
      {.text = "socketFinalizeAccept: wrong {what:magic|type} {got:word} != {expected:word}",
       .example = "socketFinalizeAccept: wrong magic 474554202f != 564ab9f2fc4b9d6c",
       .quotable = true},
      {.text = "socketFinalizeAccept from {peer:word}: wrong {what:magic|type} {got:word} != "
               "{expected:word}",
       .example = "socketFinalizeAccept from 10.9.8.7<52144>: wrong type 0 != 3",
       .quotable = true},
      {.text = "socketFinalizeAccept: didn't receive a valid {what:magic} from {peer...}",
       .example = "socketFinalizeAccept: didn't receive a valid magic from 10.9.8.7<52144>",
       .quotable = true},
      {.text = "socketFinalizeAccept from {peer:word}: socket {what:magic} mismatch (peer "
               "{got:hex} != expected {expected:hex}), discarding peer connection",
       .example = "socketFinalizeAccept from 10.9.8.7<52144>: socket magic mismatch (peer "
                  "0x474554202f != expected 0x564ab9f2fc4b9d6c), discarding peer connection",
       .quotable = true},
      {.text = "socketFinalizeAccept from {peer:word}: wrong socket {what:type} (peer {got:int} != "
               "expected {expected:int} {}), discarding peer connection",
       .example = "socketFinalizeAccept from 10.9.8.7<52144>: wrong socket type (peer 0 != "
                  "expected 3 -- peer connected to wrong NCCL socket), discarding peer connection",
       .quotable = true},
      {.text = "socketFinalizeAccept: handshake receive from {peer:word} failed, discarding peer "
               "connection",
       .example = "socketFinalizeAccept: handshake receive from 10.9.8.7<52144> failed, discarding "
                  "peer connection",
       .quotable = true},
      {.text = "socketFinalizeAccept: peer {peer:word} closed before magic handshake, discarding",
       .example =
           "socketFinalizeAccept: peer 10.9.8.7<52144> closed before magic handshake, discarding",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("what", self.what);
    visit("got", self.got);
    visit("expected", self.expected);
    visit("peer", self.peer);
  }
};

/// A peer's address is neither IPv4 nor IPv6 (misc/socket.cc): garbage, so an earlier message
/// was lost or misread.
struct BadAddressFamily {
  std::string_view address;
  int family = -1;

  static constexpr std::string_view kKind = "bad_address_family";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The address that a peer announced is garbage: neither IPv4 nor IPv6. Look for an earlier "
      "mismatch between ranks, or memory corruption."};
  static constexpr Wording kWordings[] = {
      {.text = "{:ncclSocketInit|Net }: connecting to address {address} with family {family} is "
               "neither AF_INET({:int}) nor AF_INET6({:int})",
       .example = "ncclSocketInit: connecting to address  with family 0 is neither AF_INET(2) nor "
                  "AF_INET6(10)",
       .quotable = true},
      // Collectors halve the two blanks that stand around an empty address.
      {.text = "{:ncclSocketInit|Net }: connecting to address with family {family} is neither "
               "AF_INET({:int}) nor AF_INET6({:int})",
       .example = "ncclSocketInit: connecting to address with family 33 is neither AF_INET(2) nor "
                  "AF_INET6(10)",
       .quotable = true},
      {.text = "Error : connecting to address with family {family} is neither AF_INET({:int}) nor "
               "AF_INET6({:int})",
       .example =
           "Error : connecting to address with family 0 is neither AF_INET(2) nor AF_INET6(10)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("address", self.address);
    visit("family", self.family);
  }
};

/// The sender's message is larger than the posted receive (transport/net_socket.cc): ranks
/// disagree on a collective, or have different settings.
struct SocketMessageTruncated {
  std::string_view peer;  ///< Empty up to 2.9.
  int64_t received = -1;  ///< Bytes.
  int64_t expected = -1;  ///< Bytes.

  static constexpr std::string_view kKind = "socket_message_truncated";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A peer sent more than this rank expected: ranks call different collectives, counts or "
      "types, or differ in settings such as NCCL_ALGO and NCCL_PROTO."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/Socket : peer {peer:word} message truncated : receiving {received} bytes "
               "instead of {expected}. {...}",
       .example = "NET/Socket : peer 10.1.2.3<41822> message truncated : receiving 4194304 bytes "
                  "instead of 1048576. If you believe your socket network is in a healthy state, "
                  "there may be a mismatch in collective sizes or environment settings (e.g. "
                  "NCCL_PROTO, NCCL_ALGO) between ranks",
       .quotable = true},
      {.text = "NET/Socket : peer {peer:word} message truncated : receiving {received} bytes "
               "instead of {expected}",
       .example = "NET/Socket : peer 10.1.2.3<41822> message truncated : receiving 4194304 bytes "
                  "instead of 1048576",
       .quotable = true},
      {.text = "NET/Socket : message truncated : receiving {received} bytes instead of {expected}",
       .example = "NET/Socket : message truncated : receiving 4194304 bytes instead of 1048576",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("peer", self.peer);
    visit("received", self.received);
    visit("expected", self.expected);
  }
};

/// More threads or sockets were asked for than the socket network can have
/// (transport/net_socket.cc).
struct SocketLimit {
  int limit = -1;

  static constexpr std::string_view kKind = "socket_limit";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::User,
      "More socket threads or connections were asked for than NCCL allows, so it takes fewer. "
      "Lower NCCL_SOCKET_NTHREADS or NCCL_NSOCKS_PERTHREAD."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/Socket : NCCL_SOCKET_NTHREADS is greater than the maximum allowed, setting to "
               "{limit}",
       .example =
           "NET/Socket : NCCL_SOCKET_NTHREADS is greater than the maximum allowed, setting to 16"},
      {.text = "NET/Socket : the total number of sockets is greater than the maximum allowed, "
               "setting NCCL_NSOCKS_PERTHREAD to {limit}",
       .example = "NET/Socket : the total number of sockets is greater than the maximum allowed, "
                  "setting NCCL_NSOCKS_PERTHREAD to 4"},
  };
  static void each_field(auto& self, auto&& visit) { visit("limit", self.limit); }
};

/// A socket was used in a state that does not allow it (misc/socket.cc); follows an earlier
/// failure or an abort.
struct SocketMisuse {
  std::string_view function;  ///< "ncclSocketAccept".
  std::string_view text;

  static constexpr std::string_view kKind = "socket_misuse";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "A socket was used in a state that does not allow it, as happens after an earlier failure or "
      "abort. Look for that one."};
  static constexpr Wording kWordings[] = {
      {.text = "{function:ncclIpcSocketGetFd|ncclSocketAccept|ncclSocketConnect|ncclSocketGetAddr|"
               "ncclSocketGetFd|"
               "ncclSocketListen|ncclSocketPollConnect|ncclSocketProgress|ncclSocketRecv|"
               "ncclSocketSend|ncclSocketSetFd|ncclSocketTryRecv|ncclSocketWait}: {text:pass NULL "
               "socket|file descriptor is -1|socket is invalid}",
       .example = "ncclSocketAccept: pass NULL socket",
       .quotable = true},
      {.text = "{function:ncclSocketAccept|ncclSocketConnect}: {text:wrong socket state} {:int}",
       .example = "ncclSocketAccept: wrong socket state 0",
       .quotable = true},
      {.text = "{function:ncclSocketRecv|ncclSocketSend|ncclSocketSendRecv}: {text:socket state} "
               "({}) is not ready",
       .example = "ncclSocketSend: socket state (0) is not ready",
       .quotable = true},
      {.text = "{function:ncclSocketReady}: {text:unexpected socket state} {:int}",
       .example = "ncclSocketReady: unexpected socket state 12",
       .quotable = true},
      {.text = "{function:ncclSocketSendRecv}: {text:invalid socket} {...}",
       .example = "ncclSocketSendRecv: invalid socket (nil)/0x55d0c0de",
       .quotable = true},
      {.text = "{function:ncclSocketMultiOp}: {text:invalid arguments|invalid socket} {...}",
       .example = "ncclSocketMultiOp: invalid socket at index 1",
       .quotable = true},
      {.text = "{function:ncclOsSocketSetFlags}: {text:invalid socket}",
       .example = "ncclOsSocketSetFlags: invalid socket",
       .quotable = true},
      {.text = "{function:ncclSocketInit|Net }: {text:Socket creation failed} : {...}",
       .example = "ncclSocketInit: Socket creation failed : Too many open files",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "No socket could be made. Check the limit on open files and the permissions of "
                   "the container."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("function", self.function);
    visit("text", self.text);
  }
};

/// A transfer ended because the communicator was aborted (misc/socket.cc, os/linux.cc).
struct SocketAborted {
  static constexpr std::string_view kKind = "socket_aborted";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{:socketProgressOpt|ncclOsSocketProgressOpt|Socket progress}: abort called",
       .example = "socketProgressOpt: abort called"},
  };
  static void each_field(auto&, auto&&) {}
};

/// The number that tells this job's connections from strangers' (misc/socket.cc, 2.30.7).
struct SocketMagic {
  Hex magic;

  static constexpr std::string_view kKind = "socket_magic";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "Socket handshake magic {magic} ({})",
       .example = "Socket handshake magic 0x564ab9f2fc4b9d6c (default)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("magic", self.magic); }
};

using SocketMessages =
    Kinds<ConnectFailed, ConnectRetry, AcceptFailed, PeerClosed, SocketTransferFailed,
          SocketHandshakeMismatch, BadAddressFamily, SocketMessageTruncated, SocketLimit,
          SocketMisuse, SocketAborted, SocketMagic>;

}  // namespace ncclog
