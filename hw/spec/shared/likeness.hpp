// The machine of the project that one of the user's own is taken for.
//
// What is measured are machines of the project's hw/. A file of the user's describes another one,
// whose factors, energies and dies are those of the machine that it names (`like: h100-sxm`), else
// of the one of its kind whose values differ least. It is that machine with the values that differ,
// as if they had been given with --set.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/config/document.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct Likeness {
  bool is_own = false;               // of the user's, or it says what it is like
  std::string device;                // that it is taken for: "h100-sxm"; "": none
  bool is_stated = false;            // its file names that device
  std::vector<std::string> differs;  // paths whose values do: "device.hbm.bandwidth"
  double size = 0;                   // sum of the logarithms of their ratios
  std::string note = {};             // what results say, once it is taken for that device
  std::map<std::string, std::string> measured = {};  // what that device has of what differs

  bool is_changed() const { return !device.empty() && !differs.empty(); }
};

// The folder hw/ that the measurements are of, whatever FORETELL_HW names; and is it this one?
std::filesystem::path project_hw_folder();
bool is_project_hw(const std::filesystem::path& hw);

// What a document says that it is like, one of `measured`, which are of a `kind`. UserError with
// file:line for another name.
Likeness stated_likeness(const Node& root, const std::vector<std::string>& measured,
                         const char* kind = "device");

// How values of `own` differ from those of `other`, a list of the same kind; those of the instance
// and those that `own` does not state are left out.
Likeness likeness_of(const FieldList& own, const std::string& id, const FieldList& other);

// The same for systems of a family, whose parameters all_fields() lists.
template <class System>
Likeness likeness_between(System own, const std::string& id, System other) {
  FieldList own_list;
  FieldList other_list;
  all_fields(own_list, own);
  all_fields(other_list, other);
  return likeness_of(own_list, id, other_list);
}

// Fewer values differ, or by less.
bool is_nearer(const Likeness& one, const Likeness& other);

// What a result says of it; "" for a machine of the project. `name`: of the user's device.
std::string likeness_note(const std::string& name, const Likeness& like);

}  // namespace foretell
