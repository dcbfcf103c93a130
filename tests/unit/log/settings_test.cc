#include "log/settings.h"

#include <gtest/gtest.h>

#include <random>

namespace ncclog {
namespace {

using namespace std::string_view_literals;

std::string described(const ShellSettings& found) {
  std::string text;
  for (const Setting& setting : found.settings) {
    text += std::to_string(setting.line) + ":" + setting.name + "=" + setting.value;
    if (!setting.literal) text += " expands";
    if (!setting.exported) text += " own";
    if (setting.scope != 0) text += " scope" + std::to_string(setting.scope);
    if (setting.branch != 0) text += " branch" + std::to_string(setting.branch);
    if (setting.unset) text += " unset";
    text += "\n";
  }
  for (const Setting& handed : found.handed_on) {
    text += std::to_string(handed.line) + ":" + handed.name + "\n";
  }
  return text;
}

struct ScriptRow {
  const char* script;
  const char* settings;
};

constexpr ScriptRow kScripts[] = {
    {"export A=b", "1:A=b\n"},
    {"export A=b C='d e' # F=g\n", "1:A=b\n1:C=d e\n"},
    {"A=b\nexport A", "1:A=b\n"},
    {"A=b\n", "1:A=b own\n"},
    {"set -a\nA=b\nset +a\nC=d\n", "2:A=b\n4:C=d own\n"},
    {"set -euao pipefail\nA=b", "2:A=b\n"},
    {"set -- -a\nA=b", "2:A=b own\n"},
    {"declare -x A=b; local C=d", "1:A=b\n1:C=d own\n"},
    {"A=b C=d ./run", "1:A=b scope1\n1:C=d scope1\n"},
    {"A=b ./x; ./y\nC=d ./z", "1:A=b scope1\n2:C=d scope3\n"},
    {"env -u X A=b ./run", "1:A=b scope1\n"},
    {"setenv A b", "1:A=b\n"},
    {"export A=$B C=\"${D}\" E='$F' G=\\$H", "1:A=$B expands\n1:C=${D} expands\n1:E=$F\n1:G=$H\n"},
    {"export A=$(echo \"x y\") B=`date`", "1:A=$(echo \"x y\") expands\n1:B=`date` expands\n"},
    {"mpirun -np 2 \\\n  -x A=b \\\n  -x C \\\n  ./a.out\n", "2:A=b scope1\n3:C\n"},
    {"mpiexec -genv A b -genv C d ./a.out", "1:A=b scope1\n1:C=d scope1\n"},
    {"srun --export=ALL,A=b,C=x,y ./a", "1:A=b scope1\n1:C=x,y scope1\n"},
    {"srun --export ALL,A=b ./a", "1:A=b scope1\n"},
    {"docker run -e A=b --env=C=d -eE=f image", "1:A=b scope1\n1:C=d scope1\n1:E=f scope1\n"},
    {"#!/bin/bash\n#SBATCH --export=ALL,A=b\n#SBATCH -N 2\n", "2:A=b\n"},
    {"#PBS -v A=b,C=d\n", "1:A=b\n1:C=d\n"},
    {"bash -c \"export NCCL_A=b; ./run\"", "1:NCCL_A=b scope1\n"},
    {"ssh h 'cd /x &&\nNCCL_A=b ./run'", "2:NCCL_A=b scope3\n"},
    {"if a; then export A=b; else export A=c; fi; export D=e",
     "1:A=b branch1\n1:A=c branch2\n1:D=e\n"},
    {"case $1 in\nx) export A=b ;;\ny) export C=d ;;\nesac\n", "2:A=b branch1\n3:C=d branch2\n"},
    {"export A=b\nunset A\nexport A=c", "1:A=b unset\n3:A=c\n"},
    {"export A=b C=d; unset C; export C=e; unset A", "1:A=b unset\n1:C=d unset\n1:C=e\n"},
    {"export A=b; A=c ./x; unset A", "1:A=b unset\n1:A=c scope1\n"},
    {"cat > f <<EOF\nA=b\nEOF\n", "2:A=b own\n"},
    {"A='b\nc' D=e\n", "1:A=b\nc own\n2:D=e own\n"},
    {"export A='open", "1:A=open\n"},
    {"A=b\r\nexport C=d\r\n", "1:A=b own\n2:C=d\n"},
    {"echo A=b; printf C=d", ""},
    {"[ \"$A\" = b ] && make -DNCCL=1", ""},
    {"1A=b; =c; A-B=d", ""},
};

TEST(ShellSettings, FindWhatAScriptSetsAndForWhom) {
  for (const ScriptRow& row : kScripts) {
    EXPECT_EQ(described(read_shell_settings(row.script)), row.settings) << row.script;
  }
}

TEST(ShellSettings, CountLinesFromWhereTheScriptBegins) {
  EXPECT_EQ(described(read_shell_settings("\nexport A=b", 10)), "11:A=b\n");
}

/// Texts of the bytes that mean something to a shell, and any others.
std::string random_script(std::mt19937& random) {
  constexpr std::string_view kBytes = "AB=$\"'`\\\n\r #;&|(){}^-xe\t\0\x80\xff"sv;
  std::string text;
  for (unsigned i = random() % 60; i > 0; --i) {
    if (random() % 6 == 0) text += "export NCCL_A=";
    text += kBytes[random() % kBytes.size()];
  }
  return text;
}

TEST(ShellSettings, TakeAnyBytesAndKeepTheirPlaces) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::string script = random_script(random);
    const auto lines = static_cast<uint64_t>(1 + std::count(script.begin(), script.end(), '\n'));
    for (const Setting& setting : read_shell_settings(script).settings) {
      ASSERT_TRUE(is_variable_name(setting.name)) << script;
      ASSERT_GE(setting.line, 1U) << script;
      ASSERT_LE(setting.line, lines) << script;
    }
    for (const Setting& setting : read_conf_settings(script)) ASSERT_LE(setting.line, lines);
  }
}

TEST(ConfSettings, KeepQuotesAndBlanksAsNcclDoes) {
  const auto settings = read_conf_settings("# A=b\nC=\"d\" # e\nno value\n F=g\n");
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].name + "|" + settings[0].value, "C|\"d\" # e");
  EXPECT_EQ(settings[0].line, 2U);
  EXPECT_EQ(settings[1].name, " F");
}

}  // namespace
}  // namespace ncclog
