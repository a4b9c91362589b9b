// What the library of the search offers to search_front().
#pragma once

#include "model/app/study/search/front_search.hpp"

namespace foretell {

// Found by its name, hence without C++ linkage.
extern "C" void search_with_nsga2(const FrontSearch& search);

}  // namespace foretell
