#include "replay/recorded_calls.h"

#include <algorithm>

#include "base/text.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "model/call_coverage.h"
#include "model/rank_segment.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

/// "… [nranks=8] stream 0x5581aa30": the pointer at the end of a COLL line.
uint64_t stream_of(std::string_view message) {
  constexpr std::string_view kWord = " stream ";
  const size_t at = message.rfind(kWord);
  if (at == std::string_view::npos) return 0;
  return parse_hex(trim(message.substr(at + kWord.size()))).value_or(0);
}

void read_buffers(const Event& event, bool is_trace, RecordedCall& call) {
  if (is_trace) {
    const auto line = read_message<CallTrace>(event.message);
    call.sendbuff = line.sendbuff.value;
    call.recvbuff = line.recvbuff.value;
    call.stream = line.stream.value;
  } else {
    const auto line = read_message<CollectiveCall>(event.message);
    call.sendbuff = line.sendbuff.value;
    call.recvbuff = line.recvbuff.value;
    call.op_count = line.op_count.value;
    call.stream = stream_of(event.header.message);
  }
  // A message has one buffer, and releases differ in where they print that of Send.
  if (is_message(call.call.op.view())) {
    const uint64_t buffer = call.sendbuff != 0 ? call.sendbuff : call.recvbuff;
    call.sendbuff = call.call.op.view() == "Send" ? buffer : 0;
    call.recvbuff = call.call.op.view() == "Send" ? 0 : buffer;
  }
}

}  // namespace

CallRecorder::CallRecorder(const Job& job, const CallWindows& windows) {
  std::map<std::pair<int, int>, Membership> of;
  for (const auto& [member, window] : windows) {
    const CommRank& rank = rank_of(job, member);
    of[{rank.log, rank.segment}] = member;
    recorded_.members.push_back(member);
  }
  for (size_t log = 0; log < job.logs.size(); ++log) add_speaker(job, log, of, windows);
}

void CallRecorder::add_speaker(const Job& job, size_t log,
                               const std::map<std::pair<int, int>, Membership>& of,
                               const CallWindows& windows) {
  const SpeakerLog& spoken = job.logs[log];
  const auto& all = spoken.comms.all;
  if (spoken.speaker.pid < 0 || !spoken.unplaced.empty()) return;
  for (size_t place = 0; place < all.size(); ++place) {
    const auto found = of.find({static_cast<int>(log), static_cast<int>(place)});
    if (found == of.end()) continue;
    const CommRank& rank = rank_of(job, found->second);
    const CommSegment& segment = segment_of(job, rank);
    Speaker& speaker = speakers_[{std::string_view(spoken.speaker.host), spoken.speaker.pid}];
    speaker.process = rank.process;
    Cursor& cursor = speaker.cursors[{segment.comm, life_of(all, place)}];
    cursor.member = found->second;
    cursor.by_traces = &ncclog::calls_of(segment) == &segment.traces;
    cursor.windows = windows.at(found->second);
  }
}

void CallRecorder::follow_lives(Speaker& speaker, const Message& message) {
  CommSegments& lives = speaker.lives;
  const uint16_t kind = message.kind->index;
  if (kind == kKindIndex<CommInit>) lives.add({0, 1}, read_message<CommInit>(message));
  if (kind == kKindIndex<CommEnd>) lives.add({0, 1}, read_message<CommEnd>(message));
  if (kind == kKindIndex<CommLayout>) lives.add(read_message<CommLayout>(message));
  if (kind == kKindIndex<CallInit>) lives.add({0, 1}, read_message<CallInit>(message));
  if (kind == kKindIndex<CommAnnounced>) {
    lives.add({0, 1}, read_message<CommAnnounced>(message));
  }
}

void CallRecorder::follow_groups(Speaker& speaker, int64_t thread, std::string_view function) {
  Group& group = speaker.groups[thread];
  recorded_.has_groups = true;
  if (function == "ncclGroupStart") {
    if (group.depth++ == 0) group.number = groups_++;
  } else if (group.depth > 0) {
    --group.depth;
  }
}

CallRecorder::Cursor* CallRecorder::cursor_of(Speaker& speaker, const ReadCall& call) {
  CommSegments& lives = speaker.lives;
  int place = lives.living_segment(call.comm);
  const bool is_known = place >= 0 && static_cast<size_t>(place) < speaker.by_place.size();
  if (is_known && speaker.by_place[static_cast<size_t>(place)] != nullptr) {
    return speaker.by_place[static_cast<size_t>(place)];
  }
  // The first call of a life is noted: by calls that were made one life is told from the next.
  place = lives.add_call({0, 1}, {}, call.comm, call.nranks, call.call);
  if (static_cast<size_t>(place) >= speaker.by_place.size()) {
    speaker.by_place.resize(static_cast<size_t>(place) + 1, nullptr);
  }
  const auto found =
      speaker.cursors.find({call.comm, life_of(lives.all, static_cast<size_t>(place))});
  if (found == speaker.cursors.end()) return nullptr;
  return speaker.by_place[static_cast<size_t>(place)] = &found->second;
}

CallRecorder::Numbered CallRecorder::number(Cursor& cursor, std::string_view op, int peer) {
  if (!is_message(op)) return {cursor.collectives++, cursor.windows.collectives};
  const bool sends = op == "Send";
  const auto& windows = sends ? cursor.windows.sent : cursor.windows.received;
  const auto window = windows.find(peer);
  if (window == windows.end()) return {};
  return {(sends ? cursor.sent : cursor.received)[peer]++, window->second};
}

void CallRecorder::add_call(Speaker& speaker, const Event& event, const ReadCall& call) {
  Cursor* cursor = cursor_of(speaker, call);
  if (cursor == nullptr || cursor->by_traces != call.is_trace) return;
  const std::string_view op = call.call.op.view();
  if (is_point_to_point(call.call.op) && !is_message(op)) {
    ++recorded_.other_calls;
    return;
  }
  const Numbered numbered = number(*cursor, op, call.call.root);
  if (numbered.index < numbered.wanted.from) ++cursor->earlier;
  if (!numbered.wanted.holds(numbered.index)) return;
  RecordedCall recorded{.by = cursor->member, .index = numbered.index, .call = call.call};
  read_buffers(event, call.is_trace, recorded);
  const auto group = speaker.groups.find(event.header.tid);
  if (group != speaker.groups.end() && group->second.depth > 0) {
    recorded.group = group->second.number;
  }
  recorded_.by_process[speaker.process].push_back(recorded);
}

RecordedCalls CallRecorder::take() {
  for (const auto& [name, speaker] : speakers_) {
    for (const auto& [life, cursor] : speaker.cursors) {
      if (cursor.earlier > 0) recorded_.earlier[cursor.member] = cursor.earlier;
    }
  }
  return std::move(recorded_);
}

void CallRecorder::add(const Event& event) {
  if (event.message.kind == nullptr || event.header.pid < 0) return;
  const auto found = speakers_.find({event.header.host, event.header.pid});
  if (found == speakers_.end()) return;
  if (const auto call = read_call(event)) {
    add_call(found->second, event, *call);
  } else if (event.message.kind->index == kKindIndex<GroupMark>) {
    follow_groups(found->second, event.header.tid, read_message<GroupMark>(event.message).function);
  } else {
    follow_lives(found->second, event.message);
  }
}

}  // namespace ncclog
