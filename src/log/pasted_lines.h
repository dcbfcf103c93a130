// Output of commands that people keep beside their logs: tables, rows of blanks and tabs.
//
//   shm              64M   64M     0 100% /dev/shm
//   GPU0    X       CNS     CNS     CNS
//   mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a78:021f 10.120.2.31     v2      ens2f0
//
// Each function is the `recognise` of one wording in log/messages/framework/pasted.messages. Rows
// are known by their columns alone: the command that printed them may not be in the log.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A row of df about /dev/shm. Fields size, used, available, percent, mount.
bool recognise_shm_usage(std::string_view text, Message& message);

/// A row of ncclras' table of communicators. Fields as RasCommunicatorRow
/// (log/messages/nccl/ras_client.messages) names them.
bool recognise_ras_communicator_row(std::string_view text, Message& message);

/// A command line with "ulimit -l" at its end, joined with its answer (log/record_joiner.h). Field
/// limit.
bool recognise_memlock_answer(std::string_view text, Message& message);

/// The row of "ulimit -a" or of /proc/<pid>/limits. Fields limit, unit.
bool recognise_memlock_row(std::string_view text, Message& message);

/// A row of "nvidia-smi topo -p2p". Fields gpu, cells.
bool recognise_p2p_row(std::string_view text, Message& message);

/// A row of "nvidia-smi topo -m". Fields gpu, cells.
bool recognise_topo_row(std::string_view text, Message& message);

/// A row of show_gids. Fields device, port, index, gid, address, version, interface.
bool recognise_gid_row(std::string_view text, Message& message);

/// A prompt with a command behind it: "$ …", "root@host:~# …", "[host ~]# …". Field command.
bool recognise_shell_command(std::string_view text, Message& message);

}  // namespace ncclog
