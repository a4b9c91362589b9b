#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <sstream>

#include "model/app/terminal/progress.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/progress_line.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr Processes kBoth[] = {Processes::kOnePerTask, Processes::kKept};

TEST(WorkerPool, OutcomesAreInOrderWhateverTheNumberOfJobs) {
  for (const int jobs : {1, 3, 64}) {
    for (const Processes processes : kBoth) {
      const auto outcomes = run_forked(
          40, jobs,
          [](std::size_t i) {
            usleep(static_cast<useconds_t>((40 - i) * 50));  // later tasks end first
            return std::to_string(i);
          },
          {}, processes);
      ASSERT_EQ(outcomes.size(), 40U);
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        EXPECT_TRUE(outcomes[i].finished);
        EXPECT_EQ(outcomes[i].text, std::to_string(i));
      }
    }
  }
}

TEST(WorkerPool, ProcessesThatAreKeptAreNoMoreThanJobs) {
  const auto outcomes = run_forked(
      40, 3, [](std::size_t) { return std::to_string(getpid()); }, {}, Processes::kKept);
  std::set<std::string> processes;
  for (const TaskOutcome& outcome : outcomes) processes.insert(outcome.text);
  EXPECT_LE(processes.size(), 3U);
}

TEST(WorkerPool, AProcessThatDiesTakesItsTaskAlone) {
  const auto outcomes = run_forked(
      9, 2,
      [](std::size_t i) -> std::string {
        if (i == 1 || i == 8) std::raise(SIGKILL);
        if (i == 4) _exit(0);
        return "fine";
      },
      {}, Processes::kKept);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].finished, i != 1 && i != 4 && i != 8) << i;
  }
  EXPECT_THAT(outcomes[8].text, HasSubstr("Killed"));
  EXPECT_EQ(outcomes[4].text, "its process ended without an answer");
}

TEST(WorkerPool, AnswersLargerThanAPipeArrive) {
  const auto outcomes = run_forked(
      3, 2, [](std::size_t i) { return std::string(1'000'000, static_cast<char>('a' + i)); });
  EXPECT_EQ(outcomes[2].text, std::string(1'000'000, 'c'));
}

TEST(WorkerPool, ACrashIsReportedAndTheOthersAreDelivered) {
  const auto outcomes = run_forked(3, 2, [](std::size_t i) -> std::string {
    if (i == 1) std::raise(SIGKILL);
    if (i == 2) _exit(7);
    return "fine";
  });
  EXPECT_EQ(outcomes[0].text, "fine");
  EXPECT_FALSE(outcomes[1].finished);
  EXPECT_THAT(outcomes[1].text, HasSubstr("Killed"));
  EXPECT_FALSE(outcomes[2].finished);
  EXPECT_THAT(outcomes[2].text, HasSubstr("status 7"));
}

TEST(WorkerPool, ProgressCountsEveryTask) {
  std::size_t last = 0;
  run_forked(
      5, 2, [](std::size_t) { return std::string(); },
      [&last](std::size_t done) {
        EXPECT_EQ(done, last + 1);
        last = done;
      });
  EXPECT_EQ(last, 5U);
}

TEST(WorkerPool, NoTasksAndNoJobs) {
  EXPECT_TRUE(run_forked(0, 1, [](std::size_t) { return std::string(); }).empty());
  EXPECT_THROW(run_forked(1, 0, [](std::size_t) { return std::string(); }), InternalError);
  EXPECT_GE(default_jobs(), 1);
}

TEST(Progress, LineShowsShareAndTimeLeft) {
  EXPECT_EQ(progress_line("predicting", 0, 5), "predicting [------------------------------] 0 %");
  EXPECT_EQ(progress_line("predicting", 0.5, 12),
            "predicting [###############---------------] 50 %, 12 s left");
  EXPECT_THAT(progress_line("x", 0.25, 60), HasSubstr("25 %, 3 min 0 s left"));
  EXPECT_THAT(progress_line("x", 0.01, 120), HasSubstr("3 h 18 min left"));
  EXPECT_THAT(progress_line("x", 1.5, 1), HasSubstr("100 %, 0 s left"));
  // Half was there before: a quarter took the minute, and a quarter is left.
  EXPECT_THAT(progress_line("x", 0.75, 60, 0.5), HasSubstr("75 %, 1 min 0 s left"));
  EXPECT_THAT(progress_line("x", 0.5, 1, 0.5), testing::Not(HasSubstr("left")));
}

TEST(Progress, NothingIsShownOnAPipe) {
  std::ostringstream messages;
  Session session;
  session.messages = &messages;
  Progress progress(session, "predicting");
  usleep(600'000);
  progress.update(0.5);
  EXPECT_EQ(messages.str(), "");
}

TEST(Progress, OnATerminalItAppearsAfterAWhileAndIsWiped) {
  std::ostringstream messages;
  Session session;
  session.bars = &messages;
  {
    Progress progress(session, "predicting");
    progress.update(0.1);
    EXPECT_EQ(messages.str(), "");
    usleep(600'000);
    progress.update(0.5);
    EXPECT_THAT(messages.str(), HasSubstr("predicting ["));
  }
  const std::string wipe = "\r\x1b[K";
  EXPECT_EQ(messages.str().substr(messages.str().size() - wipe.size()), wipe);
}

}  // namespace
}  // namespace foretell
