#include "model/shard/foreign_lines.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "log/record_marks.h"
#include "model/process_log.h"

namespace ncclog {
ForeignRun take_lines(ForeignRun& run, uint64_t lines) {
  ForeignRun taken{run.text, run.number, lines, 0, run.is_copy};
  size_t end = 0;
  for (uint64_t line = 0; line < lines; ++line) {
    const size_t next = run.text.find('\n', end);
    taken.empty += next == end ? 1 : 0;
    end = next + 1;
  }
  taken.text = run.text.substr(0, end);
  run.text.remove_prefix(end);
  run.number += lines;
  run.lines -= lines;
  run.empty -= taken.empty;
  return taken;
}

ForeignRun take_last_lines(ForeignRun& run, uint64_t lines) {
  ForeignRun taken{{}, run.number + run.lines - lines, lines, 0, run.is_copy};
  size_t begin = run.text.size();
  for (uint64_t line = 0; line < lines; ++line) {
    const void* end = begin < 2 ? nullptr : ::memrchr(run.text.data(), '\n', begin - 1);
    const size_t start =
        end == nullptr ? 0
                       : static_cast<size_t>(static_cast<const char*>(end) - run.text.data()) + 1;
    taken.empty += begin - start == 1 ? 1 : 0;
    begin = start;
  }
  taken.text = run.text.substr(begin);
  run.text.remove_suffix(taken.text.size());
  run.lines -= lines;
  run.empty -= taken.empty;
  return taken;
}

namespace {

/// What NCCL prints behind "via". Blanks stand in names of networks, and between words:
/// "direct shared memory".
bool is_path(std::string_view path) {
  const Transport transport = transport_of(path);
  const std::string_view name = path.substr(0, path.find(" comm 0x"));
  const bool may_hold_all =
      transport == Transport::NET || transport == Transport::COLLNET || name.find(' ') == name.npos;
  const bool is_words = std::all_of(name.begin(), name.end(), [](char c) {
    return is_word(c) || c == ' ' || c == '/' || c == '-';
  });
  return transport != Transport::Other && path.find(':') == path.npos &&
         path.find("[20") == path.npos && (may_hold_all || is_words);
}

/// Words and marks that stand in sentences and in no value: of a path, a list of devices, a number.
bool is_prose(std::string_view value) {
  constexpr std::string_view kMarks[] = {"  ",  ": ", " - ", " | ", "(",
                                         " = ", "] ", ". ",  " 0x", "\t"};
  return value.find(' ') != value.npos &&
         std::any_of(std::begin(kMarks), std::end(kMarks),
                     [&](std::string_view mark) { return value.find(mark) != value.npos; });
}

/// "0.done", "0#0 all_reduce from": what NCCL prints of a number ends with a full stop, and no list
/// of numbers has blanks but behind its commas.
bool is_number_and_more(std::string_view value) {
  const size_t end = std::min(value.find_first_not_of("-0123456789"), value.size());
  const std::string_view rest = value.substr(end);
  const size_t blank = rest.find(' ');
  const bool is_sentence = blank != rest.npos && (blank == 0 || rest[blank - 1] != ',');
  const bool goes_on = rest.size() > 1 && rest[0] == '.' && !is_digit(rest[1]);
  return end > 0 && (is_sentence || goes_on);
}

bool is_setting(const EnvSet& set) {
  const bool name = std::all_of(set.name.begin(), set.name.end(), [](char c) {
    return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z');
  });
  return name && !set.value.starts_with(' ') && !is_prose(set.value) &&
         !is_number_and_more(set.value);
}

/// "Socket", "AWS Libfabric": words, and few of them.
bool is_network(std::string_view name) {
  constexpr size_t kLongest = 64;
  return name.size() <= kLongest && !name.starts_with(' ') && name.find("  ") == name.npos &&
         std::count(name.begin(), name.end(), ' ') <= 2 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_word(c) || c == ' ' || c == '-' || c == '.' || c == '+';
         });
}

/// "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE"; nothing.
bool is_device_list(std::string_view devices) {
  devices = trim(devices);
  const bool is_list = devices.size() > 2 && devices[0] == '[' && is_digit(devices[1]);
  return (devices.empty() || is_list) && devices.find("[RO]") == devices.npos;
}

/// False where words of a program or of another process stand in a message that any text fits.
bool is_plausible(const Message& message) {
  if (message.kind == nullptr) return true;
  const uint16_t kind = message.kind->index;
  if (kind == kKindIndex<ChannelConnected>) {
    return is_path(read_message<ChannelConnected>(message).path);
  }
  if (kind == kKindIndex<EnvSet>) return is_setting(read_message<EnvSet>(message));
  if (kind == kKindIndex<NetDevices>) {
    return is_device_list(read_message<NetDevices>(message).devices);
  }
  if (kind == kKindIndex<NetworkSelected>) return is_network(message.fields[0]);
  if (kind != kKindIndex<NcclVersion>) return true;
  const std::string_view name = message.fields[0];
  return name.find_first_of(":/#") == name.npos;
}

}  // namespace

bool holds_another(const Event& event) {
  const Header& header = event.header;
  return header.anchored_twice || holds_process(header.message) ||
         find_task_tag(header.message, true) != header.message.npos || !is_plausible(event.message);
}

}  // namespace ncclog
