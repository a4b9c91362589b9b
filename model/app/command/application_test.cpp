#include "model/app/command/application.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <sstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/json_lines.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> run_line(const std::vector<std::string>& more = {}) {
  std::vector<std::string> line = {
      "run", "--on", "inf2.xlarge", "--workload", "bert-base-uncased", "--dtype", "bf16"};
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

TEST(Application, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(run_command({"help", "calibrate", "fit"}).result,
            run_command({"calibrate", "fit", "--help"}).result);
  EXPECT_EQ(run_command({"version"}).result, run_command({"--version"}).result);
}

TEST(Application, HelpAndVersionGoToStandardOutput) {
  EXPECT_THAT(run_command({"--version"}).result, StartsWith("foretell 0."));
  const CommandResult help = run_command({"--help"});
  EXPECT_EQ(help.code, kSuccess);
  EXPECT_THAT(help.result, HasSubstr("Examples:"));
  EXPECT_EQ(help.messages, "");
  EXPECT_THAT(run_command({"run", "--help"}).result, HasSubstr("Usage: foretell run [OPTIONS]"));
}

TEST(Application, EveryCommandHasHelpWithAnExample) {
  for (const char* command : {"run", "compare", "explain", "predict", "validate", "report", "diff",
                              "list", "show", "completion"}) {
    const CommandResult help = run_command({command, "--help"});
    EXPECT_EQ(help.code, kSuccess) << command;
    EXPECT_THAT(help.result, HasSubstr("Example")) << command;
  }
}

TEST(Application, NoCommandIsTheUsersMistake) {
  const CommandResult nothing = run_command({});
  EXPECT_EQ(nothing.code, kUserMistake);
  EXPECT_EQ(nothing.result, "");
  EXPECT_THAT(nothing.messages, HasSubstr("Subcommands:"));
}

TEST(Application, UnknownWordsNameTheNearest) {
  EXPECT_THAT(run_command({"comparre"}).messages,
              HasSubstr("unknown command 'comparre'; nearest is 'compare'"));
  const CommandResult option = run_command(run_line({"--bach", "8"}));
  EXPECT_EQ(option.code, kUserMistake);
  EXPECT_THAT(option.messages, HasSubstr("unknown option '--bach'; nearest is '--batch'"));
  const std::string none = run_command({"calibrate", "area", "--bogus"}).messages;
  EXPECT_EQ(none.find("--help"), none.find("--help, "));
  EXPECT_EQ(none.find("--help, ", none.find("--help, ") + 1), std::string::npos) << none;
  const CommandResult help = run_command({"comparre", "--help"});
  EXPECT_EQ(help.code, kUserMistake);
  EXPECT_THAT(help.messages, HasSubstr("nearest is 'compare'"));
  EXPECT_THAT(run_command(run_line({"--seed", "1", "--seed", "2"})).messages,
              HasSubstr("--seed: is given more than once; give it once"));
  EXPECT_THAT(run_command(run_line({"--format", "jsn"})).messages, HasSubstr("nearest is 'json'"));
}

TEST(Application, ListsAreComparedAndElsewherePointThere) {
  const std::string lengths =
      run_command({"compare", "--on", "inf2.xlarge", "--workload", "gpt2", "--input-len", "128,256",
                   "--output-len", "8,16", "--format", "csv"})
          .result;
  EXPECT_EQ(std::count(lengths.begin(), lengths.end(), '\n'), 5) << lengths;
  EXPECT_THAT(
      run_command(run_line({"--batch", "1,8"})).messages,
      HasSubstr("--batch 1,8: takes one value here; `foretell compare` takes several, and a "
                "study varies it, `vary: {batch: [1, 8]}`"));
  EXPECT_THAT(
      run_command({"compare", "--on", "inf2.xlarge", "--workload", "gpt2", "--cores", "1,2"})
          .messages,
      HasSubstr("takes one value here; a study varies it, `vary: {cores: [1, 2]}`"));
}

TEST(Application, OptionsOfOtherProgramsAreKnownByTheirNames) {
  const auto said = [](const char* command, const char* option) {
    const CommandResult result = run_command({command, option, "8"});
    EXPECT_EQ(result.code, kUserMistake) << option;
    return result.messages;
  };
  EXPECT_THAT(said("run", "--isl"), HasSubstr("unknown option '--isl'; here it is '--input-len'"));
  EXPECT_THAT(said("run", "--model"), HasSubstr("here it is '--workload'"));
  EXPECT_THAT(said("run", "--batch-size"), HasSubstr("here it is '--batch'"));
  EXPECT_THAT(said("serve", "--batch-size"), HasSubstr("here it is '--max-batch'"));
  EXPECT_THAT(said("serve", "--gpu-memory-utilization"), HasSubstr("here it is '--kv-fraction'"));
  EXPECT_THAT(run_command({"sweep", "--on", "inf2.xlarge"}).messages,
              HasSubstr("unknown option '--on' (run, compare, explain take it)"));
  // Only what the command has.
  EXPECT_THAT(said("run", "--qps"), Not(HasSubstr("here it is")));
}

TEST(Application, ANetworkNeedsNoOptionOfItsOwn) {
  const std::vector<std::string> named = {"run", "--on", "inf2.xlarge", "--dtype", "bf16"};
  std::vector<std::string> alone = named;
  alone.insert(alone.begin() + 1, "bert-base-uncased");
  EXPECT_EQ(run_command(alone).result, run_command(run_line()).result);
  const CommandResult two = run_command({"run", "bert-base-uncased", "inf2.xlarge"});
  EXPECT_EQ(two.code, kUserMistake);
  EXPECT_THAT(two.messages, HasSubstr("'inf2.xlarge'; a system is named with --on"));
}

TEST(Application, NamesWithSeveralEndingsAreAnsweredWithThose) {
  EXPECT_THAT(run_command({"compare", "gpt-oss", "--on", "h100"}).messages,
              HasSubstr("unknown workload 'gpt-oss'; there are gpt-oss-20b and gpt-oss-120b;"));
  EXPECT_THAT(run_command({"compare", "gpt2", "--on", "inf2"}).messages,
              HasSubstr("unknown system 'inf2'; there are inf2.xlarge, inf2.8xlarge, "
                        "inf2.24xlarge and inf2.48xlarge;"));
}

TEST(Application, TheResultDoesNotOverwriteTheTimeline) {
  const TemporaryFolder folder;
  for (const char* command : {"run", "explain"}) {
    const CommandResult result =
        run_command({command, "--on", "inf2.xlarge", "--workload", "gpt2", "--trace",
                     folder.file("t.json"), "-o", folder.file("./t.json")});
    EXPECT_EQ(result.code, kUserMistake) << command;
    EXPECT_THAT(result.messages, HasSubstr("is where the result goes")) << command;
  }
}

TEST(Application, QuietAndVerboseMayFollowTheCommand) {
  EXPECT_EQ(run_command(run_line({"-q"})).code, kSuccess);
  EXPECT_EQ(run_command(run_line({"-v"})).code, kSuccess);
}

TEST(Application, OurMistakesDifferFromTheUsers) {
  const CommandResult bug = run_command(run_line({"--sdk", "bug"}));
  EXPECT_EQ(bug.code, kOurMistake);
  EXPECT_THAT(bug.messages, HasSubstr("internal error: a table has no end"));
  const CommandResult user = run_command(run_line({"--sdk", "fail"}));
  EXPECT_EQ(user.code, kUserMistake);
  EXPECT_EQ(user.messages, "foretell: sdk: 'fail' is not allowed\n");
}

TEST(Run, TableJsonAndCsv) {
  EXPECT_THAT(run_command(run_line({"--batch", "8"})).result,
              HasSubstr("bert-base-uncased on inf2.xlarge, bf16\n"));
  const CommandResult json = run_command(run_line({"--format", "json"}));
  EXPECT_THAT(json.result, StartsWith(R"({"schema":"foretell.run/1")"));
  EXPECT_EQ(json.result.find('\n'), json.result.size() - 1);
  EXPECT_THAT(run_command(run_line({"--format", "csv"})).result,
              HasSubstr("\ninf2.xlarge,bert-base-uncased,bf16,1,"));
}

TEST(Run, TheSameCommandGivesTheSameBytes) {
  EXPECT_EQ(run_command(run_line({"--format", "json"})).result,
            run_command(run_line({"--format", "json"})).result);
}

TEST(Run, CountsOutOfRangeSayWhatIsAllowed) {
  for (const char* batch : {"0", "-1", "1e12", "2.5", "many", "1000001"}) {
    const CommandResult result = run_command(run_line({"--batch", batch}));
    EXPECT_EQ(result.code, kUserMistake) << batch;
    EXPECT_THAT(result.messages, HasSubstr("it must be a whole number from 1 to 1000000")) << batch;
  }
  EXPECT_EQ(run_command(run_line({"--batch", "1000000"})).code, kSuccess);
  EXPECT_THAT(run_command(run_line({"--in-flight", "0"})).messages,
              HasSubstr("must be a number above 0"));
}

TEST(Run, MissingAndContradictingArguments) {
  EXPECT_THAT(run_command({"run"}).messages, HasSubstr("no system; name one with --on"));
  EXPECT_THAT(run_command({"run", "--on", "inf2.xlarge"}).messages, HasSubstr("no workload"));
  EXPECT_THAT(run_command(run_line({"--seq", "128", "--input-len", "64"})).messages,
              HasSubstr("exclude each other"));
  EXPECT_THAT(run_command(run_line({"--tp", "4", "--dp", "2", "--cores", "4"})).messages,
              HasSubstr("tp x pp x dp = 8 cores, but cores says 4"));
}

TEST(Run, ChoicesOfAGenerationNeedOne) {
  for (const char* option : {"--kv", "--sampling", "--kv-dtype"}) {
    const std::string word = option == std::string("--kv")         ? "exact"
                             : option == std::string("--sampling") ? "host"
                                                                   : "fp8";
    const CommandResult without = run_command(run_line({option, word}));
    EXPECT_EQ(without.code, kUserMistake) << option;
    EXPECT_THAT(without.messages, HasSubstr("add --input-len and --output-len")) << option;
    EXPECT_EQ(run_command(run_line({option, word, "--input-len", "8", "--output-len", "8"})).code,
              kSuccess)
        << option;
  }
}

TEST(Run, PathsThatCannotBeWrittenAreFoundBeforeTheWork) {
  // The predictor would fail with another message if it ran first.
  for (const char* option : {"-o", "--store", "--trace"}) {
    const CommandResult result =
        run_command(run_line({"--sdk", "bug", option, "/no/such/folder/x"}));
    EXPECT_EQ(result.code, kUserMistake) << option;
    EXPECT_THAT(result.messages, HasSubstr("/no/such/folder/x: cannot be")) << option;
  }
}

TEST(Run, AFullDiskIsReported) {
  const CommandResult result = run_command(run_line({"-o", "/dev/full"}));
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("/dev/full: cannot be written: No space left on device"));
}

TEST(Run, StoreAndReport) {
  const TemporaryFolder folder;
  const std::string store = folder.file("runs.sqlite");
  ASSERT_EQ(run_command(run_line({"--store", store})).code, kSuccess);
  ASSERT_EQ(run_command(run_line({"--store", store, "--batch", "8"})).code, kSuccess);
  EXPECT_THAT(run_command({"report", store}).result, HasSubstr("batch 8"));
  EXPECT_EQ(run_command({"report", store, "-o", folder.file("r.md")}).code, kSuccess);
  EXPECT_THAT(folder.read("r.md"), HasSubstr("system: inf2.xlarge"));
  EXPECT_EQ(run_command({"report", store, "-o", folder.file("r.csv")}).code, kSuccess);
  EXPECT_THAT(folder.read("r.csv"), StartsWith("system,workload,dtype,batch"));
  EXPECT_THAT(run_command({"report", store, "-o", folder.file("r.pdf")}).messages,
              HasSubstr("has to end in .json, .jsonl, .csv, .md, .tsv or .html"));
}

TEST(Report, ReadsJsonLines) {
  const TemporaryFolder folder;
  const std::string runs = folder.file("runs.jsonl");
  ASSERT_EQ(run_command(run_line({"--format", "json", "-o", runs})).code, kSuccess);
  EXPECT_THAT(run_command({"report", runs}).result, HasSubstr("inf2.xlarge"));
  EXPECT_THAT(run_command({"report", folder.file("none.jsonl")}).messages,
              HasSubstr("cannot be read"));
}

TEST(Diff, SaysWhatMovedAndByExitCode) {
  const TemporaryFolder folder;
  const auto runs = [&folder](const std::string& name, const std::string& dp) {
    const std::string path = folder.file(name);
    run_command(run_line({"--format", "json", "-o", path, "--seed", "1", "--in-flight", dp}));
    return path;
  };
  const std::string two = runs("two.jsonl", "2");
  EXPECT_EQ(run_command({"diff", two, runs("same.jsonl", "2")}).code, kSuccess);
  const CommandResult moved = run_command({"diff", two, runs("four.jsonl", "4")});
  EXPECT_EQ(moved.code, kOutsideTolerance);
  EXPECT_THAT(moved.result, HasSubstr("in flight 4"));
  EXPECT_THAT(run_command({"diff", two, two, "--tolerance", "1"}).messages,
              HasSubstr("write 0.1% or latency_s=0.1%"));
}

TEST(Explain, ShowsResourcesAndOperators) {
  const CommandResult result = run_command(
      {"explain", "--on", "inf2.xlarge", "--workload", "x", "--dtype", "bf16", "--top", "1"});
  EXPECT_EQ(result.code, kSuccess);
  EXPECT_THAT(result.result, HasSubstr("chip0.core0.tensor"));
  EXPECT_THAT(result.result, HasSubstr("1 of 2"));
}

TEST(Explain, TriesWhatWouldHelp) {
  const CommandResult result =
      run_command({"explain", "--on", "inf2.xlarge", "--workload", "x", "--dtype", "bf16"});
  EXPECT_THAT(result.result, HasSubstr("tensor engine clock x 2  1.00 ms  0.0 %"));
  EXPECT_THAT(result.result, HasSubstr("HBM bandwidth x 2"));
}

// `--dtype "$TYPE"` of a script whose variable is not set counted as not stated.
TEST(Application, AnEmptyValueIsAMistake) {
  for (const char* option : {"--dtype", "--seq", "--factors", "--output"}) {
    const CommandResult result =
        run_command({"run", "--on", "inf2.xlarge", "--workload", "bert-base-uncased", option, ""});
    EXPECT_EQ(result.code, kUserMistake) << option;
    EXPECT_THAT(result.messages, AllOf(HasSubstr(option), HasSubstr("the value is empty")));
  }
}

TEST(Application, DataTypesAreFoundInCapitalLettersToo) {
  const CommandResult result =
      run_command({"run", "--on", "INF2.xlarge", "--workload", "BERT-base-uncased", "--dtype",
                   "BF16-Matmul", "--seq", "128"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
}

TEST(Application, AnUnknownSystemNamesTheCommandThatListsThem) {
  EXPECT_THAT(run_command({"compare", "--on", "h900", "--workload", "gpt2"}).messages,
              HasSubstr("`foretell list systems` shows all"));
}

// These ended as bugs of ours.
TEST(Application, ALoopOfSymbolicLinksIsTheUsersMistake) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder.file("loop.json"), folder.file("loop.json"));
  const CommandResult result = run_command({"import", folder.file("loop.json")});
  EXPECT_EQ(result.code, kUserMistake) << result.messages;
  EXPECT_THAT(result.messages, HasSubstr("loop.json"));
}

TEST(Application, TooLittleMemoryIsSaidAsSuch) {
  std::ostringstream messages;
  Session session;
  session.predict = [](const Request&) -> RunRecord { throw std::bad_alloc(); };
  session.messages = &messages;
  EXPECT_EQ(
      run_application({"run", "--on", "inf2.xlarge", "--workload", "gpt2", "--seq", "8"}, session),
      kUserMistake);
  EXPECT_THAT(messages.str(), AllOf(HasSubstr("not enough memory"), HasSubstr("ulimit -v")));
}

TEST(Completion, NamesEveryCommandAndIsBash) {
  const CommandResult result = run_command({"completion", "bash"});
  EXPECT_THAT(result.result, HasSubstr("complete -o default -F _foretell foretell"));
  EXPECT_THAT(result.result, HasSubstr("validate) COMPREPLY="));
  EXPECT_THAT(result.result, HasSubstr("--in-flight"));
  const TemporaryFolder folder;
  const std::string script = folder.write("completion.bash", result.result);
  EXPECT_EQ(std::system(("bash -n " + script).c_str()), 0);
  EXPECT_THAT(
      run_command({"completion", "zsh"}).result,
      AllOf(HasSubstr("bashcompinit"), HasSubstr("complete -o default -F _foretell foretell")));
  const std::string fish = run_command({"completion", "fish"}).result;
  EXPECT_THAT(fish, AllOf(HasSubstr("__fish_use_subcommand -f -a compare -d "),
                          HasSubstr("'__fish_seen_subcommand_from run' -l in-flight -r -d ")));
  EXPECT_THAT(run_command({"completion", "tcsh"}).messages,
              AllOf(HasSubstr("unknown shell 'tcsh'"), HasSubstr("bash, zsh, fish")));
}

}  // namespace
}  // namespace foretell
