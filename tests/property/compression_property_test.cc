// A log says the same however it is compressed, cut into stretches and spread over threads.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "app/read/read_job.h"
#include "bench/log_generator.h"
#include "support/archives.h"
#include "support/compressed.h"
#include "support/damage.h"
#include "support/describe_job.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::compressed;
using testing::LogMix;
using testing::TempDir;

std::string log_of(LogMix mix) {
  std::ostringstream out;
  testing::generate_log({.bytes = 600000, .ranks = 4, .mix = mix}, out);
  return std::move(out).str();
}

/// Members of different lengths that are cut anywhere, one behind the other.
std::string in_members(Compression compression, std::string_view text) {
  std::string bytes;
  for (size_t size = 1; !text.empty(); size = size * 3 + 1) {
    bytes += compressed(compression, text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  return bytes;
}

/// What is read, the file's own name left out.
std::string described(const std::string& path, const ReadSettings& settings) {
  std::string text = describe_job(read_job(std::vector{path}, settings));
  for (size_t at = text.find(path); at != text.npos; at = text.find(path, at)) {
    text.replace(at, path.size(), "LOG");
  }
  return text;
}

TEST(CompressionProperty, ChangesNothingForAnyNumberOfThreads) {
  const TempDir dir;
  for (const LogMix mix : {LogMix::Collectives, LogMix::Everything}) {
    const std::string text = log_of(mix);
    const std::string expected = described(dir.add("plain.txt", text), {.threads = 1});
    const std::string paths[] = {
        dir.add("a.gz", compressed(Compression::Gzip, text)),
        dir.add("b.zst", compressed(Compression::Zstd, text)),
        dir.add("c.xz", compressed(Compression::Xz, text)),
        dir.add("members.gz", in_members(Compression::Gzip, text)),
        dir.add("frames.zst", in_members(Compression::Zstd, text)),
        dir.add("utf16.txt", testing::utf16_of(text, false)),
        dir.path() / "plain.txt",
    };
    for (const std::string& path : paths) {
      for (const int threads : {1, 2, 8}) {
        for (const uint64_t unit_bytes : {uint64_t{3000}, uint64_t{32} << 20}) {
          EXPECT_TRUE(described(path, {.threads = threads, .unit_bytes = unit_bytes}) == expected)
              << path << ' ' << threads << ' ' << unit_bytes;
        }
      }
    }
  }
}

TEST(CompressionProperty, StretchesOfSeveralStreamsAreReadSideBySide) {
  const TempDir dir;
  const std::string text = log_of(LogMix::Collectives);
  const std::string packed =
      testing::archive_of(testing::Packing::Tar,
                          {{"1/a.log", text}, {"2/b.log.gz", compressed(Compression::Gzip, text)}});
  const std::vector<std::string> inputs = {
      dir.add("1.tar.gz", compressed(Compression::Gzip, packed)), dir.add("2.log", text),
      dir.add("3.log.gz", compressed(Compression::Gzip, text)),
      dir.add("4.log.zst", compressed(Compression::Zstd, text))};
  const std::string expected = describe_job(read_job(inputs, {.threads = 1, .unit_bytes = 5000}));
  EXPECT_NE(expected.find("1/a.log"), expected.npos);
  for (const int threads : {2, 3, 8}) {
    const Job job = read_job(inputs, {.threads = threads, .unit_bytes = 5000});
    EXPECT_TRUE(describe_job(job) == expected) << threads;
  }
}

}  // namespace
}  // namespace ncclog
