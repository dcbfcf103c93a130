// How is one compressed stream turned into bytes, without losing what came before an error?
//
// A codec is a function that moves two pointers: it eats compressed bytes and writes plain ones,
// and says how that went. One row per compression, so that a faster decoder replaces one row.
//
// All codecs read on over concatenated members (`cat a.gz b.gz`). How late their output is, which
// is what a stream that ends early loses: gzip and xz nothing that the bytes determine, zstd the
// last block (up to 128 KiB of plain bytes), bzip2 the last block (up to 900 KB).

#pragma once

#include <functional>

#include "input/find_inputs.h"

namespace ncclog {

/// What a step of decoding met.
enum class DecodeStep {
  More,     ///< All well; call again with more input or more room.
  End,      ///< The input is used up and every member of it is complete.
  Starved,  ///< The input is used up inside a member.
  Stray,    ///< All members are complete, and what follows is not one.
  Corrupt,  ///< The data contradicts itself. Output up to here is good.
};

/// What one step works on: reads from [in, in_end), writes to [out, out_end), moves `in` and `out`.
struct DecodeSpan {
  const char* in;
  const char* in_end;
  char* out;
  char* out_end;
  bool is_last;  ///< No input follows [in, in_end).
};

/// Holds the state of one stream. Never throws for bad data. With `is_last` and unchanged input it
/// comes to an end: some call says something other than More, or moves a pointer.
using Decoder = std::function<DecodeStep(DecodeSpan&)>;

/// A decoder for one stream compressed this way. Empty for Compression::None.
Decoder make_decoder(Compression compression);

}  // namespace ncclog
