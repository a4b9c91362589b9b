// A folder of one's own counts before the standard one, kind by kind and table by table.
#include "calib/fitted/gpu/gpu_factor_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;

GpuDeviceSpec h100() { return GpuCatalog().load("h100-sxm").spec.device; }

// Every file of the kinds with one text replaced wherever it stands.
void copy_changed(const fs::path& to, const std::string& kind, const std::string& from_text,
                  const std::string& by) {
  fs::create_directories(to / "gpu" / kind);
  for (const auto& entry : fs::directory_iterator(factors_folder() / "gpu" / kind)) {
    std::string text = read_text_file(entry.path());
    for (std::size_t at = text.find(from_text); at != std::string::npos;
         at = text.find(from_text, at + by.size())) {
      text.replace(at, from_text.size(), by);
    }
    std::ofstream(to / "gpu" / kind / entry.path().filename()) << text;
  }
}

TEST(GpuFactorTables, ANamedFolderCountsBeforeTheStandardOne) {
  const TemporaryFolder folder;
  const fs::path mine = folder.file("mine");
  copy_changed(mine, "attention", "    interval80: [", "    interval80: [0.001, 99] # ");
  const GpuFactors standard(h100(), "");
  const GpuFactors own(h100(), mine.string());
  const std::vector<std::string> tables = {"trtllm context bf16 bf16"};
  EXPECT_EQ(own.attention(tables)->interval_high, 99);
  EXPECT_LT(standard.attention(tables)->interval_high, 2);
  EXPECT_EQ(own.gemm("bf16").launch, standard.gemm("bf16").launch);  // which it has not
  EXPECT_NE(own.id(), standard.id());
  EXPECT_EQ(standard.tables()->note(), "");
  EXPECT_THAT(own.tables()->note(), AllOf(HasSubstr("factors of attention are those of"),
                                          HasSubstr("none of gemm, collective, operator")));
}

// A library whose kernels for small sums were measured has these in its networks, too.
TEST(GpuFactorTables, NetworksHaveTheSumsOfTheirOwnLibrary) {
  const GpuFactorTables tables({factors_folder()});
  for (const std::string id : {"vllm", "sglang", "trtllm"}) {
    ASSERT_TRUE(tables.kernels("collective").knows(id + "_custom graph")) << id;
    EXPECT_EQ(kernel_libraries().of_networks(id).custom_sums, id + "_custom");
  }
}

TEST(GpuFactorTables, EveryKindIsTakenFromTheFolder) {
  const TemporaryFolder folder;
  for (const char* kind : {"collective", "operator", "experts", "mla", "mla_products",
                           "state_space", "expert_exchange"}) {
    const fs::path mine = folder.file(kind);
    copy_changed(mine, kind, "    interval80: [", "    interval80: [0.001, 99] # ");
    const GpuFactorTables own({mine, factors_folder()});
    const KernelFactorsLibrary& library = own.kernels(kind);
    ASSERT_FALSE(library.tables().empty()) << kind;
    EXPECT_GE(library.choose(h100(), {library.tables().front()}).set.interval_high, 99) << kind;
    EXPECT_NE(own.hash(), GpuFactorTables({factors_folder()}).hash()) << kind;
  }
}

TEST(GpuFactorTables, WhatAllShareIsTakenFromTheFolderToo) {
  const TemporaryFolder folder;
  const fs::path mine = folder.file("mine");
  fs::create_directories(mine / "common");
  const std::string standard = read_text_file(factors_folder() / "common" / "kernels.yaml");
  std::ofstream(mine / "common" / "kernels.yaml") << std::regex_replace(
      standard, std::regex("cache_softness: .value: [0-9.]+"), "cache_softness: {value: 0.25");
  EXPECT_EQ(GpuFactorTables({mine, factors_folder()}).common().cache_softness, 0.25);
  EXPECT_EQ(GpuFactorTables({factors_folder()}).common().cache_softness,
            common_factors().cache_softness);
  fs::create_directories(mine / "gpu");
  fs::create_directory_symlink(factors_folder() / "gpu" / "gemm", mine / "gpu" / "gemm");
  const GpuFactors factors(h100(), mine.string());
  EXPECT_EQ(factors.gemm("bf16").common.cache_softness, 0.25);
  EXPECT_EQ(factors.attention({"trtllm context bf16 bf16"})->factors.common.cache_softness, 0.25);
}

TEST(GpuFactorTables, FoldersWithoutFactorsSayWhatToName) {
  EXPECT_THAT(message_of<UserError>([] { GpuFactorTables::of("nowhere"); }),
              AllOf(HasSubstr("'nowhere' is no folder"), HasSubstr("calibrate fit -o")));
  const std::string gemm = (factors_folder() / "gpu" / "gemm").string();
  EXPECT_THAT(message_of<UserError>([&] { GpuFactorTables::of(gemm); }),
              HasSubstr("name the folder that holds gpu/gemm"));
}

}  // namespace
}  // namespace foretell
