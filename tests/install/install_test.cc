// Does an installed ncclog work without the source tree beside it?

#include <gtest/gtest.h>

#include <memory>

#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

/// Installs once for all tests of a process.
class Install : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    prefix_ = std::make_unique<TempDir>();
    Outcome out =
        run_command({.arguments = {cmake_command().string(), "--install", build_dir().string(),
                                   "--prefix", prefix_->path().string()}});
    ASSERT_EQ(out.exit_code, 0) << out.standard_output << out.standard_error;
  }
  static void TearDownTestSuite() { prefix_.reset(); }

  static Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), (prefix_->path() / "bin" / "ncclog").string());
    return run_command({.arguments = std::move(arguments), .folder = prefix_->path().string()});
  }

  static std::unique_ptr<TempDir> prefix_;
};

std::unique_ptr<TempDir> Install::prefix_;

TEST_F(Install, BringsProgramRulesSchemaAndReadme) {
  EXPECT_TRUE(exists(prefix_->path() / "share/doc/ncclog/README.md"));
  EXPECT_TRUE(is_directory(prefix_->path() / "share/ncclog/rules"));
  const std::string skill = read_file(prefix_->path() / "share/ncclog/skill/SKILL.md");
  EXPECT_TRUE(skill.starts_with("---\nname: ncclog\n")) << skill;
  EXPECT_TRUE(skill.ends_with(read_file(source_dir() / "src/app/pages/agents.md"))) << skill;
  EXPECT_EQ(read_file(prefix_->path() / "share/ncclog/report.schema.json"),
            run({"rules", "schema", "report"}).standard_output);
  EXPECT_EQ(read_file(prefix_->path() / "share/ncclog/plan.schema.json"),
            read_file(source_dir() / "src/replay/plan/plan.schema.json"));

  EXPECT_EQ(read_file(prefix_->path() / "share/ncclog/lnav/nccl.json"),
            run({"export", "--format", "lnav"}).standard_output);
  EXPECT_EQ(read_file(prefix_->path() / "share/ncclog/rules/rule.schema.json"),
            run({"rules", "schema"}).standard_output);

  Outcome version = run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_NE(version.standard_output.find("1.0.0"), std::string::npos) << version.standard_output;

  Outcome rules = run({"rules", "list"});
  EXPECT_EQ(rules.exit_code, 0) << rules.standard_error;
  EXPECT_NE(rules.standard_output.find("shm-no-space"), std::string::npos);

  Outcome checked = run({"rules", "check", (prefix_->path() / "share/ncclog/rules").string()});
  EXPECT_EQ(checked.exit_code, 0) << checked.standard_error;

  Outcome report = run({"analyze", sample_logs("rank-killed").string()});
  EXPECT_EQ(report.exit_code, 1) << report.standard_error;
  EXPECT_NE(report.standard_output.find("process-killed"), std::string::npos)
      << report.standard_output;
}

TEST_F(Install, BringsManPagesAndCompletions) {
  const std::filesystem::path share = prefix_->path() / "share";
  const std::pair<const char*, const char*> kPrinted[] = {
      {"bash-completion/completions/ncclog", "bash"},
      {"zsh/site-functions/_ncclog", "zsh"},
      {"fish/vendor_completions.d/ncclog.fish", "fish"}};
  for (const auto& [file, shell] : kPrinted) {
    EXPECT_EQ(read_file(share / file), run({"completion", shell}).standard_output) << file;
  }
  EXPECT_EQ(read_file(share / "man/man1/ncclog.1"), run({"man"}).standard_output);
  for (const char* command : {"analyze", "show", "rules", "completion"}) {
    const std::string page = run({"man", command}).standard_output;
    EXPECT_EQ(read_file(share / "man/man1" / (std::string("ncclog-") + command + ".1")), page);
  }
}

/// What cmake/Hardening.cmake asks of the compiler, seen in what it made.
TEST_F(Install, IsHardened) {
  const auto readelf = [](const char* part) {
    const Outcome out = run_command(
        {.arguments = {"readelf", "-W", part, (prefix_->path() / "bin/ncclog").string()}});
    EXPECT_EQ(out.exit_code, 0) << out.standard_error;
    return out.standard_output;
  };
  const std::string segments = readelf("--segments");
  EXPECT_NE(segments.find("Elf file type is DYN"), std::string::npos) << "no random addresses";
  EXPECT_NE(segments.find("GNU_RELRO"), std::string::npos) << "relocations stay writable";
  const size_t stack = segments.find("GNU_STACK");
  ASSERT_NE(stack, std::string::npos);
  EXPECT_EQ(segments.substr(stack, segments.find('\n', stack) - stack).find("RWE"),
            std::string::npos)
      << "code can be written to the stack";
  EXPECT_NE(readelf("--dynamic").find("BIND_NOW"), std::string::npos)
      << "addresses of functions stay writable";
  const std::string symbols = readelf("--dyn-syms");
  EXPECT_NE(symbols.find("__stack_chk_fail"), std::string::npos) << "stacks are not guarded";
#if defined(__OPTIMIZE__)
  EXPECT_NE(symbols.find("_chk@"), std::string::npos) << "sizes are not checked";
#endif
}

/// What a shell of one's own does that finds the completions where they are installed.
TEST_F(Install, BashCompletesWhatIsInstalled) {
  const std::string script =
      (prefix_->path() / "share/bash-completion/completions/ncclog").string();
  const std::string program = (prefix_->path() / "bin/ncclog").string();
  const Outcome offered =
      run_command({.arguments = {"bash", "--norc", "-c",
                                 "source '" + script + "'; COMP_WORDS=('" + program +
                                     "' show ra) COMP_CWORD=2; _ncclog; "
                                     "echo \"${COMPREPLY[@]}\""}});
  EXPECT_EQ(offered.standard_output, "ranks ras\n") << offered.standard_error;
}

/// `man` itself finds the pages; groff's macros ask for it.
TEST_F(Install, ManShowsThePages) {
  if (run_command({.arguments = {"which", "man"}}).exit_code != 0) GTEST_SKIP() << "no man here";
  const std::string pages = (prefix_->path() / "share/man").string();
  for (const char* page : {"ncclog", "ncclog-analyze"}) {
    const Outcome shown = run_command({.arguments = {"man", "--warnings", "-M", pages, page},
                                       .environment = {{"MANPAGER", "cat"}, {"MANWIDTH", "80"}}});
    EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
    EXPECT_EQ(shown.standard_error, "") << page;
    EXPECT_NE(shown.standard_output.find("SYNOPSIS"), std::string::npos) << page;
  }
}

}  // namespace
}  // namespace ncclog::testing
