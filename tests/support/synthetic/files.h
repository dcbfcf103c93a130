// Lines become files: whose line goes where, with which prefix, and what of it is lost.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/synthetic/fault.h"
#include "support/synthetic/setting.h"
#include "support/synthetic/spoken_line.h"

namespace ncclog::testing {

/// Name and bytes; a name that ends in ".gz" is compressed.
using JobFiles = std::vector<std::pair<std::string, std::string>>;

/// The files of a job, by name. Lines of one rank stay in order; in a shared stream all are sorted
/// by time, as far as the clock of the simulation tells.
JobFiles make_files(const Layout& layout, const Setting& setting, const SpokenLines& lines);

/// False for a line with another clock than that of the launchers' words: CloudWatch stamps what it
/// collects with a zone, NCCL its own files without one.
bool is_of_collectors_clock(const Setting& setting, const SpokenLine& line);

/// True if NCCL's lines say when they were printed.
bool stamps_calls(const Setting& setting);

/// True if what is printed of the line says when.
bool is_dated(const Setting& setting, const SpokenLine& line);

/// Adds what a later run of the job wrote: behind what is there, where the names are the same.
void append_files(JobFiles more, JobFiles& files);

/// Takes the file of one rank away, or cuts it: inside a line, or as a compressed file.
void damage_file(const Layout& layout, const Setting& setting, Fault fault, int rank,
                 JobFiles& files, Seeded& seeded);

}  // namespace ncclog::testing
