// A progress bar as text.
#pragma once

#include <string>
#include <string_view>

namespace foretell {

// "predicting [#####-----] 50 %, 12 s left"; no estimate before anything is done.
std::string progress_line(std::string_view label, double fraction, double elapsed_s);

}  // namespace foretell
