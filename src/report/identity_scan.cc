#include "report/identity_scan.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/address_map.h"
#include "report/identity_values.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

// Identities that are known by how they look.

constexpr size_t kLongestShape = 64;

/// A place in a text with what stands around it.
struct Place {
  std::string_view text;
  size_t at;

  /// The character `ahead` of the place; NUL behind the end, a blank before the beginning.
  char peek(size_t ahead) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  char prev() const { return at > 0 ? text[at - 1] : ' '; }

  template <typename Is>
  std::string_view run(Is&& is) const {
    const std::string_view rest = text.substr(at, kLongestShape);
    const auto end = std::find_if_not(rest.begin(), rest.end(), is);
    return rest.substr(0, static_cast<size_t>(end - rest.begin()));
  }
};

/// True for "version 1.18.1.0" and the like: four numbers that are no address.
bool is_behind_version(const Place& place) {
  constexpr size_t kLookBack = 14;
  const size_t begin = place.at < kLookBack ? 0 : place.at - kLookBack;
  const std::string before = lower_case(place.text.substr(begin, place.at - begin));
  return before.find("ver") != before.npos || before.find("release") != before.npos;
}

size_t ipv4_length(const Place& place) {
  const char prev = place.prev();
  if (!is_digit(place.peek(0)) || prev == '_' || prev == '-') return 0;
  if (prev == '.' && place.at > 1 && is_digit(place.text[place.at - 2])) return 0;
  std::string_view run = place.run([](char c) { return is_digit(c) || c == '.'; });
  while (run.ends_with('.')) run.remove_suffix(1);
  const bool is_word_on = is_word(place.peek(run.size()));
  if (run.find('.') == run.npos || is_word_on || is_behind_version(place)) return 0;
  return parse_address_bits(run) ? run.size() : 0;
}

/// "101.262.0.9<4791>": no address, but somebody's, mangled on its way.
size_t mangled_address_length(const Place& place) {
  if (!is_digit(place.peek(0)) || is_alnum(place.prev()) || place.prev() == '.') return 0;
  const std::string_view run = place.run([](char c) { return is_digit(c) || c == '.'; });
  const bool has_port = place.peek(run.size()) == '<' && is_digit(place.peek(run.size() + 1));
  return has_port && std::count(run.begin(), run.end(), '.') == 3 ? run.size() : 0;
}

size_t ipv6_length(const Place& place) {
  const char prev = place.prev();
  if (prev == '_' || prev == '.' || is_alnum(prev)) return 0;
  std::string_view run = place.run([](char c) { return is_hex_digit(c) || c == ':'; });
  const char next = place.peek(run.size());
  if (is_word(next) || (next == '.' && is_digit(place.peek(run.size() + 1)))) return 0;
  if (run.ends_with(':')) run.remove_suffix(1);
  const bool tells =
      std::count(run.begin(), run.end(), ':') >= 2 && std::any_of(run.begin(), run.end(), is_digit);
  return tells && parse_address_bits(run) ? run.size() : 0;
}

/// "b8:59:9f:12:34:56": 6, 8 or 20 bytes that are not all 0 or all ff.
size_t hardware_length(const Place& place) {
  const char separator = place.peek(2);
  if (separator != ':' && separator != '-') return 0;
  const std::string_view run = place.run([&](char c) { return is_hex_digit(c) || c == separator; });
  const size_t bytes = (run.size() + 1) / 3;
  if (run.size() % 3 != 2 || (bytes != 6 && bytes != 8 && bytes != 20)) return 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if ((run[i] == separator) != (i % 3 == 2)) return 0;
  }
  const bool is_one = run.find_first_not_of("0fF:-") != run.npos;
  return is_one && !is_word(place.peek(run.size())) ? run.size() : 0;
}

/// "ec0d:9a03:0012:3456".
size_t guid_length(const Place& place) {
  const std::string_view run = place.run([](char c) { return is_hex_digit(c) || c == ':'; });
  if (run.size() != 19 || is_word(place.peek(19)) || place.prev() == ':') return 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if ((run[i] == ':') != (i % 5 == 4)) return 0;
  }
  return run.size();
}

size_t uuid_length(const Place& place) {
  const std::string_view run = place.run([](char c) { return is_hex_digit(c) || c == '-'; });
  if (run.size() != 36 || is_alnum(place.peek(36))) return 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if ((run[i] == '-') != (i == 8 || i == 13 || i == 18 || i == 23)) return 0;
  }
  return run.size();
}

/// A network device in NCCL's topology (graph/topo.cc): GUID, port, speed.
size_t asic_length(const Place& place) {
  constexpr size_t kLookBack = 64;
  const size_t begin = place.at < kLookBack ? 0 : place.at - kLookBack;
  const std::string_view before = place.text.substr(begin, place.at - begin);
  if (place.prev() != '(' || before.find("NET/") == before.npos) return 0;
  const std::string_view run = place.run(is_hex_digit);
  const bool fits = run.size() >= 6 && run.size() <= 16 && place.peek(run.size()) == '/' &&
                    is_digit(place.peek(run.size() + 1));
  return fits ? run.size() : 0;
}

struct Shape {
  IdentityKind kind;
  size_t (*length)(const Place& place);
};

constexpr Shape kShapes[] = {
    {IdentityKind::Address, ipv4_length},
    {IdentityKind::Hardware, hardware_length},
    {IdentityKind::Address, ipv6_length},
    {IdentityKind::Guid, guid_length},
    {IdentityKind::Guid, uuid_length},
    {IdentityKind::Guid, asic_length},
    {IdentityKind::Guid, mangled_address_length},
};

/// What begins at `at` of `text`, a hexadecimal digit or ':'; length 0: nothing.
FoundIdentity match_shape(std::string_view text, size_t at) {
  for (const Shape& shape : kShapes) {
    const size_t length = shape.length({text, at});
    if (length > 0) return {shape.kind, at, length};
  }
  return {};
}

std::string shape_of(std::string_view name) {
  std::string shape;
  for (const char c : name) {
    if (!is_digit(c)) {
      shape += lower_case(c);
    } else if (!shape.ends_with('#')) {
      shape += '#';
    }
  }
  return shape;
}

/// Names whose numbered fellows are something else: "gpu3", "rank0", "eth1", "mlx5".
bool is_common_stem(std::string_view shape) {
  constexpr std::string_view kStems[] = {
      "gpu", "rank", "cuda", "step", "epoch", "iter", "layer", "eth",  "ib",    "mlx",    "bond",
      "ens", "eno",  "enp",  "fr",   "rail",  "numa", "cpu",   "nvme", "stage", "default"};
  const std::string_view stem = shape.substr(0, shape.find('#'));
  return stem.size() < 2 ||
         std::find(std::begin(kStems), std::end(kStems), stem) != std::end(kStems);
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

bool is_host_char(char c) { return is_name_char(c) || c == '.'; }

/// "socket.cc" of "socket.cc:717:3".
bool is_source_file(std::string_view name) {
  constexpr std::string_view kEndings[] = {".cc", ".cpp", ".cu", ".c", ".h", ".hpp", ".py", ".go"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Whether process and thread stand behind a host.
enum class RecordPlace { None, Likely, Certain };

/// What follows at `colon`: ":313:313 [5]" or ":313:313 NCCL" is certain, ":313:313" where the text
/// ends or something else goes on is likely.
RecordPlace match_record_place(std::string_view text, size_t colon) {
  constexpr size_t kMostDigits = 10;
  const auto number_end = [&](size_t begin) {
    size_t end = begin;
    while (end < text.size() && end - begin <= kMostDigits && is_digit(text[end])) ++end;
    return end;
  };
  const size_t pid_end = number_end(colon + 1);
  if (pid_end == colon + 1 || pid_end >= text.size() || text[pid_end] != ':')
    return RecordPlace::None;
  const size_t tid_end = number_end(pid_end + 1);
  if (tid_end == pid_end + 1) return RecordPlace::None;
  const std::string_view rest = text.substr(tid_end);
  if (rest.starts_with(" [") || rest.starts_with(" NCCL")) return RecordPlace::Certain;
  const bool ends = rest.empty() || !(is_word(rest.front()) || rest.front() == ':');
  const bool is_long = pid_end - colon >= 3 && tid_end - pid_end >= 3;
  return ends && is_long ? RecordPlace::Likely : RecordPlace::None;
}

/// What stands right before the name of a host.
constexpr std::string_view kHostAnnouncers[] = {"on node ",
                                                "on host ",
                                                "from host ",
                                                "to host ",
                                                "at host ",
                                                "of host ",
                                                "with host ",
                                                "by host ",
                                                "connect to host ",
                                                "Connection to ",
                                                "connect to [",
                                                "addr=[",
                                                "remote=[",
                                                "addresses of (",
                                                "address of (",
                                                "resolve host ",
                                                "Could not resolve hostname ",
                                                "resolve hostname ",
                                                "Unknown host ",
                                                "host: ",
                                                "Host: ",
                                                "hostname: ",
                                                "Hostname: ",
                                                "node: ",
                                                "Node: ",
                                                "node '",
                                                "Node name: ",
                                                "srun: error: ",
                                                "Lost connection to ",
                                                "ssh ",
                                                "on nodes ",
                                                "Nodes: ",
                                                "hosts: ",
                                                "from node ",
                                                "to node ",
                                                "Node ",
                                                "peer host ",
                                                "added '",
                                                "remote host "};

/// Words after which "/NAME" or " NAME" is one of Kubernetes' own, "pod/falcon-7d9f-x2k4p".
constexpr std::string_view kClusterObjects[] = {"pod",
                                                "pods",
                                                "deployment",
                                                "deployments",
                                                "statefulset",
                                                "daemonset",
                                                "replicaset",
                                                "pytorchjob",
                                                "mpijob",
                                                "jobset",
                                                "configmap",
                                                "service",
                                                "namespace",
                                                "namespaces",
                                                "rayjob",
                                                "raycluster",
                                                "persistentvolumeclaim"};

/// "i-0abc12345678def90", "vpc-0a1b2c3d": a kind of thing and 8 to 17 hexadecimal digits.
bool is_cloud_id(std::string_view name) {
  constexpr std::string_view kKinds[] = {"i-",   "vpc-", "subnet-", "eni-", "sg-",   "vol-",
                                         "ami-", "fs-",  "lt-",     "cr-",  "ocid1-"};
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](std::string_view start) { return name.starts_with(start); });
  if (kind == std::end(kKinds)) return false;
  const std::string_view number = name.substr(kind->size());
  return (number.size() == 8 || number.size() == 17) && has_digit(number) &&
         std::all_of(number.begin(), number.end(), is_hex_digit);
}

/// "falcon-7d9f8b6c54-x2k4p": Kubernetes ends the names of pods in five characters, before which a
/// deployment puts eight to ten. Neither has a vowel, so that they form no word.
bool is_pod_name(std::string_view name) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  const auto is_random = [&](std::string_view part) {
    return has_digit(part) && part.find_first_not_of(kLetters) == part.npos;
  };
  const size_t last = name.rfind('-');
  if (last == name.npos || last < 3 || name.size() - last != 6) return false;
  const size_t before = name.rfind('-', last - 1);
  const std::string_view hash =
      before == name.npos ? std::string_view() : name.substr(before + 1, last - before - 1);
  const bool has_hash = hash.size() >= 8 && hash.size() <= 10 && has_digit(hash) &&
                        std::all_of(hash.begin(), hash.end(), is_alnum);
  const std::string_view end = name.substr(last + 1);
  return is_random(end) || (has_hash && end.find_first_not_of(kLetters) == end.npos);
}

/// "ip-0A230405": an address in hexadecimal.
bool is_azure_host(std::string_view name) {
  const std::string_view number = name.size() == 11 ? name.substr(3) : std::string_view();
  return !number.empty() && lower_case(name.substr(0, 3)) == "ip-" &&
         std::all_of(number.begin(), number.end(), is_hex_digit);
}

/// Walks one text from front to back. Invariant: all of `in_.found` ends at or before `in_.at`,
/// which only grows; a step of it that takes nothing moves on to the next place where a word may
/// begin.
class IdentityScan {
 public:
  IdentityScan(std::string_view text, const KnownHosts& hosts) : in_{text, hosts} {}

  std::vector<FoundIdentity> run() {
    while (in_.at < in_.text.size()) {
      const size_t before = in_.at;
      take();
      in_.at = std::max(in_.at, before + 1);
    }
    return std::move(in_.found);
  }

 private:
  bool take() {
    const char c = in_.text[in_.at];
    if (is_alnum(c)) {
      if (take_host_list() || take_announced_host() || take_cluster_name()) return true;
      if (take_shape() || take_known_host() || (is_alpha(c) && take_word()) || take_dotted_name())
        return true;
      in_.at = in_.long_run_end(in_.at, is_alnum);
      return true;
    }
    if (c == ':' && is_digit(in_.peek(in_.at + 1)) && take_torn_header()) return true;
    if (c == ':' && in_.peek(in_.at + 1) == ':') return take_shape();
    if (c == '-' && take_slurm_flag()) return true;
    return c == '/' && take_path();
  }

  /// The host of a record, "vm:313:313 [0]", also right behind what another process printed. Of an
  /// unknown one all is taken that may belong to it.
  bool take_torn_header() {
    const RecordPlace place = match_record_place(in_.text, in_.at);
    if (place == RecordPlace::None) return false;
    const size_t free = in_.found.empty() ? 0 : in_.found.back().begin + in_.found.back().length;
    for (const size_t length : in_.hosts.lengths) {
      if (in_.at < length || in_.at - length < free) continue;
      const size_t begin = in_.at - length;
      if (in_.hosts.names.contains(lower_case(in_.text.substr(begin, length))))
        return in_.add(IdentityKind::Host, begin, in_.at);
    }
    size_t begin = in_.at;
    while (begin > free && in_.at - begin < IdentityCursor::kLongestRun &&
           is_host_char(in_.text[begin - 1])) {
      --begin;
    }
    while (begin < in_.at && !is_alnum(in_.text[begin])) ++begin;
    const std::string_view host = in_.text.substr(begin, in_.at - begin);
    const bool has_letter = std::any_of(host.begin(), host.end(), is_alpha);
    if (place == RecordPlace::Likely && (!has_digit(host) || is_source_file(host))) return false;
    return has_letter && in_.add_host(begin, in_.at);
  }

  bool take_shape() {
    if (!is_hex_digit(in_.text[in_.at]) && in_.text[in_.at] != ':') return false;
    const FoundIdentity found = match_shape(in_.text, in_.at);
    return found.length > 0 && in_.add(found.kind, in_.at, in_.at + found.length);
  }

  // Words.

  bool take_word() { return take_announced(in_, walked_) || take_mail() || take_phrase(); }

  bool take_mail() {
    const size_t sign = in_.run_end(in_.at, is_mail_char);
    if (in_.peek(sign) != '@' || sign == in_.at) return false;
    size_t end = in_.run_end(sign + 1, [](char c) { return is_label_char(c) || c == '.'; });
    while (end > sign + 1 && in_.text[end - 1] == '.') --end;
    const std::string_view domain = in_.text.substr(sign + 1, end - sign - 1);
    const size_t dot = domain.rfind('.');
    const std::string_view last = dot == domain.npos ? std::string_view() : domain.substr(dot + 1);
    const bool has_ending = last.size() >= 2 && std::all_of(last.begin(), last.end(), [](char c) {
                              return c >= 'a' && c <= 'z';
                            });
    if (has_ending && !is_behind_ssh()) return in_.add(IdentityKind::Email, in_.at, end);
    if (domain.empty() || !is_prompt(sign, end)) return false;
    const bool any = in_.add_user(in_.at, sign);
    in_.at = sign + 1;
    if (parse_address_bits(domain)) return true;
    return in_.add_host(sign + 1, end) || any;
  }

  bool is_behind_ssh() const {
    const std::string_view word = trim(in_.before());
    return word.ends_with("ssh") || word.ends_with("scp") || word.ends_with("rsync");
  }

  /// "root@node7:~#", "ssh alice@node7": not "image@sha256:…" or "libx.so@VERS_1".
  bool is_prompt(size_t sign, size_t end) const {
    if (is_behind_ssh()) return true;
    const std::string_view word = trim(in_.before());
    const bool leads =
        word.empty() || word.ends_with('[') || word.ends_with('(') || word.ends_with(')');
    return leads && sign > in_.at &&
           (in_.peek(end) == ':' || in_.peek(end) == ' ' || in_.peek(end) == ']');
  }

  /// Words after which a name stands.
  bool take_phrase() {
    const size_t end = in_.run_end(in_.at, is_word);
    const std::string_view word = in_.text.substr(in_.at, end - in_.at);
    if (in_.prev(in_.at) == '_' || in_.prev(in_.at) == '.') return false;
    if (word == "slurm" || word == "job" || word == "JOB" || word == "STEP" || word == "StepId" ||
        word == "JobId")
      return take_job_number(end);
    if (word == "ON" && is_slurm_line()) return take_host_behind(end);
    if (word == "on" && in_.before().find(" Pid ") != std::string_view::npos)
      return take_host_behind(end);
    if (word == "hostname") return take_host_behind(end);
    if (word == "run" && in_.before().find("wandb") != std::string_view::npos)
      return take_run_name(end);
    return word == "as" && in_.before().ends_with("logged in ") && take_account(end);
  }

  bool is_slurm_line() const {
    return in_.around().find("slurm") != std::string_view::npos ||
           in_.around().find("srun") != std::string_view::npos;
  }

  /// "srun -J pretrain -A account -p partition": their short forms.
  bool take_slurm_flag() {
    const bool is_flag =
        is_blank(in_.prev(in_.at)) && is_blank(in_.peek(in_.at + 2)) &&
        std::string_view("JAp").find(in_.peek(in_.at + 1)) != std::string_view::npos;
    const std::string_view line = in_.before();
    if (!is_flag || (line.find("srun") == line.npos && line.find("batch") == line.npos &&
                     line.find("SBATCH") == line.npos && line.find("salloc") == line.npos))
      return false;
    const size_t begin = in_.run_end(in_.at + 2, is_blank);
    return in_.add_name(IdentityKind::Name, begin,
                        in_.long_run_end(begin, [](char c) { return !ends_value(c); }));
  }

  bool take_job_number(size_t end) {
    const size_t begin =
        in_.run_end(end, [](char c) { return c == ' ' || c == '-' || c == '=' || c == ':'; });
    const size_t digits = in_.run_end(begin, is_digit);
    if (begin == end || digits < begin + 4 || is_word(in_.peek(digits))) return false;
    return in_.add(IdentityKind::JobNumber, begin, digits);
  }

  bool take_host_behind(size_t end) {
    const size_t begin = in_.run_end(end, is_blank);
    const size_t name_end = in_.run_end(begin, [](char c) { return is_label_char(c) || c == '.'; });
    const std::string_view name = in_.text.substr(begin, name_end - begin);
    const bool tells =
        std::any_of(name.begin(), name.end(), is_digit) || name.find('-') != name.npos;
    if (begin == end || !tells || parse_address_bits(name) || is_number(name)) return false;
    return in_.add_host(begin, name_end);
  }

  bool take_run_name(size_t end) {
    const size_t begin = in_.run_end(end, is_blank);
    const size_t name_end = in_.run_end(begin, [](char c) { return !ends_value(c); });
    const std::string_view name = in_.text.substr(begin, name_end - begin);
    return begin > end && name.find('-') != name.npos && name.find('/') == name.npos &&
           in_.add(IdentityKind::Name, begin, name_end);
  }

  /// Weights & Biases: "Currently logged in as: alice (team)".
  bool take_account(size_t end) {
    const size_t begin = in_.run_end(end, [](char c) { return c == ':' || c == ' '; });
    const size_t user_end = in_.run_end(begin, is_name_char);
    const bool any = in_.add_user(begin, user_end);
    if (in_.rest(user_end).starts_with(" (")) {
      const size_t team_end = in_.run_end(user_end + 2, is_name_char);
      return in_.add_name(IdentityKind::Name, user_end + 2, team_end) || any;
    }
    return any;
  }

  // Dotted names and fellows of known hosts.

  bool take_dotted_name() {
    if (in_.prev(in_.at) == '.' || in_.prev(in_.at) == '_' || in_.prev(in_.at) == '@') return false;
    size_t end = in_.run_end(in_.at, [](char c) { return is_label_char(c) || c == '.'; });
    while (end > in_.at && !is_alnum(in_.text[end - 1])) --end;
    const std::string_view name = in_.text.substr(in_.at, end - in_.at);
    const size_t dots = static_cast<size_t>(std::count(name.begin(), name.end(), '.'));
    if (dots == 0 || is_word(in_.peek(end)) || in_.peek(end) == '(' || name.size() > 253)
      return false;
    const std::string_view last = name.substr(name.rfind('.') + 1);
    const bool doubtful = is_doubtful_ending(last);
    if (!doubtful && !is_domain_ending(last)) return false;
    if (doubtful && dots < 2 && in_.peek(end) != ':' && in_.peek(end) != '<') return false;
    if (is_public_domain(name)) {
      in_.at = end;
      return true;
    }
    if (dots >= 2 || in_.hosts.names.contains(lower_case(name.substr(0, name.find('.')))))
      return in_.add_host(in_.at, end);
    return in_.add(IdentityKind::Domain, in_.at, end);
  }

  /// Slurm's and Kubernetes' names: a list with its brackets, what a word announces, and names
  /// whose shape no other thing has: "falcon-7d9f8b6c54-x2k4p", "i-0abc12345678def90", "arn:aws:…".

  bool begins_word() const { return !is_name_char(in_.prev(in_.at)); }

  /// "gpu-n[41-48,50]": not "ranks[0-7]".
  bool take_host_list() {
    if (!begins_word() || !is_alpha(in_.text[in_.at])) return false;
    const size_t stem_end = in_.run_end(in_.at, is_host_char);
    if (in_.peek(stem_end) != '[' || !is_digit(in_.peek(stem_end + 1))) return false;
    const size_t end = in_.run_end(
        stem_end, [](char c) { return is_digit(c) || c == '[' || c == ',' || c == '-'; });
    const std::string_view numbers = in_.text.substr(stem_end, end - stem_end);
    if (in_.peek(end) != ']' || numbers.find_first_of(",-") == numbers.npos) return false;
    const std::string shape = shape_of(in_.text.substr(in_.at, stem_end - in_.at)) + "#";
    const bool is_known = in_.hosts.shapes.contains(shape);
    const bool has_zeros = numbers[1] == '0' && is_digit(numbers[2]);
    const bool tells =
        has_zeros || shape.find('-') != shape.npos || shape.find('#') + 1 < shape.size();
    if (!is_known && (!tells || is_common_stem(shape))) return false;
    return in_.add(IdentityKind::Name, in_.at, end + 1);
  }

  /// "on node gpu-n41", "addr=[gpu-n41.corp]:29500".
  bool take_announced_host() {
    const char before = in_.prev(in_.at);
    if (std::string_view(" [('").find(before) == std::string_view::npos) return false;
    const std::string_view text = in_.before();
    const bool is_announced =
        std::any_of(std::begin(kHostAnnouncers), std::end(kHostAnnouncers),
                    [&](std::string_view words) { return text.ends_with(words); });
    if (!is_announced) return false;
    const size_t end = in_.run_end(in_.at, [](char c) { return is_label_char(c) || c == '.'; });
    std::string_view name = in_.text.substr(in_.at, end - in_.at);
    while (name.ends_with('.')) name.remove_suffix(1);
    const bool tells = has_digit(name) || (name.find('-') != name.npos && has_own_word(name, {}));
    std::string shape = shape_of(name);
    std::erase(shape, '-');
    if (!tells || parse_address_bits(name) || is_source_file(name) || is_common_stem(shape) ||
        in_.peek(end) == '@' || in_.peek(end) == '/' ||
        std::none_of(name.begin(), name.end(), is_alpha))
      return false;
    return in_.add_host(in_.at, in_.at + name.size());
  }

  bool take_cluster_name() {
    if (!begins_word()) return false;
    const std::string_view rest = in_.rest(in_.at);
    if (rest.starts_with("arn:aws")) {
      return in_.add(IdentityKind::Name, in_.at,
                     in_.run_end(in_.at, [](char c) { return !ends_value(c); }));
    }
    const size_t end = in_.run_end(in_.at, is_label_char);
    const std::string_view name = in_.text.substr(in_.at, end - in_.at);
    if (is_cloud_id(name) || is_pod_name(name)) return in_.add(IdentityKind::Host, in_.at, end);
    const char joint = in_.peek(end);
    if ((joint != '/' && joint != ' ') || in_.prev(in_.at) == '/') return false;
    const bool is_object = std::find(std::begin(kClusterObjects), std::end(kClusterObjects),
                                     lower_case(name)) != std::end(kClusterObjects);
    if (!is_object) return false;
    const size_t begin = in_.run_end(end, [](char c) { return c == '/' || c == ' ' || c == '"'; });
    const size_t stop = in_.run_end(begin, [](char c) { return is_label_char(c) || c == '.'; });
    const std::string_view object = in_.text.substr(begin, stop - begin);
    const bool tells = has_digit(object) || object.find('-') != object.npos;
    if (!tells || is_number(object) || is_known_component(object)) return false;
    return in_.add(IdentityKind::Name, begin, stop);
  }

  bool take_known_host() {
    if (in_.hosts.shapes.empty() && in_.text[in_.at] != 'i') return false;
    const size_t end = in_.run_end(in_.at, is_label_char);
    const std::string_view name = in_.text.substr(in_.at, end - in_.at);
    if (name.size() > 253 || std::none_of(name.begin(), name.end(), is_digit)) return false;
    // A domain behind it is for take_dotted_name.
    if (in_.peek(end) == '@') return false;
    if (in_.peek(end) == '.' && take_dotted_name()) return true;
    const std::string shape = shape_of(name);
    const bool is_host =
        in_.hosts.shapes.contains(shape) || shape == "ip-#-#-#-#" || is_azure_host(name);
    return is_host && !is_word(in_.peek(end)) && in_.add(IdentityKind::Host, in_.at, end);
  }

  bool take_path() {
    const char last = in_.prev(in_.at);
    const bool joins =
        is_word(last) || std::string_view("./<-)").find(last) != std::string_view::npos;
    return (!joins || is_flag_path(in_.at) || is_home(in_.at)) && in_.add_path(in_.at);
  }

  /// "…torn/home/alice": whose home it is counts, whatever stands before.
  bool is_home(size_t begin) const {
    const std::string_view rest = in_.rest(begin);
    return rest.starts_with("/home/") || rest.starts_with("/Users/") || rest.starts_with("/users/");
  }

  /// "-I/home/…", "$HOME/…".
  bool is_flag_path(size_t begin) const {
    if (in_.text.substr(0, begin).ends_with("$HOME")) return true;
    return begin >= 2 && is_alpha(in_.text[begin - 1]) && in_.text[begin - 2] == '-';
  }

  IdentityCursor in_;
  WalkedRuns walked_;
};

}  // namespace

std::string_view to_string(IdentityKind kind) {
  constexpr std::string_view kNames[] = {"host", "domain", "user",   "email",   "name",
                                         "job",  "folder", "file",   "address", "hardware",
                                         "guid", "lid",    "secret", "path"};
  return kNames[static_cast<size_t>(kind)];
}

void KnownHosts::add(std::string_view host) {
  const std::string_view name = host.substr(0, host.find('.'));
  if (is_plain_word(name) || is_number(name)) return;
  names.insert(lower_case(name));
  lengths.insert(name.size());
  const std::string shape = shape_of(name);
  if (shape.find('#') != shape.npos && !is_common_stem(shape)) shapes.insert(shape);
}

bool begins_record(std::string_view line, size_t at) {
  size_t colon = at;
  while (colon < line.size() && colon - at < IdentityCursor::kLongestRun &&
         is_host_char(line[colon])) {
    ++colon;
  }
  return colon > at && colon < line.size() && line[colon] == ':' &&
         match_record_place(line, colon) == RecordPlace::Certain;
}

std::vector<FoundIdentity> find_identities(std::string_view text, const KnownHosts& hosts) {
  return IdentityScan(text, hosts).run();
}

}  // namespace ncclog
