// Which settings do the logs of a job show, do they do what they say, and are they the same
// everywhere?
//
//   NCCL_IB_HCA set by environment to mlx5_1, then: NET/IB : Using [0]mlx5_1:1/IB [1]mlx5_10:1/IB
//   rank 3: NCCL_P2P_DISABLE set by environment to 1, ranks 0-2: nothing

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <ranges>
#include <set>
#include <span>
#include <tuple>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/settings/lint.h"
#include "diagnose/settings/nccl_variables.h"

namespace ncclog {
namespace {

constexpr std::string_view kInterfaces = "NCCL_SOCKET_IFNAME";
constexpr std::string_view kHcas = "NCCL_IB_HCA";

// What did the filters of interfaces and RDMA devices do to this job?
//
//   NCCL_SOCKET_IFNAME set by environment to ib9, then: no socket interface found
//   NCCL_IB_HCA set to mlx5_1, then: NET/IB : Using [0]mlx5_1:1/IB [1]mlx5_10:1/IB
//
// NCCL lists what a filter admitted, so the lists of other processes and hosts tell what else there
// is.

/// Where a process printed a setting first. Views the job.
struct Printed {
  std::string_view name;
  std::string_view value;
  Record record;
};

/// By name, each once.
using PrintedSettings = std::vector<Printed>;

/// By process.
std::vector<PrintedSettings> read_printed(const Job& job) {
  std::vector<PrintedSettings> printed(job.processes.size());
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    PrintedSettings& own = printed[said.process];
    const auto place = std::ranges::lower_bound(own, said.message.name, {}, &Printed::name);
    if (place != own.end() && place->name == said.message.name) return;
    own.insert(place, {said.message.name, said.message.value, said.record()});
  });
  return printed;
}

const std::vector<PrintedSettings>& printed_settings(const Job& job) {
  return job.answers.of<&read_printed>(job);
}

const PrintedSettings& settings_of(const Job& job, int process) {
  return printed_settings(job)[process];
}

/// nullptr: none of that name.
const Printed* find_setting(const PrintedSettings& settings, std::string_view name) {
  const auto found = std::ranges::lower_bound(settings, name, {}, &Printed::name);
  return found == settings.end() || found->name != name ? nullptr : &*found;
}

bool is_filter(std::string_view name, std::string_view value) {
  const NcclVariable* variable = find_nccl_variable(name);
  return variable != nullptr && variable->kind() == ValueKind::Filter && !value.empty();
}

std::string on_host(const Job& job, int process) {
  const std::string& host = nth_process(job, process).host;
  return host.empty() ? std::string("its host") : host;
}

void add_name(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

/// The interfaces and RDMA devices that lists name, by `key_of` their address or list.
template <typename KeyOf>
auto devices_by(const Job& job, std::span<const HostAddress> addresses, KeyOf key_of) {
  std::map<decltype(key_of(HostAddress())), HostDevices> devices;
  for (const HostAddress& address : addresses) {
    add_name(devices[key_of(address)].interfaces, address.name);
  }
  for (const HcaList& list : hca_lists(job)) {
    for (const NetDevice& hca : list.hcas) add_name(devices[key_of(list)].hcas, hca.name);
  }
  return devices;
}

/// What hosts of the job are known to have, all of them together.
HostDevices known_names(const Job& job) {
  HostDevices names;
  for (const HostDevices& host : known_devices(job)) {
    for (const std::string& name : host.interfaces) add_name(names.interfaces, name);
    for (const std::string& name : host.hcas) add_name(names.hcas, name);
  }
  for_each_said<IbPort, IbstatCa>(
      job, [&](const auto& said) { add_name(names.hcas, said.message.device); });
  return names;
}

/// The filter of that name left processes without a device that `means_none` accepts a line of; of
/// `what`, {} is the host.
template <typename T, typename MeansNone>
void add_empty(const Job& job, std::string_view name, RemarkLevel level, std::string_view what,
               const std::vector<std::string>& names, MeansNone means_none,
               std::vector<Remark>& out) {
  for_each_said<T>(job, [&](const Said<T>& said) {
    const Printed* filter = find_setting(settings_of(job, said.process), name);
    if (filter == nullptr || !is_filter(name, filter->value) || !means_none(said.message)) return;
    out.push_back({.kind = RemarkKind::MatchesNothing,
                   .level = level,
                   .variable = std::string(name),
                   .value = std::string(filter->value),
                   .message = fmt::format(fmt::runtime(what), on_host(job, said.process)),
                   .hint = filter_meant(filter->value, names),
                   .line = evidence_of(filter->record)});
  });
}

/// Filters that admitted more than their names say.
void add_surprises(const Job& job, std::vector<Remark>& out) {
  // Few jobs have filters, and devices of many processes are many.
  const bool any = std::ranges::any_of(printed_settings(job), [](const PrintedSettings& settings) {
    return std::ranges::any_of(
        settings, [](const Printed& each) { return is_filter(each.name, each.value); });
  });
  if (!any) return;
  for (auto& [process, devices] :
       devices_by(job, socket_addresses(job), [](const auto& each) { return each.process; })) {
    devices.host = on_host(job, process);
    for (const Printed& filter : settings_of(job, process)) {
      if (!is_filter(filter.name, filter.value)) continue;
      const Setting setting{.name = std::string(filter.name), .value = std::string(filter.value)};
      for (Remark& remark :
           judge_filter(*find_nccl_variable(filter.name), setting, std::span(&devices, 1))) {
        if (remark.kind != RemarkKind::MatchesMore) continue;
        remark.variable = filter.name;
        remark.value = filter.value;
        remark.line = evidence_of(filter.record);
        out.push_back(std::move(remark));
      }
    }
  }
}

/// Filters that left a process without devices, or admitted more than their names say.
void judge_filters_in_use(const Job& job, std::vector<Remark>& remarks) {
  const HostDevices names = known_names(job);
  add_empty<BootstrapNoInterface>(
      job, kInterfaces, RemarkLevel::Error, "admits no interface that {} has", names.interfaces,
      [](const auto& none) { return none.text.ends_with("interface found"); }, remarks);
  add_empty<NoRdmaDevice>(
      job, kHcas, RemarkLevel::Warning, "names no RDMA device that {} shows", names.hcas,
      [](const auto&) { return true; }, remarks);
  add_surprises(job, remarks);
}

/// The different sets of settings that processes read, each as indices into Job::environment.
std::set<std::vector<size_t>> distinct_sets(const Job& job) {
  std::map<int, std::vector<size_t>> of_process;
  // Where lines are torn, what another process wrote may stand in the value.
  const size_t least = is_torn(job) ? 2 : 0;
  for (size_t i = 0; i < job.environment.size(); ++i) {
    const std::vector<int>& processes = job.environment[i].processes;
    if (processes.size() < least) continue;
    for (const int process : processes) of_process[process].push_back(i);
  }
  std::set<std::vector<size_t>> sets;
  for (auto& [process, set] : of_process) sets.insert(std::move(set));
  return sets;
}

/// A plugin of NCCL set it for its process, and says so: "NET/OFI Setting NCCL_PROTO to "simple"".
bool is_set_by_plugin(const Job& job, std::string_view name) {
  const std::string says = fmt::format("Setting {}", name);
  for (const std::string_view kind : {"ofi_variable_set", "ofi_simple_forced"}) {
    for (const ReadRecord& read : records_of_kind(job, find_kind(kind)->index).records) {
      if (read.record().text().find(says) != std::string::npos) return true;
    }
  }
  return false;
}

void lint_read(const Job& job, const LintContext& context, std::vector<Remark>& remarks) {
  // The first line of name and value.
  std::map<std::pair<std::string_view, std::string_view>, Record> lines;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    lines.try_emplace({said.message.name, said.message.value}, said.record());
  });
  for (const std::vector<size_t>& set : distinct_sets(job)) {
    std::vector<Setting> settings;
    for (const size_t i : set) {
      settings.push_back({.name = job.environment[i].name, .value = job.environment[i].value});
    }
    for (Remark& remark : lint(settings, context)) {
      // NCCL has read the setting, so these are no news.
      constexpr RemarkKind kNoNews[] = {RemarkKind::Unknown, RemarkKind::Misspelt,
                                        RemarkKind::Removed, RemarkKind::TooNew};
      if (std::ranges::count(kNoNews, remark.kind) > 0) continue;
      if (is_set_by_plugin(job, remark.variable)) continue;
      const auto line = lines.find({remark.variable, remark.value});
      if (line != lines.end()) remark.line = evidence_of(line->second);
      remarks.push_back(std::move(remark));
    }
  }
}

/// Commands of a process are one script: what a shell exported lasts.
std::vector<CommandSettings> read_command_settings(const Job& job) {
  std::map<int, std::pair<std::string, std::vector<Evidence>>> scripts;
  for_each_said<ShellCommand, ProcessEnded>(job, [&](const auto& said) {
    const std::string_view command = said.message.command;
    // An open quote would swallow the commands below it; a line of a log is one command.
    if (std::ranges::count(command, '"') % 2 != 0) return;
    if (std::ranges::count(command, '\'') % 2 != 0) return;
    auto& [text, lines] = scripts[said.process];
    text.append(command.substr(0, command.find_last_not_of('\\') + 1)).append("\n");
    lines.push_back(evidence_of(said.record()));
  });
  std::vector<CommandSettings> commands;
  for (auto& [process, script] : scripts) {
    CommandSettings command{read_shell_settings(script.first), std::move(script.second)};
    // What is handed on without a value is set somewhere else.
    std::vector<Setting>& settings = command.found.settings;
    settings.insert(settings.end(), command.found.handed_on.begin(), command.found.handed_on.end());
    if (!settings.empty()) commands.push_back(std::move(command));
  }
  return commands;
}

std::vector<HostDevices> list_devices(const Job& job) {
  std::vector<HostDevices> result;
  for (auto& [host, devices] :
       devices_by(job, all_addresses(job), [](const auto& each) { return each.host; })) {
    if (host.empty()) continue;
    devices.host = host;
    result.push_back(std::move(devices));
  }
  return result;
}

std::vector<Remark> lint_alone(const Job& job) { return lint_job(job, {}); }

// Are the settings the same everywhere?
//
//   rank 3: NCCL_P2P_DISABLE set by environment to 1, ranks 0-2: nothing
//
// NCCL prints a variable when it first uses it, so a missing line proves nothing by itself. It is
// proof where the process has printed something that NCCL prints later.

struct Reader {
  int process = -1;
  const PrintedSettings& settings;
  SourceRef completed;   ///< Its first Init COMPLETE; line 0: none.
  bool damaged = false;  ///< Lines may be torn, unknown or left out: maybe the missing one.
};

/// The processes that print settings or finish an initialisation.
std::vector<Reader> read_settings(const Job& job) {
  // Of a torn line nobody may be able to tell whose it was.
  const bool is_any_lost = job.losses.count(Loss::LineLeftOut) > 0 || is_torn(job);
  std::vector<Reader> readers;
  for (int p = 0; p < static_cast<int>(job.processes.size()); ++p) {
    const Process& process = nth_process(job, p);
    if (process.pid < 0) continue;
    Reader reader{p, settings_of(job, p), first_complete(job, process), is_any_lost};
    for (const size_t log : process.logs)
      reader.damaged |= job.logs[log].unrecognised.contains(Record::kNoKind);
    const bool reads = !reader.settings.empty() || reader.completed.line != 0;
    if (reads) readers.push_back(reader);
  }
  return readers;
}

/// Proof that `reader` does not have the setting that `owner` printed: it went past the place where
/// NCCL reads it, because it printed what `owner` printed afterwards.
bool lacks(const Reader& reader, const Reader& owner, std::string_view name) {
  if (reader.damaged || find_setting(reader.settings, name) != nullptr) return false;
  const SourceRef where = find_setting(owner.settings, name)->record.where;
  if (reader.completed.line != 0 && where < owner.completed) return true;
  return std::ranges::any_of(owner.settings, [&](const Printed& other) {
    return where < other.record.where && find_setting(reader.settings, other.name) != nullptr;
  });
}

/// Processes by the value of one variable; "" stands for "proven not set".
using Camps = std::map<std::string, std::vector<int>, std::less<>>;

Camps camps_of(const std::vector<Reader>& readers, std::string_view name) {
  Camps result;
  const Reader* owner = nullptr;
  for (const Reader& reader : readers) {
    const Printed* setting = find_setting(reader.settings, name);
    // A value that is empty, or was cut off, is none to compare, and not "not set" either.
    if (setting == nullptr || setting->value.empty()) continue;
    auto camp = result.find(setting->value);
    if (camp == result.end()) camp = result.try_emplace(std::string(setting->value)).first;
    camp->second.push_back(reader.process);
    if (owner == nullptr) owner = &reader;
  }
  if (owner == nullptr || has_trait(name, "where_used")) return result;
  std::vector<int> without;
  for (const Reader& reader : readers) {
    if (lacks(reader, *owner, name)) without.push_back(reader.process);
  }
  // One line may be lost, as collectors lose them; where most have the setting that is likelier.
  const size_t owners = static_cast<size_t>(std::ranges::count_if(
      readers, [&](const Reader& reader) { return find_setting(reader.settings, name); }));
  if (!without.empty() && (without.size() > 1 || owners < 3)) result[""] = std::move(without);
  return result;
}

/// Drops what may differ: all of it, or the difference between hosts.
bool is_difference(const Job& job, std::string_view name, const Camps& by_value) {
  if (by_value.size() < 2 || has_trait(name, "may_differ")) return false;
  if (!has_trait(name, "of_host")) return true;
  std::map<std::string_view, std::set<std::string_view>> values_on_host;
  for (const auto& [value, processes] : by_value) {
    for (const int p : processes) values_on_host[nth_process(job, p).host].insert(value);
  }
  return std::ranges::any_of(values_on_host,
                             [](const auto& entry) { return entry.second.size() > 1; });
}

/// A setting that some have, or have otherwise than others provably do.
struct Difference {
  std::string_view name;
  size_t readers = 0;  ///< Whose settings were compared.
  Camps by_value;
  std::vector<Evidence> lines;  ///< One for each value.
};

/// Adds those between processes that may be of one job.
void add_differences(const Job& job, const std::vector<Reader>& readers,
                     std::vector<Difference>& differences) {
  std::set<std::string_view> names;
  for (const Reader& reader : readers) {
    for (const Printed& each : reader.settings) names.insert(each.name);
  }
  for (const std::string_view name : names) {
    Difference found{name, readers.size(), camps_of(readers, name), {}};
    if (!is_difference(job, name, found.by_value)) continue;
    // Some have the variable and as many provably have not, while nobody knows of the others: then
    // who is the odd one would be a guess.
    const bool is_undecided = found.by_value.contains("") && minority(found.by_value).empty();
    if (is_undecided && std::ranges::any_of(readers, &Reader::damaged)) continue;
    std::set<std::string_view> shown;
    for (const Reader& reader : readers) {
      const Printed* setting = find_setting(reader.settings, name);
      if (setting == nullptr || !shown.insert(setting->value).second) continue;
      found.lines.push_back(evidence_of(setting->record));
    }
    differences.push_back(std::move(found));
  }
}

std::vector<Difference> find_differences(const Job& job) {
  const std::vector<Reader>& readers = job.answers.of<&read_settings>(job);
  std::map<int, std::vector<Reader>> worlds;
  for (const Reader& reader : readers)
    worlds[nth_process(job, reader.process).world].push_back(reader);
  if (worlds.size() > 1) {
    // Who is in no world may be of any.
    const auto others = worlds.extract(-1);
    for (auto& [world, own] : worlds) {
      if (others.empty()) break;
      for (const Reader& reader : others.mapped()) own.push_back(reader);
    }
  }
  std::vector<Difference> differences;
  for (const auto& [world, joined] : worlds) add_differences(job, joined, differences);
  return differences;
}

FactValue env_differs(const Job& job, const Instance&) {
  if (job.answers.of<&read_settings>(job).size() < 2) return unknown();
  AnswerParts parts;
  for (const Difference& each : job.answers.of<&find_differences>(job)) {
    // "NCCL_P2P_DISABLE is 1 on rank 3 and not set on ranks 0-2".
    std::vector<std::string> camps;
    for (const auto& [value, processes] : each.by_value | std::views::reverse) {
      camps.push_back(fmt::format("{} on {}", value.empty() ? "not set" : value,
                                  processes_phrase(job, processes)));
    }
    parts.words.push_back(fmt::format("{} is {}", each.name, join(camps, " and ")));
    parts.evidence.insert(parts.evidence.end(), each.lines.begin(), each.lines.end());
    const std::vector<int> odd = minority(each.by_value);
    parts.processes.insert(parts.processes.end(), odd.begin(), odd.end());
  }
  return parts.answer(no());
}

/// The host of which all processes have the setting, and those of every other host provably not;
/// nullptr: it is not spread like that.
const std::string* only_host_of(const Job& job, const Difference& setting) {
  const auto unset = setting.by_value.find("");
  if (setting.by_value.size() != 2 || unset == setting.by_value.end()) return nullptr;
  const std::vector<int>& without = unset->second;
  const std::vector<int>& owners = std::next(unset)->second;
  const std::string& host = nth_process(job, owners.front()).host;
  const auto is_there = [&](int process) { return nth_process(job, process).host == host; };
  const bool is_spread_so = std::ranges::all_of(owners, is_there) &&
                            std::ranges::none_of(without, is_there) &&
                            owners.size() + without.size() == setting.readers;
  return is_spread_so ? &host : nullptr;
}

FactValue env_not_forwarded(const Job& job, const Instance&) {
  AnswerParts parts;
  for (const Difference& each : job.answers.of<&find_differences>(job)) {
    const std::string* host = only_host_of(job, each);
    if (host == nullptr) continue;
    parts.words.push_back(fmt::format("{} on {} only", each.name, printable(to_valid_utf8(*host))));
    parts.evidence.insert(parts.evidence.end(), each.lines.begin(), each.lines.end());
    const std::vector<int>& without = each.by_value.find("")->second;
    parts.processes.insert(parts.processes.end(), without.begin(), without.end());
  }
  return parts.answer(unknown(), ", ");
}

// Which settings of the job do not do what they say?
//
//   $ mpirun -x NCCL_TIMEOUT=3600 …            → setting_remark: kind unknown, variable NCCL_TIMEOUT
//   NCCL_IB_HCA beside NCCL_IB_DISABLE=1       → kind contradictory
//
// The lint (diagnose/settings/lint.h) finds them; rules sort its remarks.

std::string setting_text(const Remark& remark) {
  return printable(remark.value.empty() ? remark.variable
                                        : fmt::format("{}={}", remark.variable, remark.value));
}

std::vector<TableRow> setting_remarks(const Job& job) {
  std::vector<TableRow> rows;
  for (const Remark& remark : job.answers.of<&lint_alone>(job)) {
    constexpr std::string_view kAsks = "did you mean ";
    const std::string_view hint = remark.hint;
    rows.push_back(
        {{std::string(to_string(remark.kind)), std::string(to_string(remark.level)),
          printable(remark.variable), setting_text(remark), printable(remark.message),
          printable(hint), std::string(hint.starts_with(kAsks) ? hint.substr(kAsks.size()) : "")},
         remark.line});
  }
  return rows;
}

constexpr Field kSettingRemarkFields[] = {
    {"kind", FieldType::Text, "\"invalid\", \"contradictory\", …: as 'ncclog env' prints it."},
    {"level", FieldType::Text, "\"error\", \"warning\", \"note\"."},
    {"variable"},
    {"setting", FieldType::Text, "\"NCCL_ALGO=Rign\"; the name alone where no value is known."},
    {"message", FieldType::Text, "A clause whose subject is the setting."},
    {"hint"},
    {"meant", FieldType::Text, "The name or value that was meant, as the hint ends."}};

FactValue ifname_matches_nothing(const Job& job, const Instance&) {
  AnswerParts parts;
  for (const Remark& remark : job.answers.of<&lint_alone>(job)) {
    if (remark.kind != RemarkKind::MatchesNothing || remark.variable != kInterfaces) continue;
    const std::string hint = remark.hint.empty() ? "" : fmt::format(" ({})", remark.hint);
    parts.add_new(
        fmt::format("{} {}{}.", setting_text(remark), printable(remark.message), printable(hint)),
        remark.line);
  }
  return parts.answer(unknown(), " ", kMostNamed);
}

/// Settings that NCCL read although the commands in the log, which hand settings on, do not name
/// them.
FactValue settings_from_elsewhere(const Job& job, const Instance&) {
  std::set<std::string, std::less<>> named;
  for (const CommandSettings& command : command_settings(job)) {
    for (const Setting& setting : command.found.settings) {
      if (setting.name.starts_with("NCCL_")) named.insert(setting.name);
    }
  }
  if (named.empty()) return unknown();
  AnswerParts others;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    if (named.contains(said.message.name) || is_set_by_plugin(job, said.message.name)) return;
    const std::string& name = *named.emplace(said.message.name).first;
    others.add(fmt::format("{}={}", name, printable(said.message.value)),
               evidence_of(said.record()));
  });
  return others.answer(no(), ", ", kMostNamed);
}

/// " for Broadcast of ncclInt8; NCCL_ALGO was set to NVLS": what a sentence ends with. Of many
/// operations the first.
FactValue algorithm_unavailable(const Job& job, const Instance&) {
  FactValue value;
  for_each_said<AlgorithmUnavailable>(job, [&](const Said<AlgorithmUnavailable>& said) {
    const AlgorithmUnavailable& lack = said.message;
    if (!value.evidence.empty() && !(said.where() < value.evidence.front().where)) return;
    std::string words =
        fmt::format(" for {}", lack.function.empty() ? "an operation" : lack.function);
    if (!lack.datatype.empty()) words += fmt::format(" of {}", lack.datatype);
    std::string_view settings = trim(lack.settings);
    if (settings.ends_with('.')) settings.remove_suffix(1);
    // Full stops would end the sentence.
    std::string set = to_valid_utf8(settings);
    std::ranges::replace(set, '.', ',');
    if (!set.empty()) words += fmt::format("; {}", set);
    value = yes(to_valid_utf8(words), {evidence_of(said.record())});
  });
  return value;
}

/// Where processes bootstrap over an interface that the setting of theirs does not name. Without a
/// line of its own the commands of the log count for a process, if they give all ranks the same.
FactValue ifname_not_used(const Job& job, const Instance&) {
  std::set<std::string> commanded;
  for (const CommandSettings& command : command_settings(job)) {
    for (const Setting& setting : command.found.settings) {
      if (setting.name == kInterfaces && setting.literal) commanded.insert(setting.value);
    }
  }
  std::map<int, std::string> settings;
  for (size_t p = 0; commanded.size() == 1 && p < job.processes.size(); ++p) {
    settings[static_cast<int>(p)] = *commanded.begin();
  }
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != kInterfaces) continue;
    for (const int process : setting.processes) settings[process] = setting.value;
  }
  if (settings.empty()) return unknown();
  std::vector<HostAddress> odd;
  std::string value;
  for (const HostAddress& address : bootstrap_addresses(job)) {
    const auto setting = settings.find(address.process);
    if (setting == settings.end()) continue;
    // A list of exclusions says nothing about the rest.
    const NameFilter filter = parse_name_filter(setting->second);
    if (filter.excludes || admits(filter, address.name)) continue;
    odd.push_back(address);
    value = setting->second;
  }
  FactValue answer = addresses_answer(odd);
  if (is_yes(answer))
    answer.what = fmt::format("the setting is {}, in use is {}", value, answer.what);
  return answer;
}

constexpr std::array kSettingFacts = {
    // The bootstrap uses an interface that NCCL_SOCKET_IFNAME does not name.
    job_fact("job.ifname_not_used", ifname_not_used),
    // Some ranks have a setting or a value that others provably have not.
    comparing_fact("job.env_differs", env_differs),
    // All processes of one host have a setting that those of all other hosts provably have not.
    comparing_fact("job.env_not_forwarded", env_not_forwarded),
    // NCCL says that no algorithm and protocol is left for an operation; in words: which one, and
    // what was set.
    job_fact("job.algorithm_unavailable", algorithm_unavailable),
    // A process that reads NCCL_SOCKET_IFNAME found no interface.
    job_fact("job.ifname_matches_nothing", ifname_matches_nothing),
    // NCCL read a setting that the commands in the log, which set others, do not name.
    job_fact("job.settings_from_elsewhere", settings_from_elsewhere),
};

}  // namespace

const std::vector<CommandSettings>& command_settings(const Job& job) {
  return job.answers.of<&read_command_settings>(job);
}

const std::vector<HostDevices>& known_devices(const Job& job) {
  return job.answers.of<&list_devices>(job);
}

std::optional<Library> library_of(const Job& job) {
  bool is_nccl = false;
  bool is_rccl = false;
  for_each_said<NcclVersion>(job, [&](const Said<NcclVersion>& said) {
    (said.message.cuda.empty() ? is_rccl : is_nccl) = true;
  });
  if (is_nccl == is_rccl) return std::nullopt;
  return is_rccl ? Library::Rccl : Library::Nccl;
}

std::vector<Remark> lint_job(const Job& job, LintContext context) {
  if (context.nccl_version.empty() && job.nccl_versions.size() == 1) {
    context.nccl_version = job.nccl_versions.front();
  }
  if (!context.library) context.library = library_of(job);
  std::vector<Remark> remarks;
  for (const CommandSettings& command : command_settings(job)) {
    for (Remark& remark : lint(command.found.settings, context)) {
      remark.line = command.lines[command.found.settings[remark.setting].line - 1];
      remarks.push_back(std::move(remark));
    }
  }
  lint_read(job, context, remarks);
  judge_filters_in_use(job, remarks);
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  std::erase_if(remarks, [&](const Remark& remark) {
    return !seen.insert({remark.variable, remark.value, remark.message}).second;
  });
  return remarks;
}

std::span<const Fact> setting_facts() { return kSettingFacts; }

JobTable setting_remark_table() {
  return {"setting_remark", kSettingRemarkFields, setting_remarks};
}

}  // namespace ncclog
