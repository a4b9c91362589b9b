// `foretell sweep` with a stand-in for the simulator: what is stored, whatever happens on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/application.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/app/study/what_if/study_table.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/study_store.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBase = "base: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128}\n";

class SweepTest : public testing::Test {
 protected:
  std::string study(const std::string& text, const std::string& name = "study.yaml",
                    const std::string& called = "s") {
    const std::string path = folder_.file(name);
    std::ofstream(path) << "study: " << called << '\n' << text;
    return path;
  }
  std::string store(const std::string& name = "store.sqlite") { return folder_.file(name); }

  // Every row of a study of a store, as text; of the first one when no name is given.
  std::string rows(const std::string& path, const std::string& name = "") {
    const StudyStore store(path, StoreAccess::kRead);
    StudyHead head = store.studies().front();
    for (const StudyHead& known : store.studies()) {
      if (known.name == name) head = known;
    }
    std::string text;
    store.read(head, [&text](const StudyRow& row) {
      text += std::to_string(row.point.number) + row.point.hash + row.point.skipped_by +
              row.point.values + (row.point.inside ? "+" : "-") + row.result.status +
              row.result.message + row.result.context +
              (row.result.record ? to_json(*row.result.record) : "") + '\n';
    });
    return text;
  }

  TemporaryFolder folder_;
};

TEST_F(SweepTest, ShowsTheFrontAndStoresEveryPoint) {
  const std::string path = study(std::string(kBase) +
                                 "vary: {batch: [1, 2, 4], dp: [1, 2]}\nwhere: [\"${batch} * "
                                 "${dp} < 8\"]\nobjectives: [latency, throughput]\n");
  const CommandResult result = run_command({"sweep", path, "--store", store(), "--jobs", "2"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, AllOf(HasSubstr("6 of 6 points, 5 predicted, 1 skipped"),
                                   HasSubstr("low latency, high throughput")));
  const CommandResult csv =
      run_command({"sweep", path, "--store", store(), "--format", "csv", "--resume"});
  EXPECT_THAT(csv.result, HasSubstr("s,0,1,1,ok,yes,no,0.001,"));
  EXPECT_THAT(csv.result, HasSubstr("s,5,4,2,skipped,no,no,"));
  EXPECT_THAT(csv.messages, AllOf(HasSubstr("6 known before"), Not(HasSubstr("computed now"))));
}

TEST_F(SweepTest, APowerLimitIsThatOfEveryPoint) {
  const std::string path = study(std::string(kBase) + "vary: {batch: [1, 2]}");
  const std::vector<std::string> line = {"sweep",         path,  "--store", store(),
                                         "--power-limit", "300W"};
  EXPECT_EQ(run_command(line).code, kSuccess);
  EXPECT_THAT(rows(store()), HasSubstr("\"power_limit\":\"300W\""));
  // Another study than the one without it.
  EXPECT_THAT(run_command({"sweep", path, "--store", store(), "--energy"}).result,
              HasSubstr("\nEnergy\n"));
  EXPECT_EQ(StudyStore(store(), StoreAccess::kRead).studies().size(), 2U);
  const std::string varied = study(std::string(kBase) + "vary: {power_limit: [1W, 2W]}", "v.yaml");
  EXPECT_THAT(run_command({"sweep", varied, "--power-limit", "300W"}).messages,
              HasSubstr("power_limit: is stated already at"));
}

TEST_F(SweepTest, TheNumberOfWorkersDoesNotShow) {
  const std::string path =
      study(std::string(kBase) + "vary: {batch: {range: [1, 30], steps: 30}, sdk: [a, fail]}\n");
  EXPECT_EQ(run_command({"sweep", path, "--store", store("1"), "--jobs", "1"}).code,
            kOutsideTolerance);
  EXPECT_EQ(run_command({"sweep", path, "--store", store("3"), "--jobs", "3"}).code,
            kOutsideTolerance);
  EXPECT_EQ(rows(store("1")), rows(store("3")));
  EXPECT_THAT(rows(store("1")), HasSubstr("'fail' is not allowed"));
}

TEST_F(SweepTest, APointThatCrashesIsARowWithItsReason) {
  const std::string path = study(std::string(kBase) + "vary: {sdk: [a, crash, bug, b]}\n");
  const CommandResult result = run_command({"sweep", path, "--store", store(), "--jobs", "2"});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(rows(store()),
              AllOf(HasSubstr("crashedits process was ended: Killed"),
                    HasSubstr("crashedinternal error: a table has no end"), HasSubstr("ok")));
  EXPECT_THAT(result.messages, HasSubstr("2 failed"));
}

TEST_F(SweepTest, EqualPointsAreComputedOnceAcrossStudies) {
  const std::string first = study(std::string(kBase) + "vary: {batch: [1, 2, 4]}\n", "a.yaml");
  const std::string second = study(std::string(kBase) + "vary: {batch: [2, 4, 8]}\n", "b.yaml");
  run_command({"sweep", first, "--store", store()});
  EXPECT_THAT(run_command({"sweep", second, "--store", store()}).messages,
              AllOf(HasSubstr("1 computed now"), HasSubstr("2 known before")));
  // Zipped keys may name one point twice: it is one prediction.
  const std::string twice = study(std::string(kBase) + "zip: {batch: [16, 16.0]}\n", "c.yaml");
  EXPECT_THAT(run_command({"sweep", twice, "--store", store()}).messages,
              AllOf(HasSubstr("2 of 2 points"), HasSubstr("1 computed now")));
}

RunRecord slow_predict(const Request& request) {
  usleep(2000);
  return fake_predict(request);
}

// A process that runs the study; killed by `signal` when it has stored something.
int run_and_kill(const std::string& study, const std::string& store, int signal) {
  const pid_t process = fork();
  if (process == 0) {
    std::ostringstream messages;
    Session session;
    session.predict = slow_predict;
    session.messages = &messages;
    const int code =
        run_application({"sweep", study, "--store", store, "--jobs", "2", "-q"}, session);
    _exit(code);
  }
  for (int i = 0; i < 2000; ++i) {
    usleep(1000);
    try {
      const StudyStore reader(store, StoreAccess::kRead);  // readable while running
      if (!reader.studies().empty() && reader.finished(reader.studies().front()).size() > 5) break;
    } catch (const UserError&) {  // not yet there
    }
  }
  kill(process, signal);
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

TEST_F(SweepTest, KilledAndResumedGivesTheSameRows) {
  const std::string path =
      study(std::string(kBase) + "vary: {batch: {range: [1, 200], steps: 200}}\n");
  run_command({"sweep", path, "--store", store("whole")});
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    const std::string killed = store("killed" + std::to_string(signal));
    const int status = run_and_kill(path, killed, signal);
    if (signal == SIGKILL) {
      EXPECT_TRUE(WIFSIGNALED(status));
    } else {
      EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    }
    {
      const StudyStore reader(killed, StoreAccess::kRead);
      const std::size_t done = reader.finished(reader.studies().front()).size();
      EXPECT_GT(done, 0U);
      EXPECT_LT(done, 200U);
    }
    EXPECT_EQ(run_command({"sweep", path, "--store", killed, "--resume"}).code, kSuccess);
    EXPECT_EQ(rows(killed), rows(store("whole"))) << signal;
  }
}

// kill -9 of a worker from outside: the point is tried again, and nothing shows in the rows.
TEST_F(SweepTest, AWorkerThatIsKilledIsReplacedAndItsPointTriedAgain) {
  const std::string path =
      study(std::string(kBase) + "vary: {batch: {range: [1, 20], steps: 20}}\n");
  run_command({"sweep", path, "--store", store("whole")});
  const std::string marker = folder_.file("killed");
  std::ostringstream messages;
  Session session;
  session.messages = &messages;
  session.predict = [&marker](const Request& request) {
    if (request.batch == 7 && !std::ifstream(marker)) {
      std::ofstream(marker) << "once";
      std::raise(SIGKILL);
    }
    return fake_predict(request);
  };
  EXPECT_EQ(run_application({"sweep", path, "--store", store("killed.sqlite"), "--jobs", "2", "-o",
                             folder_.file("out")},
                            session),
            kSuccess);
  EXPECT_TRUE(std::ifstream(marker));
  EXPECT_EQ(rows(store("killed.sqlite")), rows(store("whole")));
}

// Runs the command in a process of its own, after `prepare`; what it said, and its exit code.
CommandResult run_apart(const std::vector<std::string>& words,
                        const std::function<void()>& prepare) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t process = fork();
  if (process == 0) {
    prepare();
    std::ostringstream messages;
    Session session;
    session.predict = fake_predict;
    session.messages = &messages;
    const int code = run_application(words, session);
    const std::string text = messages.str();
    if (::write(ends[1], text.data(), text.size()) < 0) _exit(99);
    _exit(code);
  }
  close(ends[1]);
  CommandResult result;
  std::array<char, 4096> chunk{};
  for (ssize_t count = 0; (count = ::read(ends[0], chunk.data(), chunk.size())) > 0;)
    result.messages.append(chunk.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// Not tested by permissions: root may write everywhere.
void give_up_root() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(98);
}

TEST_F(SweepTest, AStoreOrFolderThatIsReadOnlyIsSaidSoAndCanBeRead) {
  namespace fs = std::filesystem;
  const std::string path = study(std::string(kBase) + "vary: {batch: [1, 2]}\n");
  run_command({"sweep", path, "--store", store()});
  const std::string more = study(std::string(kBase) + "vary: {batch: [4]}\n", "more.yaml");
  fs::permissions(store(), fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  const fs::path folder = fs::path(store()).parent_path();
  const fs::perms before = fs::status(folder).permissions();
  fs::permissions(folder, fs::perms(0555));
  const CommandResult kept = run_apart({"sweep", more, "--store", store()}, give_up_root);
  const CommandResult fresh =
      run_apart({"sweep", more, "--store", store("fresh.sqlite")}, give_up_root);
  const CommandResult log = run_apart({"sweep", more, "--log", folder_.file("log")}, give_up_root);
  const CommandResult shown = run_apart({"report", store()}, give_up_root);
  fs::permissions(folder, before);
  EXPECT_EQ(kept.code, kUserMistake);
  EXPECT_THAT(kept.messages, AllOf(HasSubstr(store()), HasSubstr("readonly")));
  EXPECT_EQ(fresh.code, kUserMistake);
  EXPECT_THAT(fresh.messages, HasSubstr("cannot be opened"));
  EXPECT_EQ(log.code, kUserMistake);
  EXPECT_THAT(log.messages, HasSubstr("log"));
  EXPECT_EQ(shown.code, kSuccess) << shown.messages;
}

// A file that may not grow any more stands for a full disk.
TEST_F(SweepTest, AFullDiskEndsTheSweepAndLosesNothing) {
  const std::string path =
      study(std::string(kBase) + "vary: {batch: {range: [1, 300], steps: 300}}\n");
  run_command({"sweep", path, "--store", store("whole")});
  const CommandResult full = run_apart({"sweep", path, "--store", store("full")}, [] {
    std::signal(SIGXFSZ, SIG_IGN);  // as the program does
    const rlimit most{150'000, 150'000};
    setrlimit(RLIMIT_FSIZE, &most);
  });
  EXPECT_EQ(full.code, kUserMistake);
  EXPECT_THAT(full.messages, HasSubstr("full: cannot be written"));
  {
    const StudyStore reader(store("full"), StoreAccess::kRead);
    const std::size_t done = reader.finished(reader.studies().front()).size();
    EXPECT_GT(done, 0U);
    EXPECT_LT(done, 300U);
  }
  EXPECT_EQ(run_command({"sweep", path, "--store", store("full"), "--resume"}).code, kSuccess);
  EXPECT_EQ(rows(store("full")), rows(store("whole")));
}

TEST_F(SweepTest, TwoStudiesOnOneStoreAtOnce) {
  const std::string base(kBase);
  const std::string first =
      study(base + "vary: {batch: {range: [1, 60], steps: 60}}\n", "a.yaml", "a");
  const std::string second =
      study(base + "vary: {batch: {range: [30, 90], steps: 61}}\n", "b.yaml", "b");
  run_command({"sweep", first, "--store", store("one")});
  run_command({"sweep", second, "--store", store("one")});
  const pid_t other = fork();
  if (other == 0) {
    std::ostringstream messages;
    Session session;
    session.predict = slow_predict;
    session.messages = &messages;
    const int code = run_application(
        {"sweep", first, "--store", store("both"), "--jobs", "1", "-o", folder_.file("out")},
        session);
    if (code != kSuccess) std::cerr << messages.str();
    _exit(code);
  }
  EXPECT_EQ(run_command({"sweep", second, "--store", store("both"), "--jobs", "1"}).code, kSuccess);
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), kSuccess);
  for (const char* name : {"a", "b"})
    EXPECT_EQ(rows(store("both"), name), rows(store("one"), name)) << name;
}

// One study over every family of devices and a made-up one, with a constraint on what they cost.
TEST_F(SweepTest, FamiliesAndPricesInOneStudy) {
  const std::string path = study(
      "base: {workload: bert-base-uncased, seq: 128}\n"
      "vary: {on: [inf2.xlarge, inf2.48xlarge, g6.xlarge, c7i.8xlarge], batch: [1, 4]}\n"
      "where: [\"${system.price.on_demand} < 2 USD/h\"]\n"
      "objectives: [latency, usd_per_million]\n");
  const CommandResult result = run_command({"sweep", path, "--store", store()});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, HasSubstr("8 of 8 points, 6 predicted, 2 skipped"));
}

// A device of the user's own beside those of the data, with its own paths varied. What its file
// says is part of what its points are known by, and of no other's.
TEST_F(SweepTest, ADeviceOfOnesOwnIsNamedByItsFile) {
  const std::string gpu = read_text_file(hw_folder() / "devices/gpu/l4.yaml");
  const auto write_device = [&](const std::string& name, const std::string& rate) {
    std::string text = gpu;
    text.replace(text.find("id: l4"), 6, "id: " + name);
    const std::string old = "bandwidth: {value: 300 GB/s";
    text.replace(text.find(old), old.size(), "bandwidth: {value: " + rate);
    std::ofstream(folder_.file(name + ".yaml")) << text;
    return folder_.file(name + ".yaml");
  };
  const std::string mine = write_device("mine", "1 TB/s");
  const std::string mixed = study(
      "base: {workload: bert-base-uncased, seq: 128}\nvary: {on: [inf2.xlarge, g6.xlarge, "
      "c7i.8xlarge, " +
          mine + "]}\n",
      "mixed.yaml", "mixed");
  const auto messages = [&](const std::string& path) {
    return run_command({"sweep", path, "--store", store()}).messages;
  };
  EXPECT_THAT(messages(mixed), HasSubstr("4 of 4 points stored, 4 computed now"));
  EXPECT_THAT(messages(mixed), HasSubstr("4 known before"));
  write_device("mine", "2 TB/s");
  EXPECT_THAT(messages(mixed), HasSubstr("1 computed now, 3 known before"));
  // A study that does not name the file shares the points of the others.
  const std::string named = study(
      "base: {workload: bert-base-uncased, seq: 128}\nvary: {on: [c7i.8xlarge, inf2.xlarge]}\n",
      "named.yaml", "named");
  EXPECT_THAT(messages(named), AllOf(HasSubstr("2 known before"), Not(HasSubstr("computed now"))));
  const auto with_path = [&](const std::string& path) {
    return study("base: {workload: bert-base-uncased, seq: 128, on: " + mine + "}\nvary: {" + path +
                     ": [600 GB/s, 900 GB/s]}\n",
                 "path.yaml", "path");
  };
  EXPECT_THAT(messages(with_path("device.hbm.bandwidth")), HasSubstr("2 computed now"));
  EXPECT_THAT(messages(with_path("device.hbm.bandwith")), HasSubstr("'device.hbm.bandwidth'"));
  std::filesystem::remove(mine);
  EXPECT_THAT(messages(mixed), HasSubstr("mine.yaml: no such file"));
}

TEST_F(SweepTest, AnEmptyFrontSaysWhichObjectivesAreMissing) {
  const std::string path = study(std::string(kBase) + "vary: {batch: [1, 2]}\n");
  std::ostringstream messages;
  Session session;
  session.messages = &messages;
  session.predict = [](const Request& request) {
    RunRecord record = fake_predict(request);
    record.summary.cost_usd_per_million.reset();
    return record;
  };
  EXPECT_EQ(run_application({"sweep", path, "-o", folder_.file("out")}, session), kSuccess);
  EXPECT_THAT(read_text_file(folder_.file("out")),
              HasSubstr("none has all of latency, throughput, usd_per_million"));
  session.predict = [](const Request& request) {
    RunRecord record = fake_predict(request);
    if (request.batch == 1) record.summary.cost_usd_per_million.reset();
    return record;
  };
  for (const char* form : {"table", "md"}) {
    EXPECT_EQ(
        run_application({"sweep", path, "--format", form, "-o", folder_.file("out")}, session),
        kSuccess);
    EXPECT_THAT(read_text_file(folder_.file("out")),
                HasSubstr("Not judged: 1 point has not all of latency, throughput, usd"));
  }
}

TEST_F(SweepTest, ALogForBatchJobs) {
  const std::string path = study(std::string(kBase) + "vary: {batch: [1, 1313]}\n");
  run_command({"sweep", path, "--log", folder_.file("log")});
  const std::string text = read_text_file(folder_.file("log"));
  EXPECT_THAT(text, AllOf(HasSubstr("point 1 failed: needs 40.0 GiB"),
                          HasSubstr("2 of 2 points done, 2 computed now, 1 failed")));
}

TEST_F(SweepTest, MistakesAreFoundBeforeAnythingRuns) {
  const auto mistake = [this](const std::string& text) {
    const CommandResult result = run_command({"sweep", study(text), "--store", store("none")});
    EXPECT_EQ(result.code, kUserMistake) << text;
    return result.messages;
  };
  const std::string base = kBase;
  EXPECT_THAT(mistake(base + "vary: {device.hbm.bandwith: [1 TB/s]}\n"),
              AllOf(HasSubstr("study.yaml:3"), HasSubstr("no such parameter"),
                    HasSubstr("'device.hbm.bandwidth'")));
  EXPECT_THAT(mistake(base + "vary: {batchs: [1]}\n"),
              AllOf(HasSubstr("study.yaml:3"), HasSubstr("nearest is 'batch'")));
  EXPECT_THAT(mistake(base + "vary: {batch: [0]}\n"), HasSubstr("'0' is not allowed"));
  EXPECT_THAT(mistake(base + "vary: {batch: []}\n"), HasSubstr("no values"));
  EXPECT_THAT(mistake(base + "vary: {batch: {range: [8, 1], step: 1}}\n"), HasSubstr("goes down"));
  EXPECT_THAT(mistake(base + "vary: {batch: [1, 2]}\nderive: {device.hbm.bandwidth: \"1 TB/s / "
                             "(${dp} - 1)\"}\nzip: {dp: [1, 1.0]}\n"),
              HasSubstr("divides by zero"));  // at every point
  EXPECT_THAT(mistake(base + "vary: {dtype: [bf17]}\n"), HasSubstr("nearest is 'bf16'"));
  EXPECT_THAT(mistake(base + "vary: {batch: {range: [1, 1000000], steps: 1000000}, dp: {range: "
                             "[1, 1000000], steps: 1000000}}\n"),
              HasSubstr("1,000,000,000,000 points"));
  EXPECT_THAT(mistake(base + "vary: {device.hbm.bandwidth: [820]}\n"), HasSubstr("has no unit"));
  EXPECT_THAT(mistake(base + "vary: {device.cores: [2, 0]}\n"), HasSubstr("device.cores"));
  EXPECT_THAT(mistake("base: {workload: gpt2}\n"), HasSubstr("names no system"));
  EXPECT_THAT(mistake("base: {on: inf2.xlarge, worklod: gpt2}\n"),
              AllOf(HasSubstr("names no workload"), HasSubstr("nearest is 'workload'")));
  EXPECT_THAT(mistake("base: {on: inf2.xlage, workload: gpt2}\n"),
              HasSubstr("nearest is 'inf2.xlarge'"));
  EXPECT_THAT(mistake(base + "where: [\"${device.hbm.bandwith} > 1 TB/s\"]\n"),
              HasSubstr("nearest is 'device.hbm.bandwidth'"));
  EXPECT_THAT(mistake(base + "where: [\"${device.hbm.bandwidth} > 1 ms\"]\n"),
              HasSubstr("study.yaml:3"));
  EXPECT_THAT(mistake(base + "where: [\"${latency}\"]\n"), HasSubstr("is no condition"));
  EXPECT_THAT(mistake(base + "where: [\"1 > 2\", \"${latency} < 5\"]\n"), HasSubstr("a time"));
  EXPECT_THAT(mistake(base + "derive: {core.dma.engine_rate: \"2 ms\"}\n"),
              AllOf(HasSubstr("study.yaml:3"), HasSubstr("is a time; expected a data rate")));
}

// Wherever the point is that has no value, it alone fails.
TEST_F(SweepTest, AFormulaThatFailsAtAPointCostsThatPoint) {
  for (const std::string hole : {"1", "3"}) {
    const std::string distance = "(${batch} - " + hole + ")";
    const std::string path = study(std::string(kBase) +
                                   "vary: {batch: [1, 2, 3]}\nderive: {device.hbm.bandwidth: \"1 "
                                   "TB/s / (" +
                                   distance + " * " + distance + ")\"}\n");
    const CommandResult result = run_command({"sweep", path, "--store", store(hole)});
    EXPECT_EQ(result.code, kOutsideTolerance) << result.messages;
    EXPECT_THAT(result.messages, HasSubstr("2 computed now, 1 failed"));
    EXPECT_THAT(rows(store(hole)), HasSubstr("divides by zero"));
  }
}

TEST_F(SweepTest, ASearchKeepsToItsEvaluationsAndRepeatsItself) {
  const std::string path = study(std::string(kBase) +
                                 "vary: {batch: {range: [1, 40], steps: 40}, dp: {range: [1, 10], "
                                 "steps: 10}}\nobjectives: [latency, throughput]\n"
                                 "search: {evaluations: 40, seed: 3}\n");
  EXPECT_THAT(run_command({"sweep", path, "--store", store("a"), "--jobs", "2"}).messages,
              HasSubstr("of 40 points stored"));
  run_command({"sweep", path, "--store", store("b"), "--jobs", "1"});
  EXPECT_EQ(rows(store("a")), rows(store("b")));
  const StudyStore reader(store("a"), StoreAccess::kRead);
  EXPECT_LE(reader.finished(reader.studies().front()).size(), 40U);
  // Everything is known the second time.
  EXPECT_THAT(run_command({"sweep", path, "--store", store("a")}).messages,
              Not(HasSubstr("computed now")));
}

TEST_F(SweepTest, AStoredStudyCanBeReported) {
  const std::string path = study(std::string(kBase) + "vary: {batch: [1, 2]}\n");
  run_command({"sweep", path, "--store", store()});
  const std::string csv = folder_.file("study.csv");
  EXPECT_EQ(run_command({"report", store(), "-o", csv}).code, kSuccess);
  EXPECT_EQ(read_text_file(csv),
            run_command({"sweep", path, "--store", store(), "--format", "csv"}).result);
  EXPECT_THAT(run_command({"report", store(), "--study", "s"}).result,
              HasSubstr("2 of 2 points, 2 predicted"));
  EXPECT_THAT(run_command({"report", store(), "--study", "z"}).messages,
              HasSubstr("unknown study 'z'"));
}

TEST_F(SweepTest, MistakesOnTheCommandLine) {
  const std::string path = study(kBase);
  EXPECT_THAT(run_command({"sweep", "nothing.yaml"}).messages, HasSubstr("no such file"));
  EXPECT_THAT(run_command({"sweep", path, "--jobs", "0"}).messages, HasSubstr("--jobs"));
  EXPECT_THAT(run_command({"sweep", path, "--time-limit", "0"}).messages,
              HasSubstr("--time-limit"));
  EXPECT_THAT(run_command({"sweep", path, "--resume"}).messages, HasSubstr("--store"));
  EXPECT_THAT(run_command({"sweep", path, "--resume", "--store", store()}).messages,
              HasSubstr("holds nothing of this study"));
  EXPECT_THAT(run_command({"sweep", path, "--store", "/proc/no.sqlite"}).messages,
              HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace foretell
