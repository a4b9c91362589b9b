// A progress bar as text.
#pragma once

#include <string>
#include <string_view>

namespace foretell {

inline constexpr int kProgressBar = 30;  // characters

// "predicting [#####-----] 50 %, 12 s left"; no estimate before anything is done. `begun_at` was
// done before the time that elapsed.
std::string progress_line(std::string_view label, double fraction, double elapsed_s,
                          double begun_at = 0, int bar = kProgressBar);

}  // namespace foretell
