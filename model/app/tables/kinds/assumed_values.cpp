#include "model/app/tables/kinds/assumed_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace foretell {
namespace {

constexpr std::size_t kShownAssumptions = 8;

}  // namespace

void AssumedValues::add(const std::vector<std::string>& assumed) {
  for (const std::string& text : assumed) ++rows_[text];
}

std::vector<std::string> AssumedValues::texts(std::size_t rows) const {
  std::vector<std::pair<std::string, std::size_t>> sorted(rows_.begin(), rows_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (const auto& [text, count] : sorted) {
    if (texts.size() == kShownAssumptions) {
      texts.push_back(fmt::format("and {} assumptions more, in the column 'message' of predict",
                                  sorted.size() - kShownAssumptions));
      break;
    }
    texts.push_back(fmt::format("{} of {} rows: {}", count, rows, text));
  }
  return texts;
}

}  // namespace foretell
