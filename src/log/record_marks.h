// Does a text hold the beginning of another process's record?
//
//   NET/Socket : Using [0]ethnode-b:52:52 [1] NCCL INFO …     node-b:52:52 [1] begins one
//   frame #3: c10d::Proc[rank1]:[E1120 …                      [rank1]: begins one
//
// Where several processes write into one pipe, a record may be cut anywhere, even inside the name
// of its host.

#pragma once

#include <string_view>

namespace ncclog {

/// What holds_process and find_task_tag find, as needles of log/needle_filter.h.
inline constexpr std::string_view kProcessMark = "\x01 [\x01";
inline constexpr std::string_view kTaskTagMark = "\x01]:";

/// True if "host:pid:tid [dev" stands somewhere in the text, as at the start of NCCL's lines.
bool holds_process(std::string_view text);

/// True if the text is the beginning of an NCCL header and nothing else: "node-b:52:52 [1] NCCL I".
/// The last line of a file that was copied too early looks like that.
bool is_header_beginning(std::string_view text);

/// Where "[rank3]:" or "[default3]:" stands right behind a word of the text, as at the start of
/// PyTorch's records and of what torchrun hands on; npos: nowhere. `from_begin`: also where the
/// text begins, as an NCCL message does not by itself.
size_t find_task_tag(std::string_view text, bool from_begin = false);

/// True if `host` is `known` with other bytes written inside: "node-node-ba" for "node-a". A number
/// beside a number may be another host's: "worker-12" for "worker-2".
bool is_interrupted(std::string_view host, std::string_view known);

}  // namespace ncclog
