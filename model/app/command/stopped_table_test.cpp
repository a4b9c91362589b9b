// predict and validate that Ctrl-C stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The fourth sample waits for ever, the others take no time.
RunRecord predict_until_four(const Request& request) {
  if (request.batch == 4) pause();
  return fake_predict(request);
}

// The exit code of a command that a signal stops as it predicts the fourth sample. One process ends
// all rows before that, the clock ends the wait for it. Messages go to a file.
int stopped_at_four(const TemporaryFolder& folder, const std::vector<std::string>& line) {
  const pid_t process = fork();
  if (process == 0) {
    std::ofstream said(folder.file("messages"));
    Session session;
    session.predict = predict_until_four;
    session.messages = &said;
    std::signal(SIGALRM, [](int) { std::raise(SIGINT); });
    alarm(1);
    const int code = run_application(line, session);
    said.close();
    _exit(code);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string nine_samples() {
  std::string rows = "id,system,workload,family,phase,batch,compute_dtype,use,sdk,call_ms\n";
  for (int i = 1; i <= 9; ++i) {
    rows += "R" + std::to_string(i) + ",inf2.xlarge,bert-large-cased,encoder,forward," +
            std::to_string(i) + ",bf16,yes,2.18,8\n";
  }
  return rows;
}

TEST(Predict, InterruptedKeepsTheRowsThatAreDone) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", nine_samples());
  for (const char* form : {"csv", "md"}) {
    EXPECT_EQ(stopped_at_four(folder, {"predict", table, "-o", folder.file(form), "--jobs", "1",
                                       "--format", form}),
              kOutsideTolerance);
    EXPECT_THAT(folder.read("messages"), HasSubstr("interrupted; 3 of 9 rows are done"));
    EXPECT_THAT(folder.read(form), AllOf(HasSubstr("R1"), HasSubstr("R3"), Not(HasSubstr("R4"))));
  }
}

TEST(Validate, InterruptedSumsUpTheRowsThatAreDone) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", nine_samples());
  const auto result = [&](const char* form, const std::string& condition = "batch=1,2,3,4,5") {
    EXPECT_EQ(stopped_at_four(folder, {"validate", table, "-o", folder.file(form), "--jobs", "1",
                                       "--format", form, "--where", condition}),
              kOutsideTolerance);
    return folder.read(form);
  };
  const std::string done = "interrupted; 3 of 5 rows are done";
  EXPECT_THAT(result("table"), AllOf(StartsWith("INTERRUPTED"), HasSubstr("call_ms"),
                                     HasSubstr("\n3 rows, 0 without a prediction"),
                                     HasSubstr("note: " + done), HasSubstr("5 of 9 rows count")));
  EXPECT_THAT(folder.read("messages"), HasSubstr(done));
  EXPECT_THAT(result("json"), AllOf(HasSubstr("\"interrupted\":true,\"rows\":3"), HasSubstr(done)));
  EXPECT_THAT(result("csv"), HasSubstr("call_ms,3,"));
  EXPECT_THAT(folder.read("messages"), HasSubstr(done));
  EXPECT_THAT(result("md", "batch=4,5"), AllOf(StartsWith("**INTERRUPTED"), HasSubstr("0 rows"),
                                               HasSubstr("interrupted; 0 of 2 rows are done")));
}

TEST(Validate, InterruptedWithAllKeepsTheClassesThatAreDone) {
  const TemporaryFolder folder;
  const char* const variable = std::getenv("FORETELL_DATA");
  const std::string before = variable == nullptr ? "" : variable;
  setenv("FORETELL_DATA", folder.file("").c_str(), 1);
  folder.write("neuron_models_measured.csv", nine_samples());
  const std::string out = folder.file("out");
  EXPECT_EQ(stopped_at_four(folder, {"validate", "--all", "--class", "*on Neuron", "--jobs", "1",
                                     "--every", "1", "-o", out}),
            kOutsideTolerance);
  EXPECT_THAT(folder.read("out"),
              AllOf(StartsWith("INTERRUPTED"), HasSubstr("on Neuron, 3 of 9 rows: call_ms"),
                    testing::ContainsRegex("interrupted; 0 of [1-9][0-9]* classes are done")));
  before.empty() ? unsetenv("FORETELL_DATA") : setenv("FORETELL_DATA", before.c_str(), 1);
}

}  // namespace
}  // namespace foretell
