// Where the fitted numbers are.
#pragma once

#include <filesystem>
#include <string>

namespace foretell {

// By default calib/factors beside the program or of what it was built from; the environment
// variable FORETELL_FACTORS names another folder.
std::filesystem::path factors_folder();

// `name` ("energy/h100-sxm.yaml") in the folder that a request for factors names, where it is
// there; else in factors_folder(), whether it is there or not. A request that is no folder counts
// as none.
std::filesystem::path factors_file(const std::string& request, const std::filesystem::path& name);

}  // namespace foretell
