#include "app/staged_logs.h"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "app/text_inputs.h"
#include "base/error.h"
#include "log/message_words.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// Writes texts into files. Invariant: `file_` belongs to the last of `logs_`.
class Stage {
 public:
  Stage(const Anonymiser* anonymiser, const fs::path& folder)
      : anonymiser_(anonymiser), folder_(folder) {}

  void take(const TextInput& input, std::string_view text) {
    if (logs_.empty() || input.path != path_) begin(input);
    if (!logs_.back().left_out.empty()) return;
    const std::string kept = anonymiser_ == nullptr ? std::string(text) : anonymiser_->text(text);
    file_.write(kept.data(), static_cast<std::streamsize>(kept.size()));
    logs_.back().bytes += kept.size();
  }

  std::vector<StagedLog> finish() {
    close();
    return std::move(logs_);
  }

 private:
  void begin(const TextInput& input) {
    close();
    path_ = input.path;
    const std::string name = anonymiser_ == nullptr ? input.name : anonymiser_->path(input.name);
    logs_.push_back({"logs/" + free_name(name), input.left_out, 0});
    if (!input.left_out.empty()) return;
    const fs::path place = folder_ / logs_.back().path;
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    file_.open(place, std::ios::binary);
    check();
  }

  /// `name`, or with a number behind it where another input took that.
  std::string free_name(const std::string& name) {
    std::string free = name;
    for (int number = 2; !names_.insert(free).second; ++number) {
      free = fmt::format("{}.{}", name, number);
    }
    return free;
  }

  void check() {
    if (file_) return;
    throw Error("the logs cannot be copied", (folder_ / logs_.back().path).string(),
                "set TMPDIR to a folder with room for all logs");
  }

  void close() {
    if (!file_.is_open()) return;
    file_.close();
    check();
  }

  const Anonymiser* anonymiser_;
  fs::path folder_;
  std::vector<StagedLog> logs_;
  std::string path_;
  std::set<std::string> names_;
  std::ofstream file_;
};

void add_hosts(const Job& job, Identities& identities) {
  for (const std::string& host : job.hosts) identities.add_host(host);
  for (const Process& process : job.processes) identities.add_host(process.host);
  for (const SpeakerLog& log : job.logs) identities.add_host(log.speaker.host);
  for (const JobInput& input : job.inputs) identities.add_host(input.host);
  for (const KernelEvent& event : job.kernel_events) identities.add_host(event.host);
  for (const Interface& interface : job.network.interfaces) {
    identities.add_host(interface.host);
    identities.add_address(interface.address);
  }
}

}  // namespace

Identities find_identities_of(const Job& job, std::span<const std::string> inputs) {
  Identities identities;
  identities.set_ordinary_words(message_words());
  add_hosts(job, identities);
  std::string path;
  read_texts(inputs, [&](const TextInput& input, std::string_view text) {
    if (input.path != path) identities.read_path(input.name);
    path = input.path;
    identities.read(text);
  });
  return identities;
}

void read_for_leaks(std::span<const std::string> inputs, LeakCheck& check) {
  std::string path;
  read_texts(inputs, [&](const TextInput& input, std::string_view text) {
    if (input.path != path) check.read(input.name);
    path = input.path;
    check.read(text);
  });
}

std::vector<StagedLog> stage_logs(std::span<const std::string> inputs, const Anonymiser* anonymiser,
                                  const fs::path& folder) {
  Stage stage(anonymiser, folder);
  read_texts(inputs,
             [&](const TextInput& input, std::string_view text) { stage.take(input, text); });
  return stage.finish();
}

}  // namespace ncclog
