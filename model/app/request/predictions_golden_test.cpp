// Did any number move? Predicts a few networks again and compares with reports/golden.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/base/text.hpp"
#include "reports/compare/record_diff.hpp"
#include "reports/record/json_lines.hpp"

namespace foretell {
namespace {

constexpr const char* kWrite = "FORETELL_WRITE_GOLDEN";

std::filesystem::path golden_file(const std::string& name) {
  return std::filesystem::path(FORETELL_SOURCE_DIR) / "reports" / "golden" / name;
}

Request encoder(const std::string& workload, const std::string& dtype, std::int64_t batch) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = workload;
  request.dtype = dtype;
  request.batch = batch;
  request.seq_len = 128;
  return request;
}

Request generation(const std::string& system, int tp, const std::string& workload) {
  Request request;
  request.system = system;
  request.workload = workload;
  request.dtype = "bf16";
  request.tp = tp;
  request.input_len = 1024;
  request.output_len = 1024;
  return request;
}

void add_generations(std::vector<Request>* requests) {
  requests->push_back(generation("inf2.48xlarge", 24, "llama-3-70b"));
  requests->push_back(generation("trn1.32xlarge", 32, "llama-2-70b"));
  requests->push_back(generation("trn2.48xlarge", 16, "qwen3-32b"));
  requests->push_back(generation("inf2.24xlarge", 12, "opt-13b"));
  requests->push_back(generation("inf2.24xlarge", 8, "t5-3b"));
  requests->back().input_len = 128;
  requests->back().output_len = 84;
  requests->push_back(generation("inf2.48xlarge", 8, "mixtral-8x7b-v0.1"));
  requests->back().dtype = "int8-weights";
  requests->back().batch = 4;
  requests->push_back(generation("inf2.48xlarge", 8, "llama-2-13b"));
  requests->back().pp = 3;
  requests->back().in_flight = 3;
  requests->back().sequence_parallel = true;
  requests->push_back(generation("inf2.48xlarge", 8, "llama-3-8b"));
  requests->back().kv = "exact";
  requests->back().kv_dtype = "fp8";
  requests->back().sampling = "host";
}

std::vector<Request> golden_requests() {
  std::vector<Request> requests;
  for (const char* dtype : {"fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int8-datasheet",
                            "bf16-matmul", "int8-weights", "fp8-weights"}) {
    requests.push_back(encoder("bert-large-uncased", dtype, 8));
  }
  requests.push_back(encoder("bert-large-uncased", "bf16-matmul", 1));
  requests.push_back(encoder("distilbert-base-uncased", "bf16-matmul", 16));
  requests.push_back(encoder("gpt2", "bf16-matmul", 4));
  requests.push_back(encoder("albert-base-v2", "bf16-matmul", 1));
  requests.back().system = "trn1.2xlarge";
  requests.push_back(encoder("xlm-roberta-base", "bf16-matmul", 4));
  requests.back().seq_len = 77;
  add_generations(&requests);
  return requests;
}

// Summaries alone: operators and resources are many and say the same.
std::vector<RunRecord> predictions() {
  std::vector<RunRecord> records;
  for (const Request& request : golden_requests()) {
    RunRecord record = predict(request);
    record.context.commit.clear();
    record.operators.clear();
    record.resources.clear();
    records.push_back(std::move(record));
  }
  return records;
}

Tolerances tolerances() {
  Tolerances result;
  std::ifstream file(golden_file("tolerances.txt"));
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty() && line.front() != '#') add_tolerance(line, result);
  }
  return result;
}

void write(const std::vector<RunRecord>& records) {
  std::ofstream file(golden_file("predictions.jsonl"));
  for (const RunRecord& record : records) file << to_json(record) << '\n';
  ASSERT_TRUE(file.flush().good());
}

TEST(Golden, NoNumberMovedBeyondItsTolerance) {
  const std::vector<RunRecord> actual = predictions();
  if (std::getenv(kWrite) != nullptr) return write(actual);
  const auto expected = read_json_lines(golden_file("predictions.jsonl").string());
  EXPECT_EQ(expected.size(), actual.size());
  for (const RecordDifference& moved : diff_records(expected, actual, tolerances())) {
    ADD_FAILURE() << moved.record << ": " << moved.field << " was " << moved.expected << ", is "
                  << moved.actual << " (" << 100 * moved.relative << " %)";
  }
}

// The comparison itself has to be able to fail.
TEST(Golden, AMovedNumberIsFound) {
  const auto expected = read_json_lines(golden_file("predictions.jsonl").string());
  ASSERT_FALSE(expected.empty());
  const auto moved_by = [&expected](double share) {
    std::vector<RunRecord> moved = expected;
    moved.front().summary.call_s *= 1 + share;
    return diff_records(expected, moved, tolerances()).size();
  };
  EXPECT_EQ(moved_by(0.0009), 0U);
  EXPECT_EQ(moved_by(0.0011), 1U);
}

}  // namespace
}  // namespace foretell
