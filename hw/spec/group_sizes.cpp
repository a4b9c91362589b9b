#include "hw/spec/group_sizes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "model/base/errors.hpp"

namespace foretell {

std::vector<int> parse_group_sizes(const std::string& text) {
  std::vector<int> sizes;
  std::string_view rest = text;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    int size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const int above = sizes.empty() ? 1 : sizes.back();
    if (error != std::errc() || size <= above || (!rest.empty() && rest.front() != ',')) {
      throw UserError(fmt::format(
          "'{}' is no list of ascending whole numbers above 1, such as '2, 4, 8'", text));
    }
    sizes.push_back(size);
    if (rest.empty()) return sizes;
    rest.remove_prefix(1);
  }
}

std::vector<int> allowed_group_sizes(const NeuronSystemSpec& system) {
  std::vector<int> allowed = {1};
  for (const int size : parse_group_sizes(system.device.collective.group_sizes)) {
    if (size <= system.devices * system.device.cores) allowed.push_back(size);
  }
  return allowed;
}

void require_group_size(const NeuronSystemSpec& system, int ranks) {
  if (ranks == 1) return;
  const std::vector<int> allowed = allowed_group_sizes(system);
  if (std::find(allowed.begin(), allowed.end(), ranks) != allowed.end()) return;
  throw UserError(fmt::format("tensor parallel degree {} is not possible on {}; possible are {}",
                              ranks, system.id, fmt::join(allowed, ", ")));
}

}  // namespace foretell
