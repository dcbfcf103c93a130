#include "report/anonymise/identity_patterns.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "report/anonymise/address_map.h"

namespace ncclog {
namespace {

// The table. A row finds all of its matches in a text, one behind the other; of two matches that
// claim the same bytes the one whose row stands first holds. What a group holds is what it is
// called (kGroups); a digit behind that tells two of one row apart. What "with_digit" holds must
// have one.
//
// Searching must take linear time on hostile text: what is behind a group must not reach far, or a
// row that matches often and reads to the end each time takes the square of it.

/// How the words in front of a name announce it.
enum class Before {
  Text,    ///< As they stand: a pattern.
  Key,     ///< Names of a key: "name=…", "name: …", "--name …"; '_' stands for '-', too.
  Equals,  ///< The same; "user: …" may be anything, "user : …" is torchrun's table, "'user': …"
           ///< JSON.
};

struct Row {
  Before before;
  const char* words;
  const char* name;
  const char* on = nullptr;  ///< What must stand somewhere on the line, too.
};

using enum Before;

constexpr Row kRows[] = {
    // Secrets. A number behind "password" is one, behind "token_id" it is none. The word ends its
    // key: "moe_token_dispatcher_type" has none.
    {Text, "(?i)authorization<IS>", R"("<SCHEME>(?P<credentials>[^"\\\n]+))"},
    {Text, "(?i)authorization<IS>", R"('<SCHEME>(?P<credentials>[^'\\\n]+))"},
    {Text, "(?i)authorization<IS>", R"(["'\\]*<SCHEME>(?P<credentials>[^<END>]+))"},
    {Key, R"((?:<SECRET_WORD>|<KEY_WORD>_key)(?:_(?:value|base64|hash|\d+)|\d+)?)", "<SECRET>"},
    {Key, "(?:bos|eos|pad|unk|sep|cls|eot|mask|max|min|num|per)_<NUMBER_WORD>",
     R"(["'\\]*(?P<nobody>\d+))"},
    {Key, "<NUMBER_WORD>", R"(["'\\]*(?P<number>\d{6,})(?:[<END>]|$))"},

    // Amazon's ids, which consist of other names.
    {Text, "<BEGIN>", "(?P<name>arn:aws[^<END>]*)"},

    // URLs, with the paths behind them. "[net_ib.cc:101](http://net_ib.cc:101/)": a forum took the
    // name of a source file for a link.
    {Text, "(?:s3|gs|gcs|hdfs|abfss?|oss|wandb)://<LOGIN>", R"((?P<bucket>[\w.+-]+)[:\d]*<PATH>?)"},
    {Text, "://(?:[^/`\"'\\x00-\\x20]*@)?",
     R"((?P<nobody><PUBLIC>)\.*(?:(?P<nobody2>[:/][^<END>]*)|[^\w.-]|$))"},
    {Text, R"(\[[A-Za-z_]+\.(?:cc|cu|cpp)[^\]\n]{0,40}\]\(https?://)",
     R"((?P<nobody>[A-Za-z_]+\.(?:cc|cu|cpp)))"},
    {Text, "[A-Za-z0-9+]+://<LOGIN>", R"((?P<host>[\w.+-]*)[:\d]*<PATH>?)"},

    // Paths: not in "NET/IB/0" or "</s>".
    {Text, R"((?:^|[^\w./<)-]|-[A-Za-z]|\$HOME))", "<PATH>"},

    // Mail addresses, and people at machines.
    {Text, R"((?:ssh|scp|rsync)[ \t]+)", "(?P<user><MAIL>*)@(?P<host><LABELS>)"},
    {Text, "",
     R"((?P<email>[A-Za-z0-9]<MAIL>*@(?:[A-Za-z0-9-]+\.)+[a-z]{2,})\.*(?:[^A-Za-z0-9.-]|$))"},

    // Shapes of groups between colons, none of which is the host of a key.
    {Text, "(?:^|[^A-Za-z0-9])",
     "(?P<hardware><HEX>{2}(?::<HEX>{2}){5}(?:(?::<HEX>{2}){2}|(?::<HEX>{2}){14})?)"
     R"((?:[^\w:]|$))"},
    {Text, R"((?:^|[^\w.]))",
     "(?P<address>(?:::|(?:<HEX>{1,4}:){1,7}:|(?:<HEX>{1,4}:){7})[0-9a-fA-F:]*)"},
    {Text, "(?:^|[^A-Za-z0-9:])", R"((?P<guid><HEX>{4}(?::<HEX>{4}){3})(?:[^\w:]|$))"},

    // Keys. By their ends, so that a prefix of somebody's own hides none: "PET_MASTER_ADDR".
    {Key, "[a-z0-9]+_user|(?:[a-z0-9]+_)?username|user_name|logname|userid|[a-z0-9]+_email",
     "<USER>"},
    {Equals, "user", "<USER>"},
    {Key, "[a-z0-9]*nodelist|[a-z0-9]+_hosts",
     R"(["'\\]*(?P<hosts>[\w.,-]+(?:\[[\d,-]+\][\w.,-]*)*))"},
    {Key,
     "[a-z0-9]*hostname|[a-z0-9]+_(?:host|addr|endpoint)|node_name|nodename|nccl_hostid|batchhost|"
     "allocnode|(?:main_process|node|head|pod|host)_ip|node_ip_address",
     "<HOST>"},
    {Equals, "host|ip|master", "<HOST>"},
    {Key,
     "[a-z0-9]*(?:job|project|run|cluster|experiment)_name|exp_name|pod_name|podname|pod|bucket|"
     "bucket_name|deployment|cluster|clustername|workspace_name|resource_?group|jobname|namespace|"
     "(?:pod|kubernetes)_namespace|(?:job|run|rdzv|subscription|account|tenant|project)_id|"
     "slurm_job(?:id|_account|_partition)|wandb_(?:project|entity|name|run_group)",
     "<NAME>"},
    {Equals, "groupid|jobid|account|partition", "<NAME>"},
    {Text, R"((?:^|[ \t])-[JAp][ \t]+)", "<NAME>", "srun|batch|SBATCH|salloc"},

    // Tokens that begin like nothing else does.
    {Text, R"((?:^|[^\w-]))",
     "(?P<token>(?:hf_|ghp_|gho_|ghs_|github_pat_|glpat-|AKIA|ASIA|sk-|xox[bp]-|eyJ|nvapi-|pypi-)"
     "<TOKEN>*)"},
    {Text, "[Bb]earer ", "(?P<token><TOKEN>+)"},

    // Whose home it is counts, whatever stands before.
    {Text, "", "(?P<path>/(?:home|[Uu]sers)/[^<PATH_END>]*)"},

    // Shapes. "version 1.18.1.0" is no address; "101.262.0.9<4791>" is somebody's, mangled.
    {Text, R"((?i:(?:^|[^a-z])ver[^\n]{0,4}?|version|release)[^\n]{0,7}?)",
     R"((?P<nobody>\d+(?:\.\d+){3}))"},
    {Text, R"((?:^|[^\w.-]|(?:^|[^\d])\.))",
     R"((?P<address>\d{1,3}(?:\.\d{1,3}){3})(?:[^\w.]|\.+[^\d.]|\.*$))"},
    {Text, "(?:^|[^A-Za-z0-9.])", R"((?P<guid>\d+\.\d*\.\d*\.\d*)<\d)"},
    {Text, "(?:^|[^A-Za-z0-9])",
     "(?P<hardware><HEX>{2}(?:-<HEX>{2}){5}(?:(?:-<HEX>{2}){2}|(?:-<HEX>{2}){14})?)"
     R"((?:[^\w-]|$))"},
    {Text, "(?:^|[^A-Za-z0-9])",
     "(?P<guid><HEX>{8}-<HEX>{4}-<HEX>{4}-<HEX>{4}-<HEX>{12})(?:[^A-Za-z0-9-]|$)"},
    // A network device in NCCL's topology (graph/topo.cc): GUID, port, speed.
    {Text, R"(NET/[^(\n]*\()", R"((?P<guid><HEX>{6,16})/\d)"},

    // The host of a record, also right behind what another process printed. A time is none.
    {Text, "", R"((?P<nobody>\d{4}-\d\d-\d\dT\d\d):\d\d:\d\d)"},
    {Text, "", R"((?P<record>[\w.-]+)<PROCESS>)"},

    // Keys whose values need no sign in front: "remoteLid 34", "Port GUID: 0xec0d…".
    {Text, R"((?i:guid|serial[_-]number|uuid|host_?hash)(?:<IS>|[ \t]+)["'\\]*(?:0x)?)",
     R"((?P<guid>[0-9a-fA-F:.]{8,})(?:\W|$))"},
    {Text, R"((?:^|[^A-Za-z0-9])(?i:(?:local|remote)?lid)(?:<IS>|[ \t]+)["'\\]*)",
     R"((?P<lid>\d+)\b)"},

    // Prompts and accounts.
    {Text, R"((?:^[ \t]*|[\[()][ \t]*))", "(?P<user>[A-Za-z]<MAIL>*)@(?P<host><LABELS>)[: \\]]"},
    {Text, "logged in as[: ]+", R"((?P<user>[\w-]+)(?: \((?P<name>[\w-]+))?)"},

    // Words after which a name stands.
    {Text, R"((?:^|[^\w.])(?:slurm|job|JOB|STEP|StepId|JobId)[ =:-]+)", R"((?P<job>\d{4,})\b)"},
    {Text, R"(\bON[ \t]+)", "<NUMBERED_HOST>", "slurm|srun"},
    {Text, R"( Pid +\d+ on +|\bhostname[ \t]+)", "<NUMBERED_HOST>"},
    {Text, R"(\brun[ \t]+)", "(?P<name>[^<END>/]*-[^<END>/]*)", "wandb"},
    {Text, "<BEGIN>", R"((?P<list>[A-Za-z][\w.-]*\[\d+[,-][\d,-]*\]))"},
    {Text,
     "(?:(?:on|from|to|at|of|with|by|peer|remote|resolve|Unknown) host |resolve hostname |"
     "(?:on|from|to) node |on nodes |Connection to |connection to |connect to \\[|"
     "(?:addr|remote)=\\[|address(?:es)? of \\(|[Hh]ost(?:name)?: |hosts: |[Nn]ode: |Nodes: |"
     "Node (?:name: )?|node '|added '|srun: error: |ssh )",
     "(?P<likely_host><LABELS>)"},
    {Text,
     "(?:^|[^\\w/-])(?i:pods?|deployments?|statefulset|daemonset|replicaset|pytorchjob|mpijob|"
     "jobset|configmap|service|namespaces?|rayjob|raycluster|persistentvolumeclaim)[/ ][/ \"]*",
     "(?P<object><LABELS>)"},

    // Kubernetes ends the names of pods in five characters, before which a deployment puts eight to
    // ten: "falcon-7d9f8b6c54-x2k4p". Neither has a vowel, so that they form no word.
    {Text, "<BEGIN>", "(?P<machine>[A-Za-z0-9-]{3,}-(?P<with_digit><POD>{5}))<LABEL_END>"},
    {Text, "<BEGIN>",
     "(?P<machine>[A-Za-z0-9-]+-(?P<with_digit>[A-Za-z0-9]{8,10})-<POD>{5})<LABEL_END>"},
    {Text, "<BEGIN>",
     "(?P<machine>(?:i|vpc|subnet|eni|sg|vol|ami|fs|lt|cr|ocid1)-"
     "(?P<with_digit><HEX>{8}|<HEX>{17}))<LABEL_END>"},

    // Dotted names. The first endings speak for a domain, the others are ordinary words as well.
    {Text, R"((?:^|[^\w.@]))",
     R"((?P<dotted>[A-Za-z0-9][A-Za-z0-9.-]*\.)"
     "(?i:com|org|edu|gov|mil|local|internal|lan|corp|intra|localdomain|example|intranet|de|fr|uk|"
     R"(cn|jp|kr|eu|ch))[.-]*(?:[^\w.(-]|$))"},
    {Text, R"((?:^|[^\w.@]))",
     R"((?P<dotted>[A-Za-z0-9][A-Za-z0-9-]*\.[A-Za-z0-9.-]*\.<DOUBTFUL>)[.-]*(?:[^\w.(-]|$))"},
    {Text, R"((?:^|[^\w.@]))", "(?P<dotted>[A-Za-z0-9][A-Za-z0-9-]*\\.<DOUBTFUL>)[:<]"},

    // Machines by their looks. "ip-0A230405" is an address in hexadecimal.
    {Text, "(?:^|[^A-Za-z0-9])",
     R"((?P<machine>(?i:ip)-(?:<HEX>{8}|\d+-\d+-\d+-\d+))(?:[^\w@-]|$))"},
    {Text, "(?:^|[^A-Za-z0-9])", R"((?P<fellow>[A-Za-z][A-Za-z-]+\d[A-Za-z0-9-]*))"},
    {Text, "", R"((?P<likely_record>[\w.-]*\d[\w.-]*):\d{2,11}:\d{2,11}(?:[^\w:]|$))"},
};

/// What stands for what in a pattern.
constexpr std::pair<std::string_view, std::string_view> kParts[] = {
    {"<SECRET>",  // A quoted one to the closing quote, which may be quoted itself: \"…\".
     R"((?P<secret>\\+"[^/"\n][^"\n]*"|\\+'[^/'\n][^'\n]*'|"(?:[^/"\\\n]|\\.)(?:[^"\\\n]|\\.)*"|)"
     R"('(?:[^/'\\\n]|\\.)(?:[^'\\\n]|\\.)*'|\\*["']?[^/<END>][^<END>]*))"},
    {"<SECRET_WORD>",
     "(?:token|secret|password|passwd|passphrase|apikey|bearer|credentials?|authorization|pwd_"
     "hash)"},
    {"<KEY_WORD>", "(?:api|access|private|secret|account|ssh|auth|license|signing)"},
    {"<NUMBER_WORD>", "(?:token|secret|password|passwd|passphrase)"},
    {"<SCHEME>", R"((?i:basic|token|bearer)[ \t]+)"},
    {"<LOGIN>", R"((?:(?P<user>[^:/`"'\x00-\x20]*)(?::(?P<password>[^/`"'\x00-\x20]*))?@)?)"},
    {"<USER>", R"(["'\\]*(?P<user>[^<END>/$<{(=:][^<END>/(]*))"},
    {"<HOST>", R"(["'\\]*(?P<host>[\w.-]+))"},
    {"<NUMBERED_HOST>", "(?P<host>[A-Za-z0-9.]*[0-9-][A-Za-z0-9.-]*)"},
    {"<NAME>", R"(["'\\]*(?P<name>[^<END>/$<{=:][^<END>/]*))"},
    {"<PATH>", R"((?P<path>/[\w.][^<PATH_END>]*))"},
    {"<PATH_END>", "<END><:=?#*!("},
    {"<PROCESS>", R"(:\d{1,11}:\d{1,11} (?:\[|NCCL))"},
    {"<PUBLIC>",
     R"((?i:(?:[\w.-]*\.)?(?:docker\.(?:com|io)|github\.(?:com|io)|gitlab\.com|google\.com|)"
     R"(kernel\.org|nvidia\.com|nvcr\.io|pypi\.org|python\.org|pytorch\.org|readthedocs\.io|)"
     R"(slurm\.schedmd\.com|stackoverflow\.com|ubuntu\.com|wikipedia\.org)))"},
    {"<DOUBTFUL>", "(?i:net|io|ai|dev|in|us|home|cloud|cluster|svc|test|co|tech|info)"},
    {"<IS>", R"((?:["'\\]*[ \t]*[=:][ \t]*| set by environment to ))"},
    {"<EQUALS>",
     R"((?:["'\\]*[ \t]*=[ \t]*|["'\\]+[ \t]*:[ \t]*|[ \t]+:[ \t]+| set by environment to ))"},
    {"<END>", R"(\x00-\x20"'`,;)\]}>|&\\)"},  // Ends a value without quotes; stands in brackets.
    {"<BEGIN>", R"((?:^|[^\w-]))"},
    {"<LABELS>", "[A-Za-z0-9.-]+"},
    {"<LABEL_END>", "(?:[^A-Za-z0-9-]|$)"},
    {"<MAIL>", R"([\w.+-])"},
    {"<TOKEN>", R"([\w.+/=~-])"},
    {"<POD>", "[bcdfghjklmnpqrstvwxz2456789]"},
    {"<HEX>", "[0-9a-fA-F]"},
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// A pattern with all parts written out: each is defined by those behind it.
std::string written_out(std::string pattern) {
  for (const auto& [name, meaning] : kParts) replace_all(pattern, name, meaning);
  return pattern;
}

std::string pattern_of(const Row& row) {
  std::string words = written_out(row.words);
  if (row.before != Text) {
    replace_all(words, "_", "[_-]");
    const std::string key = "(?i:" + words + ")";
    const std::string flag = R"(--(?:[\w-]*[_-])?)";
    words = "(?:^|[^A-Za-z0-9]|" + flag + ")" + key + (row.before == Key ? "<IS>" : "<EQUALS>") +
            "|" + flag + key + R"([ \t]+)";
  }
  return written_out("(?:" + words + ")" + row.name);
}

RE2::Options byte_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  return options;
}

re2::StringPiece piece_of(std::string_view text) { return {text.data(), text.size()}; }

/// Words that are known, as a pattern that a whole text matches; case does not matter.
class Words {
 public:
  explicit Words(const std::string& pattern)
      : pattern_("(?i:" + written_out(pattern) + ")", byte_options()) {}
  bool contain(std::string_view text) const { return RE2::FullMatch(piece_of(text), pattern_); }

 private:
  RE2 pattern_;
};

/// "none", "true", "default": the value of a key that has none.
bool is_no_value(std::string_view value) {
  static const Words kNothing(
      "none|null|true|false|default|unset|static|etcd|c10d|etcd-v2|nil|n/a|bearer|basic");
  return kNothing.contain(value);
}

/// "socket.cc" of "socket.cc:717:3".
bool is_source_file(std::string_view name) {
  static const Words kFiles(R"(.*\.(?-i:cc|cpp|cu|c|h|hpp|py|go))");
  return kFiles.contain(name);
}

/// What stands for a secret elsewhere: "$TOKEN", "${TOKEN}", "<token>", "{{ token }}".
bool is_placeholder(std::string_view value) {
  static const Words kPlaceholders(R"(\{.*\}|<.*>|\$(?:[{(].*|(?-i:[A-Z_][A-Z_0-9]*))?)");
  return kPlaceholders.contain(value);
}

/// Names whose numbered fellows are something else: "gpu3", "rank0", "eth1", "mlx5".
bool is_common_stem(std::string_view shape) {
  static const Words kStems(
      ".?|gpu|rank|cuda|step|epoch|iter|layer|eth|ib|mlx|bond|ens|eno|enp|fr|rail|numa|cpu|nvme|"
      "stage|default");
  return kStems.contain(shape.substr(0, shape.find('#')));
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

bool has_letter(std::string_view text) { return std::any_of(text.begin(), text.end(), is_alpha); }

/// What matches claim of one text. Invariant: no two claims overlap.
class Claims {
 public:
  Claims(std::string_view text, const KnownHosts& hosts) : text_(text), hosts_(hosts) {}

  /// Those of somebody.
  std::vector<FoundIdentity> found() const {
    std::vector<FoundIdentity> found;
    for (const auto& [begin, claim] : claims_) {
      if (claim.kind) found.push_back({*claim.kind, begin, claim.end - begin});
    }
    return found;
  }

  /// Claims [begin, end) if it is free; no kind: for nobody.
  void claim(std::optional<IdentityKind> kind, size_t begin, size_t end) {
    // A name goes on to the end of its value: "job_name=falcon?token=…".
    const auto next = claims_.lower_bound(begin);
    if (kind == IdentityKind::Name && next != claims_.end()) end = std::min(end, next->first);
    if (begin < end && is_free(begin, end)) claims_.emplace(begin, Claim{end, kind});
  }

  // One for each group of a pattern that may also hold something else.

  void address(size_t begin, size_t end) {
    // "0000:17:00.0" and "12:34:56" are none; of "fe80::1: …" the last ':' is not its own.
    const bool is_ipv6 = slice(begin, end).find(':') != text_.npos;
    if (is_ipv6 && (is_word(at(end)) || (at(end) == '.' && is_digit(at(end + 1))))) return;
    if (text_[end - 1] == ':') --end;
    const std::string_view text = slice(begin, end);
    if (has_digit(text) && parse_address_bits(text)) claim(IdentityKind::Address, begin, end);
  }

  /// Not all 0 or all ff.
  void hardware(size_t begin, size_t end) {
    if (slice(begin, end).find_first_not_of("0fF:-") != text_.npos)
      claim(IdentityKind::Hardware, begin, end);
  }

  void path(size_t begin, size_t end) {
    while (end > begin && (text_[end - 1] == '.' || text_[end - 1] == '-')) --end;
    if (end > begin + 1) claim(IdentityKind::Path, begin, end);
  }

  void user(size_t begin, size_t end) {
    const std::string_view user = slice(begin, end);
    if (at(end) != '/' && !is_no_value(user) && !is_plain_word(user) && !is_number(user))
      claim(IdentityKind::User, begin, end);
  }

  /// The name or the number of a job, a run, a project; a path is none.
  void name(size_t begin, size_t end) {
    const std::string_view value = slice(begin, end);
    if (at(end) == '/' || is_no_value(value)) return;
    if (is_number(value)) {
      if (value.size() >= 4) claim(IdentityKind::JobNumber, begin, end);
    } else if (value.size() >= 3 && !is_plain_word(value)) {
      claim(IdentityKind::Name, begin, end);
    }
  }

  /// Kubernetes' own, "pod/falcon-7d9f-x2k4p".
  void object(size_t begin, size_t end) {
    const std::string_view name = slice(begin, end);
    const bool tells = has_digit(name) || name.find('-') != name.npos;
    if (tells && !is_number(name) && !is_known_component(name))
      claim(IdentityKind::Name, begin, end);
  }

  void token(size_t begin, size_t end) {
    constexpr size_t kShortest = 16;  // "sk-learn" and "hf_hub" begin like tokens.
    if (end - begin >= kShortest && has_digit(slice(begin, end)))
      claim(IdentityKind::Secret, begin, end);
  }

  void credentials(size_t begin, size_t end) {
    if (!is_no_value(slice(begin, end)) && !is_placeholder(slice(begin, end)))
      claim(IdentityKind::Secret, begin, end);
  }

  /// What a key announces, with its quotes.
  void secret(size_t begin, size_t end) {
    constexpr size_t kShortest = 6;  // "token: 12", "password: no".
    const bool is_nested = text_[begin] == '\\';
    while (begin < end && text_[begin] == '\\') ++begin;
    const char sign = at(begin);
    const bool is_quoted = (sign == '"' || sign == '\'') && end > begin + 1;
    if (is_quoted) {
      if (text_[end - 1] == sign) --end;
      ++begin;
      while (is_nested && end > begin && text_[end - 1] == '\\') --end;
    }
    const std::string_view value = slice(begin, end);
    // Unquoted, what closes a placeholder stands behind the value.
    const bool is_closed = !is_quoted && (at(end) == '}' || at(end) == '>');
    if (value.size() >= kShortest && !is_number(value) && !is_no_value(value) &&
        !is_placeholder(slice(begin, end + (is_closed ? 1 : 0))))
      claim(IdentityKind::Secret, begin, end);
  }

  // Hosts.

  /// With or without its domain.
  void host(size_t begin, size_t end) {
    while (end > begin && text_[end - 1] == '.') --end;
    const std::string_view name = slice(begin, end);
    const bool is_url = slice(end, end + 3) == "://";  // "host=https://…" names no host "https".
    if (is_url || is_number(name) || is_no_value(name) || parse_address_bits(name) ||
        !is_free(begin, end))
      return;
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string_view host = name.substr(0, dot);
    if (!is_plain_word(host) && !is_number(host)) claim(IdentityKind::Host, begin, begin + dot);
    if (dot + 1 < name.size()) claim(IdentityKind::Domain, begin + dot + 1, end);
  }

  /// Behind words that may announce something else: "on node 3", "to host memory".
  void likely_host(size_t begin, size_t end) {
    while (end > begin && text_[end - 1] == '.') --end;
    const std::string_view name = slice(begin, end);
    const bool tells = has_digit(name) || (name.find('-') != name.npos && has_own_word(name, {}));
    std::string shape = shape_of(name);
    std::erase(shape, '-');  // "rank-0" is no host, either.
    if (tells && has_letter(name) && !is_source_file(name) && !is_common_stem(shape) &&
        at(end) != '@' && at(end) != '/')
      host(begin, end);
  }

  /// Slurm's "gpu-n[41-48],login1".
  void hosts(size_t begin, size_t end) {
    if (slice(begin, end).find('[') != text_.npos) return claim(IdentityKind::Name, begin, end);
    while (begin < end) {
      const size_t next = begin + std::min(slice(begin, end).find(','), end - begin);
      host(begin, next);
      begin = next + 1;
    }
  }

  /// "gpu-n[41-48,50]": not "ranks[0-7]".
  void list(size_t begin, size_t end) {
    const size_t numbers = text_.find('[', begin) + 1;
    const std::string shape = shape_of(slice(begin, numbers - 1)) + "#";
    const bool has_zeros = text_[numbers] == '0' && is_digit(text_[numbers + 1]);  // "zebra[01-16]"
    const bool tells =
        has_zeros || shape.find('-') != shape.npos || shape.find('#') + 1 < shape.size();
    if (hosts_.shapes.contains(shape) || (tells && !is_common_stem(shape)))
      claim(IdentityKind::Name, begin, end);
  }

  /// A known host that ends where the process begins; of an unknown one all that may belong to it.
  void record(size_t begin, size_t end) {
    for (const size_t length : hosts_.lengths) {
      if (length <= end - begin && hosts_.names.contains(lower_case(slice(end - length, end))))
        return claim(IdentityKind::Host, end - length, end);
    }
    while (begin < end && !is_alnum(text_[begin])) ++begin;
    if (has_letter(slice(begin, end))) host(begin, end);
  }

  void likely_record(size_t begin, size_t end) {
    if (!is_source_file(slice(begin, end))) record(begin, end);
  }

  void dotted(size_t begin, size_t end) {
    const std::string_view name = slice(begin, end);
    if (is_public_domain(name)) return;
    // "acme.com" is a domain; "gpu-n41.acme" a host in one, and so is all with two dots.
    const bool has_host = std::count(name.begin(), name.end(), '.') >= 2 ||
                          hosts_.names.contains(lower_case(name.substr(0, name.find('.'))));
    if (has_host) return host(begin, end);
    claim(IdentityKind::Domain, begin, end);
  }

  /// Numbered like a known host, from any of its words on.
  void fellow(size_t begin, size_t end) {
    constexpr size_t kLongest = 253;  // Of DNS.
    if (hosts_.shapes.empty() || is_word(at(end)) || at(end) == '@') return;
    for (; begin < end; begin = std::min(text_.find('-', begin), end - 1) + 1) {
      if (end - begin <= kLongest && hosts_.shapes.contains(shape_of(slice(begin, end))))
        return claim(IdentityKind::Host, begin, end);
    }
  }

 private:
  struct Claim {
    size_t end;
    std::optional<IdentityKind> kind;  ///< None: nobody's.
  };

  /// NUL behind the end.
  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  std::string_view slice(size_t begin, size_t end) const {
    return text_.substr(begin, end - begin);
  }

  bool is_free(size_t begin, size_t end) const {
    const auto next = claims_.lower_bound(begin);
    if (next != claims_.end() && next->first < end) return false;
    return next == claims_.begin() || std::prev(next)->second.end <= begin;
  }

  std::string_view text_;
  const KnownHosts& hosts_;
  std::map<size_t, Claim> claims_;
};

/// What a group of a pattern holds, by its name.
struct Group {
  std::string_view name;
  std::optional<IdentityKind> kind = {};  ///< None: it is nobody's, or `take` says what it is.
  void (Claims::*take)(size_t begin, size_t end) = nullptr;
};

constexpr Group kGroups[] = {
    {"nobody"},
    {"email", IdentityKind::Email},
    {"job", IdentityKind::JobNumber},
    {"guid", IdentityKind::Guid},
    {"lid", IdentityKind::Lid},
    {"bucket", IdentityKind::Name},
    {"machine", IdentityKind::Host},
    {"password", IdentityKind::Secret},
    {"number", IdentityKind::Secret},
    {"address", {}, &Claims::address},
    {"hardware", {}, &Claims::hardware},
    {"path", {}, &Claims::path},
    {"user", {}, &Claims::user},
    {"name", {}, &Claims::name},
    {"object", {}, &Claims::object},
    {"token", {}, &Claims::token},
    {"credentials", {}, &Claims::credentials},
    {"secret", {}, &Claims::secret},
    {"host", {}, &Claims::host},
    {"likely_host", {}, &Claims::likely_host},
    {"hosts", {}, &Claims::hosts},
    {"list", {}, &Claims::list},
    {"record", {}, &Claims::record},
    {"likely_record", {}, &Claims::likely_record},
    {"dotted", {}, &Claims::dotted},
    {"fellow", {}, &Claims::fellow},
};

/// A row, ready to search.
struct Pattern {
  explicit Pattern(const Row& row)
      : search(pattern_of(row), byte_options()),
        on(row.on == nullptr ? nullptr : byte_pattern(row.on)) {
    if (!search.ok()) throw std::logic_error(search.pattern() + ": " + search.error());
    for (const auto& [group, name] : search.CapturingGroupNames()) {
      std::string_view what = name;
      while (is_digit(what.back())) what.remove_suffix(1);
      const auto known = std::find_if(std::begin(kGroups), std::end(kGroups),
                                      [&](const auto& one) { return one.name == what; });
      if (known == std::end(kGroups) && what != "with_digit")
        throw std::logic_error("no such group: " + name);
      groups.emplace_back(group, known == std::end(kGroups) ? nullptr : known);
    }
  }

  RE2 search;
  std::unique_ptr<RE2> on;
  std::vector<std::pair<int, const Group*>> groups;  ///< Null: "with_digit", or no match.
};

/// The table. `set` says in one pass over a text which rows may match.
struct Patterns {
  Patterns() : set(set_options(), RE2::UNANCHORED) {
    for (const Row& row : kRows) {
      rows.push_back(std::make_unique<Pattern>(row));
      set.Add(rows.back()->search.pattern(), nullptr);
    }
    set.Compile();
  }

  static RE2::Options set_options() {
    RE2::Options options = byte_options();
    options.set_max_mem(int64_t{64} << 20);
    return options;
  }

  /// In the order of the table.
  std::vector<int> rows_that_match(std::string_view text) const {
    std::vector<int> matching;
    RE2::Set::ErrorInfo error{};
    if (!set.Match(piece_of(text), &matching, &error) && error.kind != RE2::Set::kNoError) {
      // Text of many sorts at once takes more memory than the set may have: then each row searches.
      for (size_t i = 0; i < rows.size(); ++i) matching.push_back(static_cast<int>(i));
    }
    std::sort(matching.begin(), matching.end());
    return matching;
  }

  RE2::Set set;
  std::vector<std::unique_ptr<Pattern>> rows;
};

const Patterns& patterns() {
  static const Patterns kPatterns;
  return kPatterns;
}

/// Gives all that `pattern` matches to `claims`. The next match may begin with the last byte of a
/// name, a quote that closes it or the like.
void search(const Pattern& pattern, std::string_view text, Claims& claims) {
  constexpr int kMostGroups = 5;
  const re2::StringPiece all = piece_of(text);
  if (pattern.on && !RE2::PartialMatch(all, *pattern.on)) return;
  re2::StringPiece groups[kMostGroups];
  for (size_t from = 0; pattern.search.Match(all, from, text.size(), RE2::UNANCHORED, groups,
                                             1 + pattern.search.NumberOfCapturingGroups());) {
    from = static_cast<size_t>(groups[0].data() - text.data()) + 1;
    bool tells = true;
    for (const auto& [number, group] : pattern.groups) {
      const re2::StringPiece& name = groups[number];
      if (name.empty()) continue;
      from = std::max(from, static_cast<size_t>(name.data() - text.data()) + name.size() - 1);
      if (group == nullptr) tells = has_digit({name.data(), name.size()});
    }
    for (const auto& [number, group] : pattern.groups) {
      if (!tells || group == nullptr || groups[number].empty()) continue;
      const auto begin = static_cast<size_t>(groups[number].data() - text.data());
      const size_t end = begin + groups[number].size();
      if (group->take != nullptr) {
        (claims.*group->take)(begin, end);
      } else {
        claims.claim(group->kind, begin, end);
      }
    }
  }
}

// Paths.

constexpr const char* kPackages =
    "(?-i:accelerate|amazon|apex|aws-ofi-nccl|c10d|cupy|deepspeed|fairscale|fairseq|flash_attn|gib|"
    "horovod|hpcx|jax|jaxlib|lightning|mellanox|megatron|mpi4py|nccl|nemo|numpy|nvidia|openmpi|"
    "peft|pytorch_lightning|ray|sglang|tensorflow|torch|torchvision|transformers|triton|trl|vllm|"
    "xformers)";

/// A package whose sources are public: paths are shown from it on.
bool is_public_package(std::string_view component) {
  static const Words kWords(kPackages);
  return kWords.contain(component);
}

/// A path that every machine has, with all that is below: "/usr/lib/x", "/dev/shm", "/sys/class".
bool is_system_path(std::string_view path) {
  static const Words kRoots(
      "(?-i:/(?:usr/(?:lib|bin|include|share|sbin|libexec|src)|lib|lib64|bin|sbin|etc|dev|sys|proc|"
      R"(run|boot|var/(?:run|lib|log))(?s:\W.*)?|/usr/local/cuda(?s:.*)))");
  return kRoots.contain(path);
}

bool holds_homes(std::string_view folder) {
  return folder == "home" || folder == "users" || folder == "Users" || folder == "user";
}

/// "train.py": a short ending that is a known one.
bool is_file(std::string_view component) {
  const size_t dot = component.rfind('.');
  return dot != component.npos && dot > 0 && component.size() - dot <= 6 &&
         is_known_component(component.substr(dot + 1));
}

}  // namespace

std::unique_ptr<RE2> byte_pattern(const std::string& pattern) {
  return std::make_unique<RE2>(pattern, byte_options());
}

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
  Claims claims(text, hosts);
  for (const int row : patterns().rows_that_match(text)) {
    search(*patterns().rows[static_cast<size_t>(row)], text, claims);
  }
  return claims.found();
}

bool begins_record(std::string_view line, size_t at) {
  static const RE2 kRecord(written_out(R"([\w.-]+<PROCESS>)"), byte_options());
  return kRecord.Match(piece_of(line), at, line.size(), RE2::ANCHOR_START, nullptr, 0);
}

std::vector<FoundIdentity> private_parts(std::string_view path) {
  std::vector<FoundIdentity> parts;
  if (is_system_path(path)) return parts;
  std::string_view before;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (is_public_package(part)) break;
    if (holds_homes(before)) {
      if (!is_plain_word(part)) parts.push_back({IdentityKind::User, begin, part.size()});
    } else if (!part.empty() && !is_known_component(part)) {
      const bool is_last = end == path.size();
      parts.push_back({is_last && is_file(part) ? IdentityKind::File : IdentityKind::Folder, begin,
                       part.size()});
    }
    if (!part.empty()) before = part;
    begin = end + 1;
  }
  return parts;
}

bool is_plain_word(std::string_view word) {
  static const Words kPlain(
      ".?|admin|all|app|base|batch|bench|centos|cluster|compute|cuda|data|debug|default|dev|device|"
      "ec2-user|error|false|gpus?|guest|head|home|host|info|job|jovyan|localhost|log|login|main|"
      "master|model|mpirun|nan|nccl|net|nobody|nodes?|none|null|nvidia|ops|pods?|process|public|"
      "python|pytorch|rank|ray|ring|root|run|runner|self|server|slurm|socket|stderr|stdout|step|"
      "store|system|task|test|torch|torchrun|train|trainer|training|tree|true|ubuntu|unknown|users?"
      "|"
      "version|warn|warning|work|workers?|world");
  return kPlain.contain(word);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

bool is_known_component(std::string_view component) {
  // One word or character with a number behind it: "nccl", "7", "v2", "fr3".
  const std::string kWord =
      R"((?:[^-_. +@%#~]|)"
      "accelerate|all|allgather|alltoall|amd64|anaconda|app|apps|apt|archive|attempt|aws|"
      "bandwidth|bash|bashrc|bench|benchmark|bin|boot|broadcast|build|bw|cache|cc|checkpoint|"
      "checkpoints|ckpt|class|cluster|cmake|code|coll|common|conda|conf|config|configs|console|"
      "container|core|cpp|cpython|csv|cu|cuda|cudnn|data|dataset|datasets|debug|default|"
      "deepspeed|demo|dev|device|devices|dir|dist|distributed|dmesg|dnn|doc|docker|dump|efa|"
      "engine|env|envs|err|error|etc|eth|eval|events|example|examples|exec|exp|experiments|"
      "files|finetune|fm|fr|fs|fsdp|fsx|gather|gids|git|global|gpfs|gpu|gpus|graph|gz|hang|"
      "header|help|home|host|hosts|hpc|hpcx|hugepages|ib|ibstat|image|images|include|info|init|"
      "inputs|io|job|jobs|json|jsonl|kernel|latest|launch|launcher|lib|libs|linux|local|log|"
      "logger|logging|logs|lustre|machine|main|master|md|megatron|merged|messages|metrics|"
      "miniconda|miniforge3|mlx5|mnt|model|models|module|modules|mpi|mpirun|multi|nas|nccl|net|"
      "nfs|nn|node|nodes|nohup|nsys|numa|nvidia|nvlink|ofi|ok|ompi|openmpi|ops|opt|out|output|"
      "outputs|p2p|packages|part|parallel|perf|pid|plugin|plugins|pod|pretrain|proc|process|"
      "profile|project|projects|pt|pth|py|pyenv|python|pytorch|rank|ras|ray|rdma|recv|reduce|"
      "release|report|restart|results|ring|root|run|runs|scatter|scratch|script|scripts|send|"
      "sendrecv|serve|server|service|session|sh|share|shared|shm|show|site|slurm|smi|so|"
      "software|source|spool|src|srv|stderr|stdin|stdout|step|storage|store|stuck|sys|system|"
      "tar|tb|tcp|tensorboard|test|tests|text|thread|tmp|tools|topo|topology|torch|torchrun|"
      "trace|train|trainer|training|transformers|txt|user|users|usr|util|utils|val|var|venv|"
      "verbose|version|vllm|wandb|watchdog|work|workdir|worker|workers|workspace|x86|xml|xz|"
      "yaml|yml|zip|zst|zstd"
      R"()?\d*)";
  static const Words kComponents(R"((?-i:lib.*\.so(?:\..*)?)|)" + std::string(kPackages) +
                                 "|(?:" + kWord + "[-_. +@%#~])*" + kWord);
  return kComponents.contain(component);
}

bool is_public_domain(std::string_view domain) {
  static const Words kPublic("<PUBLIC>");
  return kPublic.contain(domain);
}

bool has_own_word(std::string_view name, const OrdinaryWords& ordinary, size_t shortest) {
  const auto is_own = [&](std::string_view word) {
    std::string_view stem = word;
    while (!stem.empty() && is_digit(stem.back())) stem.remove_suffix(1);
    if (stem.size() < shortest) return !stem.empty() && has_digit(word);
    const std::string lower = lower_case(stem);
    return !is_plain_word(lower) && !is_known_component(lower) && !ordinary.contains(lower);
  };
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin;
    while (end < name.size() && is_alnum(name[end])) ++end;
    if (is_own(name.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool is_telling_name(std::string_view component) {
  constexpr size_t kShortest = 6;
  return component.size() >= kShortest && has_letter(component) &&
         (has_digit(component) || component.find_first_of("-_") != component.npos);
}

}  // namespace ncclog
