// Texts as Python's protocol 0 writes them, in one line with escapes.
//
//   S'it\'s'      decode_python_string("'it\\'s'")    → it's
//   Vcaf\u00e9    decode_raw_unicode("caf\\u00e9")    → café

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ncclog {

/// The argument of STRING: quoted, with the escapes of Python 2's repr. nullopt if the quotes are
/// missing or an escape is none.
std::optional<std::string> decode_python_string(std::string_view quoted);

/// The argument of UNICODE as UTF-8: Latin-1 with \uXXXX and \UXXXXXXXX. nullopt if such an escape
/// is cut or names no character.
std::optional<std::string> decode_raw_unicode(std::string_view escaped);

}  // namespace ncclog
