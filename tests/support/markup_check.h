// Is a page or a drawing what it has to be, whatever a log put into it?
//
// Our pages are well-formed XML as well, so one strict parser judges all: it ends at the first byte
// that acts as markup and should not.

#pragma once

#include <string>
#include <string_view>

namespace ncclog::testing {

/// What is wrong with a document: it is not well-formed, holds elements or attributes that no
/// writer makes, a handler, or an address outside of itself. Empty if it is sound.
std::string markup_faults(std::string_view document);

/// The text of all elements of that name, joined, as a browser reads it.
std::string text_in(std::string_view document, std::string_view element);

}  // namespace ncclog::testing
