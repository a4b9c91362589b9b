// Runs a command line in this process, as main() does, with a stand-in for the simulator unless a
// test brings another predictor.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "model/app/command/application.hpp"
#include "model/app/request/testing/fake_predictor.hpp"

namespace foretell {

struct CommandResult {
  int code = -1;
  std::string result;    // standard output
  std::string messages;  // standard error
};

inline CommandResult run_command(const std::vector<std::string>& arguments,
                                 const Predictor& predictor = fake_predict) {
  std::ostringstream messages;
  Session session;
  session.predict = predictor;
  session.messages = &messages;
  CommandResult outcome;
  testing::internal::CaptureStdout();
  outcome.code = run_application(arguments, session);
  outcome.result = testing::internal::GetCapturedStdout();
  outcome.messages = messages.str();
  return outcome;
}

}  // namespace foretell
