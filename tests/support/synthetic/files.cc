#include "support/synthetic/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "support/compressed.h"
#include "support/synthetic/framework_lines.h"
#include "support/synthetic/nccl_lines.h"

namespace ncclog::testing {
namespace {

std::string nccl_file(const Layout& layout, const Setting& setting, int rank) {
  return fmt::format("nccl.{}.{}.log", host_name(layout, rank), pid_of(layout, setting, rank));
}

std::string file_of(const Layout& layout, const Setting& setting, const SpokenLine& line) {
  switch (setting.files) {
    case Files::PerProcess:
      return line.voice == SpokenLine::Voice::Nccl ? nccl_file(layout, setting, line.rank)
                                                   : "stdout.log";
    case Files::PerHost:
      return host_name(layout, line.rank) + ".log";
    case Files::Merged:
      break;
  }
  return "train.log";
}

bool is_captured_stdout(const Setting& setting, const SpokenLine& line) {
  return setting.files != Files::PerProcess || line.voice != SpokenLine::Voice::Nccl;
}

std::string prefix_of(const Layout& layout, const Setting& setting, const SpokenLine& line) {
  if (!is_captured_stdout(setting, line)) return "";
  if (setting.prefix == LauncherPrefix::Pod) {
    return fmt::format("[pod/train-worker-{}/pytorch] ", layout.host_of(line.rank));
  }
  if (setting.prefix == LauncherPrefix::CloudWatch) {
    const ClockTime time = clock_time(line.time);
    return fmt::format("  | {}T{}.{}Z | ", time.date, time.second, time.micros.substr(0, 3));
  }
  if (line.voice == SpokenLine::Voice::Launcher) return "";
  switch (setting.prefix) {
    case LauncherPrefix::TorchrunTee:
      return fmt::format("[default{}]:", layout.local_rank(line.rank));
    case LauncherPrefix::MpirunTag:
      return fmt::format("[1,{}]<stdout>:", line.rank);
    case LauncherPrefix::Srun:
      return fmt::format("{}: ", line.rank);
    case LauncherPrefix::Prrte:
      return fmt::format("[prterun-{}-77@1,{}]<stdout>: ", host_name(layout, 0), line.rank);
    default:
      return "";
  }
}

std::string stamp_of(const SpokenLine& line) {
  const ClockTime time = clock_time(line.time);
  return fmt::format("[{} {}.{}] ", time.date, time.second, time.micros);
}

std::string collector_stamp(const SpokenLine& line) {
  const ClockTime time = clock_time(line.time);
  return fmt::format("{}T{}.{}000Z ", time.date, time.second, time.micros);
}

/// NCCL stamps its own lines, or a collector stamps everything.
bool is_stamped_by_nccl(const Setting& setting, const SpokenLine& line) {
  return setting.stamps && setting.release->stamps_all && line.voice == SpokenLine::Voice::Nccl;
}
bool is_stamped_by_collector(const Setting& setting) {
  return setting.stamps && setting.files != Files::PerProcess && !setting.release->stamps_all &&
         setting.prefix != LauncherPrefix::CloudWatch;
}

std::string printed(const Layout& layout, const Setting& setting, const SpokenLine& line) {
  std::string text = prefix_of(layout, setting, line);
  if (is_stamped_by_nccl(setting, line)) text += stamp_of(line);
  text += line.text + "\n";
  return is_stamped_by_collector(setting) ? collector_stamp(line) + text : text;
}

void cut(std::string& text, Seeded& seeded) {
  const uint64_t end = text.size() * static_cast<uint64_t>(seeded.between(30, 98)) / 100;
  text.resize(end);
  // What is left ends inside a line.
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

bool is_dated(const Setting& setting, const SpokenLine& line) {
  const bool by_prefix =
      setting.prefix == LauncherPrefix::CloudWatch && is_captured_stdout(setting, line);
  return line.is_dated || by_prefix || is_stamped_by_nccl(setting, line) ||
         is_stamped_by_collector(setting);
}

bool is_of_collectors_clock(const Setting& setting, const SpokenLine& line) {
  return setting.prefix != LauncherPrefix::CloudWatch || is_captured_stdout(setting, line);
}

bool stamps_calls(const Setting& setting) {
  const bool by_prefix =
      setting.prefix == LauncherPrefix::CloudWatch && setting.files != Files::PerProcess;
  return by_prefix || (setting.stamps && setting.release->stamps_all) ||
         is_stamped_by_collector(setting);
}

void append_files(JobFiles more, JobFiles& files) {
  for (auto& [name, text] : more) {
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const auto& each) { return each.first == name; });
    if (file == files.end()) {
      files.emplace_back(std::move(name), std::move(text));
    } else {
      file->second += text;
    }
  }
}

JobFiles make_files(const Layout& layout, const Setting& setting, const SpokenLines& lines) {
  std::map<std::string, std::vector<const SpokenLine*>> by_file;
  for (const SpokenLine& line : lines) by_file[file_of(layout, setting, line)].push_back(&line);
  JobFiles files;
  for (auto& [name, of_file] : by_file) {
    std::stable_sort(of_file.begin(), of_file.end(),
                     [](const auto* a, const auto* b) { return a->time < b->time; });
    std::string text;
    for (const SpokenLine* line : of_file) text += printed(layout, setting, *line);
    files.emplace_back(name, std::move(text));
  }
  return files;
}

void damage_file(const Layout& layout, const Setting& setting, Fault fault, int rank,
                 JobFiles& files, Seeded& seeded) {
  const std::string name = nccl_file(layout, setting, rank);
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const auto& each) { return each.first == name; });
  if (file == files.end()) return;
  if (fault == Fault::LostFile || fault == Fault::LostMessage) {
    files.erase(file);
  } else if (fault == Fault::CutFile && seeded.chance(40)) {
    file->first += ".gz";
    file->second = compressed(Compression::Gzip, file->second);
    file->second.resize(file->second.size() * static_cast<size_t>(seeded.between(40, 95)) / 100);
  } else if (fault == Fault::CutFile) {
    cut(file->second, seeded);
  }
}

}  // namespace ncclog::testing
