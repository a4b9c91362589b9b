// The committed factors against the committed measurements that they did not see.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "calib/fit/cpu_fit.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/cpu/cpu_host.hpp"
#include "model/app/command/calibrate/cpu_intervals.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

// Two cores of a virtual machine each.
HostFacts epyc() {
  HostFacts facts;
  facts.name = "AMD EPYC";
  facts.vendor = "AuthenticAMD";
  facts.family = 25;
  facts.flags = {"avx2", "avx512f", "avx512_vnni", "avx512_bf16"};
  facts.logical = facts.cores = 2;
  facts.memory_bytes = 24e9;
  facts.l1 = {32 * 1024.0, 1};
  facts.l2 = {1024 * 1024.0, 1};
  facts.l3 = {32768 * 1024.0, 2};
  return facts;
}

HostFacts xeon() {
  HostFacts facts = epyc();
  facts.name = "Intel(R) Xeon(R) Processor";
  facts.vendor = "GenuineIntel";
  facts.family = 6;
  facts.flags = {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile"};
  facts.l1 = {48 * 1024.0, 1};
  facts.l2 = {2048 * 1024.0, 1};
  facts.l3 = {491520 * 1024.0, 2};
  return facts;
}

std::vector<CpuRow> measured_rows(const std::string& machine) {
  const std::string path =
      std::string(FORETELL_SOURCE_DIR) + "/calib/data/" + machine + "/measurements.jsonl.gz";
  InputFile file(path);
  std::vector<Measurement> measurements;
  for (std::string line; file.read_line(line);) {
    measurements.push_back(parse_measurement(line, path));
  }
  return cpu_rows_of(measurements).rows;
}

using Errors = std::map<std::string, std::vector<Comparison>>;

// By class, of rows that no factor was fitted to; "all" of them.
Errors errors_of(const HostFacts& facts, const std::string& machine) {
  LoadedCpuSystem system =
      CpuCatalog().parse(host_system_yaml(facts), host_device_yaml(facts), "the machine", {});
  const ChosenCpuFactors chosen = choose_cpu_factors(system.spec.device, "");
  EXPECT_EQ(chosen.note, "");
  use_measured_clock(chosen, system);
  Errors errors;
  for (const CpuRow& row : measured_rows(machine)) {
    if (!row.held_out) continue;
    const Comparison judged = judge_cpu_row(system.spec, chosen.factors, chosen.intervals, row);
    errors[operator_class(row.op)].push_back(judged);
    if (operator_class(row.op) == "block") {
      errors[row.op.op + " " + row.op.dtype].push_back(judged);
    }
    errors["all"].push_back(judged);
  }
  return errors;
}

const Errors& held_out() {
  static const Errors kErrors = errors_of(epyc(), "amd-epyc-zen4-vm");
  return kErrors;
}

const Errors& held_out_of_xeon() {
  static const Errors kErrors = errors_of(xeon(), "intel-xeon-amx-vm");
  return kErrors;
}

TEST(CpuData, HeldOutShapesAreWithinTheirThresholds) {
  const std::map<std::string, double> thresholds = {
      {"product fp32", 0.10}, {"product bf16", 0.10},     {"product int8", 0.10},
      {"softmax", 0.12},      {"layer_norm", 0.12},       {"element-wise", 0.12},
      {"reduce", 0.12},       {"convolution fp32", 0.10}, {"convolution bf16", 0.10},
      {"product, cold", 0.20}};  // which the machine repeats to 0.14
  for (const auto& [name, threshold] : thresholds) {
    ASSERT_EQ(held_out().count(name), 1U) << name;
    const Accuracy accuracy = accuracy_of(held_out().at(name));
    EXPECT_GE(accuracy.n, 8U) << name;
    EXPECT_LE(accuracy.mape, threshold) << name;
  }
}

// With one and with two threads, three shapes each.
TEST(CpuData, BlocksThatWereNeverMeasuredAsAWholeAreWithinTenPercent) {
  for (const char* op : {"bert_layer", "resnet_block"}) {
    for (const char* dtype : {"fp32", "bf16", "int8"}) {
      const std::string name = std::string(op) + " " + dtype;
      ASSERT_EQ(held_out().count(name), 1U) << name;
      EXPECT_EQ(held_out().at(name).size(), 6U) << name;
      EXPECT_LE(accuracy_of(held_out().at(name)).mape, 0.10) << name;
    }
  }
}

// A machine with a matrix unit, whose library takes scalar code for reductions and odd rows.
TEST(CpuData, AMatrixUnitIsWithinItsThresholds) {
  const std::map<std::string, double> thresholds = {
      {"product fp32", 0.12}, {"product bf16", 0.27},     {"product int8", 0.18},
      {"softmax", 0.08},      {"convolution fp32", 0.07}, {"convolution bf16", 0.16},
      {"block", 0.12},        {"convolution int8", 0.18}, {"all", 0.17}};
  for (const auto& [name, threshold] : thresholds) {
    ASSERT_EQ(held_out_of_xeon().count(name), 1U) << name;
    EXPECT_LE(accuracy_of(held_out_of_xeon().at(name)).mape, threshold) << name;
  }
}

// Intervals come from rows that are fitted to, each predicted without its family.
TEST(CpuData, IntervalsHoldOnRowsThatTookNoPartInThem) {
  for (const Errors* errors : {&held_out(), &held_out_of_xeon()}) {
    const Accuracy accuracy = accuracy_of(errors->at("all"));
    ASSERT_TRUE(accuracy.coverage.has_value());
    EXPECT_GE(*accuracy.coverage, 0.75);
    EXPECT_LE(*accuracy.coverage, 0.88);
  }
}

}  // namespace
}  // namespace foretell
