// Rows of a published table that judge, against a threshold.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/published_table.hpp"

namespace foretell {

struct PublishedLimit {
  const char* table;
  const char* gpu;
  std::vector<std::string> conditions;  // "op=linear"
  double mape;                          // per cent
};

inline void PrintTo(const PublishedLimit& limit, std::ostream* stream) {
  *stream << limit.table << ' ' << limit.gpu;
  for (const std::string& one : limit.conditions) *stream << ' ' << one;
}

// Skips without the tables. `left_out`: as if the GPU had never been measured.
inline void expect_within(const PublishedLimit& limit, bool left_out) {
  const std::string table = published_table(limit.table);
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  std::vector<std::string> line = {"validate",
                                   table,
                                   "--held-out",
                                   "--worst",
                                   "0",
                                   "--max-mape",
                                   std::to_string(limit.mape),
                                   "--where",
                                   std::string("gpu=") + limit.gpu};
  for (const std::string& one : limit.conditions) line.insert(line.end(), {"--where", one});
  if (left_out) line.insert(line.end(), {"--without-factors-of", limit.gpu});
  const CommandResult result = run_command(line);
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

}  // namespace foretell
