#include "hw/spec/shared/provenance.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {

struct RateSpec {
  BytesPerSecond rate;
};

void fields(FieldList& list, RateSpec& spec) {
  list.value("rate", spec.rate, {BytesPerSecond(1e9), BytesPerSecond(1e12)}, "A rate.");
}

namespace {

using ::testing::HasSubstr;

const char* const kSources =
    "collections:\n  docs: {title: Documentation, location: https://example.org, edition: c0ffee}\n"
    "sources:\n"
    "  A2: {in: docs, title: Architecture guide, location: arch.rst}\n"
    "  I2: {title: Device page, location: https://example.org/i2, edition: '2024'}\n";

class ProvenanceTest : public ::testing::Test {
 protected:
  std::string load(const std::string& text) {
    Problems problems;
    FieldList list;
    fields(list, spec_);
    load_fields(parse_document(text, "x.yaml"), list, {}, SourcedReader(bibliography_, provenance_),
                problems);
    try {
      problems.throw_if_any();
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  Bibliography bibliography_ = Bibliography::load(parse_document(kSources, "sources.yaml"));
  std::map<std::string, Provenance> provenance_;
  RateSpec spec_;
};

TEST_F(ProvenanceTest, AValueCarriesItsSource) {
  ASSERT_EQ(load("rate: {value: 820 GB/s, source: A2:21, kind: documented}\n"), "accepted");
  EXPECT_EQ(spec_.rate.value(), 820e9);
  const SourcedValue& chosen = provenance_.at("rate").chosen;
  EXPECT_EQ(chosen.source, "A2:21");
  EXPECT_EQ(chosen.kind, ValueKind::kDocumented);
  EXPECT_TRUE(provenance_.at("rate").use.empty());
}

TEST_F(ProvenanceTest, ABareValueIsRefused) {
  EXPECT_EQ(load("rate: 820 GB/s\n"),
            "x.yaml:1: rate: expected {value: …, source: …, kind: …}; here is a single value; one "
            "of your own is {value: 820 GB/s, source: PROJECT, kind: assumed, why: made up}");
}

TEST_F(ProvenanceTest, EveryPartIsNeeded) {
  EXPECT_EQ(load("rate: {}\n"),
            "x.yaml:1: rate: 'value' is missing\nx.yaml:1: rate: 'source' is missing\n"
            "x.yaml:1: rate: 'kind' is missing");
}

TEST_F(ProvenanceTest, SourcesHaveToBeInTheBibliography) {
  EXPECT_EQ(load("rate: {value: 1 GB/s, source: A3:21, kind: documented}\n"),
            "x.yaml:1: rate.source: 'A3' is not in hw/sources.yaml; nearest is 'A2'");
  EXPECT_EQ(load("rate: {value: 1 GB/s, source: 'A2:', kind: documented}\n"),
            "x.yaml:1: rate.source: 'A2:' names no place after the colon");
  EXPECT_THAT(load("rate: {value: 1 GB/s, source: '', kind: documented}\n"),
              HasSubstr("the source is empty"));
}

TEST_F(ProvenanceTest, KindsAreFour) {
  EXPECT_EQ(load("rate: {value: 1 GB/s, source: A2, kind: mesured}\n"),
            "x.yaml:1: rate.kind: unknown kind 'mesured'; nearest is 'measured'; there are: "
            "datasheet, documented, measured, assumed");
  EXPECT_THAT(load("rate: {value: 1 GB/s, source: A2, kind: fitted}\n"),
              HasSubstr("unknown kind 'fitted'"));
}

TEST_F(ProvenanceTest, AnAssumedValueNeedsAWhy) {
  EXPECT_EQ(load("rate: {value: 1 GB/s, source: A2, kind: assumed}\n"),
            "x.yaml:1: rate: an assumed value needs a 'why'");
  EXPECT_EQ(load("rate: {value: 1 GB/s, source: A2, kind: assumed, why: '  '}\n"),
            "x.yaml:1: rate: an assumed value needs a 'why'");
  EXPECT_EQ(load("rate: {value: 1 GB/s, source: A2, kind: assumed, why: a guess}\n"), "accepted");
}

TEST_F(ProvenanceTest, UnknownPartsAreRefused) {
  EXPECT_EQ(load("rate: {value: 1 GB/s, source: A2, kind: documented, wy: x}\n"),
            "x.yaml:1: rate.wy: no such key; nearest is 'why'");
}

std::string alternatives(const std::string& use, const std::string& second = "900 GB/s") {
  return "rate:\n" + use +
         "  alternatives:\n"
         "    guide: {value: 820 GB/s, source: A2:21, kind: documented}\n"
         "    page: {value: " +
         second + ", source: I2:23, kind: datasheet}\n";
}

TEST_F(ProvenanceTest, UseNamesTheAlternativeThatCounts) {
  ASSERT_EQ(load(alternatives("  use: page\n")), "accepted");
  EXPECT_EQ(spec_.rate.value(), 900e9);
  EXPECT_EQ(provenance_.at("rate").use, "page");
  EXPECT_EQ(provenance_.at("rate").chosen.kind, ValueKind::kDatasheet);
  EXPECT_EQ(provenance_.at("rate").alternatives.size(), 2U);
  ASSERT_EQ(load(alternatives("  use: guide\n")), "accepted");
  EXPECT_EQ(spec_.rate.value(), 820e9);  // not the one that was read last
}

TEST_F(ProvenanceTest, UseHasToNameOne) {
  EXPECT_EQ(load(alternatives("  use: pag\n")),
            "x.yaml:2: rate.use: unknown alternative 'pag'; nearest is 'page'; there are: guide, "
            "page");
  EXPECT_EQ(load(alternatives("")),
            "x.yaml:2: rate: 'use' is missing; it names one of: guide, page");
  EXPECT_THAT(
      load("rate: {use: a, alternatives: {a: {value: 1 GB/s, source: A2, kind: measured}}}\n"),
      HasSubstr("at least two named values"));
}

TEST_F(ProvenanceTest, AlternativesThatAreNotUsedAreCheckedToo) {
  EXPECT_EQ(load(alternatives("  use: guide\n", "900 GB")),
            "x.yaml:5: rate.page: '900 GB' is a data size; expected a data rate such as '820 "
            "GB/s'");
}

TEST_F(ProvenanceTest, AlternativesExcludeASingleValue) {
  EXPECT_THAT(load(alternatives("  use: guide\n  value: 1 GB/s\n")),
              HasSubstr("x.yaml:3: rate.value: no such key"));
}

TEST_F(ProvenanceTest, CitationsNameTitlePlaceAndEdition) {
  EXPECT_EQ(bibliography_.cite("A2:21"), "Architecture guide: Documentation, arch.rst:21 (c0ffee)");
  EXPECT_EQ(bibliography_.cite("I2"), "Device page: https://example.org/i2 (2024)");
  EXPECT_THROW(bibliography_.cite("X"), UserError);
}

TEST(Bibliography, RefusesUnknownCollectionsAndMissingEditions) {
  const auto message = [](const std::string& sources) -> std::string {
    try {
      Bibliography::load(parse_document(
          "collections: {docs: {title: D, location: L, edition: E}}\nsources:\n" + sources, "s"));
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("  A: {in: dosc, title: T, location: L}\n"),
            "s:3: sources.A.in: unknown collection 'dosc'; nearest is 'docs'; there are: docs");
  EXPECT_EQ(message("  A: {title: T, location: L}\n"),
            "s:3: sources.A: 'in' or 'edition' is missing");
  EXPECT_EQ(message("  A: {in: docs, location: L}\n"), "s:3: sources.A: 'title' is missing");
  EXPECT_EQ(message("  A: {in: docs, title: T, location: L}\n"), "accepted");
}

}  // namespace
}  // namespace foretell
