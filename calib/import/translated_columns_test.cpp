// Tables as others write them: the names that are plainly meant, and no others.
#include "calib/import/translated_columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

CsvRow translated(CsvRow header) {
  translate_columns(header);
  return header;
}

std::vector<MeasuredTable> read(const std::string& text) {
  const TemporaryFolder folder;
  std::vector<std::string> problems;
  std::vector<MeasuredTable> tables = read_measurements(
      folder.write("t.csv", text), {"Jane Doe", "one H100", "2026-01-31", ""}, problems);
  EXPECT_THAT(problems, IsEmpty());
  return tables;
}

TEST(TranslatedColumns, PlainlyMeantNames) {
  EXPECT_THAT(translated({"device", "Operator", "Data Type", "M", "N", "K", "time_us"}),
              ElementsAre("gpu", "op", "dtype", "m", "n", "k", "latency_us"));
  CsvRow header = {"device", "op", "dtype", "rows", "columns", "latency_us"};
  EXPECT_THAT(translate_columns(header), ElementsAre("device as gpu", "columns as cols"));
}

TEST(TranslatedColumns, WhatHasAMeaningStays) {
  for (const CsvRow& header :
       {CsvRow{"gpu", "device", "op", "dtype", "rows", "cols", "latency_us"},
        CsvRow{"system", "device", "op", "dtype", "threads", "latency_us"},
        CsvRow{"what", "device", "n_devices", "model", "batch_or_concurrency", "watts_per_device"},
        CsvRow{"gpu", "precision", "dtype", "m", "n", "k", "latency_us", "note"}}) {
    EXPECT_EQ(translated(header), header);
  }
}

TEST(TranslatedColumns, Types) {
  EXPECT_EQ(translated_dtype("torch.bfloat16"), "bf16");
  EXPECT_EQ(translated_dtype(" FP8_block "), "fp8_block");
  EXPECT_EQ(translated_dtype("abc"), "abc");
}

TEST(TranslatedColumns, ProductsOfGpusAreATableOfTheirOwn) {
  const std::vector<MeasuredTable> tables = read(
      "device,op,dtype,b,m,n,k,rows,cols,latency_us\n"
      "h100_sxm,gemm,float16,,64,4096,4096,,,20\n"
      "h100_sxm,batched_gemm,float16,8,64,128,64,,,20\n"
      "h100_sxm,Softmax,float16,,,,,64,4096,20\n");
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].name, "gemm");
  EXPECT_EQ(tables[0].kind, TableKind::kGemm);
  EXPECT_THAT(tables[0].header, testing::Not(Contains("op")));
  EXPECT_THAT(tables[0].header, testing::Not(Contains("rows")));
  EXPECT_EQ(tables[0].cell(0, "gpu"), "h100-sxm");
  EXPECT_EQ(tables[0].cell(0, "dtype"), "fp16");
  EXPECT_EQ(tables[1].name, "operator");
  EXPECT_EQ(tables[1].cell(0, "op"), "bmm");
  EXPECT_EQ(tables[1].cell(1, "op"), "softmax");
  EXPECT_THAT(tables[1].lines, ElementsAre(3, 4));
}

TEST(TranslatedColumns, ConvolutionsAndCpus) {
  const std::vector<MeasuredTable> convolutions = read(
      "device,op,dtype,batch,channels,height,width,filters,kernel,stride,padding,latency_ms\n"
      "t4,conv,fp32,8,3,224,224,64,7,2,3,1\n");
  ASSERT_EQ(convolutions.size(), 1U);
  EXPECT_EQ(convolutions[0].cell(0, "conv"), "ci3 co64 k7 s224 st2 p3");
  EXPECT_EQ(convolutions[0].cell(0, "b"), "8");
  EXPECT_EQ(convolutions[0].cell(0, "latency_us"), "1000");
  const std::vector<MeasuredTable> cpus =
      read("device,op,dtype,m,n,k,threads,latency_us\namd-epyc,gemm,bf16,64,64,64,2,20\n");
  ASSERT_EQ(cpus.size(), 1U);
  EXPECT_EQ(cpus[0].kind, TableKind::kOperator);
  EXPECT_EQ(cpus[0].cell(0, "system"), "amd-epyc");
}

}  // namespace
}  // namespace foretell
