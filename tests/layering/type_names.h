// Does the same name stand for two types?
//
//   ncclog::HostDevices: diagnose/settings/lint.h:64, model/pci_devices.h:46
//
// Where no file includes both headers, no compiler sees it, and the program is undefined: functions
// of one type are linked where those of the other are meant.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

/// A type that a file defines outside of functions and of other types.
struct DefinedType {
  std::string name;  ///< With its namespaces: "ncclog::type::FixedText".
  int line = 0;
  bool is_alias = false;

  bool operator==(const DefinedType&) const = default;
};

/// Classes, structs, unions, enums and aliases that `text` defines, but for those of an unnamed
/// namespace, which are the file's own. Declarations without a body are none.
std::vector<DefinedType> types_defined_in(std::string_view text);

/// Every name under `source_root` that more than one file defines, as above, but for aliases outside
/// of headers; sorted, empty for a sound tree.
std::vector<std::string> clashing_types(const std::filesystem::path& source_root);

}  // namespace ncclog::testing
