#include "log/message_kind.h"

namespace ncclog {

std::string_view to_string(Subsystem subsystem) {
  switch (subsystem) {
    case Subsystem::None:
      return "";
    case Subsystem::Init:
      return "INIT";
    case Subsystem::Coll:
      return "COLL";
    case Subsystem::P2p:
      return "P2P";
    case Subsystem::Shm:
      return "SHM";
    case Subsystem::Net:
      return "NET";
    case Subsystem::Graph:
      return "GRAPH";
    case Subsystem::Tuning:
      return "TUNING";
    case Subsystem::Env:
      return "ENV";
    case Subsystem::Alloc:
      return "ALLOC";
    case Subsystem::Call:
      return "CALL";
    case Subsystem::Proxy:
      return "PROXY";
    case Subsystem::Nvls:
      return "NVLS";
    case Subsystem::Bootstrap:
      return "BOOTSTRAP";
    case Subsystem::Reg:
      return "REG";
    case Subsystem::Profile:
      return "PROFILE";
    case Subsystem::Ras:
      return "RAS";
    case Subsystem::Destroy:
      return "DESTROY";
  }
  return "";
}

std::string_view Message::field(std::string_view name) const {
  if (kind == nullptr) return {};
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    if (kind->fields[i].name == name) return fields[i];
  }
  return {};
}

const Warning* warning_of(const Kind& kind, const Wording& wording) {
  const bool of_its_own = wording.warning.severity != WarnSeverity::None;
  const Warning& warning = of_its_own ? wording.warning : kind.warning;
  return warning.severity > WarnSeverity::Never ? &warning : nullptr;
}

const Warning* warning_of(const Message& message) {
  return message.wording == nullptr ? nullptr : warning_of(*message.kind, *message.wording);
}

void Message::set(std::string_view name, std::string_view text) {
  if (kind == nullptr) return;
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    if (kind->fields[i].name == name) fields[i] = text;
  }
}

}  // namespace ncclog
