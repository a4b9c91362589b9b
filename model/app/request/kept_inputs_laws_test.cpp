// Predictions of workers that keep their inputs are those of a fresh program, byte for byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/app/request/family/device_family.hpp"
#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"

namespace foretell {
namespace {

Request kept_request(const std::string& system, const std::string& workload,
                     std::vector<std::string> set) {
  Request request;
  request.system = system;
  request.workload = workload;
  request.dtype = "bf16";
  request.set = std::move(set);
  return request;
}

// Neighbours differ in one thing that a kept graph must not hide, or must not depend on.
std::vector<Request> neighbours() {
  std::vector<Request> all;
  for (const char* system : {"inf2.xlarge", "h100-sxm", "c7i.2xlarge"}) {
    all.push_back(kept_request(system, "bert-base-uncased", {}));
    all.push_back(kept_request(system, "bert-base-uncased", {"workload.layers=2"}));
    all.push_back(all.front());
    all.back().system = system;
    all.back().batch = 3;
    all.push_back(kept_request(system, "bert-base-uncased", {}));
    all.back().seq_len = 64;
    all.push_back(kept_request(system, "bert-base-uncased", {}));
    all.back().dtype = "fp32";
  }
  all.push_back(kept_request("h100-sxm", "bert-base-uncased", {"device.hbm.bandwidth=2 TB/s"}));
  all.push_back(kept_request("inf2.xlarge", "bert-base-uncased", {"core.tensor.clock=2 GHz"}));
  for (const int tp : {1, 2}) {
    all.push_back(kept_request("h100-sxm-x8", "Llama-3.1-8B", {}));
    all.back().tp = tp;
    all.back().input_len = 128;
    all.back().output_len = 16;
    all.push_back(all.back());
    all.back().kv_dtype = "fp8";
  }
  return all;
}

TEST(KeptInputs, ChangeNoPrediction) {
  const std::vector<Request> requests = neighbours();
  std::vector<std::string> fresh;
  for (const Request& request : requests) fresh.push_back(to_json(predict(request)));
  keep_inputs();
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::size_t at = round == 0 ? i : requests.size() - 1 - i;
      EXPECT_EQ(to_json(predict(requests[at])), fresh[at]) << at;
    }
  }
  keep_inputs(false);
}

// The record, or what is wrong with the request.
std::string answer_to(const Request& request) {
  try {
    return to_json(predict(request));
  } catch (const UserError& error) {
    return error.what();
  }
}

// "820 GB/s" by a factor; "" for what is no number.
std::string scaled(const std::string& value, double factor) {
  std::size_t end = 0;
  try {
    const double number = std::stod(value, &end);
    return fmt::format("{}{}", number * factor, value.substr(end));
  } catch (const std::exception&) {
    return "";
  }
}

// The request with every parameter of its system once larger and once smaller; some of them are
// refused.
std::vector<Request> perturbed(const Request& request) {
  std::vector<Request> all;
  for (const Parameter& parameter : family_of(request.system).parameters(request)) {
    for (const double factor : {0.5, 2.0}) {
      const std::string value = scaled(parameter.value, factor);
      if (value.empty()) continue;
      all.push_back(request);
      all.back().set.push_back(parameter.path + "=" + value);
    }
  }
  return all;
}

class KeptWithParameters : public testing::TestWithParam<Request> {};

// Between any two of them stands the request itself, whose programs are kept.
TEST_P(KeptWithParameters, AreThoseOfAFreshProgram) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "several hundred predictions; ChangeNoPrediction takes the same ways";
#endif
  const std::string before = answer_to(GetParam());
  int differ = 0;
  for (const Request& request : perturbed(GetParam())) {
    const std::string fresh = answer_to(request);
    keep_inputs();
    EXPECT_EQ(answer_to(GetParam()), before) << "after " << request.set.back();
    EXPECT_EQ(answer_to(request), fresh) << request.set.back();
    EXPECT_EQ(answer_to(request), fresh) << request.set.back() << " again";
    keep_inputs(false);
    differ += fresh == before ? 0 : 1;
  }
  EXPECT_GT(differ, 50);
}

Request generation(const std::string& system, const std::string& workload, int tp) {
  Request request = kept_request(system, workload, {"workload.layers=2"});
  request.tp = tp;
  request.input_len = 150;
  request.output_len = 3;
  return request;
}

INSTANTIATE_TEST_SUITE_P(
    All, KeptWithParameters,
    testing::Values(kept_request("inf2.xlarge", "bert-base-uncased", {"workload.layers=2"}),
                    generation("inf2.24xlarge", "Llama-3.1-8B", 2),
                    kept_request("h100-sxm", "bert-base-uncased", {"workload.layers=2"}),
                    generation("h100-sxm-x8", "Llama-3.1-8B", 2)),
    [](const auto& one) { return std::to_string(one.index); });

}  // namespace
}  // namespace foretell
