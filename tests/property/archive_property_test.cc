// A folder and an archive of it say the same: the job differs in file positions only.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "app/read/read_job.h"
#include "input/find_inputs.h"
#include "support/archives.h"
#include "support/compressed.h"
#include "support/describe_job.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

/// The job without file positions. Files are numbered in their own order, archives apart.
std::string described(const std::vector<std::string>& inputs) {
  const Job job = read_job(inputs, {.threads = 2, .matcher = {}});
  std::string text = describe_job(job, Places::Hidden);
  // Lines of nobody are collected by file; which number it has is a position.
  for (size_t at = text.find(" input="); at != text.npos; at = text.find(" input=", at + 1)) {
    const size_t digits = at + 7;
    if (text[digits] != '-') text.replace(digits, text.find(' ', digits) - digits, "N");
  }
  return text;
}

std::vector<Packed> files_below(const fs::path& folder, const std::vector<std::string>& inputs) {
  std::vector<Packed> files;
  for (const std::string& path : inputs) {
    files.push_back({fs::path(path).lexically_relative(folder).string(), bytes_of(path)});
  }
  return files;
}

TEST(ArchiveProperty, AFolderAndItsArchiveGiveTheSameJob) {
  const TempDir scratch;
  for (const std::string& name : sample_log_names()) {
    const fs::path folder = sample_logs(name);
    const std::vector<std::string> inputs = find_inputs(std::vector{folder.string()});
    const std::vector<Packed> files = files_below(folder, inputs);
    const std::string expected = described(inputs);
    const std::string tar = archive_of(Packing::Tar, files);
    EXPECT_EQ(described({scratch.add("a.tar", tar)}), expected) << folder;
    EXPECT_EQ(described({scratch.add("a.tgz", compressed(Compression::Gzip, tar))}), expected)
        << folder;
    EXPECT_EQ(described({scratch.add("a.zip", archive_of(Packing::Zip, files))}), expected)
        << folder;
  }
}

}  // namespace
}  // namespace ncclog::testing
