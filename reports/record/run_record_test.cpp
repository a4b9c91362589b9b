#include "reports/record/run_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/base/errors.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

TEST(RunRecord, JsonReadsBackAsTheSameBytes) {
  const std::string text = to_json(example_record());
  EXPECT_EQ(to_json(run_record_from_json(text, "test")), text);
}

TEST(RunRecord, GenerationReadsBackAsTheSameBytes) {
  const std::string text = to_json(example_generation());
  EXPECT_EQ(to_json(run_record_from_json(text, "test")), text);
  EXPECT_THAT(text, HasSubstr(R"("generation":[{"kv_len":128,"tokens":27,"step_s":0.031},)"));
  EXPECT_THAT(text, HasSubstr(R"("costs_usd_per_million":{"on_demand":0.23,"reserved_1y":0.138})"));
  EXPECT_THAT(text, HasSubstr(R"("memory":{"weights_bytes":1000000000,"kv_cache_bytes":2)"));
}

TEST(RunRecord, EnergyStandsByKindAndUnderTheNamesOfEveryRecord) {
  RunRecord record = example_record();
  record.summary.watts = 100;
  record.summary.joules_per_request = 2;
  record.summary.energy = EnergyRecord{};
  record.summary.energy->parts = {
      {"matrix 16 bit", 6, true}, {"dram", 5, false}, {"busy", 3, false}, {"active idle", 2, true}};
  record.summary.energy->calibrated_share = 0.5;
  record.summary.energy->interval80 = {0.8, 1.2};
  const std::string text = to_json(record);
  EXPECT_THAT(text, HasSubstr(R"("energy_j":16,"watts_mean":100,"joules_per_unit":2)"));
  EXPECT_THAT(text, HasSubstr(R"("energy":{"joules":16,"operations_j":{"matrix 16 bit":6},)"
                              R"("bytes_j":{"dram":5},"static_j":3,"idle_j":2,)"
                              R"("operators_j":{},"calibrated_share":0.5,)"));
  EXPECT_EQ(to_json(run_record_from_json(text, "test")), text);
  record.summary.throughput_unit = "tokens/s";
  record.summary.joules_per_token = 0.25;
  EXPECT_THAT(to_json(record), HasSubstr(R"("joules_per_unit":0.25)"));
}

TEST(RunRecord, ChoicesOfAGenerationReadBack) {
  RunRecord record = example_generation();
  record.context.scenario.kv = "exact";
  record.context.scenario.kv_dtype = "fp8";
  record.context.scenario.sampling = "host";
  record.context.scenario.sequence_parallel = true;
  const std::string text = to_json(record);
  EXPECT_THAT(
      text,
      HasSubstr(R"("kv":"exact","kv_dtype":"fp8","sampling":"host","sequence_parallel":true)"));
  EXPECT_EQ(to_json(run_record_from_json(text, "test")), text);
}

TEST(RunRecord, RecordsOfEarlierVersionsHaveNoGenerationOrMemoryByUse) {
  std::string text = to_json(example_record());
  const auto drop = [&text](const std::string& part) {
    ASSERT_NE(text.find(part), std::string::npos) << part;
    text.erase(text.find(part), part.size());
  };
  drop(R"("generation":[],)");
  drop(R"("memory":null,)");
  drop(R"("costs_usd_per_million":{},)");
  EXPECT_EQ(to_json(run_record_from_json(text, "test")), to_json(example_record()));
}

TEST(RunRecord, KeysStandInSchemaOrder) {
  const std::string text = to_json(example_record());
  EXPECT_EQ(text.find(R"({"schema":"foretell.run/1","context":{"version":)"), 0U);
  EXPECT_LT(text.find("\"summary\""), text.find("\"operators\""));
  EXPECT_LT(text.find("\"latency_s\""), text.find("\"bottleneck\""));
  EXPECT_THAT(text, HasSubstr(R"("scenario":{"batch":8,"seq_len":128,"dp":2})"));
  EXPECT_THAT(text, HasSubstr(R"("ttft_s":null)"));
  EXPECT_THAT(text, HasSubstr(R"("interval80":{"latency_s":[0.0152,0.0187]})"));
}

TEST(RunRecord, NumbersKeepEveryBit) {
  RunRecord record = example_record();
  record.summary.call_s = 0.1 + 0.2;
  record.summary.latency_s = std::numeric_limits<double>::denorm_min();
  record.summary.throughput = 1e300;
  const RunRecord back = run_record_from_json(to_json(record), "test");
  EXPECT_EQ(back.summary.call_s, 0.1 + 0.2);
  EXPECT_EQ(back.summary.latency_s, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(back.summary.throughput, 1e300);
}

TEST(RunRecord, RefusesWhatIsNoNumber) {
  RunRecord record = example_record();
  record.summary.latency_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message_of<InternalError>([&] { to_json(record); }),
              HasSubstr("summary.latency_s is not a finite"));
  record = example_record();
  record.resources.at(0).busy = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of<InternalError>([&] { to_json(record); }),
              HasSubstr("busy is not a finite number"));
  record = example_record();
  record.operators.at(0).duration_s = -1e-9;
  EXPECT_THAT(message_of<InternalError>([&] { to_json(record); }),
              HasSubstr("duration_s is negative"));
  record = example_generation();
  record.generation.at(1).step_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message_of<InternalError>([&] { to_json(record); }),
              HasSubstr("generation[256].step_s is not a finite number"));
  record = example_generation();
  record.summary.memory->kv_cache_bytes = -1;
  EXPECT_THAT(message_of<InternalError>([&] { to_json(record); }),
              HasSubstr("summary.memory.kv_cache_bytes is negative"));
}

TEST(RunRecord, SharesEndAtOne) {
  RunRecord record = example_record();
  record.resources.at(0).busy = 1;
  EXPECT_NO_THROW(check_record(record));
  record.resources.at(0).busy = 1.001;
  EXPECT_THAT(message_of<InternalError>([&] { check_record(record); }), HasSubstr("above 1"));
}

TEST(RunRecord, IntervalsAreTheRightWayUp) {
  RunRecord record = example_record();
  record.summary.interval80["latency_s"] = {2, 1};
  EXPECT_THAT(message_of<InternalError>([&] { check_record(record); }), HasSubstr("upside down"));
}

TEST(RunRecord, ReadErrorsSayWhereAndWhat) {
  const auto error = [](std::string_view text) {
    return message_of<UserError>([&] { run_record_from_json(text, "runs.jsonl:3"); });
  };
  EXPECT_THAT(error("{"), HasSubstr("runs.jsonl:3: not JSON"));
  EXPECT_THAT(error(R"({"latency_s":1e999})"), HasSubstr("runs.jsonl:3: not JSON"));
  EXPECT_THAT(error("[]"), HasSubstr("runs.jsonl:3: expected an object"));
  EXPECT_THAT(error("{}"), HasSubstr("no field 'schema'"));
  EXPECT_THAT(error(R"({"request":0,"arrival_s":1})"), HasSubstr("serve … --format json"));
  EXPECT_THAT(error(R"({"schema":"foretell.run/9"})"), HasSubstr("reads 'foretell.run/1'"));
  std::string text = to_json(example_record());
  text.replace(text.find("\"batch\":8"), 9, "\"batch\":2.5");
  EXPECT_THAT(error(text), HasSubstr("context.scenario: field 'batch' must be a whole number"));
}

TEST(RunRecord, FieldsOfALaterVersionAreIgnored) {
  std::string text = to_json(example_record());
  text.insert(text.find("\"context\""), "\"power_w\":75,");
  EXPECT_EQ(to_json(run_record_from_json(text, "test")), to_json(example_record()));
}

TEST(RunRecord, NamesThatAreNoUtf8AreReplaced) {
  RunRecord record = example_record();
  record.context.workload = "bert\xff";
  EXPECT_THAT(to_json(record), HasSubstr("bert\xef\xbf\xbd"));
}

}  // namespace
}  // namespace foretell
