#include "import/pickle_opcodes.h"

#include <algorithm>
#include <iterator>

namespace ncclog {
namespace {

struct OpRow {
  uint8_t code;
  std::string_view name;
  std::string_view refusal = {};
};

constexpr std::string_view kImports = "imports a name";
constexpr std::string_view kBuilds = "builds an object";
constexpr std::string_view kOutside = "refers to an object outside the file";
constexpr std::string_view kSet = "builds a set";

constexpr OpRow kOps[] = {
    {'(', "MARK"},
    {'.', "STOP"},
    {'0', "POP"},
    {'1', "POP_MARK"},
    {'2', "DUP"},
    {'F', "FLOAT"},
    {'I', "INT"},
    {'J', "BININT"},
    {'K', "BININT1"},
    {'L', "LONG"},
    {'M', "BININT2"},
    {'N', "NONE"},
    {'P', "PERSID", kOutside},
    {'Q', "BINPERSID", kOutside},
    {'R', "REDUCE", "calls a function"},
    {'S', "STRING"},
    {'T', "BINSTRING"},
    {'U', "SHORT_BINSTRING"},
    {'V', "UNICODE"},
    {'X', "BINUNICODE"},
    {'a', "APPEND"},
    {'b', "BUILD", kBuilds},
    {'c', "GLOBAL", kImports},
    {'d', "DICT"},
    {'}', "EMPTY_DICT"},
    {'e', "APPENDS"},
    {'g', "GET"},
    {'h', "BINGET"},
    {'i', "INST", kBuilds},
    {'j', "LONG_BINGET"},
    {'l', "LIST"},
    {']', "EMPTY_LIST"},
    {'o', "OBJ", kBuilds},
    {'p', "PUT"},
    {'q', "BINPUT"},
    {'r', "LONG_BINPUT"},
    {'s', "SETITEM"},
    {'t', "TUPLE"},
    {')', "EMPTY_TUPLE"},
    {'u', "SETITEMS"},
    {'G', "BINFLOAT"},
    {'B', "BINBYTES"},
    {'C', "SHORT_BINBYTES"},
    {0x80, "PROTO"},
    {0x81, "NEWOBJ", kBuilds},
    {0x82, "EXT1", kImports},
    {0x83, "EXT2", kImports},
    {0x84, "EXT4", kImports},
    {0x85, "TUPLE1"},
    {0x86, "TUPLE2"},
    {0x87, "TUPLE3"},
    {0x88, "NEWTRUE"},
    {0x89, "NEWFALSE"},
    {0x8a, "LONG1"},
    {0x8b, "LONG4"},
    {0x8c, "SHORT_BINUNICODE"},
    {0x8d, "BINUNICODE8"},
    {0x8e, "BINBYTES8"},
    {0x8f, "EMPTY_SET", kSet},
    {0x90, "ADDITEMS", kSet},
    {0x91, "FROZENSET", kSet},
    {0x92, "NEWOBJ_EX", kBuilds},
    {0x93, "STACK_GLOBAL", kImports},
    {0x94, "MEMOIZE"},
    {0x95, "FRAME"},
    {0x96, "BYTEARRAY8"},
    {0x97, "NEXT_BUFFER", kOutside},
    {0x98, "READONLY_BUFFER", kOutside},
};

const OpRow* find_op(uint8_t code) {
  const auto* found = std::find_if(std::begin(kOps), std::end(kOps),
                                   [code](const OpRow& row) { return row.code == code; });
  return found == std::end(kOps) ? nullptr : found;
}

}  // namespace

std::string_view pickle_op_name(uint8_t code) {
  const OpRow* row = find_op(code);
  return row == nullptr ? std::string_view() : row->name;
}

std::string_view pickle_op_refusal(uint8_t code) {
  const OpRow* row = find_op(code);
  return row == nullptr ? std::string_view() : row->refusal;
}

}  // namespace ncclog
