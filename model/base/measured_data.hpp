// Where the tables lie that others measured and published. They are not part of the project.
#pragma once

#include <filesystem>
#include <string>

namespace foretell {

// The folder that FORETELL_DATA names; where it is not set, shared/data beside the source tree;
// empty where neither is there, or where FORETELL_DATA is set to nothing. Read anew by each call.
std::filesystem::path measured_data_folder();

// The file that a command names: `given` as it stands where such a file is, or where it names a
// folder; a bare name that is not here is the file of that name in the folder of measured data.
std::string measured_table(const std::string& given);

}  // namespace foretell
