// Compiled once per CASE_…; only CASE_CONTROL may compile. See model/base/CMakeLists.txt.
#include "model/base/units.hpp"

namespace foretell {

const Seconds seconds(2.0);
const Bytes bytes(64.0);
const Cycles cycles(128.0);
const Hertz clock_rate(2.8e9);
const BytesPerSecond rate(820e9);

#if defined(CASE_CONTROL)
const Seconds transfer = bytes / rate + cycles / clock_rate;
const double ratio = transfer / seconds;
const bool later = seconds > transfer;
#elif defined(CASE_ADD_SECONDS_TO_BYTES)
const auto wrong = seconds + bytes;
#elif defined(CASE_COMPARE_CYCLES_WITH_SECONDS)
const bool wrong = cycles < seconds;
#elif defined(CASE_SUBTRACT_NUMBER)
const auto wrong = seconds - 1.0;
#elif defined(CASE_NUMBER_AS_SECONDS)
const Seconds wrong = 1.0;
#elif defined(CASE_BYTES_AS_FLOPS)
const Flops wrong = bytes;
#elif defined(CASE_RATE_TIMES_RATE_AS_RATE)
const BytesPerSecond wrong = rate * rate;
#elif defined(CASE_QUANTITY_AS_NUMBER)
const double wrong = seconds;
#else
#error "choose a case"
#endif

}  // namespace foretell
