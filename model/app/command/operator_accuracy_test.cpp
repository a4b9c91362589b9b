// Measured operators of shape families that no factor was fitted to, and of a GPU that is left out
// altogether, against thresholds. Skipped without the published tables.
#include <gtest/gtest.h>

#include "model/app/command/testing/published_limit.hpp"

namespace foretell {
namespace {

constexpr const char* kOperators = "gpu_operators_fp32.csv.gz";

class OperatorAccuracy : public ::testing::TestWithParam<PublishedLimit> {};

TEST_P(OperatorAccuracy, HeldOutFamiliesAreWithinTheLimit) {
  expect_within(GetParam(), /*left_out=*/false);
}

class OperatorTransfer : public ::testing::TestWithParam<PublishedLimit> {};

TEST_P(OperatorTransfer, AGpuThatWasNeverMeasuredIsWithinTheLimit) {
  expect_within(GetParam(), /*left_out=*/true);
}

constexpr const char* kLayers = "gpu_layers_fp16.csv.gz";
constexpr const char* kQuantise = "gpu_quantise.csv.gz";
constexpr const char* kElementWise = "op=add,div,mul,pow,addu,divu,mulu,powu,relu,gelu,tanh";

INSTANTIATE_TEST_SUITE_P(
    Tables, OperatorAccuracy,
    ::testing::Values(PublishedLimit{kOperators, "a100_pcie_40gb", {"op=linear"}, 7.8},
                      PublishedLimit{kOperators, "v100_pcie_32gb", {"op=linear"}, 6.5},
                      PublishedLimit{kOperators, "t4", {"op=linear"}, 12.3},
                      PublishedLimit{kOperators, "p100_pcie_16gb", {"op=linear"}, 11.6},
                      PublishedLimit{kOperators, "a100_pcie_40gb", {"op=bmm"}, 3.6},
                      PublishedLimit{kOperators, "v100_pcie_32gb", {"op=bmm"}, 8.6},
                      PublishedLimit{kOperators, "p100_pcie_16gb", {"op=bmm"}, 3.3},
                      PublishedLimit{kOperators, "v100_pcie_32gb", {"op=conv"}, 15.8},
                      PublishedLimit{kOperators, "t4", {"op=conv"}, 15.9},
                      PublishedLimit{kOperators, "p100_pcie_16gb", {"op=conv"}, 19.8},
                      PublishedLimit{kOperators, "a100_pcie_40gb", {kElementWise}, 2.9},
                      PublishedLimit{kOperators, "v100_pcie_32gb", {kElementWise}, 1.2},
                      PublishedLimit{kOperators, "t4", {kElementWise}, 4},
                      PublishedLimit{kOperators, "p100_pcie_16gb", {kElementWise}, 2.3},
                      PublishedLimit{kOperators, "t4", {"op=softmax,ln"}, 9},
                      PublishedLimit{kLayers, "a100", {"op=mlp_up_proj,mlp_down_proj"}, 6.5},
                      PublishedLimit{kLayers, "a100", {"op=mlp_act"}, 6},
                      PublishedLimit{kLayers, "a100", {"op=attn_rope"}, 11.5},
                      PublishedLimit{kQuantise, "h100_sxm", {"op=scale_matrix"}, 6.8}));

INSTANTIATE_TEST_SUITE_P(
    Gpus, OperatorTransfer,
    ::testing::Values(PublishedLimit{kOperators, "a100_pcie_40gb", {"op=linear"}, 10},
                      PublishedLimit{kOperators, "v100_pcie_32gb", {"op=linear"}, 9},
                      PublishedLimit{kOperators, "a100_pcie_40gb", {"op=bmm"}, 9.5},
                      PublishedLimit{kOperators, "a100_pcie_40gb", {kElementWise}, 4.2},
                      PublishedLimit{kOperators, "v100_pcie_32gb", {kElementWise}, 3.6},
                      PublishedLimit{kOperators, "v100_pcie_32gb", {"op=softmax,ln"}, 9},
                      PublishedLimit{kOperators, "t4", {kElementWise}, 12.5}));

}  // namespace
}  // namespace foretell
