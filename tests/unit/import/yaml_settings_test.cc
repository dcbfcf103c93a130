#include <gtest/gtest.h>

#include <random>

#include "import/import.h"

namespace ncclog {
namespace {

std::string described(std::string_view yaml) {
  std::string text;
  for (const Setting& setting : read_yaml_settings(yaml).value) {
    text += std::to_string(setting.line) + ":" + setting.name + "=" + setting.value;
    text += setting.literal ? "\n" : " expands\n";
  }
  return text;
}

struct ManifestRow {
  const char* yaml;
  const char* settings;
};

constexpr ManifestRow kManifests[] = {
    {"env:\n- name: A_B\n  value: c\n- {value: e, name: D_D}\n", "2:A_B=c\n4:D_D=e\n"},
    {"env:\n- name: A_B\n  valueFrom: {x: y}\n- name: C_D\n  value: 1\n", "4:C_D=1\n"},
    {"environment: {A_B: c, D_E: ~}\n", "1:A_B=c\n"},
    {"environment:\n  - A_B=c=d\n  - E_F\n", "2:A_B=c=d\n"},
    {"envs:\n  A_B: $HOME/x\n", "2:A_B=$HOME/x expands\n"},
    {"run: |\n  cd x\n  export NCCL_A=b\n", "3:NCCL_A=b\n"},
    {"args: [bash, -c, 'NCCL_A=b ./run']\n", "1:NCCL_A=b\n"},
    {"a: &e {A_B: c}\nb: *e\n", "1:A_B=c\n"},
    {"name: A_B\n", ""},
    {"a: b\n---\nenv: {A_B: c}\n", "3:A_B=c\n"},
    {"containers: {lower_name: 1, UPPER: 2}\n", ""},
};

TEST(YamlSettings, AreFoundByTheirShape) {
  for (const ManifestRow& row : kManifests)
    EXPECT_EQ(described(row.yaml), row.settings) << row.yaml;
}

TEST(YamlSettings, OfOneListAreForOneProgram) {
  const auto two =
      read_yaml_settings(
          "a: {env: [{name: A_B, value: c}, {name: D_E, value: f}]}\nb: {env: {G_H: i}}\n")
          .value;
  ASSERT_EQ(two.size(), 3U);
  EXPECT_EQ(two[0].scope, two[1].scope);
  EXPECT_NE(two[0].scope, two[2].scope);
  EXPECT_NE(two[2].scope, 0);
}

TEST(YamlSettings, KeepWhatStandsBeforeAMistake) {
  const auto found = read_yaml_settings("env: {A_B: c}\n---\nx: [\n");
  EXPECT_EQ(found.value.size(), 1U);
  EXPECT_FALSE(found.problem.empty());
}

TEST(YamlSettings, TakeAnyBytes) {
  constexpr std::string_view kBytes = "A_B: -[]{},&*|>\n  '\"#!%@`\t\x80\xff=$";
  std::mt19937 random(11);
  for (int i = 0; i < 5000; ++i) {
    std::string yaml;
    for (unsigned n = random() % 80; n > 0; --n) yaml += kBytes[random() % kBytes.size()];
    EXPECT_NO_THROW(read_yaml_settings(yaml)) << yaml;
  }
  EXPECT_NO_THROW(read_yaml_settings(std::string(100000, '[')));
}

}  // namespace
}  // namespace ncclog
