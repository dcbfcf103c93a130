#include <algorithm>
#include <utility>

#include "base/text.h"
#include "log/event.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMostOpen = 64;  ///< Ranks of a node, and more.
constexpr int kMostLines = 2000;  ///< Python leaves frames out that repeat themselves.

template <typename T>
bool is_of(const Event& event) {
  return event.message.kind != nullptr && event.message.kind->index == kKindIndex<T>;
}

/// Who prints a line, as far as its prefix says.
std::string voice_of(const Prefix& prefix) {
  std::string voice;
  for (const int64_t number : {int64_t{prefix.rank}, int64_t{prefix.local_rank}, prefix.pid}) {
    voice += std::to_string(number) + ' ';
  }
  return voice.append(prefix.host).append(" ").append(prefix.address);
}

/// The exception that the first line behind the frames names, whatever its class is called; a
/// message without a kind if it is none.
Message read_exception(std::string_view text) {
  Message message;
  for (const Wording& wording : all_kinds()[kKindIndex<PythonException>].wordings) {
    if (wording.is_only_asked() && match_wording(wording, text, message)) return message;
  }
  return {};
}

}  // namespace

bool Tracebacks::concern(const Event& event) const {
  return is_open() || is_of<ExceptionIgnored>(event) || is_of<TracebackStarted>(event);
}

Event Tracebacks::read(std::string_view line, const Event& event) {
  Event result = event;
  const bool is_ignored = is_of<ExceptionIgnored>(event);
  const bool is_begin = is_of<TracebackStarted>(event);
  if (may_start_unit(line)) {
    open_.clear();
    return result;
  }
  const std::string voice = voice_of(event.header.prefix);
  std::erase_if(open_, [](Open& open) { return ++open.lines > kMostLines; });
  auto open = std::ranges::find(open_, voice, &Open::voice);
  if (is_ignored || is_begin) {
    // The traceback begins on the line behind the words that make it one to be ignored.
    const bool was_announced = open != open_.end() && open->is_ignored && !open->has_begun;
    if (open != open_.end()) open_.erase(open);
    if (open_.size() == kMostOpen) open_.erase(open_.begin());
    open_.push_back({voice, is_ignored || was_announced, is_begin});
    if (was_announced) {
      result.message = {};
      result.fate = LineFate::Foreign;
    }
    result.is_of_traceback = true;
    return result;
  }
  if (open == open_.end()) return result;
  const std::string_view text = event.header.message;
  const bool is_frame = open->has_begun && (text.starts_with(' ') || text.starts_with('\t'));
  if (is_frame) {
    open->has_frames |= trim(text).starts_with("File \"");
    return result;
  }
  const Open ended = *open;
  open_.erase(open);
  if (!ended.has_frames) return result;
  result.is_of_traceback = true;
  if (ended.is_ignored) {
    result.message = {};
    result.fate = LineFate::Foreign;
  } else if (event.fate == LineFate::Foreign && event.header.level == Level::None) {
    result.message = read_exception(trim(text));
    if (result.message.kind != nullptr) result.fate = LineFate::Recognised;
  }
  return result;
}

}  // namespace ncclog
