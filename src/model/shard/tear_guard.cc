#include <algorithm>

#include "base/collectives.h"
#include "base/text.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "log/messages.h"
#include "log/record_starts.h"
#include "model/shard/read_log.h"

namespace ncclog {
namespace {

// Does an NCCL message hold more than its process printed?
//
//   Using network Using network Socket      a name of more than a word that NCCL never prints
//   Channel 00/0 : 0[0] -> 1[1] via node-b:52:52 [1] NCCL INFO …
//
// Where several processes write into one file, a message that ends with a free text may have
// another record, or a program's words, in that text.

/// What NCCL prints behind "via". Blanks stand in names of networks, and between words:
/// "direct shared memory".
bool is_path(std::string_view path) {
  const Transport transport = transport_of(path);
  const std::string_view name = path.substr(0, path.find(" comm 0x"));
  const bool may_hold_all =
      transport == Transport::NET || transport == Transport::COLLNET || name.find(' ') == name.npos;
  const bool is_words = std::ranges::all_of(
      name, [](char c) { return is_word(c) || c == ' ' || c == '/' || c == '-'; });
  return transport != Transport::Other && path.find(':') == path.npos &&
         path.find("[20") == path.npos && (may_hold_all || is_words);
}

/// Words and marks that stand in sentences and in no value: of a path, a list of devices, a number.
bool is_prose(std::string_view value) {
  constexpr std::string_view kMarks[] = {"  ",  ": ", " - ", " | ", "(",
                                         " = ", "] ", ". ",  " 0x", "\t"};
  return value.find(' ') != value.npos && holds_one_of(value, kMarks);
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
  const bool name = std::ranges::all_of(
      set.name, [](char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z'); });
  return name && !set.value.starts_with(' ') && !is_prose(set.value) &&
         !is_number_and_more(set.value);
}

/// "Socket", "AWS Libfabric": words, and few of them.
bool is_network(std::string_view name) {
  constexpr size_t kLongest = 64;
  return name.size() <= kLongest && !name.starts_with(' ') && name.find("  ") == name.npos &&
         std::ranges::count(name, ' ') <= 2 && std::ranges::all_of(name, [](char c) {
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
  switch (message.kind->index) {
    case kKindIndex<ChannelConnected>:
      return is_path(read_message<ChannelConnected>(message).path);
    case kKindIndex<EnvSet>:
      return is_setting(read_message<EnvSet>(message));
    case kKindIndex<NetDevices>:
      return is_device_list(read_message<NetDevices>(message).devices);
    case kKindIndex<NetworkSelected>:
      return is_network(message.fields[0]);
    case kKindIndex<NcclVersion>:
      return message.fields[0].find_first_of(":/#") == std::string_view::npos;
    default:
      return true;
  }
}

/// True for an NCCL message with the beginning of another record, or other people's words, in it.
bool holds_another(const Event& event) {
  const Header& header = event.header;
  return header.anchored_twice || holds_process(header.message) ||
         find_task_tag(header.message, true) != header.message.npos || !is_plausible(event.message);
}

// What the guard asks of a line.

/// Bytes. NCCL prints messages of up to 1,023; a longer line is no beginning of one, and to try all
/// places where it may have been cut would take hours.
constexpr size_t kLongestRecord = 4096;
constexpr int kMaxTries = 1 << 18;
constexpr size_t kMaxOpen = 64;
constexpr size_t kMaxLost = 4096;

/// Place in `text` of a view into it.
size_t place_of(std::string_view part, std::string_view text) {
  return static_cast<size_t>(part.data() - text.data());
}

bool names_process(const Header& header) {
  return is_nccl(header) && !header.host.empty() && header.pid >= 0;
}

/// Where a launcher's tag for the record at `begin` begins: "…3b000   [1,0]<stdout>:node-a:41:41".
size_t tag_begin(std::string_view text, size_t begin) {
  constexpr size_t kLongestTag = 80;
  const size_t least = begin - std::min(begin, kLongestTag);
  size_t found = begin;
  for (size_t at = begin; at-- > least;) {
    if (text[at] == '[' && parse_prefix(text.substr(at, begin - at)).length == begin - at)
      found = at;
  }
  return found;
}

/// True if bytes that follow may belong to what the record ends with: a number, a name.
bool may_go_on(std::string_view text) {
  for (const char more : {'0', 'x'}) {
    if (parse_event(std::string(text) + more, all_wordings()).fate == LineFate::Recognised)
      return true;
  }
  return false;
}

/// True if none of the fields holds more where the record goes on: a wording's last words, of which
/// nothing is noted, are all that another record may have cut off.
bool holds_all(const Event& event, std::string_view text) {
  if (event.message.kind == nullptr) return false;
  const std::string longer = std::string(trim(text)) + '0';
  const Event other = parse_event(longer, all_wordings());
  return other.message.wording == event.message.wording &&
         std::ranges::equal(event.message.fields, other.message.fields);
}

/// Padding, as no record ends with it.
bool ends_apart(std::string_view text) { return text.ends_with("  ") || text.ends_with('\t'); }

/// "AllReduce: opCount 5c …": counted line by line, so that none may be lost unnoticed.
bool is_call(const Header& header) {
  return header.message.find(": opCount ") != header.message.npos;
}

/// "gpu-no" of "AllReducegpu-no: opCount 5c …": what stands behind a function's name; empty if
/// there is nothing, or the function is not known.
std::string_view behind_function(const Header& header) {
  const size_t end = header.message.find(':');
  if (end == header.message.npos || !header.message.substr(end).starts_with(": opCount "))
    return {};
  const std::string_view name = header.message.substr(0, end);
  // "ReduceScatter" begins with another function's name.
  size_t longest = 0;
  for (const OperationTraits& function : kOperations) {
    if (name.starts_with(function.name)) longest = std::max(longest, function.name.size());
  }
  return longest > 0 ? name.substr(longest) : std::string_view();
}

/// "node-a:41:", with which the lines of a process begin.
std::string name_of(std::string_view host, int64_t pid) {
  return std::string(host) + ':' + std::to_string(pid) + ':';
}

unsigned char first_byte(std::string_view host) {
  return static_cast<unsigned char>(host.empty() ? ':' : host.front());
}

/// What was cut off inside a stamp or a prefix looks like the beginning of the record before it,
/// but for its digits. A launcher's prefix with nothing behind it is an empty line of somebody.
bool is_beginning_of_head(std::string_view line, std::string_view head) {
  if (line.empty() || line.size() > head.size()) return false;
  const bool is_bare = line.size() >= trim(head).size() && parse_prefix(line).time.empty();
  if (is_bare) return false;
  return std::equal(line.begin(), line.end(), head.begin(),
                    [](char a, char b) { return a == b || (is_digit(a) && is_digit(b)); });
}

}  // namespace

bool TearGuard::is_known(const Header& header) const {
  const KnownProcess& known = known_as(header.pid);
  return known.pid == header.pid && known.host == header.host;
}

/// The first process that spoke and of which `fits` holds; nullptr: none.
template <typename Fits>
const TearGuard::KnownProcess* TearGuard::find_known(Fits fits) const {
  for (const KnownProcess& known : recent_) {
    if (known.pid >= 0 && fits(known)) return &known;
  }
  return nullptr;
}

bool TearGuard::is_known_host(std::string_view host) const {
  return find_known([&](const KnownProcess& known) { return known.host == host; }) != nullptr;
}

/// True for a name that is almost the known one. It is taken for torn, and its line for the known
/// process's, until it has come often: containers share pids.
bool TearGuard::is_torn_form(KnownProcess& known, const Header& header) {
  const bool alike = known.pid == header.pid && !shared_pids_.contains(header.pid) &&
                     (known.host.ends_with(header.host) || header.host.ends_with(known.host) ||
                      is_interrupted(header.host, known.host));
  if (!alike) return false;
  is_damaged_ = true;
  if (known.other != header.host) {
    known.other = header.host;
    known.others = 0;
  }
  const std::string names[] = {name_of(known.host, known.pid), name_of(header.host, header.pid)};
  if (alike_.size() < kMaxLost) alike_.insert(std::begin(names), std::end(names));
  if (++known.others < kOften) return true;
  if (known.lines >= kOften && shared_pids_.size() < kMaxLost) {
    for (const std::string& name : names) alike_.erase(name);
    shared_pids_.insert(header.pid);
  }
  return false;
}

void TearGuard::note_speaker(const Header& header) {
  if (!names_process(header)) return;
  KnownProcess& known = known_as(header.pid);
  if (is_known(header)) {
    known.lines = std::min(known.lines + 1, kOften);
    return;
  }
  if (is_torn_form(known, header)) return;
  known = {.host = std::string(header.host), .pid = header.pid, .lines = 1};
  first_bytes_.set(first_byte(known.host));
}

/// The entry of a process that speaks in a known line; nullptr if another host has its pid.
TearGuard::KnownProcess* TearGuard::speaker_of_known(std::string_view host, int64_t pid) {
  KnownProcess& known = known_as(pid);
  if (known.pid == pid) return known.host == host ? &known : nullptr;
  known = {.host = std::string(host), .pid = pid};
  first_bytes_.set(first_byte(host));
  return &known;
}

bool TearGuard::note_speaker(const CachedHead& head) {
  KnownProcess* const known = speaker_of_known(head.host, head.pid);
  if (known == nullptr) return false;
  known->head = &head;
  return true;
}

/// Where the record of an NCCL header begins if it cut another one off; 0 if nothing stands before
/// it but what launchers and collectors put there.
size_t TearGuard::record_begin(const Header& header, std::string_view text) const {
  if (!is_nccl(header) || header.host.empty()) return 0;
  const std::string_view before = header.unexplained;
  const KnownProcess& own = known_as(header.pid);
  const bool is_longer = own.pid == header.pid && own.host.size() < header.host.size() &&
                         header.host.ends_with(own.host);
  // Bytes of the host that are the end of what stands before the record: "Socknode-b".
  const size_t glued =
      is_longer && (header.torn || !before.empty()) ? header.host.size() - own.host.size() : 0;
  const auto begins = [&](const KnownProcess& known) {
    return before.starts_with(known.host + ':');
  };
  const bool is_cut = header.torn || glued > 0 ||
                      (!before.empty() && (holds_process(before) || find_known(begins) != nullptr ||
                                           is_understood(before)));
  return is_cut ? tag_begin(text, place_of(header.host, text) + glued) : 0;
}

/// The process with whose host and pid `text` begins; nullptr if it is not known.
const TearGuard::KnownProcess* TearGuard::speaker_before(std::string_view text) const {
  // Asked of every line that is not NCCL's: few begin like a host.
  if (text.empty() || !first_bytes_[static_cast<unsigned char>(text.front())]) return nullptr;
  return find_known([&](const KnownProcess& known) {
    return text.starts_with(known.host) && text.starts_with(name_of(known.host, known.pid));
  });
}

/// A process, not on `other_than`, whose line `text` may begin: "gpu-no", "gpu-node-1:4121".
const TearGuard::KnownProcess* TearGuard::begun_by(std::string_view text,
                                                   std::string_view other_than) const {
  return find_known([&](const KnownProcess& known) {
    return known.host != other_than &&
           (known.host.starts_with(text) || text.starts_with(known.host + ':'));
  });
}

void TearGuard::add(const Line& record, const Event& event, int lines) {
  last_is_whole_ = false;
  if (is_followed(record, lines)) return add_followed(record, event);
  const size_t begin = record_begin(event.header, record.text);
  if (begin == 0) return add_whole(record, event, lines);
  Line piece = record;
  piece.text = record.text.substr(0, begin);
  add_cut_piece(piece);
  piece.text = record.text.substr(begin);
  const Event last = parse_event(piece.text, all_wordings());
  // The end of the piece before it may stand before its host, or in its place.
  const bool is_new = names_process(last.header) && !is_known(last.header);
  if (is_new) lose(last.header.host, last.header.pid);
  const bool is_apart = ends_apart(record.text.substr(0, begin));
  if (is_new && !is_apart && !is_known_host(last.header.host)) {
    lost_pids_.insert(last.header.pid);
    // Nor where what it cut off ends.
    const bool was_opened =
        !open_.empty() && record.text.substr(0, begin).ends_with(open_.back().text);
    if (was_opened) give_up(open_.size() - 1);
    release({}, -1);
    doubt(last, lines);
  } else {
    add(piece, last, lines);
  }
  last_is_whole_ = false;
}

/// Adds a record behind which another one begins in the same line.
void TearGuard::add_followed(const Line& record, const Event& event) {
  // What stands before it says what it is, as the frames do of an exception.
  if (!event.is_of_traceback || event.message.kind == nullptr) return add_cut_piece(record);
  is_damaged_ = true;
  hold(record, event, 0);
}

/// Adds what stands before another record on a line: a record without its line end, or its
/// beginning.
void TearGuard::add_cut_piece(const Line& piece) {
  is_damaged_ = true;
  const Event event = parse_event(piece.text, all_wordings());
  const Header& header = event.header;
  if (const size_t begin = record_begin(header, piece.text); begin > 0) {
    Line part = piece;
    part.text = piece.text.substr(0, begin);
    add_cut_piece(part);
    part.text = piece.text.substr(begin);
    return add_cut_piece(part);
  }
  const std::string_view text = trim(header.message);
  if (header.level == Level::None) {
    if (text.empty()) return;
    const KnownProcess* known = begun_by(text);
    if (known == nullptr) return hold(piece, event, 0);
    // "gpu-node" may begin the lines of two hosts.
    const KnownProcess* other = begun_by(text, known->host);
    Header beginning;
    if (other == nullptr) beginning.host = known->host;
    release(beginning.host, -1);  // A rest comes behind what it is the rest of.
    return open(beginning, piece.text);
  }
  const bool ends_here = ends_apart(piece.text) || !may_go_on(trim(piece.text)) ||
                         (header.level == Level::Framework && holds_all(event, piece.text));
  const bool is_whole = event.fate == LineFate::Recognised && !holds_another(event) && ends_here;
  if (is_whole) return hold(piece, event, 0);
  release(header.host, header.pid);
  if (!names_process(header)) return shard_.add_lost_record();
  open(header, piece.text);
}

/// "ite4121:4188": the rest of a header behind what is left of another line.
bool TearGuard::ends_with_pid(std::string_view text) const {
  constexpr std::string_view kDigits = "0123456789";
  constexpr size_t kFewest = 3;  // Digits; times have two.
  const std::string_view left = trim(text);
  const size_t mark = left.find_last_not_of(kDigits);
  if (mark == left.npos || left[mark] != ':' || mark + 1 == left.size()) return false;
  const std::string_view before = left.substr(0, mark);
  const std::string_view number = before.substr(before.find_last_not_of(kDigits) + 1);
  const auto ends = [&](const KnownProcess& known) {
    return std::to_string(known.pid).ends_with(number);
  };
  return number.size() >= kFewest && find_known(ends) != nullptr;
}

/// "gpu-node-1:", behind which a host that is not known is a piece of a header.
bool TearGuard::ends_with_host(std::string_view text) const {
  if (!text.ends_with(':')) return false;
  text.remove_suffix(1);
  return find_known([&](const KnownProcess& known) { return text.ends_with(known.host); }) !=
         nullptr;
}

/// The rest of a header, or a host that another process's words stand in: "fabr1" for "node-1".
bool TearGuard::is_torn_header(const Header& header) const {
  const std::string_view before = header.unexplained;
  if (header.host.empty()) {
    // "::41:41" is a host without a name.
    const bool is_rest =
        !before.empty() && !before.starts_with("::") &&
        (before.find_first_not_of("0123456789:") == before.npos || ends_with_pid(before));
    const bool is_cut = header.level != Level::Version &&
                        (header.cuda_dev >= 0 || !header.file.empty() || !trim(before).empty());
    return ((header.cuda_dev >= 0 && is_rest) || (is_cut && (is_damaged_ || !open_.empty()))) &&
           find_known([](const KnownProcess&) { return true; }) != nullptr;
  }
  const bool is_number = header.host.find_first_not_of("0123456789") == header.host.npos;
  const auto has_it_as_pid = [&](const KnownProcess& one) {
    return std::to_string(one.pid) == header.host;
  };
  const bool is_pid = is_number && find_known(has_it_as_pid) != nullptr;
  if (is_pid || (ends_with_host(before) && !is_known_host(header.host))) return true;
  const KnownProcess& known = known_as(header.pid);
  if (before.empty() || known.pid != header.pid || known.host == header.host) return false;
  // No launcher writes its label up to the host without a mark.
  const bool is_glued = header.host.data()[-1] == '/' || is_word(header.host.data()[-1]);
  return known.host.back() == header.host.back() || (is_glued && !is_known_host(header.host));
}

/// True for a call behind whose function another process's line begins.
bool TearGuard::has_torn_function(const Header& header) const {
  if (!names_process(header)) return false;
  const std::string_view rest = behind_function(header);
  const auto begins = [&](const KnownProcess& known) { return known.host.starts_with(rest); };
  return !rest.empty() && find_known(begins) != nullptr;
}

/// True for a call in a communicator that no other line of its process names, in a damaged stretch:
/// of the pieces of two calls a third one can be made. Such a pointer counts from its second line
/// on.
bool TearGuard::is_in_strange_comm(const Event& event) {
  constexpr std::string_view kPointer = "comm 0x";
  constexpr size_t kMaxComms = 256;
  const Header& header = event.header;
  // Most lines of an initialisation are of channels, which name no communicator.
  if (header.message.starts_with("Channel ")) return false;
  // Few messages hold its last byte; every one holds its first.
  size_t at = header.message.find('x');
  while (at != header.message.npos && !header.message.substr(0, at + 1).ends_with(kPointer)) {
    at = header.message.find('x', at + 1);
  }
  if (at == header.message.npos || !names_process(header) || !is_known(header)) return false;
  std::set<uint64_t>& comms = known_as(header.pid).comms;
  const std::string_view number = header.message.substr(at + 1);
  size_t digits = 0;
  while (digits < number.size() && is_hex_digit(number[digits])) ++digits;
  const uint64_t comm = parse_hex(number.substr(0, digits)).value_or(0);
  const bool is_strange = !comms.contains(comm) && !comms.empty() && comms.size() < kMaxComms;
  if (comms.size() < kMaxComms) comms.insert(comm);
  return is_strange && is_damaged_ && is_call(header);
}

void TearGuard::add_whole(const Line& record, const Event& event, int lines) {
  const Header& header = event.header;
  if (is_nccl(header) && (holds_another(event) || is_torn_header(header))) {
    if (join(record, event, lines)) return;
    release(header.host, header.pid);
    // Whose words are in it, and whose are missing elsewhere, cannot be told.
    lose({}, -1);
    return doubt(event, lines);
  }
  if (!open_.empty() && join(record, event, lines)) return;
  if (is_in_strange_comm(event) || has_torn_function(header)) return lose_whole(event, lines);
  hold(record, event, lines);
  last_is_whole_ = names_process(header) && is_known(header) && open_.empty();
}

/// A whole record of a known process.
bool TearGuard::is_record(std::string_view text) const {
  if (text.size() > 2 * kLongestRecord) return false;
  const Event event = parse_event(text, all_wordings());
  const Header& header = event.header;
  return event.fate == LineFate::Recognised && names_process(header) && is_known(header) &&
         !header.torn && !holds_another(event);
}

bool TearGuard::completes(const OpenRecord& open, std::string_view rest) {
  if (open.text.size() > kLongestRecord || ++tries_ > kMaxTries) return false;
  piece_.assign(open.text);
  piece_ += rest;
  return is_record(piece_);
}

/// Tries a line that lacks the beginning of an NCCL header as the rest of an open record: it is
/// joined where it completes one alone, and in doubt where it completes several.
bool TearGuard::join(const Line& record, const Event& event, int lines) {
  const Header& header = event.header;
  const bool has_head = header.level == Level::Framework ||
                        (names_process(header) && known_as(header.pid).pid != header.pid) ||
                        (names_process(header) && is_known(header));
  if (has_head || trim(record.text).empty()) return false;
  const auto fits = [&](const OpenRecord& open) { return completes(open, record.text); };
  const auto first = std::ranges::find_if(open_, fits);
  if (first == open_.end()) return false;
  // Any words would fit behind one that ends with a name or number of any length.
  const bool is_proven = !may_go_on(trim(first->text));
  const bool only = std::none_of(first + 1, open_.end(), fits) &&
                    !(held_.any && is_record(held_.text + std::string(record.text)));
  const std::string whole = first->text + std::string(record.text);
  if (only && !is_proven) return false;
  if (!only) {
    // One of them is whole now, and nobody knows which.
    for (size_t i = open_.size(); i-- > 0;) {
      if (completes(open_[i], record.text)) give_up(i);
    }
    const Header& own = held_.event.header;
    if (held_.any && names_process(own)) lose(own.host, own.pid);
    if (header.pid >= 0) lost_pids_.insert(header.pid);
    release({}, -1);
    doubt(event, lines);
    return true;
  }
  open_.erase(first);
  Line joined = record;
  joined.text = whole;
  const Event both = parse_event(joined.text, all_wordings());
  if (is_in_strange_comm(both) || has_torn_function(both.header)) {
    lose_whole(both, lines);
  } else {
    hold(joined, both, lines);
  }
  return true;
}

/// Where, in the line that is held, the rest of an open record may begin; 0: nowhere.
size_t TearGuard::end_of_open(const OpenRecord& open) {
  const std::string_view text = held_.text;
  if (text.size() > kLongestRecord) return 0;
  for (size_t cut = text.size() - 1; cut > 0; --cut) {
    if (completes(open, text.substr(cut))) return cut;
  }
  return 0;
}

void TearGuard::open(const Header& header, std::string_view text) {
  is_damaged_ = true;
  if (header.pid >= 0) close(header.host, header.pid);
  if (open_.size() == kMaxOpen) give_up(0);
  open_.push_back({std::string(text), std::string(header.host), header.pid});
}

/// The process goes on: the rest of its open record has not come, or stands where nobody sees it.
void TearGuard::close(std::string_view host, int64_t pid) {
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].pid == pid && open_[i].host == host) give_up(i);
  }
}

void TearGuard::give_up(size_t open) {
  shard_.add_lost_record();
  lose(open_[open].host, open_[open].pid);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(open));
}

/// Notes that a record of the process is lost; of some process on the host, if the pid is -1, of
/// any, if the host is empty.
void TearGuard::lose(std::string_view host, int64_t pid) {
  is_damaged_ = true;
  note_lost(host, pid);
}

/// The same where nothing of it can stand in other lines.
void TearGuard::note_lost(std::string_view host, int64_t pid) {
  // What is taken for its host may be a piece of it.
  const bool is_other = pid >= 0 && (known_as(pid).pid != pid || known_as(pid).host != host);
  if (is_other && lost_pids_.size() < kMaxLost) lost_pids_.insert(pid);
  std::string name = host.empty() ? "" : pid < 0 ? std::string(host) + ':' : name_of(host, pid);
  if (lost_.size() >= kMaxLost) name.clear();
  lost_.insert(std::move(name));
}

void TearGuard::hold(const Line& record, const Event& event, int lines) {
  const Header& header = event.header;
  release(header.host, header.pid);
  if (names_process(header)) close(header.host, header.pid);
  note_speaker(header);
  note_whole(record.text, event);
  held_.text.assign(record.text);
  held_.event = moved(event, record.text, held_.text);
  held_.line = record;
  held_.line.text = held_.text;
  held_.lines = lines;
  held_.any = true;
}

/// Notes whether the line of a process is whole; if not, what it printed is lost, and the rest of
/// it stands where the process goes on.
void TearGuard::note_whole(std::string_view text, const Event& event) {
  const Header& header = event.header;
  if (!is_nccl(header)) {
    const KnownProcess* known = speaker_before(text);
    if (known != nullptr) return lose(known->host, known->pid);
    if (header.message.size() < text.size()) known = speaker_before(header.message);
    if (known != nullptr) note_lost(known->host, known->pid);
    return;
  }
  if (!names_process(header)) return;
  const bool is_whole = event.fate == LineFate::Recognised;
  if (!is_whole && is_call(header)) lose(header.host, header.pid);
  if (is_whole) return;
  // Of others the beginning may stand in a line that fits no wording.
  for (const KnownProcess& known : recent_) {
    const bool is_other = known.pid >= 0 && known.pid != header.pid;
    if (is_other && header.message.find(name_of(known.host, known.pid)) != std::string_view::npos)
      note_lost(known.host, known.pid);
  }
}

/// Hands on the line that is held, now that it is known who speaks next; nobody knows where the
/// host is empty. Its end may be that of an open record only if that one's process goes on.
void TearGuard::release(std::string_view host, int64_t pid) {
  if (!held_.any) return;
  held_.any = false;
  const Header& own = held_.event.header;
  for (size_t i = 0; i < open_.size() && is_nccl(own); ++i) {
    const bool is_own = open_[i].host == own.host && open_[i].pid == own.pid;
    const bool goes_on = host.empty() || open_[i].host.empty() ||
                         (open_[i].host == host && (open_[i].pid == pid || own.host != host));
    const size_t cut = is_own || !goes_on ? 0 : end_of_open(open_[i]);
    if (cut == 0) continue;
    give_up(i);
    if (names_process(own)) open(own, std::string_view(held_.text).substr(0, cut));
    return doubt(held_.event, held_.lines);
  }
  hand_on(held_.line, held_.event, held_.lines);
}

void TearGuard::hand_on(const Line& record, const Event& event, int lines) {
  if (names_process(event.header)) {
    head_.assign(record.text.substr(0, place_of(event.header.host, record.text)));
  }
  matched_.clear();
  if (matcher_) matcher_(record.text, matched_);
  shard_.add(record, event, lines, matched_);
}

/// Puts a line in doubt that names its process.
void TearGuard::lose_whole(const Event& event, int lines) {
  release(event.header.host, event.header.pid);
  close(event.header.host, event.header.pid);
  lose(event.header.host, event.header.pid);
  doubt(event, lines);
}

void TearGuard::doubt(const Event& event, int lines) {
  is_damaged_ = true;
  shard_.add_in_doubt(event, lines);
}

void TearGuard::add(std::span<const CachedCallLine> lines, uint64_t number) {
  if (lines.empty()) return;
  const CachedHead& first = *lines.front().call->head;
  release(first.host, first.pid);
  shard_.add(lines, number);
}

bool TearGuard::add(const CachedLine& line, uint64_t number) {
  const Header& header = line.event->header;
  const bool is_of_nccl = line.head != nullptr;
  if (is_of_nccl) {
    const KnownProcess& last = known_as(header.pid);
    // Most lines come from who is known well.
    if (last.line_head != line.head || last.lines != kOften) {
      KnownProcess* const known = speaker_of_known(header.host, header.pid);
      if (known == nullptr) return false;
      known->line_head = line.head;
      known->lines = std::min(known->lines + 1, kOften);
    }
    if (held_.any) release(header.host, header.pid);  // Asked here: most lines find none held.
    head_.clear();
    if (line.names_comm) is_in_strange_comm(*line.event);  // Notes it; only calls can be strange.
  } else {
    if (speaker_before(line.text) != nullptr || speaker_before(header.message) != nullptr)
      return false;
    release({}, -1);
  }
  matched_.clear();  // Of the line that was held.
  if (!line.is_quiet && matcher_) matcher_(line.text, matched_);
  shard_.add(line, number, matched_);
  return true;
}

void TearGuard::add_skipped(std::string_view text, uint64_t number, uint64_t lines) {
  release({}, -1);
  shard_.add_skipped(text, number, lines);
}

/// True if a record of the speaker is lost, or may be: in a damaged stretch a line that fits no
/// wording may be the beginning of one.
bool TearGuard::has_lost(const Speaker& speaker) const {
  if (lost_pids_.contains(speaker.pid)) return true;
  if (is_damaged_ && shard_.shard().speakers.at(speaker).unrecognised.contains(Record::kNoKind))
    return true;
  const std::string name = name_of(speaker.host, speaker.pid);
  if (alike_.contains(name)) return true;
  return std::ranges::any_of(lost_,
                             [&](const std::string& lost) { return name.starts_with(lost); });
}

void TearGuard::finish(bool ends_input) {
  const bool is_cut = ends_input && ends_inside_record();
  if (held_.any) hand_on(held_.line, held_.event, held_.lines);
  held_.any = false;
  while (!open_.empty()) give_up(0);
  shard_.note_torn([&](const Speaker& speaker) { return has_lost(speaker); });
  if (is_cut) shard_.note_cut();
}

/// The last line is the beginning of another one. Lines of runs are not.
bool TearGuard::ends_inside_record() const {
  if (!held_.any) return false;
  const Header& header = held_.event.header;
  // The last word before a crash is often a warning that no wording fits.
  if (names_process(header)) {
    const auto& writers = shard_.shard().writers;
    const bool is_only_one = writers.size() == 1 && !writers.begin()->second.several;
    return held_.event.fate == LineFate::Unrecognised && header.level != Level::Warn && is_only_one;
  }
  const std::string_view text = header.message;
  if (header.level != Level::None) return false;
  if (is_beginning_of_head(held_.text, head_)) return true;
  return !text.empty() && begun_by(text) != nullptr;
}

}  // namespace ncclog
