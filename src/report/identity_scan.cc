#include "report/identity_scan.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/address_map.h"
#include "report/identity_cursor.h"
#include "report/identity_shapes.h"
#include "report/identity_values.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

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

  /// A host that begins a record, "vm:313:313", also right behind what another process printed.
  bool take_torn_header() {
    const size_t pid_end = in_.run_end(in_.at + 1, is_digit);
    if (in_.peek(pid_end) != ':' || !is_digit(in_.peek(pid_end + 1))) return false;
    const size_t free = in_.found.empty() ? 0 : in_.found.back().begin + in_.found.back().length;
    for (const size_t length : in_.hosts.lengths) {
      if (in_.at < length || in_.at - length < free) continue;
      const size_t begin = in_.at - length;
      if (in_.hosts.names.contains(lower_case(in_.text.substr(begin, length))))
        return in_.add(IdentityKind::Host, begin, in_.at);
    }
    return false;
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
    const bool has_ending = is_domain_ending(last) || is_doubtful_ending(last);
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
    if (word == "error" && in_.rest(0).starts_with("srun:")) return take_task_host(end);
    if (word == "on" && in_.before().find(" Pid ") != std::string_view::npos)
      return take_host_behind(end);
    if (word == "host" && in_.before().ends_with("to ")) return take_host_behind(end);
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

  /// "srun: error: gpu-n41: task 3: Killed".
  bool take_task_host(size_t end) {
    if (in_.peek(end) != ':') return false;
    const size_t begin = in_.run_end(end + 1, is_blank);
    const size_t name_end = in_.run_end(begin, is_label_char);
    return in_.rest(name_end).starts_with(": task") && in_.add_host(begin, name_end);
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

  bool take_known_host() {
    if (in_.hosts.shapes.empty() && in_.text[in_.at] != 'i') return false;
    const size_t end = in_.run_end(in_.at, is_label_char);
    const std::string_view name = in_.text.substr(in_.at, end - in_.at);
    if (name.size() > 253 || std::none_of(name.begin(), name.end(), is_digit)) return false;
    // A domain behind it is for take_dotted_name.
    if (in_.peek(end) == '@') return false;
    if (in_.peek(end) == '.' && take_dotted_name()) return true;
    const std::string shape = shape_of(name);
    const bool is_host = in_.hosts.shapes.contains(shape) || shape == "ip-#-#-#-#";
    return is_host && !is_word(in_.peek(end)) && in_.add(IdentityKind::Host, in_.at, end);
  }

  bool take_path() {
    const char last = in_.prev(in_.at);
    const bool joins =
        is_word(last) || std::string_view("./<-)").find(last) != std::string_view::npos;
    return (!joins || is_flag_path(in_.at)) && in_.add_path(in_.at);
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

std::vector<FoundIdentity> find_identities(std::string_view text, const KnownHosts& hosts) {
  return IdentityScan(text, hosts).run();
}

}  // namespace ncclog
