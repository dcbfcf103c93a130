// Which names tell nothing about whose job it is, and may stay as they are?
//
//   /usr/lib/python3.12/site-packages/torch/…   every machine has it
//   github.com, root, localhost, train.py       so does everybody
//
// What is not known here is taken for somebody's own.

#pragma once

#include <string_view>

namespace ncclog {

/// A word that names nobody: a host called "node", a user called "root". To replace it wherever it
/// stands would take the log apart.
bool is_plain_word(std::string_view word);

/// A folder or file whose name consists of known words, numbers and single letters: "logs",
/// "attempt_0", "nccl-tests", "train.py", "libnccl-net.so.2".
bool is_known_component(std::string_view component);

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

}  // namespace ncclog
