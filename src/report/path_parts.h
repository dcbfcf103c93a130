// Which parts of an absolute path are somebody's own?
//
//   /home/alice/llama/site-packages/torch/nn/x.py   alice: a user, llama: a folder
//   /usr/lib/libnccl.so.2, /dev/shm/nccl-AbCd       nothing
//   /data/big-corpus/ckpt_7.pt                      big-corpus: a folder
//
// Folders that every machine has stay, and everything behind the name of a public package.

#pragma once

#include <string_view>
#include <vector>

#include "report/identity_scan.h"

namespace ncclog {

/// The parts of `path` to be replaced: User, Folder or File, with their places in it, in order.
std::vector<FoundIdentity> private_parts(std::string_view path);

/// True if a folder or file is so much of a name that it is one wherever it stands: "llama-7b_v2",
/// not "weights".
bool is_telling_name(std::string_view component);

}  // namespace ncclog
