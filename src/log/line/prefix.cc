// The shapes of single prefixes, then how they are taken off one after the other.
//
//   [1,3]<stdout>:        launchers: Open MPI, srun, torchrun, Ray
//   [pod/w-3/pytorch]     collectors: Kubernetes, Loki, syslog, journald
//   [titan] 2026-01-05 …  loggers: Python's, glog's, vLLM's
//   >  12 |               pasted text: quotes, line numbers
//
// A form answers for one prefix at the start of a text. Nothing here keeps state between lines.

#include "log/line/prefix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "log/line/line_time.h"
#include "log/line/scanner.h"
#include "log/line/words.h"

namespace ncclog {
namespace {

/// What was taken off the start of a line so far.
struct Attempt {
  Scanner scan;
  Prefix prefix = {};          ///< What the forms that were taken say; its length is not set yet.
  std::string_view word = {};  ///< What %w, %h, %n, %p or %f took last.
  bool after_stamp = false;    ///< The form before was a time: a logger's own words may follow.
};

// What a form is. They may be joined.
constexpr uint8_t kStamp = 1;         ///< A time: a logger's own words may follow.
constexpr uint8_t kBehindStamp = 2;   ///< It counts only behind a time.
constexpr uint8_t kBeforeRecord = 4;  ///< Output has this shape too: only a record may follow.
constexpr uint8_t kBar = 8;           ///< A bar, for which may_have_prefix does not look.

/// The shape of one prefix.
struct PrefixForm {
  /// Read like strftime's: a byte stands for itself, % and a letter for a row of kLetters. A choice
  /// is written "%(first%|second%)"; the first that fits is taken, for good. "%?" makes the byte
  /// behind it optional. By which bytes a text is let go without a closer look follows from it.
  const char* pattern;

  uint8_t is = 0;

  /// A byte that stands in the first word of every text with such a prefix, or begins the second
  /// one; empty: none is known. Most lines are let go by it, without a closer look. Of a first word
  /// only kLongestPrefixName bytes are looked at: longer ones are no prefixes.
  std::string_view mark = {};

  /// Whether a text counts that has this shape; it may note more of it. Null: all do.
  bool (*accept)(Attempt& it) = nullptr;
};

// What patterns take.

/// "0f8fad5b-d9cb-469f-a165-70867728950e": the name of a task, a run or a container, not of a host.
bool is_uuid(std::string_view word) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(
      word, kForm, [](char c, char form) { return form == 'x' ? is_hex_digit(c) : c == form; });
}

/// No launcher prints a longer name.
constexpr size_t kLongestPrefixName = 200;

/// No collector prints longer labels.
constexpr size_t kLongestText = 1000;

constexpr std::string_view kAny = {};  ///< Whatever byte.
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kWordBytes =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

constexpr bool is_tag_char(char c) { return is_host_char(c) || c == '/' || c == '@'; }
constexpr bool is_file_path_char(char c) { return is_host_char(c) || c == '/' || c == '+'; }

/// "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL": the levels of Python's loggers.
bool is_logger_level(std::string_view word) {
  constexpr std::string_view kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
  return equals_one_of(word, kLevels);
}

/// Notes the number that a launcher gives its task.
bool note_task(Scanner& scan, Attempt& it) {
  int task = -1;
  if (!scan.number(task)) return false;
  if (!it.prefix.rank_is_stated) it.prefix.rank = task;
  it.prefix.task = task;
  return true;
}

bool note_time(std::string_view stamp, Attempt& it) {
  it.prefix.time = stamp;
  return !stamp.empty();
}

/// Takes the text up to the byte `end`, which stays.
bool take_text(Attempt& it, char end) {
  const std::string_view rest = it.scan.rest().substr(0, kLongestText);
  it.word = rest.substr(0, rest.find(end));
  return !it.word.empty() && it.scan.skip(it.word);
}

/// Takes a name of such bytes.
template <typename Accept>
bool take_name(Attempt& it, Accept accept) {
  it.word = it.scan.take_while(accept, kLongestPrefixName);
  return !it.word.empty();
}

bool take_any_number(Attempt& it, int64_t most = std::numeric_limits<int64_t>::max()) {
  int64_t number = -1;
  return it.scan.number(number) && number <= most;
}

/// What a letter of a pattern stands for.
struct Letter {
  char letter;
  std::string_view begins;  ///< Bytes of which what counts begins with one, or kAny.
  /// Takes it off the text, in front of the byte `end` of the pattern; false: it does not fit.
  bool (*take)(Attempt& it, char end);
};

constexpr Letter kLetters[] = {
    // Times, which are noted: as ISO 8601 has it, with the month's name.
    {'t', kDigits, [](Attempt& it, char) { return note_time(take_iso_stamp(it.scan), it); }},
    {'m', "ADFJMNOSTW", [](Attempt& it, char) { return note_time(take_month_stamp(it.scan), it); }},
    // As vLLM prints it: "01-05 12:00:00".
    {'v', kDigits,
     [](Attempt& it, char) {
       it.prefix.time = it.scan.rest().substr(0, 14);
       return it.scan.digits(2) && it.scan.skip('-') && it.scan.digits(2) && it.scan.skip(' ') &&
              !take_clock(it.scan).empty();
     }},
    // In milliseconds since 1970.
    {'e', kDigits,
     [](Attempt& it, char) {
       it.prefix.time = it.scan.rest().substr(0, 13);
       return it.scan.digits(13);
     }},
    // A time of day, which is not noted.
    {'c', kDigits, [](Attempt& it, char) { return !take_clock(it.scan).empty(); }},

    // Numbers: any, a priority, so many digits.
    {'d', kDigits, [](Attempt& it, char) { return take_any_number(it); }},
    {'i', kDigits, [](Attempt& it, char) { return take_any_number(it, 191); }},
    {'4', kDigits, [](Attempt& it, char) { return it.scan.digits(4); }},
    {'6', kDigits, [](Attempt& it, char) { return it.scan.digits(6); }},
    // The rank that a framework states; the local rank; the number of a task.
    {'r', kDigits,
     [](Attempt& it, char) {
       it.prefix.rank_is_stated = true;
       return it.scan.number(it.prefix.rank);
     }},
    {'l', kDigits, [](Attempt& it, char) { return it.scan.number(it.prefix.local_rank); }},
    {'k', kDigits, [](Attempt& it, char) { return note_task(it.scan, it); }},

    // Any text.
    {'w', kAny, take_text},
    // The task in "1,3", "prterun-nodea-77@1,3", "3", SageMaker's "1,mpirank:3,algo-1".
    {'T', kAny,
     [](Attempt& it, char end) {
       if (!take_text(it, end)) return false;
       const size_t at = it.word.find("mpirank:");
       Scanner task(it.word.substr(at != it.word.npos ? at + 8 : it.word.rfind(',') + 1));
       return note_task(task, it) && (task.done() || task.peek() == ',');
     }},
    // The host in any text, in front of a colon if there is one.
    {'H', kAny,
     [](Attempt& it, char end) {
       const bool is_there = take_text(it, end);
       it.prefix.host = it.word.substr(0, it.word.find(':'));
       return is_there;
     }},
    // A host. "INFO trainer[rank 3]: " is a logger's; "-" stands for none.
    {'h', kWordBytes,
     [](Attempt& it, char) {
       const bool is_there = take_name(it, is_host_char);
       if (it.word != "-") it.prefix.host = it.word;
       return is_there && !is_logger_level(it.word);
     }},
    // A name, as hosts and loggers have it; that of a program or service.
    {'n', kWordBytes, [](Attempt& it, char) { return take_name(it, is_host_char); }},
    {'p', kAny, [](Attempt& it, char) { return take_name(it, is_tag_char); }},
    // "core.py:58", "external/xla/a.cc:12".
    {'f', kAny,
     [](Attempt& it, char) {
       return take_name(it, is_file_path_char) && it.word.find('.') != it.word.npos &&
              it.scan.skip(':') && take_any_number(it);
     }},

    // The level of a logger, the severity of absl, a stream.
    {'L', "CDEIW",
     [](Attempt& it, char) { return is_logger_level(it.scan.take_while(is_word, 10)); }},
    {'A', "EFIW",
     [](Attempt& it, char) {
       return it.scan.skip('I') || it.scan.skip('W') || it.scan.skip('E') || it.scan.skip('F');
     }},
    {'s', "s",
     [](Attempt& it, char) {
       constexpr std::string_view kStreams[] = {"stdout", "stderr", "stddiag"};
       it.prefix.stream = it.scan.take_while(is_word, 16);
       return equals_one_of(it.prefix.stream, kStreams);
     }},

    // "-" or "[id key=\"v\"]" of RFC 5424.
    {'x', kAny,
     [](Attempt& it, char) {
       while (it.scan.skip('[')) {
         if (!take_text(it, ']') || !it.scan.skip(']')) return false;
       }
       it.scan.skip('-');
       return true;
     }},
    // What quotes a mail, and what stands behind the number of a line.
    {'q', ">",
     [](Attempt& it, char) {
       return !it.scan.take_while([](char c) { return c == '>'; }).empty();
     }},
    {'u', "|).:",
     [](Attempt& it, char) {
       return it.scan.skip('|') || it.scan.skip(')') || it.scan.skip('.') || it.scan.skip(':');
     }},
    // A bar; where quotes stand before it, it is a collector's record of one.
    {'B', kAny,
     [](Attempt& it, char) {
       const TqdmBar bar = parse_progress_bar(it.scan.rest());
       it.prefix.progress_title = bar.title;
       return bar.length > 0 && bar.title.find('"') == bar.title.npos &&
              it.scan.skip(it.scan.rest().substr(0, bar.length));
     }},
    // Blanks; blanks or none; one blank, or the end, or an NCCL line quoted without its process.
    {'b', kBlanks, [](Attempt& it, char) { return it.scan.blanks() > 0; }},
    {'_', kAny,
     [](Attempt& it, char) {
       it.scan.blanks();
       return true;
     }},
    {'z', kAny,
     [](Attempt& it, char) {
       return it.scan.skip(' ') || it.scan.done() || it.scan.rest().starts_with("NCCL ");
     }},
};

/// By letter, its row.
constexpr auto kLetterRows = [] {
  std::array<const Letter*, 128> rows{};
  for (const Letter& row : kLetters) rows[row.letter] = &row;
  return rows;
}();

constexpr const Letter& row_of(char letter) { return *kLetterRows[letter]; }

/// From anywhere in an alternative of a choice to the "|" or ")" that ends it.
constexpr const char* end_of_alternative(const char* pattern) {
  do {
    ++pattern;
  } while (pattern[-1] != '%' || (*pattern != '|' && *pattern != ')'));
  return pattern;
}

const char* take_choice(const char* pattern, Attempt& it);

/// Takes what `pattern` says up to its end or that of an alternative, which is the result; null:
/// it does not fit.
const char* take_all(const char* pattern, Attempt& it) {
  for (; *pattern != '\0'; ++pattern) {
    if (*pattern != '%') {
      if (!it.scan.skip(*pattern)) return nullptr;
      continue;
    }
    const char letter = *++pattern;
    if (letter == '|' || letter == ')') return pattern;
    if (letter == '?') {
      it.scan.skip(*++pattern);
    } else if (letter == '(') {
      pattern = take_choice(pattern, it);
      if (pattern == nullptr) return nullptr;
    } else if (!row_of(letter).take(it, pattern[1])) {
      return nullptr;
    }
  }
  return pattern;
}

/// Takes the first alternative that fits of "(first%|second%)"; its ")". What those noted that do
/// not fit is noted anew by what does.
const char* take_choice(const char* pattern, Attempt& it) {
  bool fits = false;
  do {
    const Scanner before = it.scan;
    fits = fits || take_all(pattern + 1, it) != nullptr;
    if (!fits) it.scan = before;
    pattern = end_of_alternative(pattern);
  } while (*pattern == '|');
  return fits ? pattern : nullptr;
}

// What counts of the texts that have a form's shape.

/// Services are numbered; tables' first columns seldom are.
bool is_service(Attempt& it) {
  const std::string_view name = it.word;
  const size_t node = name.find('@');
  if (node != name.npos) {
    it.prefix.host = name.substr(node + 1);
    return name.find('.') <= node;
  }
  const size_t mark = name.find_last_of("-_");
  if (mark == name.npos || mark == 0 || mark + 1 == name.size()) return false;
  it.prefix.host = name;
  return parse_int(name.substr(mark + 1)).has_value();
}

bool are_labels(Attempt& it) {
  const size_t at = it.word.find("pod=\"");
  if (at != it.word.npos) {
    const std::string_view pod = it.word.substr(at + 5);
    it.prefix.host = pod.substr(0, pod.find('"'));
  }
  return it.word.find("=\"") != it.word.npos;
}

/// "[INFO]", "[logging.py:128:log_dist]".
bool is_level_or_place(Attempt& it) {
  return is_logger_level(it.word) || it.word.find(".py:") != it.word.npos;
}

/// The role is a word, with TorchX's replica behind a bar.
bool is_role_and_rank(Attempt& it) {
  const std::string_view role = it.word.substr(0, it.word.find_last_not_of(kDigits) + 1);
  const auto is_role = [](char c) { return is_word(c) || c == '|'; };
  Scanner number(it.word.substr(role.size()));
  return !role.empty() && std::ranges::all_of(role, is_role) && number.number(it.prefix.local_rank);
}

/// "TrainWorker pid=4242, ip=10.0.0.7", "VllmWorker rank=1 pid=4242".
bool is_actor(Attempt& it) {
  const size_t pid_at = it.word.find("pid=");
  if (pid_at == it.word.npos || (pid_at > 0 && it.word[pid_at - 1] != ' ')) return false;
  Scanner numbers(it.word.substr(pid_at + 4));
  if (!numbers.number(it.prefix.pid)) return false;
  if (numbers.skip(", ip=")) it.prefix.address = numbers.rest();
  const size_t rank_at = it.word.substr(0, pid_at).find("rank=");
  Scanner rank(it.word.substr(rank_at == it.word.npos ? it.word.size() : rank_at + 5));
  note_task(rank, it);
  return true;
}

/// "[E717 13:20:49", "[E ProcessGroupNCCL.cpp": how records of PyTorch's C++ side begin.
bool begins_cpp_record(std::string_view text) {
  constexpr std::string_view kSeverities = "FEWIV";
  return text.size() > 3 && text[0] == '[' && kSeverities.find(text[1]) != text.npos &&
         (is_digit(text[2]) || (text[2] == ' ' && text.find(".cpp:") < 40));
}

/// What processes print themselves, in front of which whatever stands is a prefix.
bool begins_message(std::string_view text) {
  if (trim(text).empty() || begins_cpp_record(text)) return true;
  return starts_with_one_of(text, listed_words("record"));
}

}  // namespace

// A row has two numbers and a datatype; a comment: "#  Rank …".
bool begins_row_of_test(std::string_view text) {
  // Most lines begin with a letter or a bracket.
  if (text.empty() || (text[0] != '#' && !is_digit(text[0]) && !is_blank(text[0]))) return false;
  if (starts_with_one_of(text, listed_words("test-comment"))) return true;
  // Numbers of lines take the blanks behind them along, so only those between columns are sure.
  constexpr std::string_view kDatatypes[] = {"float", "half", "double", "bf",  "char", "int",
                                             "uint",  "fp8",  "f8",     "f16", "none"};
  Scanner scan(text);
  scan.blanks();
  const bool has_size = !scan.take_while(is_digit, 18).empty() && scan.blanks() > 1;
  const bool has_count = has_size && !scan.take_while(is_digit, 18).empty() && scan.blanks() > 1;
  return has_count && starts_with_one_of(scan.rest(), kDatatypes);
}

bool begins_record(std::string_view text) {
  return begins_message(text) || begins_row_of_test(text);
}

namespace {

/// Names that look like hosts and are not: "gpu0: ", "epoch3: ", "python3.10: ".
bool is_common_word(std::string_view name) {
  size_t letters = 0;
  while (letters < name.size() && is_alpha(name[letters])) ++letters;
  const std::string_view stem = name.substr(0, letters);
  const bool numbered = letters < name.size() && (is_digit(name[letters]) || name[letters] == '.');
  return numbered && equals_one_of(stem, listed_words("no-host"));
}

bool looks_like_host(std::string_view name) {
  if (name.starts_with("nvidia-nvswitch")) return false;  // A driver, in the kernel's log.
  bool letter = false;
  bool digit = false;
  for (const char c : name) {
    if ((!is_alnum(c) && c != '-' && c != '.') || (c >= 'A' && c <= 'Z')) return false;
    letter |= is_alpha(c);
    digit |= is_digit(c);
  }
  return name == "localhost" || (letter && digit && name.size() >= 3 && !is_common_word(name));
}

/// "10.10.23.10": pdsh and DeepSpeed may know a host by its address only.
bool is_ipv4(std::string_view name) {
  return std::ranges::count(name, '.') == 3 && name.find_first_not_of("0123456789.") == name.npos;
}

/// nccl-tests prints "node105: Test NCCL failure" itself: that is a message.
bool is_labelled_host(Attempt& it) {
  const std::string_view name = it.word;
  const std::string_view rest = it.scan.rest();
  it.prefix.host = name;
  if (rest.starts_with("Test ") || name.find_first_not_of(kDigits) == name.npos) return false;
  return looks_like_host(name) || is_ipv4(name) || (!rest.empty() && begins_message(rest));
}

/// A longer number in front of a colon is a time.
bool is_task(Attempt& it) { return it.prefix.task < 1'000'000; }

/// "19:14:43  NVRM: ": a time of day begins other texts, too.
bool is_of_gpu_driver(Attempt& it) { return it.scan.rest().starts_with("NVRM: "); }

/// Not "[rank3]:  what():", where the C++ runtime prints the blanks.
bool is_global_rank(Attempt& it) { return !it.scan.rest().starts_with(" what():"); }

/// The pod's name has a number, as replicas have, and Kubernetes knows no capitals.
bool is_replica(Attempt& it) {
  const std::string_view pod = it.prefix.host;
  return pod[0] >= 'a' && pod[0] <= 'z' && pod.find('-') != pod.npos &&
         pod.find_first_of(kDigits) != pod.npos;
}

/// milabench's "BENCHMARK.NODE.TAG [stderr] ".
bool is_place_of_milabench(Attempt& it) {
  const size_t node = it.word.find('.') + 1;
  const size_t tag = it.word.rfind('.');
  if (node == 0 || tag <= node || !looks_like_host(it.word.substr(node, tag - node))) return false;
  it.prefix.host = it.word.substr(node, tag - node);
  return true;
}

/// "<node-3>": what names nobody is text.
bool is_host(Attempt& it) { return looks_like_host(it.prefix.host); }

/// "[node-3]", "[node-3:rank5]", "[node-3][rank5]": of some site's collector.
bool is_site_label(Attempt& it) {
  const size_t rank_at = it.word.rfind("rank");
  Scanner rank(it.word.substr(rank_at == it.word.npos ? it.word.size() : rank_at + 4));
  note_task(rank, it);
  // A task is named in front of its lines, too, and a process; "[step=10/1000,epoch=0]" is a step, and
  // "[batch=10/500]:" another.
  const bool names_process = it.word.ends_with(')') && it.word.find("(pid ") != it.word.npos;
  if (names_process) it.prefix.host = {};
  return is_host(it) || names_process || is_uuid(it.prefix.host);
}

/// A row of a table, or what nccl-tests comments.
bool is_row_or_comment(Attempt& it) {
  Scanner behind = it.scan;
  return behind.peek() == '#' || (behind.blanks() > 1 && is_digit(behind.peek()));
}

bool is_in_front_of_text(Attempt& it) { return !trim(it.scan.rest()).empty(); }

/// "[2026-01-05 12:00:00][node-3]": another bracket follows.
bool is_before_bracket(Attempt& it) { return it.scan.peek() == '['; }

constexpr PrefixForm kPrefixForms[] = {
#include "log/line/prefix_forms.inc"
};

// All of them, by the byte with which they begin.

/// Forms by their place in kPrefixForms, a bit each.
using Forms = uint64_t;
static_assert(std::size(kPrefixForms) <= 64);

template <typename Wanted>
constexpr Forms forms_that(Wanted wanted) {
  Forms forms = 0;
  for (size_t i = 0; i < std::size(kPrefixForms); ++i) forms |= Forms{wanted(kPrefixForms[i])} << i;
  return forms;
}

constexpr Forms kAfterStamp = forms_that([](auto& form) { return (form.is & kBehindStamp) != 0; });
constexpr Forms kBars = forms_that([](auto& form) { return (form.is & kBar) != 0; });
constexpr Forms kInFrontOfRecord =
    forms_that([](auto& form) { return (form.is & kBeforeRecord) != 0; });

/// Adds to `forms`, by byte, those of `form` where texts of `pattern`, its end, may begin with it.
constexpr void enter_first(const char* pattern, Forms form, std::array<Forms, 256>& forms) {
  const auto enter = [&](std::string_view bytes) {
    for (const char byte : bytes) forms[static_cast<unsigned char>(byte)] |= form;
  };
  for (; pattern[0] == '%' && (pattern[1] == '?' || pattern[1] == '_');
       pattern += pattern[1] == '?' ? 3 : 2) {
    enter(pattern[1] == '?' ? std::string_view(pattern + 2, 1) : kBlanks);
  }
  if (pattern[0] == '%' && pattern[1] == '(') {
    for (++pattern; *pattern != ')'; pattern = end_of_alternative(pattern)) {
      enter_first(pattern + 1, form, forms);
    }
    return;
  }
  const bool is_letter = pattern[0] == '%' && pattern[1] != '|' && pattern[1] != ')';
  const std::string_view bytes =
      is_letter ? row_of(pattern[1]).begins : std::string_view(pattern, pattern[0] != '%');
  enter(bytes);
  if (!bytes.empty() && bytes[0] != '\0') return;
  for (Forms& any : forms) any |= form;
}

/// By byte, the forms for which `enter(form, its bit, result)` enters it.
template <typename Enter>
constexpr std::array<Forms, 256> forms_by_byte(Enter enter) {
  std::array<Forms, 256> forms{};
  for (size_t i = 0; i < std::size(kPrefixForms); ++i) enter(kPrefixForms[i], Forms{1} << i, forms);
  return forms;
}

/// The forms that may begin with a byte.
constexpr auto kFormsByByte = forms_by_byte(
    [](auto& form, Forms bit, auto& forms) { enter_first(form.pattern, bit, forms); });

/// The forms that may have a byte in the second place: known where the first stands for itself.
constexpr auto kFormsBySecondByte = forms_by_byte([](auto& form, Forms bit, auto& forms) {
  enter_first(form.pattern[0] == '%' ? "" : form.pattern + 1, bit, forms);
});

/// The forms that have a byte as their mark.
constexpr auto kFormsByMark = forms_by_byte([](auto& form, Forms bit, auto& forms) {
  if (!form.mark.empty()) forms[static_cast<unsigned char>(form.mark[0])] |= bit;
});

constexpr Forms kMarked = forms_that([](auto& form) { return !form.mark.empty(); });

/// Which of `forms` `text` may have, by its first two bytes and the marks in its first word.
Forms possible(Forms forms, std::string_view text) {
  if (text.empty()) return 0;
  const auto byte_at = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  forms &= kFormsByByte[byte_at(0)] & kFormsBySecondByte[text.size() > 1 ? byte_at(1) : 0];
  if ((forms & kMarked) == 0) return forms;
  const size_t most = std::min(text.size(), kLongestPrefixName + 1);
  Forms found = ~kMarked;
  size_t at = 0;
  for (; at < most && !is_blank(text[at]); ++at) found |= kFormsByMark[byte_at(at)];
  while (at < text.size() && is_blank(text[at])) ++at;
  if (at < text.size()) found |= kFormsByMark[byte_at(at)];
  return forms & found;
}

constexpr int kMaxPrefixes = 64;  ///< A line of many progress bars has that many.

/// Takes the prefix of one form; false, and `it` is as it was, if there is none.
bool take(const PrefixForm& form, Attempt& it) {
  Attempt attempt = it;
  if (take_all(form.pattern, attempt) == nullptr) return false;
  if (form.accept != nullptr && !form.accept(attempt)) return false;
  if (attempt.scan.taken() == it.scan.taken()) return false;
  if (is_uuid(attempt.prefix.host)) attempt.prefix.host = it.prefix.host;
  it = attempt;
  it.after_stamp = (form.is & kStamp) != 0;
  return true;
}

/// Takes one prefix that cannot mean anything else, of the `forms` that are possible there.
bool take_certain(Attempt& it, Forms forms) {
  forms &= ~(kInFrontOfRecord | (it.after_stamp ? 0 : kAfterStamp));
  for (; forms != 0; forms &= forms - 1) {
    if (take(kPrefixForms[std::countr_zero(forms)], it)) return true;
  }
  return false;
}

constexpr int kMaxPasted = 4;  ///< Shapes of ordinary output that may stand one after the other.

bool take_in_front_of_record(Attempt& it, Forms forms, int more);

/// A frame of Python's or the exception behind the frames, where something stands before it.
bool begins_traceback_line(std::string_view text) {
  const std::string_view type = text.substr(0, text.find(": "));
  const bool is_name = std::ranges::all_of(type, [](char c) { return is_word(c) || c == '.'; });
  return text.starts_with("  File \"") ||
         (is_name && (type.ends_with("Error") || type.ends_with("Exception")));
}

/// True if a record follows, behind up to `more` of the shapes that ordinary output has too.
bool begins_record_or_prefix(std::string_view text, int more) {
  if (begins_record(text) || begins_traceback_line(text)) return true;
  Attempt ahead{Scanner(text)};
  const Forms forms = possible(~Forms{0}, text);
  return take_certain(ahead, forms) || take_in_front_of_record(ahead, forms, more);
}

/// Takes one of the shapes that ordinary output has too, of the `forms` that are possible there.
bool take_in_front_of_record(Attempt& it, Forms forms, int more) {
  if (more == 0) return false;
  for (forms &= kInFrontOfRecord; forms != 0; forms &= forms - 1) {
    Attempt attempt = it;
    if (!take(kPrefixForms[std::countr_zero(forms)], attempt)) continue;
    if (!begins_record_or_prefix(attempt.scan.rest(), more - 1)) continue;
    it = attempt;
    return true;
  }
  return false;
}

/// Takes a prefix that somebody indented. Words behind blanks are ordinary text too often.
bool take_indented(Attempt& it) {
  Attempt attempt = it;
  if (attempt.scan.blanks() == 0 || attempt.scan.done()) return false;
  const bool begins_word = is_alpha(attempt.scan.peek());
  const Forms forms = possible(~Forms{0}, attempt.scan.rest());
  if (take_certain(attempt, forms)) {
    if (begins_word && !begins_record_or_prefix(attempt.scan.rest(), kMaxPasted)) return false;
  } else if (!take_in_front_of_record(attempt, forms, kMaxPasted)) {
    return false;
  }
  it = attempt;
  return true;
}

}  // namespace

// All prefixes of a line.

bool may_have_prefix(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return possible(~(kAfterStamp | kBars), line) != 0;
}

Prefix parse_prefix(std::string_view line) {
  Attempt it{Scanner(line)};
  for (int i = 0; i < kMaxPrefixes; ++i) {
    // The surest shapes first: the others also fit ordinary output.
    const Forms forms = possible(~Forms{0}, it.scan.rest());
    if (!take_certain(it, forms) && !take_indented(it) &&
        !take_in_front_of_record(it, forms, kMaxPasted))
      break;
  }
  it.prefix.length = it.scan.taken();
  return it.prefix;
}

}  // namespace ncclog
