#include "app/table_choice.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {

std::string table_list() {
  std::string list = "Tables:\n";
  for (const TableKind& kind : table_kinds()) {
    list += fmt::format("  {:<17}{}\n", kind.name, kind.help);
  }
  return list;
}

const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also) {
  const TableKind* kind = find_table_kind(name);
  if (kind != nullptr) return *kind;
  std::vector<std::string_view> names(also.begin(), also.end());
  for (const TableKind& known : table_kinds()) names.push_back(known.name);
  const auto nearest = nearest_name(name, names);
  const std::string what =
      name.empty() ? "no table named" : fmt::format("no table '{}'", printable(name));
  throw Error(what, std::string(where),
              nearest ? fmt::format("did you mean '{}'?", *nearest)
                      : fmt::format("one of: {}", fmt::join(names, ", ")));
}

const DrawingKind& chosen_drawing(std::string_view name, std::string_view where) {
  const DrawingKind* kind = find_drawing_kind(name);
  if (kind != nullptr) return *kind;
  throw Error(fmt::format("no drawing of '{}'", printable(name)), std::string(where),
              "there is one of channels and of topology; other tables come as text, json and csv");
}

}  // namespace ncclog
