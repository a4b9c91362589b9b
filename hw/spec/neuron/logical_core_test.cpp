#include "hw/spec/neuron/logical_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

double peak_flops(const NeuronDeviceSpec& device) {
  const TensorEngineSpec& tensor = device.core.tensor;
  return 2.0 * tensor.rows * tensor.columns * tensor.clock.value() * device.cores;
}

double dma_rate(const NeuronDeviceSpec& device) {
  return device.core.dma.engine_rate.value() * device.core.dma.engines * device.cores;
}

double on_chip(const NeuronDeviceSpec& device) {
  return device.core.sbuf.capacity.value() * device.cores;
}

TEST(LogicalCore, JoiningCoresKeepsWhatTheDeviceHas) {
  const NeuronDeviceSpec physical =
      load_calibrated("trn2.48xlarge", {{"device.cores_per_logical_core=1"}, ""}).spec.device;
  const NeuronDeviceSpec logical = load_calibrated("trn2.48xlarge", {{}, ""}).spec.device;
  EXPECT_EQ(physical.cores, 8);
  EXPECT_EQ(logical.cores, 4);
  EXPECT_DOUBLE_EQ(peak_flops(logical), peak_flops(physical));
  EXPECT_DOUBLE_EQ(dma_rate(logical), dma_rate(physical));
  EXPECT_DOUBLE_EQ(on_chip(logical), on_chip(physical));
  EXPECT_DOUBLE_EQ(logical.host.runtime_memory.value() * logical.cores,
                   physical.host.runtime_memory.value() * physical.cores);
  EXPECT_EQ(logical.core.tensor.rows, physical.core.tensor.rows);
}

TEST(LogicalCore, OtherDevicesHaveNone) {
  const NeuronDeviceSpec device = load_calibrated("inf2.xlarge", {{}, ""}).spec.device;
  EXPECT_EQ(device.cores_per_logical_core, 0);
  EXPECT_EQ(device.cores, 2);
}

TEST(LogicalCore, WholeLogicalCoresOnly) {
  try {
    load_calibrated("trn2.48xlarge", {{"device.cores_per_logical_core=3"}, ""});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("8 cores of trainium2 are no whole number"));
  }
}

}  // namespace
}  // namespace foretell
