#include "log/wording/message_kind.h"

namespace ncclog {

// Names, in the order of each enum.

std::string_view to_string(WarnSeverity severity) {
  constexpr std::string_view kNames[] = {"", "info", "degraded", "fatal"};
  return kNames[static_cast<size_t>(severity)];
}

std::string_view to_string(WarnOrigin origin) {
  constexpr std::string_view kNames[] = {"system", "user", "internal", "symptom"};
  return kNames[static_cast<size_t>(origin)];
}

std::string_view to_string(Subsystem subsystem) {
  constexpr std::string_view kNames[] = {
      "",      "INIT", "COLL",  "P2P",  "SHM",       "NET", "GRAPH",   "TUNING", "ENV",
      "ALLOC", "CALL", "PROXY", "NVLS", "BOOTSTRAP", "REG", "PROFILE", "RAS",    "DESTROY"};
  return kNames[static_cast<size_t>(subsystem)];
}

std::string_view to_string(Library library) {
  constexpr std::string_view kNames[] = {"nccl",       "rccl",         "ofi",
                                         "sharp",      "nccl-plugins", "framework",
                                         "ras-client", "nccl-tests",   "pasted"};
  return kNames[static_cast<size_t>(library)];
}

Source source_of(Library library) {
  switch (library) {
    case Library::Framework:
      return Source::Framework;
    case Library::RasClient:
    case Library::NcclTests:
    case Library::Pasted:
      return Source::Pasted;
    default:
      return Source::Nccl;
  }
}

std::string_view Message::field(std::string_view name) const {
  if (kind == nullptr) return {};
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    if (kind->fields[i].name == name) return fields[i];
  }
  return {};
}

const Warning* warning_of(const Wording& wording) {
  return wording.warning.severity == WarnSeverity::None ? nullptr : &wording.warning;
}

const Warning* warning_of(const Message& message) {
  return message.wording == nullptr ? nullptr : warning_of(*message.wording);
}

void Message::set(std::string_view name, std::string_view text) {
  if (kind == nullptr) return;
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    if (kind->fields[i].name == name) fields[i] = text;
  }
}

}  // namespace ncclog
