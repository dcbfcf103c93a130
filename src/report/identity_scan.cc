#include "report/identity_scan.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/address_map.h"
#include "report/identity_keys.h"
#include "report/identity_shapes.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
bool is_name_char(char c) { return is_word(c) || c == '-'; }
bool is_label_char(char c) { return is_alnum(c) || c == '-'; }
bool is_mail_char(char c) { return is_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-'; }
bool is_token_char(char c) { return is_mail_char(c) || c == '/' || c == '=' || c == '~'; }

/// Where a value, unquoted or inside quotes, ends.
bool ends_value(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view("\"'`,;)]}>|&\\").find(c) != std::string_view::npos;
}

bool ends_path(char c) {
  return ends_value(c) || std::string_view("<:=?#*!(").find(c) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string shape_of(std::string_view name) {
  std::string shape;
  for (const char c : name) {
    if (!is_digit(c)) {
      shape += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
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

bool is_nothing(std::string_view value) {
  constexpr std::string_view kNothing[] = {"none",  "null",   "true",   "false", "default",
                                           "unset", "static", "etcd",   "c10d",  "etcd-v2",
                                           "nil",   "n/a",    "bearer", "basic"};
  constexpr size_t kLongest = 8;
  if (value.size() > kLongest) return false;
  const std::string word = lower(value);
  return std::find(std::begin(kNothing), std::end(kNothing), word) != std::end(kNothing);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// Walks one text from front to back. Invariant: all of `found_` ends at or before `at_`, which
/// only grows; a step of it that takes nothing moves on to the next place where a word may begin.
class IdentityScan {
 public:
  IdentityScan(std::string_view text, const KnownHosts& hosts) : text_(text), hosts_(hosts) {}

  std::vector<FoundIdentity> run() {
    while (at_ < text_.size()) {
      const size_t before = at_;
      take();
      at_ = std::max(at_, before + 1);
    }
    return std::move(found_);
  }

 private:
  char peek(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  char prev(size_t at) const { return at > 0 ? text_[at - 1] : ' '; }
  std::string_view rest(size_t at) const { return text_.substr(std::min(at, text_.size())); }

  /// Where the run of such characters that begins at `at` ends; of a hostile one, kLongestRun on.
  template <typename Is>
  size_t run_end(size_t at, Is&& is) const {
    const size_t most = std::min(text_.size(), at + kLongestRun);
    while (at < most && is(text_[at])) ++at;
    return at;
  }

  /// The same for what is taken however long it is.
  template <typename Is>
  size_t long_run_end(size_t at, Is&& is) const {
    while (at < text_.size() && is(text_[at])) ++at;
    return at;
  }

  /// The end of what was printed before `at_`, as far as it says what follows.
  std::string_view before() const {
    const size_t begin = at_ < kLongestRun ? 0 : at_ - kLongestRun;
    return text_.substr(begin, at_ - begin);
  }

  /// `before` and as much behind it.
  std::string_view around() const {
    const size_t begin = at_ < kLongestRun ? 0 : at_ - kLongestRun;
    return text_.substr(begin, 2 * kLongestRun);
  }

  bool add(IdentityKind kind, size_t begin, size_t end) {
    if (end <= begin) return false;
    found_.push_back({kind, begin, end - begin});
    at_ = end;
    return true;
  }

  bool take() {
    const char c = text_[at_];
    if (is_alnum(c)) {
      if (take_shape() || take_known_host() || (is_alpha(c) && take_word()) || take_dotted_name())
        return true;
      at_ = long_run_end(at_, is_alnum);
      return true;
    }
    if (c == ':' && is_digit(peek(at_ + 1)) && take_torn_header()) return true;
    if (c == ':' && peek(at_ + 1) == ':') return take_shape();
    if (c == '-' && take_slurm_flag()) return true;
    return c == '/' && take_path();
  }

  /// A host that begins a record, "vm:313:313", also right behind what another process printed.
  bool take_torn_header() {
    const size_t pid_end = run_end(at_ + 1, is_digit);
    if (peek(pid_end) != ':' || !is_digit(peek(pid_end + 1))) return false;
    const size_t free = found_.empty() ? 0 : found_.back().begin + found_.back().length;
    for (const size_t length : hosts_.lengths) {
      if (at_ < length || at_ - length < free) continue;
      const size_t begin = at_ - length;
      if (hosts_.names.contains(lower(text_.substr(begin, length))))
        return add(IdentityKind::Host, begin, at_);
    }
    return false;
  }

  bool take_shape() {
    if (!is_hex_digit(text_[at_]) && text_[at_] != ':') return false;
    const FoundIdentity found = match_shape(text_, at_);
    return found.length > 0 && add(found.kind, at_, at_ + found.length);
  }

  // Words.

  bool take_word() {
    return take_url() || take_token() || take_keyed() || take_mail() || take_phrase();
  }

  bool take_url() {
    const size_t scheme = run_end(at_, [](char c) { return is_alnum(c) || c == '+'; });
    if (rest(scheme).substr(0, 3) != "://") return false;
    const bool is_bucket = is_one_of_schemes(text_.substr(at_, scheme - at_));
    size_t begin = scheme + 3;
    const size_t end =
        run_end(begin, [](char c) { return is_mail_char(c) || c == ':' || c == '@' || c == '%'; });
    const size_t sign = text_.substr(begin, end - begin).rfind('@');
    if (sign != std::string_view::npos) {
      take_login(begin, begin + sign);
      begin += sign + 1;
    }
    at_ = begin;
    const size_t host_end = run_end(begin, is_mail_char);
    const std::string_view host = text_.substr(begin, host_end - begin);
    const bool is_public = is_public_domain(host);
    if (is_bucket) {
      add(IdentityKind::Name, begin, host_end);
    } else if (!is_public && !host.empty() && !parse_address_bits(host) && !is_nothing(host)) {
      add_host(begin, host_end);
    } else if (parse_address_bits(host)) {
      add(IdentityKind::Address, begin, host_end);
    }
    at_ = std::max(at_, is_public ? host_end : begin);
    const size_t slash = run_end(host_end, [](char c) { return is_digit(c) || c == ':'; });
    if (peek(slash) != '/') return true;
    if (is_public) {
      at_ = long_run_end(slash, [](char c) { return !ends_value(c); });
    } else {
      add_path(slash);
    }
    return true;
  }

  static bool is_one_of_schemes(std::string_view scheme) {
    constexpr std::string_view kBuckets[] = {"s3",   "gs",    "gcs", "hdfs",
                                             "abfs", "abfss", "oss", "wandb"};
    return std::find(std::begin(kBuckets), std::end(kBuckets), scheme) != std::end(kBuckets);
  }

  /// "alice" or "alice:password" before '@'.
  void take_login(size_t begin, size_t end) {
    const size_t colon = text_.substr(begin, end - begin).find(':');
    const size_t user_end = colon == std::string_view::npos ? end : begin + colon;
    add_user(begin, user_end);
    if (user_end < end) add(IdentityKind::Secret, user_end + 1, end);
  }

  bool take_token() {
    if (prev(at_) == '_' || prev(at_) == '-') return false;
    constexpr size_t kShortest = 16;
    const std::string_view next = rest(at_);
    const bool announced = next.starts_with("Bearer ") || next.starts_with("bearer ");
    if (!announced && !is_token_prefix(next)) return false;
    const size_t begin = announced ? at_ + 7 : at_;
    const size_t end = long_run_end(begin, is_token_char);
    const std::string_view token = text_.substr(begin, end - begin);
    return token.size() >= kShortest && std::any_of(token.begin(), token.end(), is_digit) &&
           add(IdentityKind::Secret, begin, end);
  }

  /// Where the value of the name that ends at `end` begins; npos if none follows.
  size_t value_begin(size_t end, const IdentityKey& key) const {
    constexpr std::string_view kNcclSays = " set by environment to ";
    if (rest(end).starts_with(kNcclSays)) return end + kNcclSays.size();
    const auto is_quote = [](char c) { return c == '"' || c == '\'' || c == '\\'; };
    const auto is_gap = [](char c) { return c == ' ' || c == '\t'; };
    const size_t separator = run_end(run_end(end, is_quote), is_gap);
    const char sign = peek(separator);
    const bool is_flag = at_ >= 2 && text_.substr(at_ - 2, 2) == "--";
    if (sign == '=' || (sign == ':' && !key.needs_equals)) {
      return run_end(run_end(separator + 1, is_gap), is_quote);
    }
    if ((is_flag || key.by_blank) && separator > end) return run_end(separator, is_quote);
    return std::string_view::npos;
  }

  bool take_keyed() {
    const size_t end = run_end(at_, is_name_char);
    const auto key = identity_key(text_.substr(at_, end - at_));
    if (!key) return false;
    const size_t begin = value_begin(end, *key);
    if (begin == std::string_view::npos || peek(begin) == '$' || peek(begin) == '<' ||
        peek(begin) == '{')
      return false;
    const size_t value_end = long_run_end(begin, [](char c) { return !ends_value(c); });
    return take_value(*key, begin, value_end);
  }

  bool take_value(const IdentityKey& key, size_t begin, size_t end) {
    const std::string_view value = text_.substr(begin, end - begin);
    if (value.empty() || is_nothing(value)) return false;
    switch (key.kind) {
      case IdentityKind::Secret:
        return take_secret(begin, end);
      case IdentityKind::Lid: {
        const size_t digits = run_end(begin, is_digit);
        return digits > begin && !is_word(peek(digits)) && add(IdentityKind::Lid, begin, digits);
      }
      case IdentityKind::Guid:
        return take_guid_value(begin);
      case IdentityKind::Host:
        return key.is_list ? take_hosts(begin, end) : take_host_value(begin, end);
      default:
        return take_name(key.kind, begin, end);
    }
  }

  bool take_secret(size_t begin, size_t end) {
    constexpr size_t kShortest = 6;
    const std::string_view value = text_.substr(begin, end - begin);
    if (value.size() < kShortest || is_number(value) || value[0] == '/') return false;
    return add(IdentityKind::Secret, begin, end);
  }

  bool take_guid_value(size_t begin) {
    if (rest(begin).starts_with("0x")) begin += 2;
    const size_t end = run_end(begin, [](char c) { return is_hex_digit(c) || c == ':'; });
    constexpr size_t kShortest = 8;
    return end - begin >= kShortest && !is_word(peek(end)) && add(IdentityKind::Guid, begin, end);
  }

  bool take_host_value(size_t begin, size_t end) {
    const size_t name_end = run_end(begin, [](char c) { return is_label_char(c) || c == '.'; });
    const std::string_view name = text_.substr(begin, name_end - begin);
    if (name_end > end || parse_address_bits(name) || is_number(name)) return false;
    return add_host(begin, name_end);
  }

  bool take_hosts(size_t begin, size_t end) {
    const size_t bracket = rest(begin).find('[');
    if (bracket != std::string_view::npos && begin + bracket < end + 1) {
      end = run_end(begin, [](char c) {
        return is_name_char(c) || c == '[' || c == ']' || c == ',' || c == '.';
      });
      return add(IdentityKind::Name, begin, end);
    }
    bool any = false;
    end = run_end(begin, [](char c) { return is_name_char(c) || c == ',' || c == '.'; });
    while (begin < end) {
      const size_t comma = run_end(begin, [](char c) { return c != ','; });
      const size_t host_end = std::min(comma, end);
      any |=
          !parse_address_bits(text_.substr(begin, host_end - begin)) && add_host(begin, host_end);
      begin = host_end + 1;
    }
    return any;
  }

  bool take_name(IdentityKind kind, size_t begin, size_t end) {
    const std::string_view value = text_.substr(begin, end - begin);
    if (value.find('/') != value.npos || value.find("://") != value.npos) return false;
    if (kind == IdentityKind::User) return add_user(begin, end);
    if (is_number(value)) return value.size() >= 4 && add(IdentityKind::JobNumber, begin, end);
    return value.size() >= 3 && !is_plain_word(value) && add(kind, begin, end);
  }

  bool add_user(size_t begin, size_t end) {
    const std::string_view user = text_.substr(begin, end - begin);
    if (is_plain_word(user) || is_number(user)) return false;
    return add(IdentityKind::User, begin, end);
  }

  /// A host name, with or without its domain.
  bool add_host(size_t begin, size_t end) {
    while (end > begin && text_[end - 1] == '.') --end;
    const std::string_view name = text_.substr(begin, end - begin);
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string_view host = name.substr(0, dot);
    const bool is_host = !is_plain_word(host) && !is_number(host);
    if (is_host) add(IdentityKind::Host, begin, begin + dot);
    const bool has_domain = dot + 1 < name.size();
    if (has_domain) add(IdentityKind::Domain, begin + dot + 1, end);
    return is_host || has_domain;
  }

  bool take_mail() {
    const size_t sign = run_end(at_, is_mail_char);
    if (peek(sign) != '@' || sign == at_) return false;
    size_t end = run_end(sign + 1, [](char c) { return is_label_char(c) || c == '.'; });
    while (end > sign + 1 && text_[end - 1] == '.') --end;
    const std::string_view domain = text_.substr(sign + 1, end - sign - 1);
    const size_t dot = domain.rfind('.');
    const std::string_view last = dot == domain.npos ? std::string_view() : domain.substr(dot + 1);
    const bool has_ending = is_domain_ending(last) || is_doubtful_ending(last);
    if (has_ending && !is_behind_ssh()) return add(IdentityKind::Email, at_, end);
    if (domain.empty() || !is_prompt(sign, end)) return false;
    const bool any = add_user(at_, sign);
    at_ = sign + 1;
    if (parse_address_bits(domain)) return true;
    return add_host(sign + 1, end) || any;
  }

  bool is_behind_ssh() const {
    const std::string_view word = trim(before());
    return word.ends_with("ssh") || word.ends_with("scp") || word.ends_with("rsync");
  }

  /// "root@node7:~#", "ssh alice@node7": not "image@sha256:…" or "libx.so@VERS_1".
  bool is_prompt(size_t sign, size_t end) const {
    if (is_behind_ssh()) return true;
    const std::string_view word = trim(before());
    const bool leads =
        word.empty() || word.ends_with('[') || word.ends_with('(') || word.ends_with(')');
    return leads && sign > at_ && (peek(end) == ':' || peek(end) == ' ' || peek(end) == ']');
  }

  /// Words after which a name stands.
  bool take_phrase() {
    const size_t end = run_end(at_, is_word);
    const std::string_view word = text_.substr(at_, end - at_);
    if (prev(at_) == '_' || prev(at_) == '.') return false;
    if (word == "slurm" || word == "job" || word == "JOB" || word == "STEP" || word == "StepId" ||
        word == "JobId")
      return take_job_number(end);
    if (word == "ON" && is_slurm_line()) return take_host_behind(end);
    if (word == "error" && rest(0).starts_with("srun:")) return take_task_host(end);
    if (word == "on" && before().find(" Pid ") != std::string_view::npos)
      return take_host_behind(end);
    if (word == "host" && before().ends_with("to ")) return take_host_behind(end);
    if (word == "hostname") return take_host_behind(end);
    if (word == "run" && before().find("wandb") != std::string_view::npos)
      return take_run_name(end);
    return word == "as" && before().ends_with("logged in ") && take_account(end);
  }

  bool is_slurm_line() const {
    return around().find("slurm") != std::string_view::npos ||
           around().find("srun") != std::string_view::npos;
  }

  /// "srun -J pretrain -A account -p partition": their short forms.
  bool take_slurm_flag() {
    const bool is_flag = is_blank(prev(at_)) && is_blank(peek(at_ + 2)) &&
                         std::string_view("JAp").find(peek(at_ + 1)) != std::string_view::npos;
    const std::string_view line = before();
    if (!is_flag || (line.find("srun") == line.npos && line.find("batch") == line.npos &&
                     line.find("SBATCH") == line.npos && line.find("salloc") == line.npos))
      return false;
    const size_t begin = run_end(at_ + 2, is_blank);
    return take_name(IdentityKind::Name, begin,
                     long_run_end(begin, [](char c) { return !ends_value(c); }));
  }

  bool take_job_number(size_t end) {
    const size_t begin =
        run_end(end, [](char c) { return c == ' ' || c == '-' || c == '=' || c == ':'; });
    const size_t digits = run_end(begin, is_digit);
    if (begin == end || digits < begin + 4 || is_word(peek(digits))) return false;
    return add(IdentityKind::JobNumber, begin, digits);
  }

  bool take_host_behind(size_t end) {
    const size_t begin = run_end(end, is_blank);
    const size_t name_end = run_end(begin, [](char c) { return is_label_char(c) || c == '.'; });
    const std::string_view name = text_.substr(begin, name_end - begin);
    const bool tells =
        std::any_of(name.begin(), name.end(), is_digit) || name.find('-') != name.npos;
    if (begin == end || !tells || parse_address_bits(name) || is_number(name)) return false;
    return add_host(begin, name_end);
  }

  /// "srun: error: gpu-n41: task 3: Killed".
  bool take_task_host(size_t end) {
    if (peek(end) != ':') return false;
    const size_t begin = run_end(end + 1, is_blank);
    const size_t name_end = run_end(begin, is_label_char);
    return rest(name_end).starts_with(": task") && add_host(begin, name_end);
  }

  bool take_run_name(size_t end) {
    const size_t begin = run_end(end, is_blank);
    const size_t name_end = run_end(begin, [](char c) { return !ends_value(c); });
    const std::string_view name = text_.substr(begin, name_end - begin);
    return begin > end && name.find('-') != name.npos && name.find('/') == name.npos &&
           add(IdentityKind::Name, begin, name_end);
  }

  /// Weights & Biases: "Currently logged in as: alice (team)".
  bool take_account(size_t end) {
    const size_t begin = run_end(end, [](char c) { return c == ':' || c == ' '; });
    const size_t user_end = run_end(begin, is_name_char);
    const bool any = add_user(begin, user_end);
    if (rest(user_end).starts_with(" (")) {
      const size_t team_end = run_end(user_end + 2, is_name_char);
      return take_name(IdentityKind::Name, user_end + 2, team_end) || any;
    }
    return any;
  }

  // Dotted names and fellows of known hosts.

  bool take_dotted_name() {
    if (prev(at_) == '.' || prev(at_) == '_' || prev(at_) == '@') return false;
    size_t end = run_end(at_, [](char c) { return is_label_char(c) || c == '.'; });
    while (end > at_ && !is_alnum(text_[end - 1])) --end;
    const std::string_view name = text_.substr(at_, end - at_);
    const size_t dots = static_cast<size_t>(std::count(name.begin(), name.end(), '.'));
    if (dots == 0 || is_word(peek(end)) || peek(end) == '(' || name.size() > 253) return false;
    const std::string_view last = name.substr(name.rfind('.') + 1);
    const bool doubtful = is_doubtful_ending(last);
    if (!doubtful && !is_domain_ending(last)) return false;
    if (doubtful && dots < 2 && peek(end) != ':' && peek(end) != '<') return false;
    if (is_public_domain(name)) {
      at_ = end;
      return true;
    }
    if (dots >= 2 || hosts_.names.contains(lower(name.substr(0, name.find('.')))))
      return add_host(at_, end);
    return add(IdentityKind::Domain, at_, end);
  }

  bool take_known_host() {
    if (hosts_.shapes.empty() && text_[at_] != 'i') return false;
    const size_t end = run_end(at_, is_label_char);
    const std::string_view name = text_.substr(at_, end - at_);
    if (name.size() > 253 || std::none_of(name.begin(), name.end(), is_digit)) return false;
    // A domain behind it is for take_dotted_name.
    if (peek(end) == '@') return false;
    if (peek(end) == '.' && take_dotted_name()) return true;
    const std::string shape = shape_of(name);
    const bool is_host = hosts_.shapes.contains(shape) || shape == "ip-#-#-#-#";
    return is_host && !is_word(peek(end)) && add(IdentityKind::Host, at_, end);
  }

  bool take_path() {
    const char last = prev(at_);
    const bool joins =
        is_word(last) || std::string_view("./<-)").find(last) != std::string_view::npos;
    return (!joins || is_flag_path(at_)) && add_path(at_);
  }

  /// "-I/home/…", "$HOME/…".
  bool is_flag_path(size_t begin) const {
    if (text_.substr(0, begin).ends_with("$HOME")) return true;
    return begin >= 2 && is_alpha(text_[begin - 1]) && text_[begin - 2] == '-';
  }

  bool add_path(size_t begin) {
    const char first = peek(begin + 1);
    if (!is_word(first) && first != '.') return false;
    size_t end = long_run_end(begin, [](char c) { return !ends_path(c); });
    while (end > begin + 1 && (text_[end - 1] == '.' || text_[end - 1] == '-')) --end;
    return end > begin + 1 && add(IdentityKind::Path, begin, end);
  }

  static constexpr size_t kLongestRun = 512;

  std::string_view text_;
  const KnownHosts& hosts_;
  size_t at_ = 0;
  std::vector<FoundIdentity> found_;
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
  names.insert(lower(name));
  lengths.insert(name.size());
  const std::string shape = shape_of(name);
  if (shape.find('#') != shape.npos && !is_common_stem(shape)) shapes.insert(shape);
}

std::vector<FoundIdentity> find_identities(std::string_view text, const KnownHosts& hosts) {
  return IdentityScan(text, hosts).run();
}

}  // namespace ncclog
