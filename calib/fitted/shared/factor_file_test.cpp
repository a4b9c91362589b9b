#include "calib/fitted/shared/factor_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "calib/fitted/shared/factors_folder.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

struct TwoFactors {
  double share = 0;
  Seconds call;
};

FactorTable table_of(const std::string& head, const std::string& call, TwoFactors& factors) {
  FieldList list;
  list.value("share", factors.share, {0, 1}, "A share.");
  list.value("call", factors.call, {Seconds(0), Seconds(1)}, "A call.");
  const std::string text = "device: x\nsplit: s\ntables:\n  - table: t\n    fitted_on: rows\n" +
                           head + "    factors:\n      share: {value: 0.5}\n" + call;
  return parse_factor_table(text, "f", {{}, &list, true}).tables.at(0);
}

std::string message(const std::string& head, const std::string& call) {
  TwoFactors factors;
  return message_of<UserError>([&] { table_of(head, call, factors); });
}

TEST(FactorFile, ValuesHaveAnIntervalInTheirUnitsAndAReason) {
  TwoFactors factors;
  const FactorTable table = table_of(
      "", "      call: {value: 2 us, interval80: [1 us, 3 us], identified: no, why: x}\n", factors);
  EXPECT_EQ(interval_texts(table.evidence).at("call"), "1 us .. 3 us");
  EXPECT_FALSE(table.evidence.interval80.at(0).is_identified);
  EXPECT_EQ(table.remarks.at("call").why, "x");
  EXPECT_EQ(factors.share, 0.5);
  EXPECT_DOUBLE_EQ(factors.call.value(), 2e-6);
}

TEST(FactorFile, WrongValuesAreNamedWithTheirPlace) {
  const std::pair<const char*, const char*> wrong[] = {
      {"2 us", "f:8: call: expected a mapping"},
      {"{value: 2}", "f:8: call: '2' has no unit"},
      {"{val: 2 us}", "'value' is missing"},
      {"{value: 2 us, wy: x}", "f:8: call.wy: no such key"},
      {"{value: 2 us, identified: maybe}", "f:8: identified: 'maybe' is neither yes nor no"},
      {"{value: 2 us, interval80: [1 us]}", "f:8: call.interval80: expected two values"},
      {"{value: 2 us, interval80: [3 us, 1 us]}", "the low end is above the high end"},
      {"{value: 2 us, interval80: [1 us, 2 s]}", "'2 s' is outside"},
  };
  for (const auto& [text, expected] : wrong) {
    EXPECT_THAT(message("", std::string("      call: ") + text + "\n"), HasSubstr(expected));
  }
  EXPECT_THAT(message("", ""), HasSubstr("f:7: call: missing; allowed is"));
  EXPECT_THAT(message("", "      cal: {value: 2 us}\n"), HasSubstr("nearest is 'call'"));
}

TEST(FactorFile, WrongTablesAreNamedWithTheirPlace) {
  const std::string call = "      call: {value: 2 us}\n";
  EXPECT_THAT(message("    held_on: x\n", call), HasSubstr("f:6: tables.held_on: no such key"));
  EXPECT_THAT(message("    interval80: [0.9]\n", call), HasSubstr("f:6: interval80: expected two"));
  EXPECT_THAT(message("    common: yes\n", call), HasSubstr("f:6: common: 'yes' is neither"));
  EXPECT_THAT(message("    like: {device: y}\n", call), HasSubstr("'table' is missing"));
  EXPECT_THAT(message("", call + "  - {table: t, fitted_on: rows, factors: {}}\n"),
              HasSubstr("f:9: t: stated before"));
  EXPECT_THAT(message("", call + "  - {table: u, fitted_on: rows, factors: {}}\n"),
              HasSubstr("missing"));
  const auto file = [](const char* text) {
    return message_of<UserError>([&] { parse_factor_file(text, "f"); });
  };
  EXPECT_THAT(file("device: x\nsplit: s\ntables: t\n"), HasSubstr("f:3: tables: expected a list"));
  EXPECT_THAT(file("device: x\ntables: []\n"), HasSubstr("'split' is missing"));
  EXPECT_THAT(file("device: x\nsplit: s\nfactors: {}\n"), HasSubstr("factors: no such key"));
}

TEST(FactorFile, IntervalsOfPredictionsAreTwoRatios) {
  const auto [low, high] = read_interval80(parse_document("[0.9, 1.2]", "f"));
  EXPECT_EQ(low, 0.9);
  EXPECT_EQ(high, 1.2);
  for (const char* text : {"[0.9]", "0.9", "[0.9, much]"})
    EXPECT_THROW(read_interval80(parse_document(text, "f")), UserError) << text;
}

// Every file that the program has written is read, and written again as it is.
TEST(FactorFile, FilesAreReadBackAsTheyWereWritten) {
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(factors_folder())) {
    const fs::path& path = entry.path();
    if (path.extension() != ".yaml" || path.filename() == "transfer.yaml") continue;
    const std::string text = read_text_file(path);
    const std::string written = factor_file_text(parse_factor_file(text, path.string()));
    ++files;
    if (starts_with(text, "# Written by")) {
      EXPECT_EQ(written, text) << path;
    } else {
      EXPECT_EQ(factor_file_text(parse_factor_file(written, "again")), written) << path;
    }
  }
  EXPECT_GE(files, 50);
}

}  // namespace
}  // namespace foretell
