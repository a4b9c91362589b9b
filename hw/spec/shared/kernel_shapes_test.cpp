// Shapes of kernels are read with their reasons, and what is wrong with them is said with its
// place.
#include "hw/spec/shared/kernel_shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A folder like hw/ in whose shapes `from` is `to`.
class ChangedShapes {
 public:
  ChangedShapes(const std::string& from, const std::string& to) {
    const std::string text = read_text_file(hw_folder() / "kernels" / "layers" / "shapes.yaml");
    EXPECT_NE(text.find(from), std::string::npos) << from;
    fs::create_directories(hw() / "kernels" / "layers");
    fs::copy_file(hw_folder() / "sources.yaml", hw() / "sources.yaml");
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(hw() / "kernels" / "layers" / "shapes.yaml") << changed;
  }
  fs::path hw() const { return folder_.file("hw"); }

 private:
  TemporaryFolder folder_;
};

KernelShapes shapes_of(const fs::path& hw) {
  std::map<std::string, Provenance> provenance;
  return load_kernel_shapes(hw, provenance);
}

std::string problem_with(const std::string& from, const std::string& to) {
  const ChangedShapes changed(from, to);
  return message_of<UserError>([&] { shapes_of(changed.hw()); });
}

TEST(KernelShapes, AreThoseOfTheFile) {
  const ChangedShapes changed("switch_ranks: {value: 8", "switch_ranks: {value: 16");
  EXPECT_EQ(shapes_of(changed.hw()).collectives.switch_ranks, 16);
  EXPECT_EQ(kernel_shapes().collectives.switch_ranks,
            shapes_of(hw_folder()).collectives.switch_ranks);
}

// Each assumed value of the file is counted once, for GPUs or for CPUs.
TEST(KernelShapes, AssumedOnesAreCounted) {
  const std::string text = read_text_file(hw_folder() / "kernels" / "layers" / "shapes.yaml");
  const std::string assumed = "kind: assumed";
  const std::size_t loops = text.find("\nloops:");
  int all = 0;
  int of_loops = 0;
  for (std::size_t at = text.find(assumed); at != std::string::npos;
       at = text.find(assumed, at + 1)) {
    ++all;
    if (at > loops) ++of_loops;
  }
  EXPECT_EQ(assumed_shapes_of_cpu_loops(), of_loops);
  EXPECT_EQ(assumed_shapes_of_gpu_kernels(), all - of_loops);
  EXPECT_GT(of_loops, 0);
}

TEST(KernelShapes, WhatIsInTheFolderChangesItsHash) {
  const ChangedShapes one("switch_ranks: {value: 8", "switch_ranks: {value: 16");
  const ChangedShapes same("switch_ranks: {value: 8", "switch_ranks: {value: 16");
  const ChangedShapes other("switch_ranks: {value: 8", "switch_ranks: {value: 4");
  EXPECT_EQ(kernel_files_hash(one.hw()), kernel_files_hash(same.hw()));
  EXPECT_NE(kernel_files_hash(one.hw()), kernel_files_hash(other.hw()));
  EXPECT_EQ(kernel_files_hash(one.hw() / "nothing"), "");
}

TEST(KernelShapes, TriplesAreThreeWholeNumbersEach) {
  using Triple = std::array<int, 3>;
  EXPECT_THAT(triples("128x64x4 1x2x3"), ElementsAre(Triple{128, 64, 4}, Triple{1, 2, 3}));
  for (const char* wrong : {"", "128x64", "128x64x", "0x1x1", "1x1x1x1", "axbxc", "1-1-1"}) {
    EXPECT_THROW(triples(wrong), UserError) << wrong;
  }
}

TEST(KernelShapes, SayWhatIsWrongAndWhere) {
  EXPECT_THAT(problem_with("hop: {value: 1 us", "hop: {value: 1 GB"),
              AllOf(HasSubstr("shapes.yaml:"), HasSubstr("collectives.hop")));
  EXPECT_THAT(problem_with("block_rows: {value: 64", "block_rows: {value: 0"),
              HasSubstr("loops.block_rows"));
  EXPECT_THAT(problem_with("  block_rows:", "  block_row:"), HasSubstr("block_row"));
  EXPECT_THAT(problem_with(", why: \"rows that one chunk holds\"", ""), HasSubstr("why"));
  EXPECT_THAT(problem_with("128x128x2 128x64x4", "128x128 128x64x4"),
              AllOf(HasSubstr("shapes.yaml"), HasSubstr("'128x128'")));
}

}  // namespace
}  // namespace foretell
