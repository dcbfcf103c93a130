#include "log/event.h"

#include "base/text.h"

namespace ncclog {
namespace {

/// Mostly NULs or control bytes: not text, whatever it once was.
bool is_unreadable(std::string_view line) {
  if (line.empty() || line.find('\0') == line.npos) return false;
  size_t odd = 0;
  for (const char c : line) odd += (c >= 0 && c < 0x20 && c != '\t' && c != '\x1b') ? 1 : 0;
  return odd * 2 > line.size();
}

/// "Last error: Net : Connection closed by remote peer …" is the WARN that it quotes, if that is a
/// known one: it stands for the line that the process did not log.
bool read_quoted_warning(std::string_view text, const WordingTable& wordings, Event& event) {
  constexpr std::string_view kLabel = "Last error: ";
  constexpr std::string_view kXlaLabel = "Last NCCL warning(error) log entry (may be unrelated) ";
  if (text.starts_with(kLabel)) {
    text = trim(text.substr(kLabel.size()));
  } else if (text.starts_with(kXlaLabel)) {
    text = text.substr(kXlaLabel.size());
    if (text.starts_with('\'')) text.remove_prefix(1);
    if (text.ends_with('\'')) text.remove_suffix(1);
  } else {
    return false;
  }
  Message quoted;
  wordings.nccl.read(text, quoted);
  if (quoted.kind == nullptr || warning_of(quoted) == nullptr) return false;
  event.message = quoted;
  event.header.level = Level::Warn;
  event.header.message = text;
  return true;
}

/// RAS answers questions about the job from a thread of its own. What fails in it fails no call.
constexpr Warning kRasOnly{
    WarnSeverity::Info, WarnOrigin::System,
    "It is of RAS, which lets ncclras ask a running job; the job itself does not need it."};

}  // namespace

Event parse_event(std::string_view line, const WordingTable& wordings) {
  Event event;
  Header& header = event.header;
  read_header(line, header);
  const bool nccl = is_nccl(header);
  const std::string_view message = trim(header.message);
  if (nccl) {
    wordings.nccl.read(message, event.message);
  } else if (!read_quoted_warning(message, wordings, event)) {
    wordings.foreign.read(message, event.message);
  }
  // Foreign is the default: an unreadable line is looked for only among those that nobody claims.
  if (event.message.kind != nullptr) {
    event.fate = LineFate::Recognised;
  } else if (nccl) {
    event.fate = LineFate::Unrecognised;
  } else if (is_unreadable(line)) {
    event.fate = LineFate::Unreadable;
  }
  return event;
}

const Warning* warning_of(const Event& event) {
  const Level level = event.header.level;
  const bool may_warn = level == Level::Warn || level == Level::None || level == Level::Framework;
  const Warning* warning = may_warn ? warning_of(event.message) : nullptr;
  if (warning == nullptr || warning->severity != WarnSeverity::Fatal) return warning;
  const std::string_view file = event.header.file;
  return file.starts_with("ras/") || file.find("/ras/") != file.npos ? &kRasOnly : warning;
}

namespace {

void move(std::string_view& view, std::string_view from, std::string_view to) {
  // Empty views and constants, such as a choice's word, do not point into the line.
  const bool inside = view.data() >= from.data() && view.data() <= from.data() + from.size();
  if (inside) view = to.substr(static_cast<size_t>(view.data() - from.data()), view.size());
}

}  // namespace

Message moved(const Message& message, std::string_view from, std::string_view to) {
  Message result = message;
  const size_t fields = message.kind == nullptr ? 0 : message.kind->fields.size();
  for (size_t i = 0; i < fields; ++i) move(result.fields[i], from, to);
  return result;
}

Event moved(const Event& event, std::string_view from, std::string_view to) {
  Event result = event;
  Header& header = result.header;
  for (std::string_view* view :
       {&header.host, &header.file, &header.process_group, &header.process_group_name,
        &header.message, &header.unexplained, &header.prefix.host, &header.prefix.address,
        &header.prefix.time, &header.prefix.stream, &header.prefix.progress_title}) {
    move(*view, from, to);
  }
  result.message = moved(event.message, from, to);
  return result;
}

LineTime time_of_line(std::string_view line) {
  return time_before(line, parse_header(line).message);
}

bool may_start_unit(std::string_view line) { return is_whole_info(parse_header(line)); }

}  // namespace ncclog
