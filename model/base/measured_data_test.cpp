#include "model/base/measured_data.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

class MeasuredData : public ::testing::Test {
 protected:
  MeasuredData() {
    temporary_.write("rows.csv", "a,b\n");
    if (const char* before = std::getenv("FORETELL_DATA")) before_ = before;
    setenv("FORETELL_DATA", folder_.c_str(), 1);
  }
  ~MeasuredData() override {
    unsetenv("FORETELL_DATA");
    if (!before_.empty()) setenv("FORETELL_DATA", before_.c_str(), 1);
  }
  MeasuredData(const MeasuredData&) = delete;
  MeasuredData& operator=(const MeasuredData&) = delete;

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();

 private:
  std::string before_;
};

TEST_F(MeasuredData, ABareNameThatIsNotHereIsTheOneOfTheFolder) {
  EXPECT_EQ(measured_table("rows.csv"), (folder_ / "rows.csv").string());
  EXPECT_EQ(measured_table("others.csv"), "others.csv");
  EXPECT_EQ(measured_table("./rows.csv"), "./rows.csv");
  EXPECT_EQ(measured_table("-"), "-");
  EXPECT_EQ(measured_table(""), "");
}

TEST_F(MeasuredData, WhatIsHereComesFirst) {
  const fs::path before = fs::current_path();
  const fs::path here = folder_ / "here";
  fs::create_directories(here);
  std::ofstream(here / "rows.csv") << "c\n";
  fs::current_path(here);
  EXPECT_EQ(measured_table("rows.csv"), "rows.csv");
  fs::current_path(before);
}

TEST_F(MeasuredData, AnEmptyNameMeansNone) {
  setenv("FORETELL_DATA", "", 1);
  EXPECT_EQ(measured_table("rows.csv"), "rows.csv");
}

}  // namespace
}  // namespace foretell
