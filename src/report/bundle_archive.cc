#include "report/bundle_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "base/posix.h"
#include "base/safe_json.h"

namespace ncclog {
namespace {

using Archive = std::unique_ptr<archive, FreedBy<archive_write_free>>;

void check(bool ok, archive* opened) {
  if (ok) return;
  const char* why = archive_error_string(opened);
  throw Error(fmt::format("the bundle cannot be packed: {}", why == nullptr ? "?" : why));
}

la_ssize_t append(archive*, void* text, const void* bytes, size_t count) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

void add_member(archive* opened, const std::string& path, const std::string& text) {
  const std::unique_ptr<archive_entry, FreedBy<archive_entry_free>> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), fmt::format("{}/{}", kBundleFolder, path).c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
  archive_entry_set_mtime(entry.get(), 0, 0);
  check(archive_write_header(opened, entry.get()) == ARCHIVE_OK, opened);
  check(
      archive_write_data(opened, text.data(), text.size()) == static_cast<la_ssize_t>(text.size()),
      opened);
}

}  // namespace

void add_checksums(BundleMembers& members, std::string_view manifest) {
  auto json = nlohmann::ordered_json::parse(manifest);
  std::string sums;
  json["members"] = nlohmann::ordered_json::array();
  for (const auto& [path, text] : members) {
    const std::string sum = sha256_hex(text);
    json["members"].push_back({{"path", path}, {"bytes", text.size()}, {"sha256", sum}});
    sums += fmt::format("{}  {}\n", sum, path);
  }
  members["manifest.json"] = safe_json(json.dump(2)) + "\n";
  members["SHA256SUMS"] =
      sums + fmt::format("{}  manifest.json\n", sha256_hex(members["manifest.json"]));
}

std::string bundle_archive(const BundleMembers& members) {
  std::string bytes;
  const Archive opened(archive_write_new());
  archive* out = opened.get();
  check(archive_write_set_format_pax_restricted(out) == ARCHIVE_OK, out);
  check(archive_write_add_filter_zstd(out) == ARCHIVE_OK, out);
  // Logs compress well, so the best level that does not take minutes.
  constexpr size_t kMany = size_t{32} << 20;
  size_t size = 0;
  for (const auto& [path, text] : members) size += text.size();
  archive_write_set_filter_option(out, "zstd", "compression-level", size > kMany ? "9" : "17");
  archive_write_set_bytes_in_last_block(out, 1);  // No zeros behind the last byte.
  check(archive_write_open(out, &bytes, nullptr, append, nullptr) == ARCHIVE_OK, out);
  for (const auto& [path, text] : members) add_member(out, path, text);
  check(archive_write_close(out) == ARCHIVE_OK, out);
  return bytes;
}

}  // namespace ncclog
