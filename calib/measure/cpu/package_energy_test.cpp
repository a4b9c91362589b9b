#include "calib/measure/cpu/package_energy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

class PackageEnergyFolder : public testing::Test {
 protected:
  void write(const std::string& entry, const std::string& file, const std::string& text) const {
    fs::create_directories(folder_ / entry);
    std::ofstream(folder_ / entry / file) << text << "\n";
  }
  std::string path() const { return folder_.string(); }
  void remove(const std::string& entry) const { fs::remove_all(folder_ / entry); }

 private:
  TemporaryFolder own_;
  fs::path folder_ = own_.file("");
};

TEST_F(PackageEnergyFolder, AddsPackagesAndLeavesTheirPartsOut) {
  write("intel-rapl:0", "energy_uj", "1000000");
  write("intel-rapl:1", "energy_uj", "5000000");
  write("intel-rapl:0:0", "energy_uj", "7");
  write("intel-rapl", "enabled", "1");
  const PackageEnergy energy(path());
  EXPECT_EQ(energy.joules(), 0);
  write("intel-rapl:0", "energy_uj", "4000000");
  write("intel-rapl:1", "energy_uj", "5500000");
  write("intel-rapl:0:0", "energy_uj", "900000000");
  EXPECT_EQ(energy.joules(), 3.5);
}

TEST_F(PackageEnergyFolder, ACounterThatBeginsAnewGoesOn) {
  write("intel-rapl:0", "energy_uj", "9000000");
  write("intel-rapl:0", "max_energy_range_uj", "10000000");
  const PackageEnergy energy(path());
  write("intel-rapl:0", "energy_uj", "1500000");
  EXPECT_EQ(energy.joules(), 2.5);
}

TEST_F(PackageEnergyFolder, WithoutItsRangeACounterThatFellIsUnknown) {
  write("intel-rapl:0", "energy_uj", "9000000");
  const PackageEnergy energy(path());
  write("intel-rapl:0", "energy_uj", "1500000");
  EXPECT_FALSE(energy.joules().has_value());
}

TEST_F(PackageEnergyFolder, WhatCannotBeReadIsUnknown) {
  EXPECT_FALSE(PackageEnergy(path()).joules().has_value());
  EXPECT_FALSE(PackageEnergy(path() + "/nothing").joules().has_value());
  write("intel-rapl:0", "energy_uj", "1000000");
  write("intel-rapl:1", "energy_uj", "not a number");
  EXPECT_FALSE(PackageEnergy(path()).joules().has_value());
  remove("intel-rapl:1");
  const PackageEnergy energy(path());
  remove("intel-rapl:0");
  EXPECT_FALSE(energy.joules().has_value());
}

}  // namespace
}  // namespace foretell
