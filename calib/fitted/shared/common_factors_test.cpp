// Numbers that all chips share: in range, each with a reason, and from the folder that is named.
#include "calib/fitted/shared/common_factors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "calib/fitted/shared/factors_folder.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(CommonFactors, AreAllInRange) {
  CommonFactors factors = common_factors();
  FieldList list;
  fields(list, factors);
  for (const Field& field : list.all()) EXPECT_NO_THROW(field.check()) << field.path;
}

TEST(CommonFactors, ComeFromTheNamedFolderAndNeedAReason) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("common"));
  std::string text = read_text_file(factors_folder() / "common" / "kernels.yaml");
  const std::string before = "cache_softness: {value: 0.6, why:";
  text.replace(text.find(before), before.size(), "cache_softnes: {value: 0.6, way:");
  folder.write("common/kernels.yaml", text);
  EXPECT_THAT(message_of<UserError>([&] { load_common_factors(folder.file("")); }),
              AllOf(HasSubstr("kernels.yaml:"), HasSubstr("nearest is 'cache_softness'")));
}

TEST(FactorsFolder, AFolderWithoutFactorsIsNone) {
  const TemporaryFolder folder;
  const auto refused = [&] {
    return message_of<UserError>([&] { factors_file(folder.file(""), "gpu"); });
  };
  EXPECT_THAT(refused(), HasSubstr("holds no factors; a folder of factors has"));
  std::filesystem::create_directories(folder.file("gpu/gemm"));
  EXPECT_THAT(refused(), HasSubstr("holds no factors; a folder of factors has"));
  folder.write("gpu/gemm/h100-sxm.yaml", "device: h100-sxm\n");
  EXPECT_EQ(factors_file(folder.file(""), "gpu"), std::filesystem::path(folder.file("")) / "gpu");
  EXPECT_EQ(factors_file(folder.file(""), "cpu"), factors_folder() / "cpu");
}

}  // namespace
}  // namespace foretell
