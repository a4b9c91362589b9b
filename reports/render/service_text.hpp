// Services side by side for people: the answer, a table of loads, how times are distributed, and
// the service over time.
#pragma once

#include <string>
#include <vector>

#include "reports/record/serve_record.hpp"

namespace foretell {

// "4 requests/s", "64 users", "1000 requests at once", "the requests of trace.csv".
std::string load_words(const ServeContext& context);

// A setting of a service with its unit: "rate 4 requests/s", "input_len 1024 tokens", "tp 2".
std::string setting_words(const std::string& name, const std::string& value);

// "Llama-3.1-8B on h100-sxm", or of several the words that they share.
std::string service_title(const std::vector<ServeRecord>& services);

// What the services come to in a sentence, and the numbers that it rests on after it.
std::vector<std::string> services_answer(const std::vector<ServeRecord>& services);

// A row per service; columns that say the same in all rows stand above the table. Of one service
// its distributions and a timeline of at most 20 rows, too. Promises that are broken say so.
std::string services_text(const std::vector<ServeRecord>& services, int max_width);
std::string services_markdown(const std::string& title, const std::vector<ServeRecord>& services);

// The timeline in at most this many rows: means over as many seconds as that takes, all of equal
// width but the last.
std::vector<ServeSecond> thinned(const std::vector<ServeSecond>& timeline, std::size_t most);

}  // namespace foretell
