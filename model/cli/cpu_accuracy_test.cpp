// The committed factors against the committed measurements that they did not see.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "calib/fit/cpu_fit.hpp"
#include "hw/spec/cpu_catalog.hpp"
#include "hw/spec/cpu_host.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

// The machine that was measured: two cores of a virtual machine.
CpuSystemSpec measured_machine() {
  HostFacts facts;
  facts.name = "AMD EPYC";
  facts.vendor = "AuthenticAMD";
  facts.family = 25;
  facts.model = 17;
  facts.flags = {"avx2", "avx512f", "avx512_vnni", "avx512_bf16"};
  facts.logical = facts.cores = 2;
  facts.memory_bytes = 24e9;
  facts.l1 = {32 * 1024.0, 1};
  facts.l2 = {1024 * 1024.0, 1};
  facts.l3 = {32768 * 1024.0, 2};
  return CpuCatalog()
      .parse(host_system_yaml(facts), host_device_yaml(facts), "the machine", {})
      .spec;
}

std::vector<CpuRow> measured_rows() {
  const std::string path =
      std::string(FORETELL_SOURCE_DIR) + "/calib/data/amd-epyc-zen4-vm/measurements.jsonl.gz";
  InputFile file(path);
  std::vector<Measurement> measurements;
  for (std::string line; file.read_line(line);) {
    measurements.push_back(parse_measurement(line, path));
  }
  return cpu_rows_of(measurements).rows;
}

struct Error {
  double sum = 0;
  int rows = 0;
  double mape() const { return sum / rows; }
};

// By class, of rows that no factor was fitted to.
std::map<std::string, Error> held_out_errors() {
  const CpuSystemSpec system = measured_machine();
  const ChosenCpuFactors chosen = choose_cpu_factors(system.device, "");
  EXPECT_EQ(chosen.note, "");
  std::map<std::string, Error> errors;
  for (const CpuRow& row : measured_rows()) {
    if (!row.held_out) continue;
    Error& error = errors[operator_class(row.op)];
    error.sum += std::abs(predicted_us(system, chosen.factors, row) / row.measured_us - 1);
    ++error.rows;
  }
  return errors;
}

TEST(CpuData, HeldOutShapesAreWithinTheirThresholds) {
  const std::map<std::string, Error> errors = held_out_errors();
  const std::map<std::string, double> thresholds = {
      {"product fp32", 0.10}, {"product bf16", 0.10}, {"product int8", 0.10},
      {"softmax", 0.12},      {"layer_norm", 0.12},   {"element-wise", 0.12},
  };
  for (const auto& [name, threshold] : thresholds) {
    ASSERT_EQ(errors.count(name), 1U) << name;
    EXPECT_GE(errors.at(name).rows, 8) << name;
    EXPECT_LE(errors.at(name).mape(), threshold) << name;
  }
}

TEST(CpuData, WholeBlocksAreWithinTenPercent) {
  const std::map<std::string, Error> errors = held_out_errors();
  ASSERT_EQ(errors.count("block"), 1U);
  EXPECT_LE(errors.at("block").mape(), 0.10);
}

}  // namespace
}  // namespace foretell
