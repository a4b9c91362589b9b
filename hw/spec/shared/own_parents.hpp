// Files of the user's that are like one another.
//
//   id: faster
//   like: ./mine.yaml
//   hbm: {bandwidth: 8 TB/s}
//   matrix_rate: {fp8: ~}
//
// Such a file takes what it leaves out from the one beside it, which may be like another file or
// like a device of the project. An entry of nothing (`~`, null) leaves out what the other one has.
#pragma once

#include <filesystem>
#include <string>

#include "model/config/document.hpp"

namespace foretell {

// The document of the file `path` with all that it takes from files of the user's; its `like` is
// then that of the last of them. Their bytes are added to `bytes`. UserError for files that are
// like one another in a circle, and for one that is not there.
Node with_own_parents(Node root, const std::filesystem::path& path, std::string& bytes);
// The same of a file by its name.
Node load_with_own_parents(const std::filesystem::path& path);

// Takes out of both what `own` states as nothing. UserError when neither `parent` nor a file of the
// user's has it.
void leave_out_entries(Node& own, Node& parent);

}  // namespace foretell
