// A Python pickle as plain data, without Python and without running anything.
//
//   80 02 7d 71 00 58 07 00 00 00 "version" …  → Dict{"version": …}
//   80 04 8c 02 "os" 8c 06 "system" 93 …       → problem: "STACK_GLOBAL at byte 14 imports a name,
//                                                 which plain data never does"
//
// A pickle is a program for a small stack machine. Only the opcodes that make None, truth values,
// numbers, texts, lists, tuples and dicts are carried out; any other one ends the reading. Lengths
// in the file are compared with what is left of it before they are believed, so nothing is
// allocated for a text that is not there.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/document.h"

namespace ncclog {

/// Reads a pickle of protocol 0 to 5. `bytes` must outlive the document. Never throws for what the
/// bytes are: ParsedDocument::problem says with opcode and offset why they were refused. What
/// follows the end of the pickle is not looked at.
ParsedDocument read_pickle(std::string_view bytes);

// Which opcodes can a Python pickle hold, and which of them does reading plain data need?
//
//   0x58 'X'  BINUNICODE     a text             read
//   0x93      STACK_GLOBAL   imports a name     refused: with it a pickle runs code when loaded
//
// From Python's pickletools.py, protocols 0 to 5 (Python 3.8 and later); the numbers are fixed for
// all time.

/// The opcodes that build or move plain data. Values are the bytes in the file.
enum class PickleOp : uint8_t {
  Mark = '(',
  Stop = '.',
  Pop = '0',
  PopMark = '1',
  Dup = '2',
  Float = 'F',
  Int = 'I',
  BinInt = 'J',
  BinInt1 = 'K',
  Long = 'L',
  BinInt2 = 'M',
  None = 'N',
  String = 'S',
  BinString = 'T',
  ShortBinString = 'U',
  Unicode = 'V',
  BinUnicode = 'X',
  Append = 'a',
  Dict = 'd',
  EmptyDict = '}',
  Appends = 'e',
  Get = 'g',
  BinGet = 'h',
  LongBinGet = 'j',
  List = 'l',
  EmptyList = ']',
  Put = 'p',
  BinPut = 'q',
  LongBinPut = 'r',
  SetItem = 's',
  Tuple = 't',
  EmptyTuple = ')',
  SetItems = 'u',
  BinFloat = 'G',
  BinBytes = 'B',
  ShortBinBytes = 'C',
  Proto = 0x80,
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  NewTrue = 0x88,
  NewFalse = 0x89,
  Long1 = 0x8a,
  Long4 = 0x8b,
  ShortBinUnicode = 0x8c,
  BinUnicode8 = 0x8d,
  BinBytes8 = 0x8e,
  Memoize = 0x94,
  Frame = 0x95,
  ByteArray8 = 0x96,
};

/// Name of any opcode as pickletools writes it: "BINUNICODE"; empty if the byte is none.
std::string_view pickle_op_name(uint8_t code);

/// What makes an opcode unfit for plain data: "imports a name"; empty if it is read or unknown.
std::string_view pickle_op_refusal(uint8_t code);

// Texts as Python's protocol 0 writes them, in one line with escapes.
//
//   S'it\'s'      decode_python_string("'it\\'s'")    → it's
//   Vcaf\u00e9    decode_raw_unicode("caf\\u00e9")    → café

/// The argument of STRING: quoted, with the escapes of Python 2's repr. nullopt if the quotes are
/// missing or an escape is none.
std::optional<std::string> decode_python_string(std::string_view quoted);

/// The argument of UNICODE as UTF-8: Latin-1 with \uXXXX and \UXXXXXXXX. nullopt if such an escape
/// is cut or names no character.
std::optional<std::string> decode_raw_unicode(std::string_view escaped);

}  // namespace ncclog
