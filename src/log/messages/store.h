// PyTorch's key-value store, through which ranks meet before NCCL knows any of them.
//
//   [rank3]: torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving
//   ncclUniqueId from [0] via c10d key-value store by key '1', but store->get('1') got error: wait
//   timeout after 20000ms, keys: /default_pg/0//cuda//1
//
// The store lives in the process of rank 0: whoever loses it usually lost that process first.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// This rank waited in the store for the NCCL id that the root rank of the group publishes.
///
/// Rank and root are ranks inside the group. The root died, or never came to that collective.
struct StoreWaitFailed {
  int rank = -1;  ///< The rank that waited.
  int root = -1;  ///< The rank it waited for; -1 with several roots.
  std::string_view key;
  std::string_view error;
  std::string_view type;  ///< Python class; empty if none stands before.

  static constexpr std::string_view kKind = "store_wait_failed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{type:RuntimeError|torch.distributed.DistStoreError|torch.distributed."
               "DistNetworkError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistStoreError}: [{rank}] is setting up NCCL communicator and "
               "{:retrieving|retreiving} ncclUniqueId from [{root}] via c10d key-value store by "
               "key '{key}', but store->get('{}') got error: {error...}",
       .example =
           "torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving "
           "ncclUniqueId from [0] via c10d key-value store by key '1', but store->get('1') got "
           "error: wait timeout after 20000ms, keys: /default_pg/0//cuda//1"},
      {.text = "[{rank}] is setting up NCCL communicator and {:retrieving|retreiving} ncclUniqueId "
               "from [{root}] via c10d key-value store by key '{key}', but store->get('{}') got "
               "error: {error...}",
       .example = "[3] is setting up NCCL communicator and retreiving ncclUniqueId from [0] via "
                  "c10d key-value store by key '1', but store->get('1') got error: wait timeout "
                  "after 20000ms, keys: /default_pg/0//cuda//1"},
      {.text = "{type:RuntimeError|torch.distributed.DistStoreError|torch.distributed."
               "DistNetworkError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistStoreError}: [{rank}] is setting up NCCL communicators and retrieving "
               "ncclUniqueId from roots via TCPStore by key '{key}', but got error: {error...}",
       .example = "torch.distributed.DistBackendError: [3] is setting up NCCL communicators and "
                  "retrieving ncclUniqueId from roots via TCPStore by key '[0, 1]', but got error: "
                  "Broken pipe"},
      {.text = "[{rank}] is setting up NCCL communicators and retrieving ncclUniqueId from roots "
               "via TCPStore by key '{key}', but got error: {error...}",
       .example = "[3] is setting up NCCL communicators and retrieving ncclUniqueId from roots via "
                  "TCPStore by key '[0, 1]', but got error: Broken pipe"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("root", self.root);
    visit("key", self.key);
    visit("error", self.error);
    visit("type", self.type);
  }
};

/// The end of the sentence above, on a line of its own when the error spans lines.
struct StoreHint {
  int rank = -1;

  static constexpr std::string_view kKind = "store_hint";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = ". This may indicate a possible application crash on rank {rank} or a network set "
               "up issue.",
       .example =
           ". This may indicate a possible application crash on rank 0 or a network set up issue."},
      {.text = ". This may indicate a possible application crash on one of the roots or a network "
               "set up issue.",
       .example = ". This may indicate a possible application crash on one of the roots or a "
                  "network set up issue."},
  };
  static void each_field(auto& self, auto&& visit) { visit("rank", self.rank); }
};

/// A read or wait in the store timed out.
///
/// The key tells what was awaited: "…//cuda//0" or a bare number is an NCCL id,
/// "store_based_barrier_key" is the creation of a group.
struct StoreTimeout {
  int64_t ms = -1;
  std::string_view keys;
  std::string_view type;

  static constexpr std::string_view kKind = "store_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{type:RuntimeError|torch.distributed.DistStoreError|torch.distributed."
               "DistNetworkError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistStoreError}: wait timeout after {ms}ms, keys: {keys...}",
       .example = "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: "
                  "/default_pg/0//cuda//0"},
      {.text = "wait timeout after {ms}ms, keys: {keys...}",
       .example = "wait timeout after 300000ms, keys: /default_pg/0//cuda//0"},
      {.text = "{type:RuntimeError|torch.distributed.DistStoreError|torch.distributed."
               "DistNetworkError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistStoreError}: Timeout waiting for key: {keys} after {ms} ms",
       .example = "RuntimeError: Timeout waiting for key: default_pg/0/0 after 1800000 ms"},
      {.text = "{type:RuntimeError|torch.distributed.DistStoreError|torch.distributed."
               "DistNetworkError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistStoreError}: Socket Timeout",
       .example = "torch.distributed.DistNetworkError: Socket Timeout"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("ms", self.ms);
    visit("keys", self.keys);
    visit("type", self.type);
  }
};

/// Fewer processes than expected reached rank 0's store.
struct StoreClientsMissing {
  int seconds = -1;
  int joined = -1;
  int expected = -1;
  std::string_view type;

  static constexpr std::string_view kKind = "store_clients_missing";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text =
           "{type:RuntimeError|torch.distributed.DistStoreError|torch.distributed.DistNetworkError|"
           "torch.distributed.DistBackendError|torch._C._distributed_c10d.DistStoreError}: Timed "
           "out after {seconds} seconds waiting for clients. {joined}/{expected} clients joined.",
       .example = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for "
                  "clients. 7/8 clients joined."},
      {.text = "Timed out after {seconds} seconds waiting for clients. {joined}/{expected} clients "
               "joined.",
       .example = "Timed out after 601 seconds waiting for clients. 7/8 clients joined."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("seconds", self.seconds);
    visit("joined", self.joined);
    visit("expected", self.expected);
    visit("type", self.type);
  }
};

/// Not all ranks came to the creation of a process group.
struct StoreBarrierTimeout {
  int rank = -1;  ///< The rank that waited.
  std::string_view key;
  int world_size = -1;
  int joined = -1;
  std::string_view timeout;  ///< "0:30:00"

  static constexpr std::string_view kKind = "store_barrier_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:RuntimeError|torch.distributed.DistStoreError|torch.distributed.DistNetworkError|"
               "torch.distributed.DistBackendError|torch._C._distributed_c10d.DistStoreError}: "
               "Timed out initializing process group in store based barrier on rank: {rank}, for "
               "key: {key:word} (world_size={world_size}, "
               "{:num_workers_joined|worker_count}={joined}, timeout={timeout:word})",
       .example =
           "RuntimeError: Timed out initializing process group in store based barrier on rank: 3, "
           "for key: store_based_barrier_key:1 (world_size=8, worker_count=7, timeout=0:30:00)"},
      {.text = "{:RuntimeError|torch.distributed.DistStoreError|torch.distributed.DistNetworkError|"
               "torch.distributed.DistBackendError|torch._C._distributed_c10d.DistStoreError}: "
               "Timed out initializing process group in store based barrier on rank {rank}, for "
               "key: {key:word} (world_size={world_size}, "
               "{:num_workers_joined|worker_count}={joined}, timeout={timeout:word} error={...}",
       .example = "torch.distributed.DistStoreError: Timed out initializing process group in store "
                  "based barrier on rank 3, for key: store_based_barrier_key:1 (world_size=8, "
                  "num_workers_joined=7, timeout=0:30:00 error=Timeout waiting for key)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("key", self.key);
    visit("world_size", self.world_size);
    visit("joined", self.joined);
    visit("timeout", self.timeout);
  }
};

/// A rank waits for the others at the creation of a process group, and says so every ten seconds.
struct StoreBarrierWait {
  int rank = -1;  ///< The rank that waits.
  std::string_view key;
  int world_size = -1;
  int joined = -1;
  std::string_view timeout;  ///< "0:30:00"

  static constexpr std::string_view kKind = "store_barrier_wait";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Waiting in store based barrier to initialize process group for rank: {rank}, key: "
               "{key:word} (world_size={world_size}, {:num_workers_joined|worker_count}={joined}, "
               "timeout={timeout:word})",
       .example = "Waiting in store based barrier to initialize process group for rank: 3, key: "
                  "store_based_barrier_key:1 (world_size=8, worker_count=7, timeout=0:30:00)"},
      {.text = "Waiting in store based barrier to initialize process group for {:word} "
               "secondsrank: {rank}, key: {key:word} (world_size={world_size}, "
               "num_workers_joined={joined}, timeout={timeout:word} error={...}",
       .example = "Waiting in store based barrier to initialize process group for 20.01 "
                  "secondsrank: 3, key: store_based_barrier_key:1 (world_size=8, "
                  "num_workers_joined=7, timeout=0:30:00 error=Timeout waiting for key)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("key", self.key);
    visit("world_size", self.world_size);
    visit("joined", self.joined);
    visit("timeout", self.timeout);
  }
};

/// A rank came to the creation of a process group.
struct StoreBarrierJoined {
  int rank = -1;
  std::string_view key;

  static constexpr std::string_view kKind = "store_barrier_joined";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Added key: {key:word} to store for rank: {rank}",
       .example = "Added key: store_based_barrier_key:1 to store for rank: 3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("key", self.key);
  }
};

/// All ranks came to the creation of a process group, says one of them.
struct StoreBarrierPassed {
  int rank = -1;
  std::string_view key;
  int nodes = -1;  ///< Ranks, in spite of the word.

  static constexpr std::string_view kKind = "store_barrier_passed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Rank {rank}: Completed store-based barrier for key:{key:word} with {nodes} nodes.",
       .example =
           "Rank 3: Completed store-based barrier for key:store_based_barrier_key:1 with 8 nodes."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("key", self.key);
    visit("nodes", self.nodes);
  }
};

/// Rank 0's store could not be reached: it does not listen, the address is wrong, or a firewall
/// drops.
struct StoreConnectTimeout {
  std::string_view host;
  int port = -1;
  int64_t ms = -1;
  int seconds = -1;  ///< Instead of `ms`, up to 2.2.
  std::string_view type;

  static constexpr std::string_view kKind = "store_connect_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[c10d] The client socket has timed out after {ms}ms while trying to connect to "
               "({host}, {port}).{...}",
       .example = "[c10d] The client socket has timed out after 600000ms while trying to connect "
                  "to (node-a, 29500)."},
      {.text = "[c10d] The client socket has timed out after {seconds}s while trying to connect to "
               "({host}, {port}).{...}",
       .example = "[c10d] The client socket has timed out after 900s while trying to connect to "
                  "(node-a, 29500)."},
      {.text = "{type:RuntimeError|TimeoutError}: The client socket has timed out after "
               "{seconds}s while trying to connect to ({host}, {port}).{...}",
       .example = "TimeoutError: The client socket has timed out after 900s while trying to "
                  "connect to (node-a, 29500)."},
      {.text = "{type:RuntimeError|torch.distributed.DistStoreError|torch.distributed."
               "DistNetworkError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistStoreError}: The client socket has timed out after {ms}ms while trying to "
               "connect to ({host}, {port}).{...}",
       .example = "torch.distributed.DistNetworkError: The client socket has timed out after "
                  "600000ms while trying to connect to (node-a, 29500)."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("port", self.port);
    visit("ms", self.ms);
    visit("seconds", self.seconds);
    visit("type", self.type);
  }
};

/// One attempt to reach the store failed and is repeated: noise in a job's first seconds.
struct StoreConnectRetry {
  std::string_view host;
  int port = -1;
  std::string_view error;

  static constexpr std::string_view kKind = "store_connect_retry";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[c10d] The client socket has failed to connect to [{host}]:{port} ({error}).",
       .example = "[c10d] The client socket has failed to connect to [node-a.example]:29500 "
                  "(errno: 111 - Connection refused)."},
      {.text = "[c10d] The {:IPv4|IPv6} network addresses of ({host}, {port}) cannot be retrieved "
               "({error}).",
       .example = "[c10d] The IPv6 network addresses of (node-a, 29500) cannot be retrieved (gai "
                  "error: -2 - Name or service not known)."},
      {.text = "[c10d] TCP client failed to connect/validate to host {host}:{port} - {error...}",
       .example = "[c10d] TCP client failed to connect/validate to host node-a:29500 - retrying "
                  "(try=0, timeout=600000ms, delay=120ms): Connection reset by peer"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("port", self.port);
    visit("error", self.error);
  }
};

/// The store's connection broke: the process of rank 0 has exited. Harmless at a job's end.
struct StoreConnectionLost {
  std::string_view operation;  ///< "recvValue", "sendBytes"
  std::string_view text;

  static constexpr std::string_view kKind = "store_connection_lost";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[c10d] {operation:word} failed on SocketImpl({}): {text...}",
       .example = "[c10d] recvValue failed on SocketImpl(fd=63, addr=[localhost]:47006, "
                  "remote=[localhost]:29500): Failed to recv, got 0 bytes. Connection was likely "
                  "closed. Did the remote server shutdown or crash?"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("operation", self.operation);
    visit("text", self.text);
  }
};

/// A wait for the store's answer timed out.
struct StorePollTimeout {
  std::string_view text;

  static constexpr std::string_view kKind = "store_poll_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[c10d] waitForInput: {:socket|poll for socket} SocketImpl({}) {text...}",
       .example = "[c10d] waitForInput: socket SocketImpl(fd=63, addr=[localhost]:47006, "
                  "remote=[localhost]:29500) timed out after 20000ms"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A name lookup for a message failed: harmless.
struct StoreHostnameUnknown {
  int error = -1;

  static constexpr std::string_view kKind = "store_hostname_unknown";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[c10d] The hostname of the client socket cannot be retrieved. err={error}",
       .example = "[c10d] The hostname of the client socket cannot be retrieved. err=-3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("error", self.error); }
};

/// The store's port is in use: an earlier job's process, or two launchers.
struct StoreListenFailed {
  std::string_view text;

  static constexpr std::string_view kKind = "store_listen_failed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[c10d] The server socket has failed to {text...}",
       .example = "[c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address "
                  "already in use)."},
      {.text = "{:RuntimeError|torch.distributed.DistStoreError|torch.distributed.DistNetworkError|"
               "torch.distributed.DistBackendError|torch._C._distributed_c10d.DistStoreError}: The "
               "server socket has failed to {text...}",
       .example = "torch.distributed.DistNetworkError: The server socket has failed to listen on "
                  "any local network address. port: 29500, useIpv6: false, code: -98, name: "
                  "EADDRINUSE, message: address already in use"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using StoreMessages =
    Kinds<StoreWaitFailed, StoreHint, StoreTimeout, StoreClientsMissing, StoreBarrierTimeout,
          StoreBarrierWait, StoreBarrierJoined, StoreBarrierPassed, StoreConnectTimeout,
          StoreConnectRetry, StoreConnectionLost, StorePollTimeout, StoreHostnameUnknown,
          StoreListenFailed>;

}  // namespace ncclog
