// The file of a device or a core, which may say what it is like.
//
//   id: mine
//   like: h100-sxm
//   hbm:
//     bandwidth: 6 TB/s
//
// What such a file leaves out is that of the one of the project's hw/ that it names, with its
// source. What it states is given by the user, as with --set: a plain value is enough, and it does
// not count as assumed. A file that states every value takes none from another. `~` leaves an entry
// out: `matrix_rate: {fp8: ~}`.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hw/spec/shared/provenance.hpp"
#include "model/config/document.hpp"
#include "model/config/fields.hpp"

namespace foretell {

class DeviceFile {
 public:
  // `folder` has the files that `like` may name; `like` is "" where it names none.
  DeviceFile(const Node& root, const std::filesystem::path& folder, const std::string& like);

  // The text at a key of the file, else of the one that it is like; UserError with file:line.
  std::string text(std::string_view key) const;
  // What messages call it: the name that it states; where it is like another one, its id.
  std::string name() const;
  // The node at that key; UserError where there is none.
  const Node& stating(std::string_view key) const;
  bool states(std::string_view key) const { return root_.find(key) != nullptr; }

  // Assigns all values. Keys of the root in `skip` are the caller's own. Returns the paths that the
  // file states where the rest is taken from another; none where it states every value.
  std::set<std::string> load(FieldList& list, const std::vector<std::string>& skip,
                             const Bibliography& bibliography,
                             std::map<std::string, Provenance>& provenance,
                             Problems& problems) const;

  // Of the file that this one is like, "" where nothing is taken from it.
  std::string bytes_taken(const FieldList& list) const;

 private:
  bool states_all(const FieldList& list) const;

  Node root_;                          // without what it leaves out of the parent
  std::filesystem::path parent_file_;  // "": none
  Node parent_;
  bool takes_from_own_ = false;  // another file of the user's (own_parents.hpp)
};

}  // namespace foretell
