#include "model/app/study/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

StudyValue no_defaults(const PointValues& /*values*/, const std::string& name) {
  if (name == "core.tensor.rows") return parse_study_value("128");
  throw UserError("unknown name '" + name + "'");
}

Study study_of(const std::string& text) { return parse_study(text, "s.yaml"); }

std::string mistake(const std::string& text) {
  try {
    study_of(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> column(const Study& study, const std::string& key) {
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i < study.points(); ++i)
    values.push_back(varied_values(study, i).at(key));
  return values;
}

std::vector<std::string> varied(const std::string& values) {
  return column(study_of("study: s\nvary: {x.y: " + values + "}\n"), "x.y");
}

TEST(Study, EveryCombinationTheLastKeyFastest) {
  const Study study = study_of(
      "study: s\nbase: {on: inf2.xlarge}\nvary: {batch: [1, 8], device.cores: [2, 4, 8]}\n");
  EXPECT_EQ(study.points(), 6U);
  EXPECT_THAT(study.keys(), ElementsAre("batch", "device.cores"));
  EXPECT_THAT(column(study, "batch"), ElementsAre("1", "1", "1", "8", "8", "8"));
  EXPECT_THAT(column(study, "device.cores"), ElementsAre("2", "4", "8", "2", "4", "8"));
  EXPECT_EQ(varied_values(study, 5).at("on"), "inf2.xlarge");
}

TEST(Study, Ranges) {
  EXPECT_THAT(varied("{range: [820 GB/s, 1.64 TB/s], steps: 3}"),
              ElementsAre("820 GB/s", "1.23 TB/s", "1.64 TB/s"));
  EXPECT_THAT(varied("{log_range: [1 GHz, 4 GHz], steps: 3}"),
              ElementsAre("1 GHz", "2 GHz", "4 GHz"));
  EXPECT_THAT(varied("{range: [64, 200], step: 64}"), ElementsAre("64", "128", "192"));
  EXPECT_THAT(varied("{range: [1 ms, 1 ms], steps: 1}"), ElementsAre("1 ms"));
  // Whole ends give whole numbers, repeated ones once; others do not.
  EXPECT_THAT(varied("{range: [1, 4], steps: 7}"), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(varied("{range: [0.5, 1], steps: 3}"), ElementsAre("0.5", "0.75", "1"));
  EXPECT_THAT(varied("{range: [0.3, 0.1], steps: 3}"), ElementsAre("0.3", "0.2", "0.1"));
  EXPECT_THAT(varied("{range: [0.1, 0.3], step: 0.1}"), ElementsAre("0.1", "0.2", "0.3"));
}

TEST(Study, ZippedKeysChangeTogether) {
  const Study study =
      study_of("study: s\nvary: {batch: [1, 2]}\nzip: [{tp: [2, 4], dp: [6, 3]}, {cores: [12]}]\n");
  EXPECT_EQ(study.points(), 4U);
  EXPECT_THAT(column(study, "tp"), ElementsAre("2", "4", "2", "4"));
  EXPECT_THAT(column(study, "dp"), ElementsAre("6", "3", "6", "3"));
}

TEST(Study, ALatinHypercubeHasOneValueInEveryStratum) {
  const std::string text =
      "study: s\nrandom: {points: 20, seed: 7, vary: {a.b: {range: [0.0, 20.0]}, "
      "c.d: {log_range: [1 GHz, 4 GHz]}, dtype: [bf16, fp8]}}\n";
  const Study study = study_of(text);
  EXPECT_EQ(study.points(), 20U);
  std::set<int> strata;
  int fp8 = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const PointValues values = varied_values(study, i);
    strata.insert(static_cast<int>(std::stod(values.at("a.b"))));
    fp8 += values.at("dtype") == "fp8" ? 1 : 0;
    const double clock = parse_study_value(values.at("c.d")).number;
    EXPECT_GE(clock, 1e9);
    EXPECT_LE(clock, 4e9);
  }
  EXPECT_EQ(strata.size(), 20U);
  EXPECT_EQ(fp8, 10);
  EXPECT_EQ(column(study_of(text), "a.b"), column(study, "a.b"));
  std::string other = text;
  other.replace(other.find("seed: 7"), 7, "seed: 8");
  EXPECT_NE(column(study_of(other), "a.b"), column(study, "a.b"));
}

TEST(Study, SpellingsOfOneKeyAreOneKey) {
  const Study study = study_of("study: s\nvary: {input-len: [1], seq_len: [2], system: [x]}\n");
  EXPECT_THAT(study.keys(), ElementsAre("input_len", "seq", "on"));
  EXPECT_THAT(mistake("study: s\nvary:\n  seq: [8]\n  seq_len: [2]\n"),
              AllOf(HasSubstr("s.yaml:4: seq"), HasSubstr("stated already at s.yaml:3")));
  EXPECT_THAT(mistake("study: s\nbase: {seq: 8, seq_len: 2}\n"), HasSubstr("stated already"));
}

TEST(Study, WhatVariesTakesThePlaceOfTheBase) {
  const Study study =
      study_of("study: s\nbase: {seq: 8, dtype: bf16}\nvary: {seq_len: [2, 4], dtype: [fp8]}\n");
  EXPECT_EQ(study.points(), 2U);
  EXPECT_TRUE(study.base.empty());
  EXPECT_EQ(plan_point(study, 1, no_defaults).values.at("seq"), "4");
  EXPECT_EQ(plan_point(study, 1, no_defaults).values.at("dtype"), "fp8");
}

TEST(Study, DerivedValuesAndConstraints) {
  const Study study = study_of(
      "study: s\n"
      "vary: {device.hbm.bandwidth: [820 GB/s, 1.64 TB/s], device.cores: [2, 4]}\n"
      "derive: {core.dma.engine_rate: \"${device.hbm.bandwidth} / ${device.cores}\"}\n"
      "define: {area: \"${core.tensor.rows} * ${device.cores}\"}\n"
      "where: [\"${area} <= 256 or ${device.hbm.bandwidth} > 1 TB/s\", \"${latency} < 5 ms\"]\n"
      "objectives: [latency, min area]\n");
  EXPECT_EQ(plan_point(study, 0, no_defaults).values.at("core.dma.engine_rate"), "410 GB/s");
  EXPECT_EQ(plan_point(study, 0, no_defaults).skipped_by, "");
  EXPECT_THAT(plan_point(study, 1, no_defaults).skipped_by, HasSubstr("${area} <= 256"));
  EXPECT_EQ(plan_point(study, 3, no_defaults).skipped_by, "");

  PointMetrics metrics = {{"latency", parse_study_value("4 ms")}};
  const PointValues values = plan_point(study, 3, no_defaults).values;
  const JudgedPoint judged = judge_point(study, values, metrics, no_defaults);
  EXPECT_TRUE(judged.inside);
  EXPECT_THAT(judged.objectives, ElementsAre(0.004, 512));
  metrics["latency"] = parse_study_value("6 ms");
  EXPECT_FALSE(judge_point(study, values, metrics, no_defaults).inside);
}

TEST(Study, AValueInTheBaseMayBeDerivedToo) {
  const Study study =
      study_of("study: s\nbase: {core.sbuf.capacity: \"${n} * 1 MiB\"}\nvary: {n: [3, 4]}\n");
  EXPECT_EQ(plan_point(study, 1, no_defaults).values.at("core.sbuf.capacity"), "4 MiB");
}

TEST(Study, WithoutVariationThereIsOnePoint) {
  EXPECT_EQ(study_of("study: s\nbase: {on: x}\n").points(), 1U);
}

TEST(Study, MistakesOfTheFileAreReportedTogether) {
  const std::string message = mistake(
      "study: s\nbase: {a: [1]}\nvary:\n  b: []\n  c: [1, 1]\n  d: {range: [1, 2 ms], steps: 3}\n"
      "  e: {range: [1, 2]}\n  f:\nzip: {g: [1], h: [1, 2]}\nobjectives: [latancy]\nvari: 3\n");
  for (const char* part : {"s.yaml:2: a: the base has single values", "s.yaml:4: b: no values",
                           "'1' stands there twice", "the ends have different units",
                           "say how many values", "s.yaml:8: f: no values",
                           "2 values, but 'g' has 1", "nearest is 'latency'", "nearest is 'vary'"})
    EXPECT_THAT(message, HasSubstr(part));
}

TEST(Study, MoreMistakes) {
  EXPECT_THAT(mistake("vary: {a: [1]}\n"), HasSubstr("study"));
  EXPECT_THAT(mistake("- 1\n"), HasSubstr("is no study"));
  EXPECT_THAT(mistake("study: s\nvary: {}\n"), HasSubstr("nothing varies"));
  EXPECT_THAT(mistake("study: s\nvary: {a: {log_range: [0, 2], steps: 2}}\n"),
              HasSubstr("above 0"));
  EXPECT_THAT(mistake("study: s\nvary: {a: {range: [1, 2], steps: 0}}\n"), HasSubstr("steps"));
  EXPECT_THAT(mistake("study: s\nrandom: {vary: {a: [1]}}\n"), HasSubstr("points"));
  EXPECT_THAT(mistake("study: s\ndefine: {latency: \"1\"}\n"), HasSubstr("name of a result"));
  EXPECT_THAT(mistake("study: s\ndefine: {area: \"1\"}\nobjectives: [area]\n"),
              HasSubstr("'min area' or 'max area'"));
}

TEST(Study, ADefinitionThatNeedsItselfIsFound) {
  const Study study =
      study_of("study: s\ndefine: {a: \"${b}\", b: \"${a}\"}\nwhere: [\"${a} > 1\"]\n");
  EXPECT_THROW(plan_point(study, 0, no_defaults), UserError);
}

TEST(Study, TooManyPointsAreRefusedWithTheirNumber) {
  std::string text = "study: s\nvary:\n";
  for (const char* key : {"a", "b", "c", "d", "e", "f"})
    text += std::string("  ") + key + ": {range: [1, 100], steps: 100}\n";
  EXPECT_THAT(mistake(text), AllOf(HasSubstr("1,000,000,000,000 points"),
                                   HasSubstr("100 a x 100 b"), HasSubstr("10,000,000")));
  // A search looks at a few of them.
  EXPECT_EQ(mistake(text + "search: {evaluations: 10}\n"), "");
}

// It ended as a bug of ours.
TEST(Study, ASearchNeedsSomethingToSearchIn) {
  EXPECT_THAT(
      mistake("study: s\nsearch: {evaluations: 10}\n"),
      AllOf(HasSubstr("2: search: there is nothing to search in"), HasSubstr("add `vary:`")));
}

TEST(Study, ZippedValuesMayRepeatButNotTogether) {
  const std::string begin = "study: s\nbase: {on: a, workload: w}\nzip: {tp: [1, 1, 2], dp: ";
  EXPECT_EQ(parse_study(begin + "[1, 2, 1]}", "test").points(), 3U);
  EXPECT_THAT(mistake(begin + "[1, 1, 2]}"), HasSubstr("'1, 1' stands there twice"));
}

TEST(Study, BestOfNamesKeysThatVary) {
  const std::string begin =
      "study: s\nbase: {on: a, workload: w}\nvary: {batch: [1, 2]}\nbest_of: ";
  EXPECT_EQ(parse_study(begin + "[batch]", "test").best_of, std::vector<std::string>{"batch"});
  EXPECT_THAT(mistake(begin + "[bach]"), HasSubstr("nearest is 'batch'"));
  EXPECT_THAT(mistake(begin + "[on]"), HasSubstr("best_of"));
  EXPECT_THAT(mistake(begin + "batch"), HasSubstr("expected a list"));
}

}  // namespace
}  // namespace foretell
