#include "hw/spec/shared/counted_name.hpp"

#include <vector>

#include "model/base/names.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {

CountedName counted_name(std::string_view id) {
  std::vector<std::string> runs = runs_of(id);
  const std::size_t last = runs.size();
  CountedName counted;
  if (last < 3) return counted;
  const std::string_view before = trim(id.substr(0, id.find_last_not_of("0123456789") + 1));
  if (runs[last - 2] == "x" && ends_with(to_lower(before), "x")) {
    counted.count = to_count(runs[last - 1]).value_or(-1);
    runs.resize(last - 2);
  } else if (starts_with(runs[1], "x") && starts_with(id, runs[0])) {
    counted.count = to_count(runs[0]).value_or(-1);
    runs[1].erase(0, 1);  // "4xh200" has "4", "xh" and "200"
    runs.erase(runs.begin());
  }
  counted.name = join(runs, "-");
  return counted;
}

}  // namespace foretell
