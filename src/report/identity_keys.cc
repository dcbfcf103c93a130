#include "report/identity_keys.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "base/letters.h"
#include "base/text.h"

namespace ncclog {
namespace {

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
    {"slurm_nodelist", kHosts},
    {"slurm_job_nodelist", kHosts},
    {"slurm_step_nodelist", kHosts},
    {"nodelist", kHosts},
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

}  // namespace

std::optional<IdentityKey> identity_key(std::string_view name) {
  constexpr size_t kLongest = 64;
  if (name.size() < 3 || name.size() > kLongest) return std::nullopt;
  const std::string normal = normal_name(name);
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const KeyRow& known) { return known.name == normal; });
  if (row != std::end(kRows)) return row->key;
  if (normal.ends_with("guid")) return kGuid;
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

}  // namespace ncclog
