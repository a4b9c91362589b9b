// What predictions take of calib/factors/common, for their records.
#pragma once

#include <filesystem>
#include <string>

namespace foretell {

// How many of the common factors a prediction rests on. None was fitted alone, so all count as
// assumed; CPUs have the caches in common with GPUs.
int assumed_common_factors_of_gpus();
int assumed_common_factors_of_cpus();

// The text of their file, for the hash of the factors that a record names; "" where a folder of
// factors has none.
std::string common_factors_text(const std::filesystem::path& folder);

}  // namespace foretell
