#include "log/wording/message_kind.h"

namespace ncclog {
std::string_view to_string(WarnSeverity severity) {
  switch (severity) {
    case WarnSeverity::None:
      return "";
    case WarnSeverity::Info:
      return "info";
    case WarnSeverity::Degraded:
      return "degraded";
    case WarnSeverity::Fatal:
      return "fatal";
  }
  return "";
}

std::string_view to_string(WarnOrigin origin) {
  switch (origin) {
    case WarnOrigin::System:
      return "system";
    case WarnOrigin::User:
      return "user";
    case WarnOrigin::Internal:
      return "internal";
    case WarnOrigin::Symptom:
      return "symptom";
  }
  return "";
}

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

std::string_view to_string(Library library) {
  switch (library) {
    case Library::Nccl:
      return "nccl";
    case Library::Rccl:
      return "rccl";
    case Library::Ofi:
      return "ofi";
    case Library::Sharp:
      return "sharp";
    case Library::NcclPlugins:
      return "nccl-plugins";
    case Library::Framework:
      return "framework";
    case Library::RasClient:
      return "ras-client";
    case Library::NcclTests:
      return "nccl-tests";
    case Library::Pasted:
      return "pasted";
  }
  return "";
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
