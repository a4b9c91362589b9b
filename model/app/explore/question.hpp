// What the page of `foretell explore` may ask: a few commands with options, never a file to write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// The words after `foretell` for "run", "serve" or "explain" and a body such as
// {"options": [["on", "inf2.xlarge"], ["workload", "gpt2"], ["set", "device.hbm.bandwidth=1
// TB/s"]]}. The result is one record as JSON. UserError for other commands, options that the page
// has no use for, and bodies that are no such JSON.
std::vector<std::string> question_words(std::string_view command, const std::string& body);

// The records of a body {"records": ["{…}", …]}, a line each; UserError when there are none or one
// is not JSON.
std::string records_to_report(const std::string& body);

// {"error": "…"}
std::string error_json(std::string_view message);

// What the page offers, with what it starts with.
struct ExploreChoices {
  std::vector<std::string> systems;
  std::vector<std::string> workloads;
  std::vector<std::string> dtypes;
  std::string system;
  std::string workload;
  std::string dtype;  // "": as the network is published
};
std::string choices_json(const ExploreChoices& choices);

}  // namespace foretell
