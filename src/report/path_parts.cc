#include "report/path_parts.h"

#include <algorithm>

#include "base/text.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

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
      const bool last = end == path.size();
      const IdentityKind kind = last && is_file(part) ? IdentityKind::File : IdentityKind::Folder;
      parts.push_back({kind, begin, part.size()});
    }
    if (!part.empty()) before = part;
    begin = end + 1;
  }
  return parts;
}

bool is_telling_name(std::string_view component) {
  constexpr size_t kShortest = 6;
  const bool has_joint = component.find_first_of("-_") != component.npos;
  const bool has_digit = std::any_of(component.begin(), component.end(), is_digit);
  const bool has_letter = std::any_of(component.begin(), component.end(), is_alpha);
  return component.size() >= kShortest && has_letter && (has_joint || has_digit);
}

}  // namespace ncclog
