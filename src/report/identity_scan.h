// Where in a text do names of people, machines and jobs stand, as far as the text itself shows it?
//
//   gpu-n41:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.12.8.41<0>     Address 10.12.8.41
//   python /home/alice/llama/train.py --job-name=pretrain-x                    Path …, Name
//   pretrain-x HF_TOKEN=hf_AbCdEf…    ssh alice@gpu-n41    mail bob@example.com           Secret,
//   User, Email
//
// By shape (addresses, GUIDs, mail addresses, paths, tokens, what process and thread follow), by
// what stands before (keys of variables, flags, YAML and JSON; words of launchers, schedulers and
// sockets), and by likeness with hosts that are known: "gpu-n57" where gpu-n41 is one. NCCL's
// pointers, commIds, bus ids, pids, interfaces and HCAs are none of these. Nothing here knows what
// the line means, so that torn and unknown ones are searched like any other.

#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
  Path,  ///< An absolute path; private_parts takes it apart.
};

/// "host", "address": lower case, stable.
std::string_view to_string(IdentityKind kind);

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

/// True if a record begins at `at`: a host with process and thread, "gpu-n41:313:313 [5] NCCL".
bool begins_record(std::string_view line, size_t at);

/// All that `text` shows, in order, none overlapping another. Any bytes; lines of any length.
std::vector<FoundIdentity> find_identities(std::string_view text, const KnownHosts& hosts);

}  // namespace ncclog
