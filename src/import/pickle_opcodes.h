// Which opcodes can a Python pickle hold, and which of them does reading plain data need?
//
//   0x58 'X'  BINUNICODE     a text             read
//   0x93      STACK_GLOBAL   imports a name     refused: with it a pickle runs code when loaded
//
// From Python's pickletools.py, protocols 0 to 5 (Python 3.8 and later); the numbers are fixed for
// all time.

#pragma once

#include <cstdint>
#include <string_view>

namespace ncclog {

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

}  // namespace ncclog
