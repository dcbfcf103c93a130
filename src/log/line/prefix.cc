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

#include "log/line/line_time.h"
#include "log/line/scanner.h"

namespace ncclog {
namespace {

/// A text of which a form's pattern takes the beginning.
struct Attempt {
  Scanner scan;
  Prefix prefix;               ///< With what the form says; dropped where it does not fit.
  std::string_view word = {};  ///< What %w, %h, %n, %p or %f took last.
};

/// What a form is. They may be joined.
enum : uint8_t {
  kStamp = 1,         ///< A time: a logger's own words may follow.
  kBehindStamp = 2,   ///< It counts only behind a time.
  kBeforeRecord = 4,  ///< Ordinary output has this shape too: only what begins a record follows.
  kBar = 8,           ///< A progress bar, for which may_have_prefix does not look.
};

/// The shape of one prefix.
struct PrefixForm {
  /// Bytes of which the prefix begins with one; empty: it may begin with any.
  std::string_view first_bytes;

  /// Read like strftime's: a byte stands for itself, % and a letter for what take() knows. A
  /// choice is written "%(first%|second%)"; the first that fits is taken, for good. "%?" makes the
  /// byte behind it optional.
  const char* pattern;

  uint8_t is = 0;

  /// A byte that stands in the first word of every text with such a prefix, or begins the second
  /// one; NUL: none is known. Most lines are let go by it, without a closer look. Of a first word
  /// only kLongestPrefixName bytes are looked at: longer ones are no prefixes.
  char mark = '\0';

  /// Whether a text counts that has this shape; it may note more of it. Null: all do.
  bool (*accept)(Attempt& it) = nullptr;
};

// What patterns take.

/// No launcher prints a longer name.
constexpr size_t kLongestPrefixName = 200;

/// No collector prints longer labels.
constexpr size_t kLongestText = 1000;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLowerCase = "abcdefghijklmnopqrstuvwxyz";
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

/// Takes the text up to the byte `end`, which stays.
bool take_word(char end, Attempt& it) {
  const std::string_view rest = it.scan.rest().substr(0, kLongestText);
  it.word = rest.substr(0, rest.find(end));
  return !it.word.empty() && it.scan.skip(it.word);
}

// What the letters of a pattern stand for, by the kind of what they take. The letters of each kind
// are listed once more where one is taken.

/// A time, which is noted; 'c' is not.
bool take_time(char letter, Attempt& it) {
  Scanner& scan = it.scan;
  switch (letter) {
    case 't':  // As ISO 8601 has it.
      it.prefix.time = take_iso_stamp(scan);
      return !it.prefix.time.empty();
    case 'm':  // With the month's name.
      it.prefix.time = take_month_stamp(scan);
      return !it.prefix.time.empty();
    case 'v':  // As vLLM prints it: "01-05 12:00:00".
      it.prefix.time = scan.rest().substr(0, 14);
      return scan.digits(2) && scan.skip('-') && scan.digits(2) && scan.skip(' ') &&
             !take_clock(scan).empty();
    case 'e':  // In milliseconds since 1970.
      it.prefix.time = scan.rest().substr(0, 13);
      return scan.digits(13);
    default:  // 'c': a time of day.
      return !take_clock(scan).empty();
  }
}

bool take_number(char letter, Attempt& it) {
  Scanner& scan = it.scan;
  int64_t number = -1;
  switch (letter) {
    case 'i':  // A priority.
      return scan.number(number) && number <= 191;
    case '4':  // So many digits.
    case '6':
      return scan.digits(static_cast<size_t>(letter - '0'));
    case 'r':  // The rank that a framework states.
      it.prefix.rank_is_stated = true;
      return scan.number(it.prefix.rank);
    case 'l':  // The local rank.
      return scan.number(it.prefix.local_rank);
    case 'k':  // The number of a task.
      return note_task(scan, it);
    default:  // 'd': any.
      return scan.number(number);
  }
}

/// A name, or any text in front of the byte `end` of the pattern.
bool take_name(char letter, char end, Attempt& it) {
  Scanner& scan = it.scan;
  int64_t number = -1;
  switch (letter) {
    case 'T': {  // The task in "1,3", "prterun-nodea-77@1,3", "3", SageMaker's "1,mpirank:3,algo-1".
      if (!take_word(end, it)) return false;
      const size_t at = it.word.find("mpirank:");
      Scanner task(it.word.substr(at != it.word.npos ? at + 8 : it.word.rfind(',') + 1));
      return note_task(task, it) && (task.done() || task.peek() == ',');
    }
    case 'H':  // The host in any text, in front of a colon if there is one.
      if (!take_word(end, it)) return false;
      it.prefix.host = it.word.substr(0, it.word.find(':'));
      return true;
    case 'h':  // A host. "INFO trainer[rank 3]: " is a logger's; "-" stands for none.
      it.word = scan.take_while(is_host_char, kLongestPrefixName);
      if (it.word != "-") it.prefix.host = it.word;
      return !it.word.empty() && !is_logger_level(it.word);
    case 'n':  // A name, as hosts and loggers have it.
      it.word = scan.take_while(is_host_char, kLongestPrefixName);
      return !it.word.empty();
    case 'p':  // The name of a program or service.
      it.word = scan.take_while(is_tag_char, kLongestPrefixName);
      return !it.word.empty();
    case 'f':  // "core.py:58", "external/xla/a.cc:12".
      it.word = scan.take_while(is_file_path_char, kLongestPrefixName);
      return it.word.find('.') != it.word.npos && scan.skip(':') && scan.number(number);
    default:  // 'w': any text.
      return take_word(end, it);
  }
}

/// One of a few words.
bool take_known_word(char letter, Attempt& it) {
  Scanner& scan = it.scan;
  switch (letter) {
    case 'L':  // The level of a logger.
      return is_logger_level(scan.take_while(is_word, 10));
    case 'A':  // The severity of absl.
      return scan.skip_if([](char c) { return c == 'I' || c == 'W' || c == 'E' || c == 'F'; });
    default:  // 's': a stream.
      it.prefix.stream = scan.take_while(is_word, 16);
      return it.prefix.stream == "stdout" || it.prefix.stream == "stderr" ||
             it.prefix.stream == "stddiag";
  }
}

/// Blanks, signs, and what is drawn of them.
bool take_signs(char letter, Attempt& it) {
  Scanner& scan = it.scan;
  switch (letter) {
    case 'x':  // "-" or "[id key=\"v\"]" of RFC 5424.
      while (scan.skip('[')) {
        if (!take_word(']', it) || !scan.skip(']')) return false;
      }
      scan.skip('-');
      return true;
    case 'q':  // Of a quoted mail.
      return !scan.take_while([](char c) { return c == '>'; }).empty();
    case 'u':  // What stands behind the number of a line.
      return scan.skip_if([](char c) { return c == '|' || c == ')' || c == '.' || c == ':'; });
    case 'B': {  // A bar; where quotes stand before it, it is a collector's record of one.
      const TqdmBar bar = parse_progress_bar(scan.rest());
      it.prefix.progress_title = bar.title;
      return bar.length > 0 && bar.title.find('"') == bar.title.npos &&
             scan.skip(scan.rest().substr(0, bar.length));
    }
    case 'b':  // Blanks.
      return scan.blanks() > 0;
    case '_':  // Blanks, or none.
      scan.blanks();
      return true;
    default:  // 'z': one blank, or the end, or an NCCL line that is quoted without its process.
      return scan.skip(' ') || scan.done() || scan.rest().starts_with("NCCL ");
  }
}

/// Takes what `letter` names, in front of the byte `end` of the pattern.
bool take(char letter, char end, Attempt& it) {
  const auto is_one_of = [&](auto... letters) { return ((letter == letters) || ...); };
  if (is_one_of('t', 'm', 'v', 'e', 'c')) return take_time(letter, it);
  if (is_one_of('d', 'i', '4', '6', 'r', 'l', 'k')) return take_number(letter, it);
  if (is_one_of('w', 'T', 'H', 'h', 'n', 'p', 'f')) return take_name(letter, end, it);
  if (is_one_of('L', 'A', 's')) return take_known_word(letter, it);
  return take_signs(letter, it);
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
    } else if (!take(letter, pattern[1], it)) {
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
    do {
      ++pattern;
    } while (pattern[-1] != '%' || (*pattern != '|' && *pattern != ')'));
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

/// A row of nccl-tests' table: two numbers and a datatype. Its comments: "#  Rank …".
bool begins_row_of_test(std::string_view text) {
  constexpr std::string_view kComments[] = {"# nThread ",          "#  Rank ",
                                            "#   Rank ",           "# Using devices",
                                            "#       size ",       "# Out of bounds values",
                                            "# Avg bus bandwidth", "# Collective test "};
  if (starts_with_one_of(text, kComments)) return true;
  // Numbers of lines take the blanks behind them along, so only those between columns are sure.
  constexpr std::string_view kDatatypes[] = {"float", "half", "double", "bf",  "char", "int",
                                             "uint",  "fp8",  "f8",     "f16", "none"};
  Scanner scan(text);
  scan.blanks();
  const bool has_size = !scan.take_while(is_digit, 18).empty() && scan.blanks() > 1;
  const bool has_count = has_size && !scan.take_while(is_digit, 18).empty() && scan.blanks() > 1;
  return has_count && starts_with_one_of(scan.rest(), kDatatypes);
}

/// What processes print themselves, in front of which whatever stands is a prefix.
bool begins_message(std::string_view text) {
  constexpr std::string_view kStarts[] = {"[rank",
                                          "[default",
                                          "Traceback (most recent call last)",
                                          "terminate called after",
                                          "what():  ",
                                          "NCCL version ",
                                          "NCCL INFO",
                                          "NCCL WARN",
                                          "NCCL TRACE",
                                          "NCCL CALL",
                                          "NCCL ABORT",
                                          "NCCL DIAG",
                                          "{\""};
  if (trim(text).empty() || begins_cpp_record(text)) return true;
  return starts_with_one_of(text, kStarts);
}

}  // namespace

bool begins_record(std::string_view text) {
  return begins_message(text) || begins_row_of_test(text);
}

namespace {

/// Names that look like hosts and are not: "gpu0: ", "epoch3: ", "python3.10: ".
bool is_common_word(std::string_view name) {
  constexpr std::string_view kWords[] = {"rank",  "gpu",    "cuda",  "step",  "epoch", "iter",
                                         "layer", "python", "stage", "batch", "torch", "sha",
                                         "md",    "utf",    "eth",   "ib",    "line"};
  size_t letters = 0;
  while (letters < name.size() && is_alpha(name[letters])) ++letters;
  const std::string_view stem = name.substr(0, letters);
  const bool numbered = letters < name.size() && (is_digit(name[letters]) || name[letters] == '.');
  return numbered && equals_one_of(stem, kWords);
}

bool looks_like_host(std::string_view name) {
  if (name.starts_with("nvidia-nvswitch")) return false;  // A driver, in the kernel's log.
  bool letter = false;
  bool digit = false;
  for (const char c : name) {
    if (c == '_' || (c >= 'A' && c <= 'Z')) return false;
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

/// Not "[rank3]:  what():", where the C++ runtime prints the blanks.
bool is_global_rank(Attempt& it) { return !it.scan.rest().starts_with(" what():"); }

/// The pod's name has a number, as replicas have.
bool is_replica(Attempt& it) {
  const std::string_view pod = it.prefix.host;
  return pod.find('-') != pod.npos && pod.find_first_of(kDigits) != pod.npos;
}

/// A row of a table, or what nccl-tests comments.
bool is_row_or_comment(Attempt& it) {
  Scanner behind = it.scan;
  return behind.peek() == '#' || (behind.blanks() > 1 && is_digit(behind.peek()));
}

bool is_in_front_of_text(Attempt& it) { return !trim(it.scan.rest()).empty(); }

// The first form that fits is taken. Those with which every line of a log may begin come first.
constexpr PrefixForm kPrefixForms[] = {
    // Of what starts processes: torchrun, Open MPI, PRRTE, Horovod, srun, Ray, vLLM; and times.

    // "[pod/train-worker-3/pytorch] " of kubectl --prefix.
    {"[", "[pod/%H/%w] "},
    // "[rank: 3] " of Lightning, "[rank3]: " of Python's excepthook. Without the blank it is
    // torchrun's "--role rank": a local rank.
    {"[", "[rank: %r] ", 0, ':'},
    {"[", "[rank%r]: ", 0, ':', is_global_rank},
    {"[", "[rank%l]:", 0, ':'},
    // docker -t, CloudWatch's with a tab, loggers.
    {kDigits, "%t%(%z%|: %|\t%)", kStamp},
    // SGLang's "[… DP0 TP3] ", or only the bracket.
    {"[", "[%t%(]%| %w]%)%(%z%|: %|\t%)", kStamp},
    {"[", "[titan] %t%(%z%|: %|\t%)", kStamp},
    // "[1,3]<stdout>:", "[0]<stderr>: ", "[1,0][nodea:4242]<stderr>: ".
    {"[", "[%T]%([%H]%|%)<%s>:%? ", 0, '<'},
    // Open MPI's "Mon Jan  5 12:00:00 2026<stdout>:", Horovod's with "[3]" before the stream.
    {"MTWFS", "%m%([%T][%H]%|[%T]%|%)<%s>:%? "},
    {"<", "<%s>:%? "},
    // "(TrainWorker pid=4242, ip=10.0.0.7) " of Ray, "(VllmWorker rank=1 pid=4242) " of vLLM.
    {"(", "(%w)%z", 0, '\0', is_actor},
    // srun --label: "3: ", " 3: ", "03: ".
    {" 0123456789", "%_%k: ", 0, '\0', is_task},

    // Of collectors: containerd, docker, kubectl, journald, syslog, logcli, the kernel.

    // logcli's "{pod=\"w-3\", container=\"pytorch\"} ".
    {"{", "{%w} ", kBehindStamp, '\0', are_labels},
    // Containerd's "stderr F ", P where the line goes on in the next one.
    {"s", "%s%z%(F%z%|P%z%|%)", kBehindStamp | kStamp},
    // journalctl -o short-iso: "nodea slurmstepd[77]: ". A program without pid would read like a
    // sentence; only the kernel may do without.
    {kWordBytes, "%h %(%p[%w]%|kernel%): ", kBehindStamp},
    // CloudWatch's milliseconds since 1970 and a tab.
    {kDigits, "%e\t", kStamp},
    // CloudWatch's "  | 2026-01-05T12:00:00.123Z | ": a column for a stream's name, which is empty.
    {"|", "|%b%t%b|%z", 0, '|'},
    // The kernel's "[12345.678901] ", with dmesg -T "[Mon Jan  5 12:00:00 2026] ", with "<3>" of
    // dmesg -r, "kern  :err   : " of dmesg -x.
    {"[", "[%m] "},
    {"[", "[%_%d.%6] "},
    {"<k", "%(<%i>%|kern %w:%w: %)[%m] "},
    {"<k", "%(<%i>%|kern %w:%w: %)[%_%d.%6] "},
    // All that is left of the journal's line where time and host were taken off.
    {"k", "kernel: ", 0, ':'},
    // journald, syslog: "Jan 05 12:00:00 nodea slurmstepd[77]: ".
    {"JFMASOND", "%m %h %p%([%w]%|%): "},
    // "<30>Jan 05 12:00:00 nodea app[77]: ", "<134>1 2026-01-05T12:00:00Z nodea app 77 ID47 - ".
    {"<", "<%i>%m %h %p%([%w]%|%): "},
    {"<", "<%i>1 %t %h %w %w %w %x%z%(\xEF\xBB\xBF%|%)"},
    // journalctl -o export.
    {"M", "MESSAGE="},
    // docker compose: "worker-1  | ", swarm: "job_worker.2.k3x9@nodea    | ".
    {"", "%p%b|%z", 0, '|', is_service},

    // Of a framework's own logger: vLLM, SGLang, DeepSpeed, torchtitan, fairseq, Hydra, Hugging
    // Face, Ray, absl and TensorFlow.

    {"[", "[Rank %r] ", kBehindStamp | kStamp},
    {"[", "[%w] ", kBehindStamp | kStamp, '\0', is_level_or_place},
    // loguru's "| INFO     | train:step:12 - ".
    {"|", "| %L%b| %n:%w - ", kBehindStamp},
    // "| INFO | train_inner | ", "- root - INFO - ": logger and level in either order.
    {"|", "| %(%w | %L |%|%L | %w |%) ", kBehindStamp},
    {"-", "- %(%w - %L -%|%L - %w -%) ", kBehindStamp},
    // A format without the logger's name.
    {"-", "- %L - ", kBehindStamp},
    // TensorFlow's "I external/xla/a.cc:12] ".
    {"IWEF", "%A %f] ", kBehindStamp},
    // Ray's "INFO worker.py:1528 -- ".
    {"DIWEC", "%L %f -- ", kBehindStamp},
    // "INFO trainer: ", "INFO trainer[rank 0]: ". What a logger prints at other levels may begin
    // with the name of an exception that it caught, so that is left in the message's line.
    {"I", "INFO %n%([rank %d]%|%): ", kBehindStamp},
    // vLLM's "INFO 01-05 12:00:00 [core.py:58] "; older releases leave the first bracket out.
    {"DIWEC", "%L %v %?[%f] "},
    // "I0105 12:00:00.000001 4242 a.cc:12] ", and before absl is initialised
    // "I0000 00:00:1767614400.000001 4242 ", the seconds since 1970 in place of the time.
    {"IWEF", "%A%(0000 00:00:%d.%6%|%4 %c%)%b%d %f] "},
    // "INFO:train.loop:" of Python's logging without a formatter.
    {"DIWEC", "%L:%n:"},
    // "[INFO|trainer.py:3719] 2026-01-05 12:00:00,123 >> " of Hugging Face.
    {"[", "[%L|%f] %t >> "},
    // Hydra's "[2026-01-05 12:00:00,123][train][INFO] - ".
    {"[", "[%t][%n][%L] - "},
    // torchrun's "[default3]:", with TorchX's replica "[trainer0|3]:".
    {"[", "[%w]:", 0, ':', is_role_and_rank},
    // pdsh, clush: "nodea: ".
    {kWordBytes, "%n: ", 0, ':', is_labelled_host},

    // Of what lines get on their way into a mail, an issue, a diff or a terminal: quotes, line
    // numbers, borders, bare numbers of ranks.
    //
    //   > > 12 | [3] node07:41:42 [3] NCCL INFO …
    //
    // All but quotes look like ordinary output, so they count only in front of text that begins a
    // record of its own.

    // "> ", ">> ", "> > ".
    {" >", "%_%q%z%_"},
    // "  12  ", "12 | ", "12) ", "12:" of an editor, of cat -n, of grep -n.
    {" 0123456789", "%_%d%(%b%u%|%b%|%u%)%_", kBeforeRecord},
    // A list.
    {" -*|", "%_%(- %|* %|| %)", kBeforeRecord},
    // "│ " at the left of a pane of tmux.
    {"\xE2", "│%b", kBeforeRecord},
    // A diff's "+   1048576  …".
    {"+", "+", 0, '\0', is_row_or_comment},
    // "[3] " of Intel MPI and MPICH, "[11]: " of torchrun's template.
    {"[", "[%k]%?: ", kBeforeRecord},
    // stern's "train-worker-3 pytorch ".
    {kLowerCase, "%h %n ", kBeforeRecord, '-', is_replica},
    // Of nobody in particular: a tqdm bar that got no newline, with something behind it on the same
    // line.
    {"", "%B", kBar, '\0', is_in_front_of_text},
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

/// True if a text with `byte` in the second place may have the form, which begins with a byte that
/// stands for itself.
constexpr bool may_go_on(const PrefixForm& form, char byte) {
  if (form.pattern[0] == '%' || form.pattern[1] == '\0') return true;
  if (form.pattern[1] != '%') return form.pattern[1] == byte;
  switch (form.pattern[2]) {
    case 't':
    case 'd':
    case 'k':
      return is_digit(byte);
    case '_':
      return is_digit(byte) || is_blank(byte);
    case 'm':
    case 'L':
      return byte >= 'A' && byte <= 'Z';
    default:
      return true;
  }
}

template <typename Wanted>
constexpr std::array<Forms, 256> forms_by_byte(Wanted wanted) {
  std::array<Forms, 256> forms{};
  for (size_t byte = 0; byte < forms.size(); ++byte) {
    forms[byte] = forms_that([&](auto& form) { return wanted(form, static_cast<char>(byte)); });
  }
  return forms;
}

/// The forms that may begin with a byte.
constexpr auto kFormsByByte = forms_by_byte([](const PrefixForm& form, char byte) {
  return form.first_bytes.empty() || form.first_bytes.find(byte) != std::string_view::npos;
});

/// The forms that may have a byte in the second place.
constexpr auto kFormsBySecondByte = forms_by_byte(may_go_on);

/// The forms that have a byte as their mark.
constexpr auto kFormsByMark = forms_by_byte(
    [](const PrefixForm& form, char byte) { return form.mark != '\0' && form.mark == byte; });

constexpr Forms kMarked = forms_that([](auto& form) { return form.mark != '\0'; });

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

/// What was taken off a line so far.
struct Reading {
  Prefix prefix;
  bool after_stamp = false;  ///< The piece before was a time: a logger's own words may follow.
};

/// Takes the prefix of one form off `text`; its length, 0 if there is none.
size_t take(const PrefixForm& form, std::string_view text, Reading& reading) {
  Attempt attempt{Scanner(text), reading.prefix};
  if (take_all(form.pattern, attempt) == nullptr) return 0;
  if (form.accept != nullptr && !form.accept(attempt)) return 0;
  reading.prefix = attempt.prefix;
  reading.after_stamp = (form.is & kStamp) != 0;
  return attempt.scan.taken();
}

/// Takes one prefix that cannot mean anything else off `text`.
size_t take_certain(std::string_view text, Reading& reading) {
  const Forms certain = ~(kInFrontOfRecord | (reading.after_stamp ? 0 : kAfterStamp));
  size_t length = 0;
  for (Forms forms = possible(certain, text); forms != 0 && length == 0; forms &= forms - 1) {
    length = take(kPrefixForms[std::countr_zero(forms)], text, reading);
  }
  return length;
}

constexpr int kMaxPasted = 4;  ///< Shapes of ordinary output that may stand one after the other.

size_t take_in_front_of_record(std::string_view text, Reading& reading, int more);

/// True if a record follows, behind up to `more` of the shapes that ordinary output has too.
bool begins_record_or_prefix(std::string_view text, int more) {
  if (begins_record(text)) return true;
  Reading ignored;
  return take_certain(text, ignored) > 0 || take_in_front_of_record(text, ignored, more) > 0;
}

/// Takes one of the shapes that ordinary output has too off `text`.
size_t take_in_front_of_record(std::string_view text, Reading& reading, int more) {
  if (more == 0) return 0;
  for (Forms forms = possible(kInFrontOfRecord, text); forms != 0; forms &= forms - 1) {
    Reading attempt = reading;
    const size_t length = take(kPrefixForms[std::countr_zero(forms)], text, attempt);
    if (length == 0 || !begins_record_or_prefix(text.substr(length), more - 1)) continue;
    reading = attempt;
    return length;
  }
  return 0;
}

/// Takes a prefix off that somebody indented. Words behind blanks are ordinary text too often.
size_t take_indented(std::string_view text, Reading& reading) {
  const size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
  if (blanks == 0 || blanks == text.size()) return 0;
  Reading attempt = reading;
  const std::string_view inner = text.substr(blanks);
  size_t length = take_certain(inner, attempt);
  const bool is_word = length > 0 && is_alpha(inner[0]);
  if (is_word && !begins_record_or_prefix(inner.substr(length), kMaxPasted)) return 0;
  if (length == 0) length = take_in_front_of_record(inner, attempt, kMaxPasted);
  if (length == 0) return 0;
  reading = attempt;
  return blanks + length;
}

}  // namespace

// All prefixes of a line.

bool may_have_prefix(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return possible(~(kAfterStamp | kBars), line) != 0;
}

Prefix parse_prefix(std::string_view line) {
  Reading reading;
  for (int i = 0; i < kMaxPrefixes; ++i) {
    const std::string_view rest = line.substr(reading.prefix.length);
    // The surest shapes first: the others also fit ordinary output.
    size_t length = take_certain(rest, reading);
    if (length == 0) length = take_indented(rest, reading);
    if (length == 0) length = take_in_front_of_record(rest, reading, kMaxPasted);
    if (length == 0) break;
    reading.prefix.length += length;
  }
  return reading.prefix;
}

}  // namespace ncclog
