// What is made of the requests that a service answered.
#include "model/serving/service_result.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

// Of a rate beyond what is answered, an infinitely fast machine would answer all that came.
TEST(ServiceResult, AnInterruptedOpenLoadCouldHaveAnsweredAllThatCame) {
  ServiceResult result;
  for (int i = 0; i < 100; ++i) {
    ServedRequest request;
    request.arrival = Seconds(i * 0.1);
    request.output = 10;
    request.end_s = i < 25 ? 0.3F * static_cast<float>(i + 1) : -1.0F;
    result.requests.push_back(request);
  }
  result.last_arrival = result.requests.back().arrival;
  const double answered = requests_per_s(result);
  EXPECT_NEAR(answered * arrival_limit(result, false), 100 / result.last_arrival.value(), 1e-6);
}

}  // namespace
}  // namespace foretell
