// What the files in hw/ and calib/factors/ have to fulfil, whatever they say.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "hw/spec/neuron/neuron_fields.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

TEST(HwData, EverySystemLoadsAndEveryValueHasASource) {
  const Catalog catalog;
  ASSERT_FALSE(catalog.systems().empty());
  for (const std::string& id : catalog.systems()) {
    const LoadedSystem system = catalog.load(id);
    for (const Parameter& parameter : system.parameters) {
      SCOPED_TRACE(id + " " + parameter.path);
      EXPECT_FALSE(parameter.value.empty());
      EXPECT_FALSE(parameter.meaning.empty());
      if (parameter.kind == ValueKind::kNeutral) continue;
      EXPECT_EQ(catalog.bibliography().problem_with(parameter.source), "");
      for (const Alternative& alternative : parameter.alternatives) {
        EXPECT_EQ(catalog.bibliography().problem_with(alternative.value.source), "");
      }
    }
  }
}

TEST(HwData, EveryParameterOfTheSpecHasAValue) {
  const Catalog catalog;
  for (const std::string& id : catalog.systems()) {
    CalibratedSystem system = load_calibrated(id);
    FieldList list;
    all_fields(list, system.spec, system.factors);
    std::set<std::string> listed;
    for (const Parameter& parameter : system.parameters) listed.insert(parameter.path);
    for (const Field& field : list.all()) {
      EXPECT_EQ(listed.count(field.path) != 0, field.has_value()) << id << " " << field.path;
      EXPECT_NO_THROW(field.check()) << id << " " << field.path;
    }
  }
}

TEST(HwData, EveryDeviceAndCoreIsUsed) {
  const Catalog catalog;
  std::set<std::string> devices;
  std::set<std::string> cores;
  for (const std::string& id : catalog.systems()) {
    const LoadedSystem system = catalog.load(id);
    devices.insert(system.spec.device.id);
    cores.insert(system.spec.device.core.id);
  }
  EXPECT_THAT(catalog.devices(), ::testing::ElementsAreArray(devices));
  EXPECT_THAT(catalog.cores(), ::testing::ElementsAreArray(cores));
}

TEST(HwData, EveryAlternativeCanBeChosen) {
  const Catalog catalog;
  for (const std::string& id : catalog.systems()) {
    for (const Parameter& parameter : catalog.load(id).parameters) {
      for (const Alternative& alternative : parameter.alternatives) {
        const std::string set = parameter.path + ".use=" + alternative.name;
        EXPECT_NO_THROW(catalog.load(id, {set})) << id << " " << set;
      }
    }
  }
}

// Every parameter accepts both ends of its range and nothing beyond, by the text a user would type.
TEST(HwData, RangesEndWhereTheySay) {
  NeuronSystemSpec spec;
  NeuronFactors factors;
  FieldList list;
  all_fields(list, spec, factors);
  ASSERT_GT(list.all().size(), 50U);
  for (const Field& field : list.all()) {
    if (field.is_text) continue;
    SCOPED_TRACE(field.path);
    const double step = field.is_whole ? 1 : 1e-3 * field.max;
    EXPECT_NO_THROW(field.assign(format_quantity(field.min, field.dimension)));
    EXPECT_NO_THROW(field.assign(format_quantity(field.max, field.dimension)));
    EXPECT_THROW(field.assign(format_quantity(field.max + step, field.dimension)), UserError);
    const double below =
        field.is_whole ? field.min - 1 : field.min - 1e-3 * (field.max - field.min);
    EXPECT_THROW(field.assign(format_quantity(below, field.dimension)), UserError);
  }
}

// The published headline rates follow from array, clock and cycles per column. The datasheet rounds
// up: 128 x 128 x 2 x 2.8 GHz x 2 cores is 183.5 TFLOP/s, the page says 190.
TEST(HwData, PeaksAgreeWithTheDatasheet) {
  for (const char* id : {"inf2.xlarge", "trn1.2xlarge"}) {
    const NeuronDeviceSpec device = Catalog().load(id).spec.device;
    const TensorEngineSpec& tensor = device.core.tensor;
    const auto peak = [&](const char* dtype) {
      return 2.0 * tensor.rows * tensor.columns * tensor.clock.value() * device.cores /
             tensor.cycles_per_column.at(dtype);
    };
    EXPECT_NEAR(peak("bf16"), 190e12, 0.04 * 190e12);
    EXPECT_NEAR(peak("fp32"), 47.5e12, 0.04 * 47.5e12);
    EXPECT_NEAR(peak("int8"), 380e12, 0.04 * 380e12);
  }
}

TEST(HwData, LargerInstancesAreMultiplesOfTheDevice) {
  const Catalog catalog;
  EXPECT_EQ(catalog.load("inf2.xlarge").spec.devices, 1);
  EXPECT_EQ(catalog.load("inf2.8xlarge").spec.devices, 1);
  EXPECT_EQ(catalog.load("inf2.24xlarge").spec.devices, 6);
  EXPECT_EQ(catalog.load("inf2.48xlarge").spec.devices, 12);
  EXPECT_EQ(catalog.load("trn1.32xlarge").spec.devices, 16);
}

TEST(HwData, LongerCommitmentIsNeverDearer) {
  const Catalog catalog;
  for (const std::string& id : catalog.systems()) {
    const Prices price = catalog.load(id).spec.price_usd_per_hour;
    if (price.empty()) continue;  // not published
    EXPECT_GT(price.at("on_demand"), price.at("reserved_1y")) << id;
    EXPECT_GT(price.at("reserved_1y"), price.at("reserved_3y")) << id;
  }
}

TEST(HwData, TheDoubtfulPriceIsKeptAndSaidToBe) {
  for (const Parameter& parameter : Catalog().load("inf2.8xlarge").parameters) {
    if (parameter.path != "system.price.reserved_1y") continue;
    EXPECT_EQ(parameter.value, "1.81 USD/h");
    EXPECT_THAT(parameter.why, HasSubstr("1.18"));
    return;
  }
  FAIL() << "no such parameter";
}

// docs/configuration.md carries the table of all parameters. With FORETELL_UPDATE_DOCS=1 in the
// environment this test writes it; otherwise it fails when the page is out of date.
std::string markdown_table(const FieldList& list) {
  std::string table = "| parameter | allowed | meaning |\n|---|---|---|\n";
  for (const Field& field : list.all())
    table += "| `" + field.path + "` | " + field.allowed() + " | " + field.meaning + " |\n";
  return table;
}

TEST(HwData, TheDocumentationListsEveryParameter) {
  const std::string path = std::string(FORETELL_SOURCE_DIR) + "/docs/configuration.md";
  const std::string begin = "<!-- parameters: begin -->\n";
  const std::string end = "<!-- parameters: end -->\n";
  std::string page = read_text_file(path);
  const std::size_t first = page.find(begin) + begin.size();
  const std::size_t last = page.find(end);
  ASSERT_LE(first, last);
  NeuronSystemSpec spec;
  NeuronFactors factors;
  FieldList list;
  all_fields(list, spec, factors);
  const std::string table = markdown_table(list);
  if (std::getenv("FORETELL_UPDATE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::trunc) << page.replace(first, last - first, table);
    return;
  }
  EXPECT_EQ(page.substr(first, last - first), table)
      << "run this test with FORETELL_UPDATE_DOCS=1 to write the table";
}

}  // namespace
}  // namespace foretell
