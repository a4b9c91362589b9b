// Why a narrower data type of a comparison is no faster.
#pragma once

#include <string>
#include <vector>

#include "reports/render/record_text.hpp"

namespace foretell {

// One line for each data type that takes longer than a wider one on the same system, network and
// scenario: in which types it computes, and which part of the device it waits for longer. The
// records have their operators, alike ones in one.
std::vector<std::string> slower_types(const std::vector<ComparedRun>& runs);

}  // namespace foretell
