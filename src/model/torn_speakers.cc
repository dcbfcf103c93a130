#include "model/torn_speakers.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ncclog {
namespace {

/// The name lost its beginning, or stands behind what is left of another record: "Sockb".
bool is_torn_name_of(const SpeakerLog& torn, const SpeakerLog& whole) {
  const std::string& host = torn.speaker.host;
  const std::string& name = whole.speaker.host;
  if (torn.lines >= whole.lines || host.size() == name.size()) return false;
  return name.ends_with(host) || (torn.torn && host.ends_with(name));
}

/// Joins two logs of one process; their lines may be mixed.
void join(SpeakerLog& whole, SpeakerLog&& torn) {
  const SourceRef last = whole.last;
  std::string last_text = whole.last_text;
  const bool ends_whole = torn.last < last;
  whole.merge(std::move(torn));
  whole.first = std::min(whole.first, torn.first);
  if (ends_whole) {
    whole.last = last;
    whole.last_text = std::move(last_text);
  }
  whole.torn = true;
}

}  // namespace

void join_torn_speakers(std::vector<SpeakerLog>& logs) {
  std::map<int64_t, std::vector<size_t>> by_pid;
  for (size_t i = 0; i < logs.size(); ++i) {
    const Speaker& speaker = logs[i].speaker;
    if (speaker.pid >= 0 && !speaker.host.empty()) by_pid[speaker.pid].push_back(i);
  }
  for (const auto& [pid, same] : by_pid) {
    for (const size_t torn : same) {
      const auto whole = std::find_if(
          same.begin(), same.end(), [&](size_t i) { return is_torn_name_of(logs[torn], logs[i]); });
      if (whole == same.end()) continue;
      join(logs[*whole], std::move(logs[torn]));
      logs[torn].lines = 0;
    }
  }
  std::erase_if(logs, [](const SpeakerLog& log) { return log.lines == 0; });
}

}  // namespace ncclog
