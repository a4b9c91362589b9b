// A machine that does not exist: written as a file or with --set, it is the same machine.
#include <gmock/gmock.h>

#include <limits>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Changes = std::vector<std::pair<std::string, std::string>>;

class MadeMachine : public testing::Test {
 protected:
  // A file of hw/ as one of the user's, with other values.
  std::string write(const std::string& from, const std::string& name, const Changes& changes) {
    std::string text = read_text_file(hw_folder() / from);
    for (const auto& [what, by] : changes) {
      const std::size_t at = text.find(what);
      EXPECT_NE(at, std::string::npos) << what;
      if (at != std::string::npos) text.replace(at, what.size(), by);
    }
    return folder_.write(name, text);
  }

  std::string gpu_file(const std::string& name, Changes changes) {
    changes.insert(changes.begin(), {"id: h100-sxm", "id: " + name});
    return write("devices/gpu/h100-sxm.yaml", name + ".yaml", changes);
  }

  TemporaryFolder folder_;
};

Request encoder_on(const std::string& system, const std::vector<std::string>& set = {}) {
  Request request;
  request.system = system;
  request.set = set;
  request.workload = "bert-large-uncased";
  request.batch = 8;
  request.seq_len = 128;
  return request;
}

void expect_same(const RunRecord& file, const RunRecord& set) {
  EXPECT_DOUBLE_EQ(file.summary.call_s, set.summary.call_s);
  EXPECT_EQ(file.context.factors, set.context.factors);
  EXPECT_EQ(file.summary.joules_per_request, set.summary.joules_per_request);
  ASSERT_EQ(file.summary.interval80.size(), set.summary.interval80.size());
  for (const auto& [name, band] : set.summary.interval80) {
    if (file.summary.interval80.count(name) == 0) ADD_FAILURE() << name;
    EXPECT_DOUBLE_EQ(file.summary.interval80.at(name).low, band.low) << name;
    EXPECT_DOUBLE_EQ(file.summary.interval80.at(name).high, band.high) << name;
  }
  EXPECT_EQ(file.summary.calibrated_energy, set.summary.calibrated_energy);
  ASSERT_TRUE(file.summary.energy && set.summary.energy);
  EXPECT_DOUBLE_EQ(file.summary.energy->interval80.high, set.summary.energy->interval80.high);
  EXPECT_EQ(file.summary.area_mm2.has_value(), set.summary.area_mm2.has_value());
  EXPECT_DOUBLE_EQ(file.summary.area_mm2.value_or(0), set.summary.area_mm2.value_or(0));
  EXPECT_EQ(file.summary.cost_to_make_usd, set.summary.cost_to_make_usd);
}

double width(const RunRecord& record) {
  const Interval& band = record.summary.interval80.at("call_s");
  return band.high / band.low;
}

const Changes kMemory = {{"value: 3350 GB/s", "value: 6 TB/s"}};

TEST_F(MadeMachine, AGpuIsTheSameAsAFileAndBySet) {
  const RunRecord file = predict(encoder_on(gpu_file("mine", kMemory)));
  const RunRecord set = predict(encoder_on("h100-sxm", {"device.hbm.bandwidth=6 TB/s"}));
  expect_same(file, set);
  EXPECT_THAT(file.context.differs, ElementsAre("device.hbm.bandwidth"));
  EXPECT_EQ(file.context.likeness,
            "mine was not measured: it is taken for h100-sxm with other values of "
            "device.hbm.bandwidth; 'like: DEVICE' in its file names another one");
  EXPECT_THAT(file.context.notes, Contains(file.context.likeness));
  EXPECT_THAT(file.context.notes,
              Contains(HasSubstr("has not been measured: intervals are twice")));
  EXPECT_THAT(file.context.notes,
              Contains(HasSubstr("area: not calibrated; nothing is published")));
  EXPECT_GT(width(file), 1.2 * width(predict(encoder_on("h100-sxm"))));
}

TEST_F(MadeMachine, WhatFollowsAnOverrideFollowsAFile) {
  const Changes slow = {{"value: 2.5 us", "value: 5 us"}, {"value: 0.87", "value: 0.7"}};
  expect_same(
      predict(encoder_on(gpu_file("slow", slow))),
      predict(encoder_on("h100-sxm", {"device.launch_floor=5 us", "device.reachable_rate=0.7"})));
}

TEST_F(MadeMachine, AFileMayBeChangedOnceMore) {
  expect_same(predict(encoder_on(gpu_file("mine", kMemory), {"device.l2.capacity=100 MiB"})),
              predict(encoder_on("h100-sxm",
                                 {"device.hbm.bandwidth=6 TB/s", "device.l2.capacity=100 MiB"})));
}

// Also under the name of the one that was measured.
TEST_F(MadeMachine, ACopyUnderTheSameNameIsAnotherMachine) {
  const std::string path = write("devices/gpu/h100-sxm.yaml", "h100-sxm.yaml", kMemory);
  expect_same(predict(encoder_on(path)),
              predict(encoder_on("h100-sxm", {"device.hbm.bandwidth=6 TB/s"})));
}

TEST_F(MadeMachine, EveryValueTheSameIsTheMeasuredMachine) {
  const RunRecord copy = predict(encoder_on(gpu_file("copy", {})));
  expect_same(copy, predict(encoder_on("h100-sxm")));
  EXPECT_THAT(copy.context.differs, IsEmpty());
}

TEST_F(MadeMachine, AFileNamesWhatItIsLike) {
  const std::string path = gpu_file("mine", {{"id: mine", "id: mine\nlike: h200-sxm"}});
  const RunRecord record = predict(encoder_on(path));
  EXPECT_THAT(record.context.differs, Contains("device.hbm.bandwidth"));
  EXPECT_THAT(record.context.notes, Contains(record.context.likeness));
  EXPECT_THAT(
      record.context.likeness,
      AllOf(HasSubstr("taken for h200-sxm, as 'like' in its file states, with other values"),
            Not(HasSubstr("names another"))));
  const std::string wrong = gpu_file("wrong", {{"id: wrong", "id: wrong\nlike: h100-smx"}});
  try {
    predict(encoder_on(wrong));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wrong.yaml:2: like: unknown device 'h100-smx'; nearest is "
                                        "'h100-sxm'"));
  }
}

// At least as wide as on a chip that took no part in the factors, whatever is changed of it.
TEST_F(MadeMachine, IsNoSurerThanAChipLeftOut) {
  for (const char* measured : {"h100-sxm", "h200-sxm"}) {
    const RunRecord made = predict(encoder_on(measured, {"device.hbm.bandwidth=6 TB/s"}));
    EXPECT_GE(width(made), width(predict(encoder_on("h20"))))
        << measured;  // of other chips' factors
  }
}

TEST_F(MadeMachine, ItsEnergyIsNotCalibrated) {
  EXPECT_GT(predict(encoder_on("h200-sxm")).summary.calibrated_energy.value_or(0), 0);
  const RunRecord made = predict(encoder_on("h200-sxm", {"device.hbm.bandwidth=6 TB/s"}));
  EXPECT_EQ(made.summary.calibrated_energy.value_or(1), 0);
  EXPECT_LE(made.summary.energy->interval80.low, 0.6);
  EXPECT_GE(made.summary.energy->interval80.high, 1.6);
  EXPECT_THAT(made.context.notes, Contains(HasSubstr("energy: not calibrated on this device")));
}

TEST_F(MadeMachine, ANeuronCoreDeviceIsTheSameAsAFileAndBySet) {
  write("cores/neuroncore-v2.yaml", "wide.yaml",
        {{"id: neuroncore-v2", "id: wide"}, {"value: 2.8 GHz", "value: 3.5 GHz"}});
  write("devices/inferentia2.yaml", "chip.yaml",
        {{"id: inferentia2", "id: chip"},
         {"core: neuroncore-v2", "core: wide.yaml"},
         {"value: 820 GB/s", "value: 1.6 TB/s"}});
  const std::string path =
      write("systems/inf2.xlarge.yaml", "mine.yaml",
            {{"id: inf2.xlarge", "id: mine"}, {"device: inferentia2", "device: ./chip.yaml"}});
  const RunRecord file = predict(encoder_on(path));
  const RunRecord set = predict(
      encoder_on("inf2.xlarge", {"device.hbm.bandwidth=1.6 TB/s", "core.tensor.clock=3.5 GHz"}));
  expect_same(file, set);
  EXPECT_THAT(file.context.differs, ElementsAre("device.hbm.bandwidth", "core.tensor.clock"));
  EXPECT_THAT(file.context.factors, HasSubstr("inferentia2@"));
}

TEST_F(MadeMachine, ACallOverheadOfAFileMovesTheFactorThatWasFittedForIt) {
  std::string text = read_text_file(hw_folder() / "devices/inferentia2.yaml");
  const std::size_t at = text.find("value:", text.find("call_overhead:"));
  text.replace(at, text.find_first_of(",\n", at) - at, "value: 99 us");
  text.replace(text.find("id: inferentia2"), 15, "id: chip");
  folder_.write("chip.yaml", text);
  const std::string path =
      write("systems/inf2.xlarge.yaml", "mine.yaml",
            {{"id: inf2.xlarge", "id: mine"}, {"device: inferentia2", "device: ./chip.yaml"}});
  expect_same(predict(encoder_on(path)),
              predict(encoder_on("inf2.xlarge", {"device.host.call_overhead=99 us"})));
}

TEST_F(MadeMachine, ACpuIsTheSameAsAFileAndBySet) {
  write("devices/cpu/xeon-8488c.yaml", "chip.yaml",
        {{"id: xeon-8488c", "id: chip"}, {"value: 38.4 GB/s", "value: 51.2 GB/s"}});
  const std::string path =
      write("systems/cpu/c7i.8xlarge.yaml", "mine.yaml",
            {{"id: c7i.8xlarge", "id: mine"}, {"device: xeon-8488c", "device: ./chip.yaml"}});
  const RunRecord file = predict(encoder_on(path));
  expect_same(file,
              predict(encoder_on("c7i.8xlarge", {"device.dram.channel_bandwidth=51.2 GB/s"})));
  EXPECT_THAT(file.context.differs, ElementsAre("device.dram.channel_bandwidth"));
}

// A file that says what it is like states only what differs.
TEST_F(MadeMachine, AGpuThatStatesOnlyWhatDiffersIsTheSameAsBySet) {
  const std::string path = folder_.write(
      "mine.yaml",
      "id: mine\nlike: h100-sxm\nhbm:\n  bandwidth: 6 TB/s\n  capacity: 120 GiB\nl2:\n"
      "  resident_share: {value: 0.6, source: PROJECT, kind: assumed, why: made up}\n");
  const std::vector<std::string> set = {"device.hbm.bandwidth=6 TB/s", "device.hbm.capacity=120GiB",
                                        "device.l2.resident_share=0.6"};
  const RunRecord file = predict(encoder_on(path));
  const RunRecord by_set = predict(encoder_on("h100-sxm", set));
  expect_same(file, by_set);
  EXPECT_EQ(file.context.assumed_values, by_set.context.assumed_values);
  EXPECT_THAT(file.context.differs, ElementsAre("device.l2.resident_share", "device.hbm.capacity",
                                                "device.hbm.bandwidth"));
  const std::string node = folder_.write(
      "node.yaml",
      "id: node\ndevice: ./mine.yaml\n"
      "devices: {value: 8, source: PROJECT, kind: assumed, why: made up}\n"
      "interconnect: {value: nvlink, source: PROJECT, kind: assumed, why: made up}\n");
  Request of_file = encoder_on(node);
  Request of_set = encoder_on("h100-sxm-x8", set);
  for (Request* request : {&of_file, &of_set}) {
    request->workload = "gpt2";
    request->seq_len = 0;
    request->input_len = 128;
    request->output_len = 4;
    request->tp = 4;
  }
  expect_same(predict(of_file), predict(of_set));
}

TEST_F(MadeMachine, AProcessIsThatOfTheParent) {
  Request file = encoder_on(
      folder_.write("mine.yaml", "id: mine\nlike: h100-sxm\nsms: 200\npower_watts: 900\n"));
  Request set = encoder_on("h100-sxm", {"device.sms=200", "device.power_watts=900"});
  expect_same(predict(file), predict(set));  // rates of the chip follow its SMs
  file.node = set.node = "3nm";
  EXPECT_DOUBLE_EQ(*predict(file).summary.area_mm2, *predict(set).summary.area_mm2);
  EXPECT_DOUBLE_EQ(*predict(file).summary.joules_per_request,
                   *predict(set).summary.joules_per_request);
}

// It takes nothing from another, not even what may be left out.
TEST_F(MadeMachine, AFileThatStatesEveryValueTakesNone) {
  const std::string fp8 = "  fp8: {value: 1978.9 TFLOP/s, source: NVH100, kind: datasheet}\n";
  Request request =
      encoder_on(gpu_file("mine", {{"id: mine", "id: mine\nlike: h100-sxm"}, {fp8, ""}}));
  request.dtype = "fp8";
  EXPECT_THROW(predict(request), UserError);
}

TEST_F(MadeMachine, ANeuronCoreDeviceThatStatesOnlyWhatDiffers) {
  folder_.write("wide.yaml", "id: wide\nlike: neuroncore-v2\ntensor:\n  clock: 3.5 GHz\n");
  folder_.write("chip.yaml",
                "id: chip\nlike: inferentia2\ncore: wide.yaml\nhbm: {bandwidth: 1.6 TB/s}\n");
  const std::string path =
      write("systems/inf2.xlarge.yaml", "mine.yaml",
            {{"id: inf2.xlarge", "id: mine"}, {"device: inferentia2", "device: ./chip.yaml"}});
  const std::vector<std::string> set = {"device.hbm.bandwidth=1.6 TB/s",
                                        "core.tensor.clock=3.5 GHz"};
  const RunRecord file = predict(encoder_on(path));
  const RunRecord by_set = predict(encoder_on("inf2.xlarge", set));
  expect_same(file, by_set);
  EXPECT_EQ(file.context.assumed_values, by_set.context.assumed_values);
  EXPECT_THAT(file.context.differs, ElementsAre("device.hbm.bandwidth", "core.tensor.clock"));
  folder_.write("chip.yaml", "id: chip\nlike: inferentia2\n");  // with its core
  expect_same(predict(encoder_on(path)), predict(encoder_on("inf2.xlarge")));
}

TEST_F(MadeMachine, ACpuThatStatesOnlyWhatDiffers) {
  folder_.write("chip.yaml", "id: chip\nlike: xeon-8488c\ndram: {channel_bandwidth: 51.2 GB/s}\n");
  const std::string path =
      write("systems/cpu/c7i.8xlarge.yaml", "mine.yaml",
            {{"id: c7i.8xlarge", "id: mine"}, {"device: xeon-8488c", "device: ./chip.yaml"}});
  const RunRecord file = predict(encoder_on(path));
  const RunRecord set =
      predict(encoder_on("c7i.8xlarge", {"device.dram.channel_bandwidth=51.2 GB/s"}));
  expect_same(file, set);
  EXPECT_EQ(file.context.assumed_values, set.context.assumed_values);
  EXPECT_THAT(file.context.differs, ElementsAre("device.dram.channel_bandwidth"));
}

TEST_F(MadeMachine, MistakesInAFileThatStatesOnlyWhatDiffersNameTheirPlace) {
  const auto message = [this](const std::string& text) {
    return message_of<UserError>([&] { predict(encoder_on(folder_.write("mine.yaml", text))); });
  };
  const std::string head = "id: mine\nlike: h100-sxm\n";
  EXPECT_THAT(message(head + "hbm: {bandwith: 6 TB/s}\n"),
              HasSubstr("mine.yaml:3: hbm.bandwith: no such parameter; nearest is 'bandwidth'"));
  EXPECT_THAT(message(head + "hbm:\n  bandwidth: 6\n"),
              HasSubstr("mine.yaml:4: hbm.bandwidth: '6' has no unit"));
  EXPECT_THAT(message("id: mine\nlike: h100-smx\n"),
              HasSubstr("mine.yaml:2: like: unknown device 'h100-smx'; nearest is 'h100-sxm'"));
  EXPECT_THAT(message("id: mine\nlike: inferentia2\n"), HasSubstr("'device: ./mine.yaml'"));
}

// A prompt that keeps an H100 at its power limit.
RunRecord long_prompt(const std::vector<std::string>& set, const std::string& limit = "") {
  Request request;
  request.system = "h100-sxm";
  request.workload = "llama-3-8b";
  request.dtype = "fp16";
  request.seq_len = 2048;
  request.set = set;
  request.power_limit = limit;
  return predict(request);
}

TEST_F(MadeMachine, ChangedBoardTakesThePowerThatItNeeds) {
  const RunRecord sold = long_prompt({});
  ASSERT_NEAR(*sold.summary.watts, 689.5, 1);
  for (const char* twice : {"device.sms=264", "device.matrix_rate.fp16=1978 TFLOP/s"}) {
    const RunRecord made = long_prompt({twice});
    EXPECT_LT(made.summary.call_s, 0.7 * sold.summary.call_s) << twice;
    // The same work at the same voltage; less of what idles and of what only time takes.
    EXPECT_GT(*made.summary.joules_per_request, 0.8 * *sold.summary.joules_per_request) << twice;
    EXPECT_LT(*made.summary.joules_per_request, *sold.summary.joules_per_request) << twice;
    EXPECT_GT(*made.summary.watts, 900) << twice;
    EXPECT_THAT(made.context.notes, Contains(HasSubstr("takes the power that it needs")));
  }
  const RunRecord file = long_prompt({"device.hbm.capacity=100 GiB"});
  EXPECT_DOUBLE_EQ(file.summary.call_s, sold.summary.call_s);
  EXPECT_NEAR(*file.summary.watts, *sold.summary.watts, 1e-6);
  EXPECT_THAT(file.context.notes, Not(Contains(HasSubstr("takes the power"))));
}

TEST_F(MadeMachine, ChangedBoardKeepsALimitThatIsStated) {
  double before = std::numeric_limits<double>::infinity();
  for (const char* limit : {"400 W", "500 W", "800 W", "1000 W", "2 kW"}) {
    const RunRecord made = long_prompt({"device.sms=264"}, limit);
    EXPECT_LE(*made.summary.watts, made.summary.energy->limit_w) << limit;
    EXPECT_LE(made.summary.call_s, before) << limit;
    before = made.summary.call_s;
    const RunRecord stated =
        long_prompt({"device.sms=264", std::string("device.power_watts=") + limit});
    EXPECT_DOUBLE_EQ(stated.summary.call_s, made.summary.call_s) << limit;
  }
}

// What a chip draws at a clock does not depend on how far above it the clock could go.
TEST_F(MadeMachine, HigherFullClockChangesNothingUnderALimit) {
  const RunRecord sold = long_prompt({}, "500 W");
  const RunRecord made = long_prompt({"device.clock.boost=2379 MHz"}, "500 W");
  EXPECT_NEAR(made.summary.call_s / sold.summary.call_s, 1, 0.005);
  EXPECT_NEAR(*made.summary.joules_per_request / *sold.summary.joules_per_request, 1, 0.005);
  EXPECT_NEAR(made.summary.energy->clock * 2379, sold.summary.energy->clock * 1830, 10);
  const RunRecord free = long_prompt({"device.clock.boost=2379 MHz"});
  EXPECT_LT(free.summary.call_s, 0.8 * long_prompt({}).summary.call_s);
  EXPECT_GT(*free.summary.joules_per_request, *long_prompt({}).summary.joules_per_request);
}

// Factors are those of what was measured, whatever is made of it; another rate of FP32 hardly
// matters to BF16.
TEST(MadeCpu, ARateThatIsSetChoosesNoOtherFactors) {
  Request request;
  request.system = "c7g.4xlarge";
  request.workload = "bert-base-uncased";
  request.seq_len = 200;
  request.batch = 3;
  const RunRecord sold = predict(request);
  for (const char* rate : {"63.9", "64", "64.1"}) {
    request.set = {std::string("device.flops_per_cycle.fp32=") + rate};
    const RunRecord made = predict(request);
    EXPECT_EQ(made.context.factors, sold.context.factors) << rate;
    EXPECT_LE(made.summary.call_s, sold.summary.call_s) << rate;
  }
}

Request short_bert_on(const char* system) {
  Request request;
  request.system = system;
  request.workload = "bert-base-uncased";
  request.seq_len = 128;
  request.dtype = "bf16";
  return request;
}

// How a part is simulated is nothing of the machine: price and interval stay those of the sold one.
TEST(ChangedMachine, AMethodChangesNoHardware) {
  Request request = short_bert_on("inf2.xlarge");
  const RunRecord sold = predict(request);
  ASSERT_TRUE(sold.summary.cost_usd_per_million.has_value());
  for (const char* method : {"rate", "banks"}) {
    request.set = {std::string("device.hbm.model=") + method};
    const RunRecord record = predict(request);
    EXPECT_TRUE(record.summary.cost_usd_per_million.has_value()) << method;
    EXPECT_THAT(record.context.notes, Not(Contains(HasSubstr("hardware that was changed"))));
  }
}

TEST(ChangedMachine, AnotherProcessIsAnotherMachine) {
  Request request = short_bert_on("inf2.xlarge");
  request.node = "3nm";
  const RunRecord record = predict(request);
  EXPECT_FALSE(record.summary.cost_usd_per_million.has_value());
  EXPECT_THAT(record.context.notes, Contains(HasSubstr("hardware that was changed")));
}

// A larger array is never slower where it is filled, and an array between two sizes takes a time
// between theirs.
TEST(ChangedMachine, ArraysOfAnySizeTakeTimesBetweenThoseOfTheirNeighbours) {
  Request request = short_bert_on("inf2.xlarge");
  request.batch = 8;
  double before = std::numeric_limits<double>::infinity();
  for (const char* side : {"64", "100", "120", "128", "192", "256"}) {
    request.set = {std::string("core.tensor.rows=") + side,
                   std::string("core.tensor.columns=") + side};
    const double call = predict(request).summary.call_s;
    EXPECT_LT(call, before) << side;
    before = call;
  }
}

TEST(ChangedMachine, ACallThatLastsTooLongFailsAndSaysWhere) {
  Request request = short_bert_on("h100-sxm");
  request.workload = "bert-large-uncased";
  request.batch = 64;
  request.set = {"device.hbm.bandwidth=1 MB/s"};
  EXPECT_THAT(message_of<UserError>([&] { predict(request); }),
              HasSubstr("lasts more than the 4000 s"));
}

}  // namespace
}  // namespace foretell
