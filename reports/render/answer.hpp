// What a report says in words: the answer, with the numbers that it rests on.
#pragma once

#include <string>
#include <vector>

#include "reports/render/page_data.hpp"

namespace foretell {

// The first sentence is the answer, the others say more: claims and their verdicts, the fastest and
// the cheapest of each kind of machine, what changes of the hardware gain. Rates that only a data
// sheet promises (…-datasheet) count where there is nothing else.
std::vector<std::string> answer_of(const ReportContent& content);

}  // namespace foretell
