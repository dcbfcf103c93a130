#include "support/archives.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <stdexcept>

namespace ncclog::testing {
namespace {

void require(int result, archive* writing) {
  if (result < ARCHIVE_WARN) throw std::runtime_error(archive_error_string(writing));
}

void set_format(archive* writing, Packing packing) {
  switch (packing) {
    case Packing::Tar:
      return require(archive_write_set_format_gnutar(writing), writing);
    case Packing::Zip:
      return require(archive_write_set_format_zip(writing), writing);
    case Packing::SevenZip:
      return require(archive_write_set_format_7zip(writing), writing);
  }
}

unsigned type_of(Entry entry) {
  switch (entry) {
    case Entry::Folder:
      return AE_IFDIR;
    case Entry::Link:
      return AE_IFLNK;
    case Entry::Pipe:
      return AE_IFIFO;
    case Entry::File:
    case Entry::HardLink:
      return AE_IFREG;
  }
  return AE_IFREG;
}

void write(archive* writing, const Packed& packed) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                            archive_entry_free);
  const bool has_bytes = packed.entry == Entry::File;
  archive_entry_copy_pathname(entry.get(), packed.name.c_str());
  archive_entry_set_filetype(entry.get(), type_of(packed.entry));
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), has_bytes ? static_cast<la_int64_t>(packed.bytes.size()) : 0);
  if (packed.entry == Entry::Link) archive_entry_copy_symlink(entry.get(), packed.bytes.c_str());
  if (packed.entry == Entry::HardLink) {
    archive_entry_copy_hardlink(entry.get(), packed.bytes.c_str());
  }
  require(archive_write_header(writing, entry.get()), writing);
  if (has_bytes) archive_write_data(writing, packed.bytes.data(), packed.bytes.size());
}

la_ssize_t append(archive*, void* text, const void* bytes, size_t count) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

std::string pack(Packing packing, const std::vector<Packed>& entries, const char* options) {
  std::string text;
  archive* writing = archive_write_new();
  const std::unique_ptr<archive, decltype(&archive_write_free)> owner(writing, archive_write_free);
  set_format(writing, packing);
  require(archive_write_set_options(writing, options), writing);
  archive_write_set_passphrase(writing, "secret");
  require(archive_write_open(writing, &text, nullptr, append, nullptr), writing);
  for (const Packed& entry : entries) write(writing, entry);
  require(archive_write_close(writing), writing);
  return text;
}

}  // namespace

std::string archive_of(Packing packing, const std::vector<Packed>& entries) {
  return pack(packing, entries, nullptr);
}

std::string encrypted_zip(const std::vector<Packed>& entries) {
  return pack(Packing::Zip, entries, "zip:encryption=traditional");
}

std::map<std::string, std::string> unpacked(const std::string& path) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(),
                                                                      &archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_all(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), 65536) != ARCHIVE_OK) {
    throw std::runtime_error(archive_error_string(reader.get()));
  }
  std::map<std::string, std::string> files;
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
    std::string& file = files[archive_entry_pathname(entry)];
    file.resize(static_cast<size_t>(archive_entry_size(entry)));
    archive_read_data(reader.get(), file.data(), file.size());
  }
  return files;
}

}  // namespace ncclog::testing
