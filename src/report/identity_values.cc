#include "report/identity_values.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/address_map.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

// What does the name in front of a value say about the value?

/// A name that announces an identity.
struct IdentityKey {
  IdentityKind kind = IdentityKind::Name;
  bool needs_equals = false;   ///< "user: …" may be anything, "user=…" is one.
  bool is_list = false;        ///< Hosts, as Slurm lists them: "gpu-n[41-48],login1".
  bool may_be_number = false;  ///< A secret of digits alone: "token_id=128000" is none.
  bool has_scheme = false;     ///< "Basic", "Token" or "Bearer" may stand before the secret.
  bool by_blank = false;       ///< The value may follow behind blanks alone: "remoteLid 34".
};

struct KeyRow {
  std::string_view name;
  IdentityKey key;
};

constexpr IdentityKey kUser = {.kind = IdentityKind::User};
constexpr IdentityKey kHost = {.kind = IdentityKind::Host};
constexpr IdentityKey kHosts = {.kind = IdentityKind::Host, .is_list = true};
constexpr IdentityKey kName = {.kind = IdentityKind::Name};
constexpr IdentityKey kAssignedName = {.kind = IdentityKind::Name, .needs_equals = true};
constexpr IdentityKey kLid = {.kind = IdentityKind::Lid, .by_blank = true};
constexpr IdentityKey kGuid = {.kind = IdentityKind::Guid, .by_blank = true};

constexpr KeyRow kRows[] = {
    {"user", {.kind = IdentityKind::User, .needs_equals = true}},
    {"username", kUser},
    {"user_name", kUser},
    {"logname", kUser},
    {"sudo_user", kUser},
    {"slurm_job_user", kUser},
    {"hostname", kHost},
    {"host", {.kind = IdentityKind::Host, .needs_equals = true}},
    {"master_addr", kHost},
    {"rdzv_endpoint", kHost},
    {"node_name", kHost},
    {"nodename", kHost},
    {"slurmd_nodename", kHost},
    {"slurm_submit_host", kHost},
    {"main_process_ip", kHost},
    {"ip", {.kind = IdentityKind::Host, .needs_equals = true}},
    {"node_ip", kHost},
    {"head_ip", kHost},
    {"head_node_ip", kHost},
    {"node_ip_address", kHost},
    {"nccl_hostid", kHost},
    {"batchhost", kHost},
    {"allocnode", kHost},
    {"master", {.kind = IdentityKind::Host, .needs_equals = true}},
    {"pod_ip", kHost},
    {"host_ip", kHost},
    {"userid", kUser},
    {"groupid", {.kind = IdentityKind::Name, .needs_equals = true}},
    {"bucket", kName},
    {"bucket_name", kName},
    {"pod", kName},
    {"podname", kName},
    {"deployment", kName},
    {"cluster", kName},
    {"clustername", kName},
    {"workspace_name", kName},
    {"resource_group", kName},
    {"resourcegroup", kName},
    {"subscription_id", kName},
    {"account_id", kName},
    {"tenant_id", kName},
    {"project_id", kName},
    {"aws_account_id", kName},
    {"comet_project_name", kName},
    {"mlflow_experiment_name", kName},
    {"serial_number", {.kind = IdentityKind::Guid, .by_blank = true}},
    {"fabric_uuid", {.kind = IdentityKind::Guid, .by_blank = true}},
    {"cluster_uuid", {.kind = IdentityKind::Guid, .by_blank = true}},
    {"uuid", {.kind = IdentityKind::Guid, .by_blank = true}},
    {"job_name", kName},
    {"jobname", kName},
    {"job_id", kName},
    {"jobid", kAssignedName},
    {"slurm_job_name", kName},
    {"slurm_job_id", kName},
    {"slurm_jobid", kName},
    {"slurm_array_job_id", kName},
    {"slurm_job_account", kName},
    {"slurm_job_partition", kName},
    {"slurm_cluster_name", kName},
    {"cluster_name", kName},
    {"account", kAssignedName},
    {"partition", kAssignedName},
    {"run_id", kName},
    {"rdzv_id", kName},
    {"run_name", kName},
    {"exp_name", kName},
    {"experiment_name", kName},
    {"project_name", kName},
    {"pod_name", kName},
    {"pod_namespace", kName},
    {"my_pod_name", kName},
    {"namespace", kName},
    {"kubernetes_namespace", kName},
    {"training_job_name", kName},
    {"torchelastic_run_id", kName},
    {"wandb_project", kName},
    {"wandb_entity", kName},
    {"wandb_name", kName},
    {"wandb_run_id", kName},
    {"wandb_run_group", kName},
    {"lid", kLid},
    {"base_lid", kLid},
    {"sm_lid", kLid},
    {"port_lid", kLid},
    {"port_sm_lid", kLid},
    {"locallid", kLid},
    {"remotelid", kLid},
    {"host_hash", kGuid},
    {"hosthash", kGuid},
};

/// Words that make the value behind them a secret.
constexpr std::string_view kSecretWords[] = {
    "token",  "secret",     "password",    "passwd",        "passphrase", "apikey",
    "bearer", "credential", "credentials", "authorization", "pwd_hash"};
/// Words that do so in front of "key".
constexpr std::string_view kKeyWords[] = {"api", "access", "private", "secret", "account",
                                          "ssh", "auth",   "license", "signing"};

std::string normal_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    result += c == '-' ? '_' : lower_case(c);
  }
  return result;
}

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_secret_name(std::string_view name) {
  std::string_view before;
  for (const std::string_view word : split(name, '_')) {
    if (is_one_of(kSecretWords, word)) return true;
    if (word == "key" && is_one_of(kKeyWords, before)) return true;
    before = word;
  }
  return false;
}

/// "password", "HF_TOKEN": digits behind it are a secret. Behind "eos_token" they are a number.
bool may_be_number(std::string_view name) {
  constexpr std::string_view kWords[] = {"token", "secret", "password", "passwd", "passphrase"};
  constexpr std::string_view kOfText[] = {"bos", "eos",  "pad", "unk", "sep", "cls",
                                          "eot", "mask", "max", "min", "num", "per"};
  const auto words = split(name, '_');
  if (!is_one_of(kWords, words.back())) return false;
  return words.size() < 2 || !is_one_of(kOfText, words[words.size() - 2]);
}

std::optional<IdentityKey> identity_key(std::string_view name) {
  constexpr size_t kLongest = 64;
  if (name.size() < 2 || name.size() > kLongest) return std::nullopt;
  const std::string normal = normal_name(name);
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const KeyRow& known) { return known.name == normal; });
  if (row != std::end(kRows)) return row->key;
  if (normal.ends_with("guid")) return kGuid;
  // By their ends, so that a prefix of somebody's own hides none: "PET_MASTER_ADDR", "MY_JOB_NAME".
  constexpr KeyRow kEndings[] = {
      {"nodelist", kHosts},       {"_hosts", kHosts},      {"hostname", kHost},
      {"_host", kHost},           {"_addr", kHost},        {"_endpoint", kHost},
      {"_node_name", kHost},      {"_username", kUser},    {"_user", kUser},
      {"job_name", kName},        {"_pod_name", kName},    {"_namespace", kName},
      {"experiment_name", kName}, {"project_name", kName}, {"run_name", kName},
      {"cluster_name", kName},    {"_bucket", kName},      {"_email", kUser}};
  for (const KeyRow& ending : kEndings) {
    if (normal.ends_with(ending.name)) return ending.key;
  }
  if (!is_secret_name(normal)) return std::nullopt;
  return IdentityKey{.kind = IdentityKind::Secret,
                     .may_be_number = may_be_number(normal),
                     .has_scheme = normal.ends_with("authorization")};
}

bool is_token_prefix(std::string_view text) {
  constexpr std::string_view kPrefixes[] = {"hf_",    "ghp_", "gho_",   "ghs_", "github_pat_",
                                            "glpat-", "AKIA", "ASIA",   "sk-",  "xoxb-",
                                            "xoxp-",  "eyJ",  "nvapi-", "pypi-"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

constexpr size_t kNone = std::string_view::npos;

bool is_token_char(char c) { return is_mail_char(c) || c == '/' || c == '=' || c == '~'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_host_char(char c) { return is_label_char(c) || c == '.'; }
bool ends_authority(char c) {
  return c == '/' || c == '`' || is_quote(c) || static_cast<unsigned char>(c) <= ' ';
}

/// "none", "true", "default": the value of a key that has none.
bool is_no_value(std::string_view value) {
  constexpr std::string_view kNothing[] = {"none",  "null",   "true",   "false", "default",
                                           "unset", "static", "etcd",   "c10d",  "etcd-v2",
                                           "nil",   "n/a",    "bearer", "basic"};
  constexpr size_t kLongest = 8;
  if (value.size() > kLongest) return false;
  const std::string word = lower_case(value);
  return std::find(std::begin(kNothing), std::end(kNothing), word) != std::end(kNothing);
}

/// The end of the run at `begin`, which is walked through once only.
template <typename Is>
size_t walk(const IdentityCursor& in, WalkedRun& walked, size_t begin, Is&& is) {
  if (begin < walked.begin || begin >= walked.end) walked = {begin, in.long_run_end(begin, is)};
  return walked.end;
}

// URLs.

bool is_bucket_scheme(std::string_view scheme) {
  constexpr std::string_view kBuckets[] = {"s3",   "gs",    "gcs", "hdfs",
                                           "abfs", "abfss", "oss", "wandb"};
  return std::find(std::begin(kBuckets), std::end(kBuckets), scheme) != std::end(kBuckets);
}

/// "alice" or "alice:password" before '@'.
void take_login(IdentityCursor& in, size_t begin, size_t end) {
  const size_t user_end = begin + std::min(in.slice(begin, end).find(':'), end - begin);
  in.add_user(begin, user_end);
  if (user_end < end) in.add(IdentityKind::Secret, user_end + 1, end);
}

/// Takes the login of the authority at `begin`; where its host begins.
size_t take_authority(IdentityCursor& in, size_t begin) {
  // A password is any text, '!' and '@' too.
  const size_t end = in.long_run_end(begin, [](char c) { return !ends_authority(c); });
  const size_t sign = in.slice(begin, end).rfind('@');
  if (sign == kNone) return begin;
  take_login(in, begin, begin + sign);
  return begin + sign + 1;
}

/// "[net_ib.cc:101](http://net_ib.cc:101/)": a forum took the name of a source file for a link.
/// Hosts have numbers, and nobody's is called so.
bool is_linked_source(const IdentityCursor& in, size_t scheme, std::string_view host) {
  constexpr size_t kLongest = 80;
  const size_t dot = host.rfind('.');
  if (dot == host.npos || std::any_of(host.begin(), host.end(), is_digit)) return false;
  const std::string_view ending = host.substr(dot);
  if (ending != ".cc" && ending != ".cu" && ending != ".cpp") return false;
  std::string_view before = in.slice(scheme - std::min(scheme, kLongest), scheme);
  if (!before.ends_with("](")) return false;
  before = before.substr(std::min(before.rfind('['), before.size() - 1) + 1);
  return before.starts_with(host);
}

bool take_url(IdentityCursor& in) {
  const size_t scheme = in.run_end(in.at, [](char c) { return is_alnum(c) || c == '+'; });
  if (in.rest(scheme).substr(0, 3) != "://") return false;
  const bool is_bucket = is_bucket_scheme(in.slice(in.at, scheme));
  const size_t url = in.at;
  const size_t begin = take_authority(in, scheme + 3);
  in.at = begin;
  const size_t host_end = in.run_end(begin, is_mail_char);
  const std::string_view host = in.slice(begin, host_end);
  const bool is_public = is_public_domain(host);
  if (is_bucket) {
    in.add(IdentityKind::Name, begin, host_end);
  } else if (parse_address_bits(host)) {
    in.add(IdentityKind::Address, begin, host_end);
  } else if (!is_public && !is_no_value(host) && !is_linked_source(in, url, host)) {
    in.add_host(begin, host_end);
  }
  if (is_public) in.at = host_end;
  const size_t slash = in.run_end(host_end, [](char c) { return is_digit(c) || c == ':'; });
  if (in.peek(slash) != '/') return true;
  if (is_public) {
    in.at = in.long_run_end(slash, [](char c) { return !ends_value(c); });
  } else {
    in.add_path(slash);
  }
  return true;
}

// Tokens.

bool take_token(IdentityCursor& in, WalkedRun& walked) {
  if (in.prev(in.at) == '_' || in.prev(in.at) == '-') return false;
  constexpr size_t kShortest = 16;
  const std::string_view next = in.rest(in.at);
  const bool announced = next.starts_with("Bearer ") || next.starts_with("bearer ");
  if (!announced && !is_token_prefix(next)) return false;
  const size_t begin = announced ? in.at + 7 : in.at;
  // What lacks a digit or is too short does so from every later beginning, too.
  if (begin >= walked.begin && begin < walked.end) return false;
  const size_t end = walk(in, walked, begin, is_token_char);
  const std::string_view token = in.slice(begin, end);
  return token.size() >= kShortest && std::any_of(token.begin(), token.end(), is_digit) &&
         in.add(IdentityKind::Secret, begin, end);
}

// Keys.

/// Where the value of the name that ends at `end` begins, or its quote; kNone: none follows.
size_t value_begin(const IdentityCursor& in, size_t end, const IdentityKey& key) {
  constexpr std::string_view kNcclSays = " set by environment to ";
  if (in.rest(end).starts_with(kNcclSays)) return end + kNcclSays.size();
  const size_t name_end = in.run_end(end, [](char c) { return is_quote(c) || c == '\\'; });
  const size_t separator = in.run_end(name_end, is_blank);
  const char sign = in.peek(separator);
  const bool is_flag = in.at >= 2 && in.text.substr(in.at - 2, 2) == "--";
  // torchrun's table: "  host      : gpu-n41".
  const bool is_table = sign == ':' && separator > end && is_blank(in.peek(separator + 1));
  if (sign == '=' || (sign == ':' && (!key.needs_equals || is_table)))
    return in.run_end(separator + 1, is_blank);
  return (is_flag || key.by_blank) && separator > end ? separator : kNone;
}

bool is_auth_scheme(std::string_view word) {
  constexpr size_t kLongest = 6;
  if (word.size() > kLongest) return false;
  const std::string name = lower_case(word);
  return name == "basic" || name == "token" || name == "bearer";
}

/// What stands for a secret elsewhere: "$TOKEN", "${TOKEN}", "<token>", "{{ token }}".
bool is_placeholder(std::string_view value, char next, bool is_quoted) {
  const auto is_variable = [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto closes = [&](char sign) { return is_quoted ? value.back() == sign : next == sign; };
  if (value.starts_with('{')) return !is_quoted || closes('}');
  if (value.starts_with('<')) return closes('>');
  if (!value.starts_with('$')) return false;
  const std::string_view name = value.substr(1);
  return name.empty() || name[0] == '{' || name[0] == '(' ||
         (!is_digit(name[0]) && std::all_of(name.begin(), name.end(), is_variable));
}

/// Where the secret behind the quote at `quote` ends; kNone if no such quote closes on the line.
size_t quoted_end(const IdentityCursor& in, size_t quote) {
  const char sign = in.text[quote];
  // In a quoted text that is quoted itself: \"password\": \"…\".
  const bool is_nested = in.prev(quote) == '\\';
  for (size_t end = quote + 1; end < in.text.size() && in.text[end] != '\n'; ++end) {
    if (in.text[end] == '\\' && !is_nested) {
      ++end;
    } else if (in.text[end] == sign) {
      while (is_nested && end > quote + 1 && in.text[end - 1] == '\\') --end;
      return end;
    }
  }
  return kNone;
}

struct Secret {
  size_t begin;
  size_t end;
  bool is_quoted;
};

/// The secret at `begin`, which may be a quote.
Secret secret_at(const IdentityCursor& in, WalkedRun& walked, size_t begin) {
  begin = in.run_end(begin, [](char c) { return c == '\\'; });
  if (is_quote(in.peek(begin))) {
    const size_t end = quoted_end(in, begin);
    ++begin;
    if (end != kNone) return {begin, end, true};
  }
  return {begin, walk(in, walked, begin, [](char c) { return !ends_value(c); }), false};
}

/// Behind "Authorization": the word behind the scheme, of any length.
bool take_credentials(IdentityCursor& in, const Secret& secret) {
  const size_t scheme = in.run_end(secret.begin, is_alpha);
  const size_t begin = in.run_end(scheme, is_blank);
  if (!is_auth_scheme(in.slice(secret.begin, scheme)) || begin == scheme) return false;
  const size_t end = secret.is_quoted
                         ? std::max(begin, secret.end)
                         : in.long_run_end(begin, [](char c) { return !ends_value(c); });
  const std::string_view value = in.slice(begin, end);
  return !value.empty() && !is_no_value(value) &&
         !is_placeholder(value, in.peek(end), secret.is_quoted) &&
         in.add(IdentityKind::Secret, begin, end);
}

bool take_secret(IdentityCursor& in, WalkedRun& walked, const IdentityKey& key, size_t begin) {
  constexpr size_t kShortest = 6;
  const Secret secret = secret_at(in, walked, begin);
  const std::string_view value = in.slice(secret.begin, secret.end);
  if (value.empty() || value[0] == '/') return false;
  if (key.has_scheme && take_credentials(in, secret)) return true;
  if (value.size() < kShortest || is_no_value(value)) return false;
  if (is_placeholder(value, in.peek(secret.end), secret.is_quoted)) return false;
  // The "token" of "eos_token" is asked about once more, on its own.
  const bool may_be_number = key.may_be_number && in.prev(in.at) != '_' && in.prev(in.at) != '-';
  if (!may_be_number && is_number(value)) return false;
  return in.add(IdentityKind::Secret, secret.begin, secret.end);
}

bool take_lid(IdentityCursor& in, size_t begin) {
  const size_t end = in.run_end(begin, is_digit);
  return end > begin && !is_word(in.peek(end)) && in.add(IdentityKind::Lid, begin, end);
}

bool take_guid(IdentityCursor& in, size_t begin) {
  if (in.rest(begin).starts_with("0x")) begin += 2;
  const size_t end =
      in.run_end(begin, [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
  constexpr size_t kShortest = 8;
  return end - begin >= kShortest && !is_word(in.peek(end)) &&
         in.add(IdentityKind::Guid, begin, end);
}

bool take_host(IdentityCursor& in, size_t begin, size_t end) {
  const size_t name_end = in.run_end(begin, is_host_char);
  const std::string_view name = in.slice(begin, name_end);
  if (name_end > end || parse_address_bits(name) || is_number(name)) return false;
  return in.add_host(begin, name_end);
}

/// "gpu-n[41-48,50]" or "gpu-n41,login1". Neither has a '=' or ':' in it, so runs share no byte.
bool take_hosts(IdentityCursor& in, size_t begin, size_t end) {
  const size_t searched = std::min(end - begin, IdentityCursor::kLongestRun);
  if (in.text.substr(begin, searched).find('[') != kNone) {
    end = in.long_run_end(begin, [](char c) {
      return is_name_char(c) || c == '[' || c == ']' || c == ',' || c == '.';
    });
    return in.add(IdentityKind::Name, begin, end);
  }
  bool any = false;
  end = in.long_run_end(begin, [](char c) { return is_name_char(c) || c == ',' || c == '.'; });
  while (begin < end) {
    const size_t host_end = begin + std::min(in.slice(begin, end).find(','), end - begin);
    any |= !parse_address_bits(in.slice(begin, host_end)) && in.add_host(begin, host_end);
    begin = host_end + 1;
  }
  return any;
}

bool take_keyed(IdentityCursor& in, WalkedRun& walked) {
  const auto key = identity_key(in.slice(in.at, in.run_end(in.at, is_name_char)));
  if (!key) return false;
  size_t begin = value_begin(in, in.run_end(in.at, is_name_char), *key);
  if (begin == kNone) return false;
  if (key->kind == IdentityKind::Secret) return take_secret(in, walked, *key, begin);
  begin = in.run_end(begin, [](char c) { return is_quote(c) || c == '\\'; });
  if (std::string_view("$<{").find(in.peek(begin)) != kNone) return false;
  const size_t end = walk(in, walked, begin, [](char c) { return !ends_value(c); });
  if (end == begin || is_no_value(in.slice(begin, end))) return false;
  switch (key->kind) {
    case IdentityKind::Lid:
      return take_lid(in, begin);
    case IdentityKind::Guid:
      return take_guid(in, begin);
    case IdentityKind::Host:
      return key->is_list ? take_hosts(in, begin, end) : take_host(in, begin, end);
    default:
      return in.add_name(key->kind, begin, end);
  }
}

bool ends_path(char c) {
  return ends_value(c) || std::string_view("<:=?#*!(").find(c) != std::string_view::npos;
}

}  // namespace

bool ends_value(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view("\"'`,;)]}>|&\\").find(c) != std::string_view::npos;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string_view IdentityCursor::before() const {
  const size_t begin = at < kLongestRun ? 0 : at - kLongestRun;
  return slice(begin, at);
}

std::string_view IdentityCursor::around() const {
  const size_t begin = at < kLongestRun ? 0 : at - kLongestRun;
  return text.substr(begin, 2 * kLongestRun);
}

bool IdentityCursor::add(IdentityKind kind, size_t begin, size_t end) {
  if (end <= begin) return false;
  found.push_back({kind, begin, end - begin});
  at = end;
  return true;
}

bool IdentityCursor::add_user(size_t begin, size_t end) {
  const std::string_view user = slice(begin, end);
  if (is_plain_word(user) || is_number(user)) return false;
  return add(IdentityKind::User, begin, end);
}

bool IdentityCursor::add_host(size_t begin, size_t end) {
  while (end > begin && text[end - 1] == '.') --end;
  const std::string_view name = slice(begin, end);
  const size_t dot = std::min(name.find('.'), name.size());
  const std::string_view host = name.substr(0, dot);
  const bool is_host = !is_plain_word(host) && !is_number(host);
  if (is_host) add(IdentityKind::Host, begin, begin + dot);
  const bool has_domain = dot + 1 < name.size();
  if (has_domain) add(IdentityKind::Domain, begin + dot + 1, end);
  return is_host || has_domain;
}

bool IdentityCursor::add_path(size_t begin) {
  const char first = peek(begin + 1);
  if (!is_word(first) && first != '.') return false;
  size_t end = long_run_end(begin, [](char c) { return !ends_path(c); });
  while (end > begin + 1 && (text[end - 1] == '.' || text[end - 1] == '-')) --end;
  return end > begin + 1 && add(IdentityKind::Path, begin, end);
}

bool IdentityCursor::add_name(IdentityKind kind, size_t begin, size_t end) {
  const std::string_view value = slice(begin, end);
  // A path is none. One whose first folder is longer than a run is hostile text: it is taken.
  if (value.substr(0, kLongestRun).find('/') != value.npos) return false;
  // Slurm's "UserId=alice(1001)".
  if (kind == IdentityKind::User)
    return add_user(begin, begin + std::min(value.find('('), value.size()));
  if (is_number(value)) return value.size() >= 4 && add(IdentityKind::JobNumber, begin, end);
  return value.size() >= 3 && !is_plain_word(value) && add(kind, begin, end);
}

bool take_announced(IdentityCursor& in, WalkedRuns& walked) {
  return take_url(in) || take_token(in, walked.tokens) || take_keyed(in, walked.values);
}

}  // namespace ncclog
