// JSON of promises and of the times of requests, both ways.
#pragma once

#include "reports/record/json_reader.hpp"
#include "reports/record/served_times.hpp"

namespace foretell {

RecordJson to_json(const std::vector<ServePromise>& promises);
RecordJson to_json(const ServedTimes& served);

// The list "promises" of an object; empty where there is none.
std::vector<ServePromise> read_promise_list(const RecordReader& in);
// A list of `count` times. UserError when one is negative or less than the one before.
std::vector<double> read_rising_times(const RecordReader& in, const char* key, std::size_t count);
ServedTimes read_served_times(const RecordReader& in);

}  // namespace foretell
