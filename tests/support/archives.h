// Archives for tests, made in memory.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

enum class Packing { Tar, Zip, SevenZip };

enum class Entry { File, Folder, Link, HardLink, Pipe };

struct Packed {
  std::string name;
  std::string bytes;  ///< Of a link: where it leads.
  Entry entry = Entry::File;
};

/// The archive that holds `entries` in their order. Throws std::runtime_error if it cannot be made.
std::string archive_of(Packing packing, const std::vector<Packed>& entries);

/// A zip file whose files are encrypted.
std::string encrypted_zip(const std::vector<Packed>& entries);

/// The files of an archive, packed or not, by name. Throws std::runtime_error if it is none.
std::map<std::string, std::string> unpacked(const std::string& path);

}  // namespace ncclog::testing
