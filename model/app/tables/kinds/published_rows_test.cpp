#include "model/app/tables/kinds/published_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

PublishedRows rows_of(const std::string& rules) {
  return PublishedRows::read(
      parse_document("networks: {BERT large: bert-large-uncased}\nrules:\n" + rules, "r.yaml"));
}

CellMap completed(const std::string& rules, CellMap cells) {
  rows_of(rules).complete(cells);
  return cells;
}

TEST(PublishedRows, ANameIsTranslatedAndWhatARowStatesCounts) {
  const char* rules = "  - {when: {software: \"Tensor*\"}, set: {launch: graph, batch: 8}}\n";
  const CellMap cells =
      completed(rules, {{"workload", "BERT large"}, {"software", "TensorRT 8"}, {"batch", "2"}});
  EXPECT_EQ(cells.at("workload"), "bert-large-uncased");
  EXPECT_EQ(cells.at("launch"), "graph");
  EXPECT_EQ(cells.at("batch"), "2");
  EXPECT_EQ(completed(rules, {{"workload", "gpt2"}, {"software", "Other"}}).count("launch"), 0);
}

TEST(PublishedRows, TheFirstRuleThatHoldsFillsACellAndNotTurnsAPatternRound) {
  const char* rules =
      "  - {when: {software: [not, \"*XLA*\"]}, set: {library: pytorch}}\n"
      "  - {when: {software: \"*\"}, set: {library: trtllm}}\n";
  EXPECT_EQ(completed(rules, {{"software", "TensorFlow"}}).at("library"), "pytorch");
  EXPECT_EQ(completed(rules, {{"software", "TensorFlow (XLA)"}}).at("library"), "trtllm");
}

TEST(PublishedRows, SharesAreOfTheTokensThatTheRowStates) {
  const char* rules = "  - {when: {software: \"*EFF*\"}, share: {seq_len: 0.5}}\n";
  EXPECT_EQ(completed(rules, {{"software", "EFF-FT"}, {"seq_len", "33.0"}}).at("seq_len"), "17");
  EXPECT_EQ(completed(rules, {{"software", "FT"}, {"seq_len", "33"}}).at("seq_len"), "33");
}

TEST(PublishedRows, CapitalsHyphensAndUnderscoresMakeNoOtherName) {
  const char* rules = "  - {when: {software: x}, set: {batch: 1}}\n";
  for (const char* name : {"BERT Large", "bert-large", "BERT_large"})
    EXPECT_EQ(completed(rules, {{"workload", name}}).at("workload"), "bert-large-uncased") << name;
  EXPECT_EQ(completed(rules, {{"workload", "BERT/large"}}).at("workload"), "BERT/large");
  EXPECT_THAT(message_of<UserError>([] {
                PublishedRows::read(parse_document(
                    "networks: {A b: gpt2, a-B: gpt2-large}\nrules: []\n", "r.yaml"));
              }),
              HasSubstr("'a-B' is spelt as a name that stands for gpt2"));
}

TEST(PublishedRows, ABatchIsAsManyHypothesesAsTheSearchKeeps) {
  const char* rules = "  - {when: {notes: \"beam 4*\"}, times: {batch: 4}}\n";
  EXPECT_EQ(completed(rules, {{"notes", "beam 4, x"}, {"batch", "8"}}).at("batch"), "32");
  EXPECT_EQ(completed(rules, {{"notes", "greedy"}, {"batch", "8"}}).at("batch"), "8");
  EXPECT_THAT(
      message_of<UserError>([] { rows_of("  - {when: {software: x}, times: {batch: 1}}\n"); }),
      HasSubstr("times.batch"));
}

TEST(PublishedRows, AReplacedCellCountsInPlaceOfTheStatedOne) {
  const char* rules = "  - {when: {software: HF}, replace: {compute_dtype: fp32}}\n";
  EXPECT_EQ(completed(rules, {{"software", "HF"}, {"compute_dtype", "fp16"}}).at("compute_dtype"),
            "fp32");
  EXPECT_EQ(completed(rules, {{"software", "FT"}, {"compute_dtype", "fp16"}}).at("compute_dtype"),
            "fp16");
}

TEST(PublishedRows, WhatIsWrongWithTheFileIsNamedWithItsLine) {
  const auto message = [](const std::string& rules) {
    return message_of<UserError>([&rules] { rows_of(rules); });
  };
  EXPECT_THAT(message("  - {when: {software: x}, sets: {a: b}}\n"), HasSubstr("r.yaml:3"));
  EXPECT_THAT(message("  - {set: {a: b}}\n"), HasSubstr("when"));
  EXPECT_THAT(message("  - {when: {software: x}, share: {seq_len: 1.5}}\n"),
              HasSubstr("share.seq_len: '1.5' is not allowed"));
}

TEST(PublishedRows, ARuleMayNameAnotherNetworkOrRefuseTheRow) {
  const char* rules =
      "  - {when: {image_size: \"384*\"}, network: vit_base_patch16_384}\n"
      "  - {when: {software: Host}, refuse: it is the time of the host}\n";
  const CellMap larger = {{"workload", "ViT"}, {"image_size", "384.0"}};
  EXPECT_EQ(completed(rules, larger).at("workload"), "vit_base_patch16_384");
  EXPECT_EQ(completed(rules, {{"workload", "ViT"}, {"image_size", "224"}}).at("workload"), "ViT");
  EXPECT_THAT(message_of<UserError>([&] {
                completed(rules, {{"software", "Host"}});
              }),
              HasSubstr("it is the time of the host"));
}

TEST(PublishedRows, ANameInBracesIsAnotherCellOfTheRow) {
  const char* rules = "  - {when: {version: \"0.*\"}, set: {library_release: \"{version}\"}}\n";
  EXPECT_EQ(completed(rules, {{"version", "0.5.0"}}).at("library_release"), "0.5.0");
  EXPECT_EQ(completed(rules, {{"version", "2024"}}).count("library_release"), 0);
}

TEST(PublishedRows, ColumnsOfOtherTablesAreReadAsOurs) {
  const PublishedRows rows = PublishedRows::read(
      parse_document("columns: {model: workload, isl: input_len}\nnetworks: {A: gpt2}\n"
                     "rules:\n  - {when: {isl: \"8\"}, set: {tp: 2}}\n",
                     "r.yaml"));
  CellMap cells = {{"model", "A"}, {"isl", "8"}};
  rows.complete(cells);
  EXPECT_EQ(cells.at("workload"), "gpt2");
  EXPECT_EQ(cells.at("input_len"), "8");
  EXPECT_EQ(cells.at("tp"), "2");  // rules see the row as it was published
}

TEST(PublishedRows, EveryNetworkAndLibraryOfTheRecipesIsKnown) {
  const WorkloadLibrary workloads;
  for (const char* recipe : {"published_networks.yaml", "chips_never_fitted.yaml"}) {
    const Node root = load_document(hw_folder() / "engines/recipes" / recipe);
    for (const MapEntry& entry : root.required("networks", "").entries)
      EXPECT_NO_THROW(workloads.load(entry.value.text)) << entry.key;
  }
  const Node root = load_document(hw_folder() / "engines/recipes/published_networks.yaml");
  for (const Node& rule : root.required("rules", "").items) {
    const Node* set = rule.find("set");
    const Node* library = set == nullptr ? nullptr : set->find("library");
    if (library == nullptr) continue;
    EXPECT_NO_THROW(kernel_libraries().of_networks(library->text));
  }
}

}  // namespace
}  // namespace foretell
