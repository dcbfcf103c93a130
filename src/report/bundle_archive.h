// Files as one tar.zst, with a manifest and checksums of all of them.
//
//   ncclog-bundle/report.md        …
//   ncclog-bundle/manifest.json    {"schema": "ncclog.bundle/1", …, "members": [{"path", "bytes",
//                                  "sha256"}, …]}
//   ncclog-bundle/SHA256SUMS       for `sha256sum -c`, run in that folder
//
// Equal members make equal bytes: no time, no owner, sorted by path.

#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ncclog {

/// The folder that a bundle unpacks into.
inline constexpr std::string_view kBundleFolder = "ncclog-bundle";

/// What a bundle holds, by path below its folder.
using BundleMembers = std::map<std::string, std::string>;

/// Adds "manifest.json", which is `manifest` (a JSON object as text) with "members" behind, and
/// "SHA256SUMS" of all others.
void add_checksums(BundleMembers& members, std::string_view manifest);

/// The archive of them. Throws Error if it cannot be packed.
std::string bundle_archive(const BundleMembers& members);

}  // namespace ncclog
