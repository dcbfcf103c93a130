// A log held in memory, read like a file: for rule examples, quoted lines and tests.

#pragma once

#include <string>
#include <string_view>

#include "model/job.h"
#include "model/shard.h"

namespace ncclog {

/// The shard of a text held in memory, read as unit 0 of input 0. Lines end with '\n', "\r\n" or
/// '\r'.
Shard read_text(std::string_view text, const LineMatcher& matcher = {});

/// The job of a text held in memory, as if it were a whole file called `path`.
Job job_from_text(std::string_view text, const LineMatcher& matcher = {},
                  std::string path = "log.txt");

}  // namespace ncclog
