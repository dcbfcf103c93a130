#include "app/text_inputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/read_document.h"
#include "base/text.h"
#include "import/document_json.h"
#include "import/read_pickle.h"
#include "input/input_walk.h"
#include "model/file_names.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// The folder that names are shortened by: the deepest one that all inputs are in, or the one above
/// a run's folder where torchrun made it, whose layout says who wrote what.
std::string common_folder(std::span<const std::string> inputs) {
  std::string folder = fs::path(inputs.front()).parent_path().string();
  for (const std::string& input : inputs) {
    while (!folder.empty() && folder != "/" && !input.starts_with(folder + "/")) {
      folder = fs::path(folder).parent_path().string();
    }
  }
  for (const std::string& input : inputs) {
    const auto worker = parse_torchrun_file(input);
    if (!worker) continue;
    const std::string run =
        fs::path(worker->folder).parent_path().parent_path().parent_path().string();
    if (run.size() < folder.size()) folder = run;
  }
  return folder;
}

std::string without_ending(std::string name, std::span<const std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

std::string name_of(std::string path, const std::string& folder) {
  constexpr std::string_view kPackings[] = {".gz", ".bz2", ".xz", ".zst"};
  constexpr std::string_view kArchives[] = {".gz",  ".bz2", ".xz",  ".zst",
                                            ".tar", ".tgz", ".zip", ".7z"};
  if (path.starts_with(folder + "/")) path = path.substr(folder.size() + 1);
  std::string name;
  for (size_t at = path.find("!/"); at != path.npos; at = path.find("!/")) {
    name += without_ending(path.substr(0, at), kArchives) + "/";
    path = path.substr(at + 2);
  }
  name += without_ending(std::move(path), kPackings);
  if (name == "-") return "stdin.log";
  std::string clean;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == "." || part == "..") continue;
    if (!clean.empty()) clean += '/';
    clean += printable(part);
  }
  return clean.empty() ? "log.txt" : clean;
}

/// Gives the text of a log to `take`, cut behind line ends.
void read_log(UnitReader& reader, const TextInput& input, const TakeText& take) {
  std::string held;
  std::string block(size_t{256} << 10, '\0');
  bool any = false;
  while (const size_t count = reader.read_block(block.data(), block.size())) {
    held.append(block, 0, count);
    const size_t newline = held.rfind('\n');
    size_t ready = newline == held.npos ? 0 : newline + 1;
    if (ready == 0 && held.size() >= kLongestText) ready = held.size();
    if (ready == 0) continue;
    take(input, std::string_view(held).substr(0, ready));
    any = true;
    held.erase(0, ready);
  }
  if (!held.empty() || !any) take(input, held);
}

bool is_pickle(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != bytes.npos && bytes[first] != '{' && bytes[first] != '[';
}

/// A dump, an answer or a topology: JSON and XML are text already.
void read_companion(UnitReader& reader, TextInput input, const TakeText& take) {
  const bool may_be_pickle = reader.content() == Content::FlightRecorder;
  std::optional<std::string> bytes = read_document_bytes(reader);
  if (bytes && may_be_pickle && is_pickle(*bytes)) {
    bytes = document_json(read_pickle(*bytes), kMaxDocumentBytes);
    input.name += ".json";
  }
  if (!bytes) input.left_out = "It is a dump that cannot be read.";
  take(input, bytes ? *bytes : std::string_view());
}

void read_one(UnitReader& reader, TextInput input, const TakeText& take) {
  if (is_log(reader.content())) return read_log(reader, input, take);
  if (is_document(reader.content())) return read_companion(reader, std::move(input), take);
  input.left_out = content_note(reader.content());
  take(input, {});
}

}  // namespace

void read_texts(std::span<const std::string> inputs, const TakeText& take) {
  const std::string folder = common_folder(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputWalk walk({.index = static_cast<uint32_t>(i), .input = static_cast<uint32_t>(i)},
                   inputs[i]);
    while (UnitReader* reader = walk.next()) {
      const std::string path = walk.current().path;
      read_one(*reader, {path, name_of(path, folder), {}}, take);
    }
  }
}

}  // namespace ncclog
