// Where in a text do names of people, machines and jobs stand, as far as the text itself shows it,
// and which names are everybody's and stay?
//
//   gpu-n41:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.12.8.41<0>     Host, Address
//   python /home/alice/llama/train.py --job-name=pretrain-x                    Path, Name
//   HF_TOKEN=hf_AbCdEf…    ssh alice@gpu-n41    mail bob@example.com           Secret, User, Email
//
// All of it is one table of patterns (identity_patterns.cc): what stands around a name, and in
// named groups the name. By shape (addresses, GUIDs, mail addresses, paths, tokens, what process
// and thread follow), by what stands before (keys of variables, flags, YAML and JSON; words of
// launchers, schedulers and sockets), and by likeness with hosts that are known: "gpu-n57" where
// gpu-n41 is one. NCCL's pointers, commIds, bus ids, pids, interfaces and HCAs are none of these.
// Nothing here knows what the line means, so that torn and unknown ones are searched like any
// other.
//
// What is not known to be everybody's is taken for somebody's own:
//
//   /usr/lib/python3.12/site-packages/torch/…, github.com, root, localhost, train.py       stay
//   /home/alice/llama/site-packages/torch/nn/x.py      alice: a user, llama: a folder

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace re2 {
class RE2;
}
namespace ncclog {

enum class IdentityKind {
  Host,
  Domain,
  User,
  Email,
  Name,  ///< Of a job, a run, a pod, a namespace, a bucket.
  JobNumber,
  Folder,
  File,
  Address,   ///< IPv4, IPv6, GID.
  Hardware,  ///< MAC, and InfiniBand's 20 bytes.
  Guid,      ///< Also UUIDs and NCCL's host hashes.
  Lid,
  Secret,
  Path,    ///< An absolute path; private_parts takes it apart.
  Nobody,  ///< Everybody's: it stays, and nothing else is looked for in it.
};

/// A pattern for texts of any bytes.
std::unique_ptr<re2::RE2> byte_pattern(const std::string& pattern);

/// "host", "address": lower case, stable.
constexpr std::string_view enum_words(IdentityKind) {
  return "host|domain|user|email|name|job|folder|file|address|hardware|guid|lid|secret|path";
}

/// A stretch of a text.
struct FoundIdentity {
  IdentityKind kind = IdentityKind::Name;
  size_t begin = 0;
  size_t length = 0;
};

/// Hosts that are known, and what names of that sort look like.
struct KnownHosts {
  std::set<std::string, std::less<>> names;   ///< Lower case, without domain.
  std::set<std::string, std::less<>> shapes;  ///< "gpu-n#": digits as '#'.
  std::set<size_t, std::greater<>> lengths;   ///< Of names.

  /// Adds a host; one with a number in its name stands for all of its shape.
  void add(std::string_view host);
};

/// All that `text` shows, in order, none overlapping another. Any bytes; lines of any length.
std::vector<FoundIdentity> find_identities(std::string_view text, const KnownHosts& hosts);

/// True if a record begins at `at`: a host with process and thread, "gpu-n41:313:313 [5] NCCL".
bool begins_record(std::string_view line, size_t at);

/// The parts of `path` to be replaced: User, Folder or File, with their places in it, in order.
std::vector<FoundIdentity> private_parts(std::string_view path);

// Whose name is it?

/// Words in lower case that are everybody's: those of NCCL's and PyTorch's own messages.
using OrdinaryWords = std::set<std::string, std::less<>>;

/// A word that names nobody: a host called "node", a user called "root". To replace it wherever it
/// stands would take the log apart.
bool is_plain_word(std::string_view word);

/// Digits alone.
bool is_number(std::string_view text);

bool has_digit(std::string_view text);

/// A folder or file whose name consists of known words, numbers and single letters: "logs",
/// "attempt_0", "nccl-tests", "train.py", "libnccl-net.so.2".
bool is_known_component(std::string_view component);

/// A domain of the public internet that documentation and error messages name: "github.com",
/// "docs.nvidia.com".
bool is_public_domain(std::string_view domain);

/// True if a word of `name` is only somebody's own: "kraken" and "n41" of "kraken-gpu-n41", none of
/// "node-3", "rank0". Words of fewer letters than `shortest` are none, unless they have a number.
bool has_own_word(std::string_view name, const OrdinaryWords& ordinary, size_t shortest = 3);

/// True if a folder or file is so much of a name that it is one wherever it stands: "llama-7b_v2",
/// not "weights".
bool is_telling_name(std::string_view component);

}  // namespace ncclog
