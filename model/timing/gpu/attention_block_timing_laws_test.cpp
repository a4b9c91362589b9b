#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/timing/gpu/attention_block_timing.hpp"

namespace foretell {
namespace {

class AttentionBlockLaws : public ::testing::Test {
 protected:
  Seconds time() const { return attention_block_time(work, factors, device); }

  GpuDeviceSpec device = GpuCatalog().load("h200-sxm").spec.device;
  AttentionBlockWork work = [] {
    AttentionBlockWork parts;
    parts.products = Seconds(40e-6);
    parts.attention = Seconds(20e-6);
    parts.indexer = Seconds(10e-6);
    parts.others = Seconds(30e-6);
    parts.tokens = 1024;
    parts.heads = 16;
    return parts;
  }();
  AttentionBlockFactors factors;
};

TEST_F(AttentionBlockLaws, WithoutFactorsALayerIsTheSumOfItsKernels) {
  EXPECT_DOUBLE_EQ(time().value(), 100e-6);
}

TEST_F(AttentionBlockLaws, EveryFactorAddsWhatItsFormSays) {
  factors.products = 1.5;
  EXPECT_DOUBLE_EQ(time().value(), 120e-6);
  work.halvings = 1;
  EXPECT_DOUBLE_EQ(time().value(), 100e-6) << "products in FP8 are another number";
  factors.narrow = 2;
  EXPECT_DOUBLE_EQ(time().value(), 140e-6);
  factors.kernels = 10;
  const double small = 10 * device.launch_floor.value();
  EXPECT_DOUBLE_EQ(time().value(), 140e-6 + small);
  factors.head_copies = Bytes(1000);
  const double copies = 1000.0 * 1024 * 16 / device.hbm.bandwidth.value();
  EXPECT_DOUBLE_EQ(time().value(), 140e-6 + small + copies);
  factors.choice = Seconds(5e-6);
  const double before = time().value();
  work.chooses = true;
  EXPECT_DOUBLE_EQ(time().value(), before + 5e-6);
}

TEST_F(AttentionBlockLaws, TheHostHidesKernelsAndKernelsTheHost) {
  factors.host = Seconds(80e-6);
  EXPECT_DOUBLE_EQ(time().value(), 100e-6);
  factors.host = Seconds(800e-6);
  EXPECT_DOUBLE_EQ(time().value(), 800e-6);
  factors.host_quantises = Seconds(50e-6);
  work.halvings = 2;
  EXPECT_DOUBLE_EQ(time().value(), 900e-6);
  work.chooses = true;
  EXPECT_DOUBLE_EQ(time().value(), 900e-6) << "one host, where no second was fitted";
  factors.host_chooses = Seconds(1e-3);
  EXPECT_DOUBLE_EQ(time().value(), 1.1e-3);
}

TEST_F(AttentionBlockLaws, ACacheInFp8HasItsOwnTimeWhereOneWasFitted) {
  factors.attention = 2;
  work.narrow_cache = true;
  EXPECT_DOUBLE_EQ(attention_in_layer(factors, true), 2);
  factors.narrow_cache = 3;
  EXPECT_DOUBLE_EQ(attention_in_layer(factors, true), 3);
  EXPECT_DOUBLE_EQ(attention_in_layer(factors, false), 2);
  EXPECT_DOUBLE_EQ(time().value(), 140e-6);
}

// One query of 1,000 keys of 128 elements copies 1,024 bytes for each, and 16 of scores before and
// after the softmax of two heads: 1,040,000 bytes, of which 512 MiB hold 516.
TEST_F(AttentionBlockLaws, QueriesAreTakenInSlabsWhoseCopiesFitTheBudget) {
  ReferenceShape shape;
  shape.batch = 1;
  shape.queries = 1032;
  shape.keys = 1000;
  shape.heads = 2;
  shape.key_width = 128;
  const Bytes slab(512.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(reference_work(shape, slab).slabs, 2);
  shape.queries = 1033;
  EXPECT_DOUBLE_EQ(reference_work(shape, slab).slabs, 3);
  EXPECT_DOUBLE_EQ(reference_work(shape, Bytes(1)).slabs, 1033) << "a query at least";
}

TEST_F(AttentionBlockLaws, CopiesGrowWithPairsAndConversionsWithSlabs) {
  ReferenceShape shape;
  shape.batch = 4;
  shape.queries = 1024;
  shape.keys = 1024;
  shape.heads = 2;
  shape.key_width = 128;
  shape.index_width = 128;
  shape.index_heads = 4;
  const Bytes slab(512.0 * 1024 * 1024);
  const ReferenceWork once = reference_work(shape, slab);
  EXPECT_DOUBLE_EQ(once.expanded.value(), 4.0 * 1024 * 1024 * 4 * (384 * 3 + 2 * 9 + 4 * 8));
  EXPECT_DOUBLE_EQ(once.gathered.value(), 4.0 * 1024 * 384 * 2);
  ReferenceShape merged = shape;
  merged.key_heads = 2;
  EXPECT_DOUBLE_EQ(reference_work(merged, slab).expanded.value() - once.expanded.value(),
                   4.0 * 1024 * 1024 * 4 * 256 * 2)
      << "keys and values of two heads are copied once more";
  const ReferenceWork narrow = reference_work(shape, slab * 0.25);
  EXPECT_DOUBLE_EQ(narrow.expanded.value(), once.expanded.value());
  EXPECT_GT(narrow.converted.value(), 3 * once.converted.value());
  shape.queries *= 2;
  shape.keys *= 2;
  EXPECT_DOUBLE_EQ(reference_work(shape, slab).expanded.value(), 4 * once.expanded.value());
}

TEST_F(AttentionBlockLaws, APoolIsReadAndWrittenAsOftenAsItIsLarger) {
  ReferenceShape shape;
  shape.batch = 8;
  shape.keys = 1024;
  shape.index_width = 128;
  const ReferenceWork copy = pool_copy(shape, 2);
  EXPECT_DOUBLE_EQ(copy.converted.value(), 2 * 2 * 2.0 * 8 * 1024 * 128);
  work.reference = copy;
  factors.convert = 0.5;
  EXPECT_NEAR(time().value(), 100e-6 + copy.converted.value() / device.hbm.bandwidth.value() * 2,
              1e-12);
}

}  // namespace
}  // namespace foretell
