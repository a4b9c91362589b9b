#include "model/app/tables/table_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string dtype_of_row(const std::string& weight, const std::string& compute) {
  const CsvRow header = {"system", "workload", "weight_dtype", "compute_dtype"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  return reader.request({"inf2.xlarge", "bert-base-uncased", weight, compute}).dtype;
}

TEST(RowReader, WeightsOfEightBitsMakeAPolicyAndWiderOnesAreConverted) {
  EXPECT_EQ(dtype_of_row("fp32", "bf16-matmul"), "bf16-matmul");
  EXPECT_EQ(dtype_of_row("fp32, bf16", "bf16"), "bf16");
  EXPECT_EQ(dtype_of_row("int8", "bf16-matmul"), "int8-weights");
  EXPECT_EQ(dtype_of_row("fp8", "bf16"), "fp8-weights");
  EXPECT_EQ(dtype_of_row("int8", "int8"), "int8");
  EXPECT_EQ(dtype_of_row("bf16", ""), "bf16");
  EXPECT_EQ(dtype_of_row("", ""), "");  // not stated
}

// What options, studies and records call a column, and what plainly means one.
TEST(RowReader, ColumnsMayHaveTheNamesOfOptions) {
  const CsvRow header = {"system", "workload", "dtype", "seq", "Batch", "in-flight", "team"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const Request request =
      reader.request({"inf2.xlarge", "bert-base-uncased", "fp32", "64", "8", "4", "search"});
  EXPECT_EQ(request.dtype, "fp32");
  EXPECT_EQ(request.seq_len, 64);
  EXPECT_EQ(request.batch, 8);
  EXPECT_EQ(request.in_flight, 4);
  EXPECT_THAT(meant_columns({"dtype", "compute_dtype"}), ElementsAre("dtype", "compute_dtype"));
}

TEST(RowReader, AColumnThatIsAlmostAnotherIsNamed) {
  EXPECT_THAT(unread_columns({"system", "workload", "batchsize", "seq", "team", "dtype"}),
              ElementsAre("column 'batchsize' is not read; nearest is 'batch'"));
  EXPECT_THAT(unread_columns({"system", "workload", "dtyp", "Precison", "batc"}),
              ElementsAre("column 'dtyp' is not read; nearest is 'compute_dtype'",
                          "column 'Precison' is not read; nearest is 'compute_dtype'",
                          "column 'batc' is not read; nearest is 'batch'"));
  EXPECT_THAT(unread_columns({"gpu", "dtype", "m", "n", "k", "batchsize"}), IsEmpty());
  EXPECT_THAT(unread_columns({"system", "workload", "Concurrency"}),
              ElementsAre(testing::HasSubstr("column 'Concurrency' is not read")));
}

TEST(RowReader, WeightsThatAreNotModelledAreRefused) {
  EXPECT_THAT(message_of<UserError>([] { dtype_of_row("zzz", "bf16"); }),
              HasSubstr("weight_dtype: "));
  EXPECT_THAT(message_of<UserError>([] { dtype_of_row("int4", "bf16"); }),
              HasSubstr("narrow weights are int8 or fp8"));
}

// For a table of software: a rule says that a board is beside a newer processor than those of its
// age.
TEST(RowReader, ANewestHostTakesItsLibrarysOwnTimeBesideAnOldBoard) {
  const CsvRow header = {"system", "workload", "software", "library", "host"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const auto set_by = [&reader](const char* library, const char* host) {
    return reader.request({"t4", "bert-base-uncased", "ours", library, host}).set;
  };
  EXPECT_THAT(set_by("torchscript", "newest"), ElementsAre("device.stream_floor=15 us"));
  EXPECT_THAT(set_by("torchscript", ""), IsEmpty());
  EXPECT_THAT(set_by("trtllm", "newest"), IsEmpty());  // no host launches its kernels
}

// For a table of software: a rule says which share of the tokens it leaves out.
TEST(RowReader, PaddingIsASettingOfTheNetwork) {
  const CsvRow header = {"system", "workload", "software", "padding"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const auto set_by = [&reader](const char* padding) {
    return reader.request({"t4", "bert-base-uncased", "ours", padding}).set;
  };
  EXPECT_THAT(set_by("0.4"), ElementsAre("workload.padding=0.4"));
  EXPECT_THAT(set_by(""), IsEmpty());
}

// As llama-bench writes them: pp reads a prompt, tg generates from nothing.
TEST(RowReader, ZeroTokensOfOneSideLeaveTheOtherAlone) {
  const CsvRow header = {"system", "workload", "phase", "input_len", "output_len"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const auto question = [&reader](const char* input, const char* output) {
    return reader.question({"h100-sxm", "Llama-3-8B", "decode", input, output});
  };
  EXPECT_EQ(question("512", "0").request.output_len, 1);
  EXPECT_EQ(question("512", "0").rate_scale, 512);
  EXPECT_EQ(question("0", "1024").request.input_len, 1);
  EXPECT_EQ(question("0", "1024").rate_scale, 1);
  EXPECT_EQ(question("512", "64").rate_scale, 1);
  EXPECT_THROW(question("0", "0"), UserError);
}

TEST(RowReader, APromptAloneIsNoPassOfTheNetwork) {
  const CsvRow header = {"system", "workload", "seq_len", "input_len", "output_len"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const auto request = [&reader](const char* sequence, const char* input, const char* output) {
    return reader.request({"h100-sxm", "gpt2", sequence, input, output});
  };
  EXPECT_THAT(message_of<UserError>([&] { request("", "64", ""); }),
              HasSubstr("needs input_len and output_len"));
  EXPECT_EQ(request("64", "", "").seq_len, 64);
  EXPECT_EQ(request("", "64", "8").output_len, 8);
}

TEST(RowReader, OnePassHasNoLengthsOfAGeneration) {
  const CsvRow header = {"system", "workload", "phase", "input_len", "output_len"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  EXPECT_THAT(message_of<UserError>([&] {
                reader.request({"h100-sxm", "gpt2", "forward", "64", ""});
              }),
              HasSubstr("input_len: is about generations, phase=decode"));
  EXPECT_EQ(reader.request({"h100-sxm", "gpt2", "forward", "", ""}).input_len, 0);
}

TEST(RowReader, ARateIsInTheUnitOfItsPhase) {
  const CsvRow header = {"system",     "workload",   "seq_len",        "input_len",
                         "output_len", "throughput", "throughput_unit"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const auto refused = [&](const char* sequence, const char* tokens, const char* unit) {
    const CsvRow row = {"h100-sxm", "gpt2", sequence, tokens, tokens, "9", unit};
    try {
      reader.request(row);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* unit : {"inferences/s", "Samples/s", "images/s", "requests/s", ""})
    EXPECT_EQ(refused("64", "", unit), "") << unit;
  for (const char* unit : {"tokens/s", "batches/s", "foo"})
    EXPECT_THAT(refused("64", "", unit), HasSubstr("its rate is in inferences/s")) << unit;
  EXPECT_EQ(refused("", "64", "output tokens/s"), "");
  EXPECT_THAT(refused("", "64", "requests/s"), HasSubstr("requests/s times output_len"));
}

TEST(RowReader, RatesOfOneGpuAreDividedByThoseOfACopy) {
  const CsvRow header = {"system", "workload", "input_len", "output_len",
                         "tp",     "pp",       "rate_of",   "software"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const auto scale = [&reader](const char* tp, const char* of) {
    return reader.question({"h100-sxm-x4", "Llama-3-8B", "8", "8", tp, "", of, "x"}).rate_scale;
  };
  EXPECT_EQ(scale("4", "gpu"), 0.25);
  EXPECT_EQ(scale("4", ""), 1);
}

TEST(RowReader, AnEngineIsAboutGenerations) {
  const CsvRow header = {"system", "workload", "input_len", "output_len", "engine"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  EXPECT_EQ(reader.question({"h100-sxm", "Llama-3-8B", "128", "32", "vllm@0.3"}).engine,
            "vllm@0.3");
  EXPECT_EQ(reader.question({"h100-sxm", "Llama-3-8B", "128", "32", ""}).engine, "");
  EXPECT_THAT(message_of<UserError>([&] {
                reader.question({"h100-sxm", "bert-base-uncased", "", "", "vllm@0.3"});
              }),
              HasSubstr("engine: is about generations"));
}

// Tables count physical cores, also where software joins two to one.
TEST(RowReader, PhysicalCoresAreCountedAsProgramsSeeThem) {
  const CsvRow header = {"system", "workload", "tp", "cores", "sdk"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const auto cores_of = [&reader](const char* system, const char* tp, const char* cores) {
    return reader.request({system, "Llama-3.1-405B", tp, cores, ""}).cores;
  };
  EXPECT_EQ(cores_of("trn2.48xlarge", "64", "128"), 64);
  EXPECT_EQ(cores_of("trn2.48xlarge", "64", "64"), 64);
  EXPECT_EQ(cores_of("trn2.48xlarge", "16", "64"), 64);  // as many as programs see
  EXPECT_EQ(cores_of("trn1.32xlarge", "16", "32"), 32);  // nothing is joined
}

// What the vendor's load generator measured went through a server.
TEST(RowReader, RowsOfAServerAreServed) {
  const CsvRow header = {"system", "workload",       "tp", "input_len", "output_len",
                         "sdk",    "throughput_unit"};
  const RowReader reader(recognise_table(header, "t.csv"), header, Request());
  const CsvRow served = {"trn2.48xlarge",
                         "Llama-3.1-405B",
                         "64",
                         "10000",
                         "1500",
                         "",
                         "output tokens/s (end to end, LLMPerf)"};
  EXPECT_EQ(reader.question(served).engine, "neuron@2.20");
  EXPECT_TRUE(reader.request(served).sequence_parallel);
  CsvRow other = served;
  other.back() = "output tokens/s";
  EXPECT_EQ(reader.question(other).engine, "");
  EXPECT_FALSE(reader.request(other).sequence_parallel);
}

}  // namespace
}  // namespace foretell
