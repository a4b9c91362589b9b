#include "calib/fitted/shared/die_area.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

std::vector<Parameter> with(const std::string& path, const std::string& value) {
  Parameter parameter;
  parameter.path = path;
  parameter.value = value;
  parameter.overridden = true;
  return {parameter};
}

TEST(DieArea, UnchangedDeviceHasThePublishedAreaAndPartsAddUp) {
  const auto area = die_area("h200-sxm", {}, {});
  ASSERT_TRUE(area.has_value());
  EXPECT_NEAR(area->area_mm2, 814, 1e-6);
  double sum = 0;
  for (const AreaPart& part : area->parts) sum += part.mm2;
  EXPECT_NEAR(sum, area->area_mm2, 1e-9);
  EXPECT_EQ(area->dies, 1);
}

TEST(DieArea, MoreSmsAndMoreL2TakeMoreAreaAndTheReticleCutsTheDie) {
  const double base = die_area("h200-sxm", {}, {})->area_mm2;
  const auto large = die_area("h200-sxm", with("device.sms", "264"), {});
  EXPECT_GT(large->area_mm2, 1.4 * base);
  EXPECT_EQ(large->dies, 2);
  EXPECT_GT(die_area("h200-sxm", with("device.l2.capacity", "100 MiB"), {})->area_mm2, base);
}

TEST(DieArea, MemoryThatMovesMoreBytesHasMoreInterfaces) {
  const auto changed = [](const char* path, const char* before, const char* value) {
    std::vector<Parameter> parameters = with(path, value);
    parameters.front().before = before;
    return parameters;
  };
  for (const char* device : {"h200-sxm", "inferentia2"}) {
    const auto area = [&](const std::vector<Parameter>& parameters) {
      return die_area(device, parameters, {})->area_mm2;
    };
    const double base = area({});
    const double twice = area(changed("device.hbm.bandwidth", "1 TB/s", "2 TB/s"));
    EXPECT_GT(twice, base + 20) << device;
    EXPECT_NEAR(area(changed("device.hbm.stacks", "2", "4")), twice, 1e-6) << device;
  }
}

TEST(DieArea, FinerProcessIsSmallerButInterfacesStay) {
  const auto base = die_area("a100-sxm", {}, {});
  double before = base->area_mm2;
  for (const char* node : {"5nm", "4nm", "3nm"}) {
    const auto finer = die_area("a100-sxm", {}, {node, ""});
    EXPECT_LT(finer->area_mm2, before) << node;
    before = finer->area_mm2;
    EXPECT_EQ(finer->parts[4].name, "memory interfaces");
    EXPECT_DOUBLE_EQ(finer->parts[4].mm2, base->parts[4].mm2);
  }
}

TEST(DieArea, LargerDiesCostMoreAndYieldLess) {
  const auto small = die_area("l4", {}, {});
  const auto large = die_area("l40s", {}, {});
  EXPECT_GT(large->die_usd, small->die_usd * large->area_mm2 / small->area_mm2);
  EXPECT_LT(large->yield, small->yield);
}

TEST(DieArea, NodeThatIsNotInTheTablesNamesThoseThatAre) {
  try {
    die_area("a100-sxm", {}, {"2nm", ""});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("3nm"), std::string::npos) << error.what();
  }
  EXPECT_THROW(energy_change("a100-sxm", {"", "hbm9"}), UserError);
}

TEST(DieArea, DevicesThatAreNotInTheTablesHaveNone) {
  EXPECT_FALSE(die_area("xeon-8488c", {}, {}).has_value());
  try {
    energy_change("xeon-8488c", {"3nm", ""});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("'like: DEVICE'"), std::string::npos);
  }
}

std::vector<Parameter> neuron_device(double rows, double sbuf_mib) {
  const std::pair<const char*, std::string> values[] = {
      {"device.cores", "2"},           {"core.tensor.rows", fmt::format("{}", rows)},
      {"core.tensor.columns", "128"},  {"core.vector.lanes", "128"},
      {"core.scalar.lanes", "128"},    {"core.gpsimd.lanes", "128"},
      {"core.psum.capacity", "2 MiB"}, {"core.sbuf.capacity", fmt::format("{} MiB", sbuf_mib)}};
  std::vector<Parameter> parameters;
  for (const auto& [path, value] : values) parameters.push_back(with(path, value).front());
  return parameters;
}

TEST(DieArea, UnpublishedDiesAreTheSumOfTheirStatedParts) {
  const auto base = die_area("inferentia2", neuron_device(128, 24), {});
  ASSERT_TRUE(base.has_value());
  EXPECT_FALSE(base->is_published);
  const auto array = die_area("inferentia2", neuron_device(256, 24), {});
  const auto sbuf = die_area("inferentia2", neuron_device(128, 48), {});
  EXPECT_NEAR(array->area_mm2 - base->area_mm2, base->parts[0].mm2, 1e-9);  // twice the array
  EXPECT_NEAR(sbuf->area_mm2 - base->area_mm2, base->parts[2].mm2 * 24 / 26, 1e-9);
  EXPECT_LT(die_area("inferentia2", neuron_device(128, 24), {"3nm", ""})->area_mm2, base->area_mm2);
  EXPECT_LT(energy_change("inferentia2", {"3nm", ""}).switched, 1);
}

std::vector<Parameter> own_gpu(double sms) {
  const std::pair<const char*, std::string> values[] = {{"device.sms", fmt::format("{}", sms)},
                                                        {"device.clock.boost", "2 GHz"},
                                                        {"device.matrix_rate.bf16", "1000 TFLOP/s"},
                                                        {"device.l2.capacity", "64 MiB"},
                                                        {"device.sm.registers", "65536"},
                                                        {"device.sm.shared_memory", "228 KiB"},
                                                        {"device.hbm.stacks", "8"},
                                                        {"device.hbm.standard", "hbm3e"},
                                                        {"device.hbm.capacity", "192 GB"}};
  std::vector<Parameter> parameters;
  for (const auto& [path, value] : values) parameters.push_back(with(path, value).front());
  return parameters;
}

TEST(DieArea, AGpuThatIsOnlyAFileIsTheSumOfItsStatedParts) {
  EXPECT_FALSE(die_area("made-up", own_gpu(100), {}).has_value());  // as one of the project
  Likeness own;
  own.is_own = true;
  const auto base = die_area("made-up", own_gpu(100), {}, own);
  ASSERT_TRUE(base.has_value());
  EXPECT_FALSE(base->is_published);
  EXPECT_EQ(base->memory, "hbm3e");
  const auto large = die_area("made-up", own_gpu(110), {}, own);
  EXPECT_NEAR(large->parts[0].mm2, 1.1 * base->parts[0].mm2, 1e-9);
  EXPECT_NEAR(large->parts[1].mm2, base->parts[1].mm2, 1e-9);  // the rate is that of the chip
  EXPECT_LT(die_area("made-up", own_gpu(100), {"3nm", ""}, own)->area_mm2, base->area_mm2);
  Likeness changed = own;
  changed.device = "h200-sxm";
  changed.differs = {"device.l2.capacity"};
  const auto like = die_area("h200-sxm", with("device.l2.capacity", "100 MiB"), {}, changed);
  EXPECT_FALSE(like->is_published);
  EXPECT_DOUBLE_EQ(like->area_mm2,
                   die_area("h200-sxm", with("device.l2.capacity", "100 MiB"), {})->area_mm2);
}

TEST(DieArea, FinerProcessSwitchesForLess) {
  EXPECT_DOUBLE_EQ(energy_change("a100-sxm", {}).switched, 1);
  EXPECT_LT(energy_change("a100-sxm", {"4nm", ""}).switched, 1);
  EXPECT_LT(energy_change("a100-sxm", {"", "hbm3e"}).memory.value(), 0);
  // An H200 has that already; most devices with its dies do not.
  EXPECT_DOUBLE_EQ(energy_change("h200-sxm", {"", "hbm3e"}).memory.value(), 0);
  EXPECT_LT(energy_change("h100-sxm", {"", "hbm3e"}).memory.value(), 0);
}

}  // namespace
}  // namespace foretell
