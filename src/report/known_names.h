// Which names tell nothing about whose job it is, and may stay as they are?
//
//   /usr/lib/python3.12/site-packages/torch/…   every machine has it
//   github.com, root, localhost, train.py       so does everybody
//
//   /home/alice/llama/site-packages/torch/nn/x.py   alice: a user, llama: a folder
//   /data/big-corpus/ckpt_7.pt                      big-corpus: a folder
//
// What is not known here is taken for somebody's own.

#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/identity_scan.h"

namespace ncclog {

/// Words in lower case that are everybody's: those of NCCL's and PyTorch's own messages.
using OrdinaryWords = std::set<std::string, std::less<>>;

/// A word that names nobody: a host called "node", a user called "root". To replace it wherever it
/// stands would take the log apart.
bool is_plain_word(std::string_view word);

/// A folder or file whose name consists of known words, numbers and single letters: "logs",
/// "attempt_0", "nccl-tests", "train.py", "libnccl-net.so.2".
bool is_known_component(std::string_view component);

/// True if a word of `name` is only somebody's own: "kraken" and "n41" of "kraken-gpu-n41", none of
/// "node-3", "rank0". Words of fewer letters than `shortest` are none, unless they have a number.
bool has_own_word(std::string_view name, const OrdinaryWords& ordinary, size_t shortest = 3);

/// A path that every machine has, with all that is below: "/usr/lib/x", "/dev/shm", "/sys/class".
bool is_system_path(std::string_view path);

/// A package whose sources are public: paths are shown from it on.
bool is_public_package(std::string_view component);

/// A domain of the public internet that documentation and error messages name: "github.com",
/// "docs.nvidia.com".
bool is_public_domain(std::string_view domain);

/// True if the last part of a dotted name may be that of a domain: "com", "local".
bool is_domain_ending(std::string_view label);

/// The same where it is an ordinary word as well ("net", "io", "dev"), so that more must speak for
/// a domain.
bool is_doubtful_ending(std::string_view label);

/// The parts of `path` to be replaced: User, Folder or File, with their places in it, in order.
std::vector<FoundIdentity> private_parts(std::string_view path);

/// True if a folder or file is so much of a name that it is one wherever it stands: "llama-7b_v2",
/// not "weights".
bool is_telling_name(std::string_view component);

}  // namespace ncclog
