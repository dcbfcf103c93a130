#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "import/import.h"
#include "log/settings.h"

namespace ncclog {
namespace {

/// "NCCL_DEBUG": how people name variables of the environment, and hardly ever anything else.
bool is_environment_name(std::string_view text) {
  const bool lower =
      std::any_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return !lower && text.find('_') != text.npos && is_variable_name(text);
}

/// Finds settings while yaml-cpp reads. The inheritance is the interface of that library.
class SettingFinder : public YAML::EventHandler {
 public:
  explicit SettingFinder(std::string_view yaml) : lines_(split(yaml, '\n')) {}

  std::vector<Setting> take() { return std::move(settings_); }

  void OnDocumentStart(const YAML::Mark&) override { open_.clear(); }
  void OnDocumentEnd() override { open_.clear(); }
  void OnNull(const YAML::Mark&, YAML::anchor_t) override { end_value(); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { end_value(); }

  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    if (open_.empty()) return;
    if (!open_.back().is_map) return item(mark, value);
    if (open_.back().expects_key) {
      open_.back().key = value;
      open_.back().expects_key = false;
      return;
    }
    member(mark, open_.back(), value);
    end_value();
  }

  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    begin(false);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    begin(true);
  }
  void OnMapEnd() override {
    if (!open_.empty()) add_pair(open_.back());
    end();
  }

 private:
  /// A list or map that is not closed yet.
  struct Open {
    bool is_map = false;
    int scope = 0;
    bool expects_key = true;
    std::string key;
    std::string name;  ///< Under "name", if it is one of a variable.
    uint64_t name_line = 0;
    std::string value;  ///< Under "value".
    bool has_value = false;
  };

  void begin(bool is_map) {
    Open open;
    open.is_map = is_map;
    open.scope = ++scopes_;
    open_.push_back(std::move(open));
  }

  void end() {
    if (!open_.empty()) open_.pop_back();
    end_value();
  }

  /// After a value of a map comes its next key.
  void end_value() {
    if (open_.empty()) return;
    Open& map = open_.back();
    if (map.is_map) map.expects_key = !map.expects_key;
  }

  static uint64_t line_of(const YAML::Mark& mark) { return static_cast<uint64_t>(mark.line) + 1; }

  void member(const YAML::Mark& mark, Open& map, const std::string& value) {
    if (map.key == "name" && is_environment_name(value)) {
      map.name = value;
      map.name_line = line_of(mark);
    } else if (map.key == "value") {
      map.value = value;
      map.has_value = true;
    } else if (is_environment_name(map.key)) {
      add(map.key, value, line_of(mark), map.scope);
    } else {
      script(mark, value);
    }
  }

  void item(const YAML::Mark& mark, const std::string& value) {
    const size_t equals = value.find('=');
    const bool one_word = value.find(' ') == value.npos;
    if (one_word && equals != value.npos && is_environment_name(value.substr(0, equals))) {
      add(value.substr(0, equals), value.substr(equals + 1), line_of(mark), open_.back().scope);
    } else {
      script(mark, value);
    }
  }

  /// {name: A, value: b}: all that stand in one list are for one program.
  void add_pair(const Open& map) {
    if (map.name.empty() || !map.has_value) return;
    const int scope = open_.size() >= 2 ? open_[open_.size() - 2].scope : map.scope;
    add(map.name, map.value, map.name_line, scope);
  }

  void add(std::string_view name, std::string_view value, uint64_t line, int scope) {
    Setting setting;
    setting.name = name;
    setting.value = value;
    setting.line = line;
    setting.literal = value.find('$') == value.npos;
    setting.scope = scope;
    settings_.push_back(std::move(setting));
  }

  void script(const YAML::Mark& mark, const std::string& text) {
    if (!concerns_nccl(text)) return;
    const int base = ++scopes_;
    for (Setting& setting : read_shell_settings(text, first_line(mark)).settings) {
      setting.scope += base;
      scopes_ = std::max(scopes_, setting.scope);
      settings_.push_back(std::move(setting));
    }
  }

  /// A text after "|" or ">" begins in the next line.
  uint64_t first_line(const YAML::Mark& mark) const {
    const uint64_t line = line_of(mark);
    if (line > lines_.size()) return line;
    std::string_view source = trim(lines_[line - 1]);
    while (!source.empty() && (is_digit(source.back()) || source.back() == '-' ||
                               source.back() == '+' || source.back() == '\r')) {
      source.remove_suffix(1);
    }
    return source.ends_with('|') || source.ends_with('>') ? line + 1 : line;
  }

  std::vector<std::string_view> lines_;
  std::vector<Setting> settings_;
  std::vector<Open> open_;
  int scopes_ = 0;
};

/// The parser's time grows with the square of the depth, so hostile files could hold it up.
bool nests_too_deep(std::string_view yaml) {
  constexpr int kMostOpen = 256;
  int open = 0;
  for (const char c : yaml) {
    if (c == '[' || c == '{') ++open;
    if (c == ']' || c == '}') open = std::max(open - 1, 0);
    if (open > kMostOpen) return true;
  }
  return false;
}

}  // namespace

Imported<std::vector<Setting>> read_yaml_settings(std::string_view yaml) {
  Imported<std::vector<Setting>> found;
  if (nests_too_deep(yaml)) {
    found.problem = "line 1: more than 256 brackets are open";
    return found;
  }
  SettingFinder finder(yaml);
  try {
    std::istringstream stream{std::string(yaml)};
    YAML::Parser parser(stream);
    // On some broken texts the parser gives empty documents for ever.
    constexpr int kMostDocuments = 1000;
    for (int i = 0; i < kMostDocuments && parser.HandleNextDocument(finder); ++i) continue;
  } catch (const YAML::Exception& error) {
    found.problem = fmt::format("line {}: {}", error.mark.line + 1, error.msg);
  }
  found.value = finder.take();
  return found;
}

}  // namespace ncclog
