// Where the data files of the project lie: hw/, workloads/, calib/ and reports/ are folders of it.
#pragma once

#include <filesystem>

namespace foretell {

// The first of: the folder that FORETELL_ROOT names; share/foretell of the prefix that this program
// or library is installed in; the source tree that it was built from. Found once per process.
// UserError when FORETELL_ROOT names a folder without hw/sources.yaml.
const std::filesystem::path& data_root();

// share/foretell of the prefix that `binary` (a program in bin, a library in lib, lib/TRIPLET or
// lib/python3/dist-packages) is installed in; empty when there is none with data in it.
std::filesystem::path installed_data(const std::filesystem::path& binary);

}  // namespace foretell
