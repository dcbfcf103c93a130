// The message of a rule: text with places that the evidence fills.
//
//   "{subject} attached to {attach.name} of size 0; {job.container.what}"
//
// {{ and }} stand for braces. Every other pair of braces must name something that the rule can
// know: the loader refuses the rest.

#pragma once

#include <string>
#include <vector>

#include "rules/field_test.h"

namespace ncclog {

/// A stretch of literal text, or what is put in its place.
struct MessagePart {
  enum class Type {
    Text,
    Subject,
    Ranks,
    Hosts,
    Communicator,
    Field,
    Fact,
    FactWhat,
    Plural,  ///< {LABEL|one line|# lines}.
  };
  Type type = Type::Text;
  std::string text;            ///< Of Text: the text. Of Field, Plural: the label or kind.
  FieldRef field;              ///< Of Field.
  const Fact* fact = nullptr;  ///< Of Fact and FactWhat: the fact.
  std::string one;             ///< Of Plural: what is said for 1; # stands for the number.
  std::string many;            ///< The same for every other number.

  bool operator==(const MessagePart&) const = default;
};

}  // namespace ncclog
