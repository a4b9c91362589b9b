#include "model/app/workers/worker_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>

#include "model/app/study/sweep/sweep.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using Kind = TaskAnswer::Kind;

// Runs the tasks 0 … count - 1 and gives the answers by number.
std::map<std::uint64_t, TaskAnswer> run_tasks(WorkerGroup& workers, std::uint64_t count) {
  SweepRunner runner(workers, nullptr);
  std::uint64_t next = 0;
  std::map<std::uint64_t, TaskAnswer> answers;
  runner.run(
      [&](std::size_t most) {
        std::vector<std::uint64_t> numbers;
        while (numbers.size() < most && next < count) numbers.push_back(next++);
        return numbers;
      },
      [&](const std::vector<TaskAnswer>& some) {
        for (const TaskAnswer& answer : some) {
          EXPECT_EQ(answers.count(answer.number), 0U);
          answers[answer.number] = answer;
        }
      },
      [] { return false; });
  return answers;
}

TEST(WorkerGroup, EveryTaskIsAnsweredOnceWhateverTheNumberOfWorkers) {
  for (const int jobs : {1, 3}) {
    WorkerGroup workers([](std::uint64_t n) { return std::to_string(n * n); }, jobs, 0);
    const auto answers = run_tasks(workers, 100);
    ASSERT_EQ(answers.size(), 100U);
    for (const auto& [number, answer] : answers)
      EXPECT_EQ(answer.text, std::to_string(number * number));
  }
}

TEST(WorkerGroup, AnswersLargerThanAPipeArrive) {
  WorkerGroup workers([](std::uint64_t n) { return std::string(300'000 + n, 'x'); }, 2, 0);
  const auto answers = run_tasks(workers, 4);
  EXPECT_EQ(answers.at(3).text.size(), 300'003U);
}

TEST(WorkerGroup, ATaskThatCrashesOrHangsCostsThatTaskOnly) {
  WorkerGroup workers(
      [](std::uint64_t n) -> std::string {
        if (n == 2) std::raise(SIGABRT);  // which sanitizers leave alone
        if (n == 4) _exit(9);
        if (n == 6) pause();
        return "fine";
      },
      2, 0.2);
  const auto answers = run_tasks(workers, 10);
  ASSERT_EQ(answers.size(), 10U);
  EXPECT_EQ(answers.at(2).kind, Kind::kDied);
  EXPECT_THAT(answers.at(2).text, HasSubstr("Aborted"));
  EXPECT_THAT(answers.at(4).text, HasSubstr("status 9"));
  EXPECT_EQ(answers.at(6).kind, Kind::kTimeout);
  for (const std::uint64_t n : {0U, 1U, 3U, 5U, 7U, 8U, 9U}) EXPECT_EQ(answers.at(n).text, "fine");
}

// A worker is killed: its task gets another try and nothing is lost.
TEST(WorkerGroup, AKilledWorkerLosesNothing) {
  std::FILE* marks = std::tmpfile();
  ASSERT_NE(marks, nullptr);
  const int descriptor = fileno(marks);
  WorkerGroup workers(
      [descriptor](std::uint64_t n) {
        if (n == 3 && lseek(descriptor, 0, SEEK_END) == 0) {
          EXPECT_EQ(write(descriptor, "x", 1), 1);
          std::raise(SIGKILL);
        }
        return std::to_string(n);
      },
      2, 0);
  const auto answers = run_tasks(workers, 8);
  ASSERT_EQ(answers.size(), 8U);
  for (const auto& [number, answer] : answers) EXPECT_EQ(answer.text, std::to_string(number));
  std::fclose(marks);
}

TEST(WorkerGroup, StopLeavesTheRest) {
  WorkerGroup workers([](std::uint64_t n) { return std::to_string(n); }, 1, 0);
  SweepRunner runner(workers, nullptr);
  std::uint64_t next = 0;
  std::size_t answered = 0;
  runner.run([&](std::size_t) { return std::vector<std::uint64_t>{next++}; },
             [&](const std::vector<TaskAnswer>& some) { answered += some.size(); },
             [&] { return answered >= 5; });
  EXPECT_GE(answered, 5U);
  EXPECT_LE(answered, 8U);
}

}  // namespace
}  // namespace foretell
