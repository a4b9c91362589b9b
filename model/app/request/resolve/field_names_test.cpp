#include "model/app/request/resolve/field_names.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(FieldNames, ColumnsAndKeysTakeThePlaceOfOptions) {
  const std::string message =
      "input-len + output-len = 9000 positions, but the longest context is 4096; lower --input-len "
      "or --seq, --in-flight, --dtype int8-weights, --on inf2.xlarge --tp 2 or --tp 4";
  EXPECT_EQ(with_names(message, column_names_of_fields()),
            "input_len + output_len = 9000 positions, but the longest context is 4096; lower "
            "input_len or seq_len, inflight, compute_dtype = int8-weights, system = inf2.xlarge, "
            "tp = 2 or tp = 4");
  EXPECT_EQ(
      with_names(message, key_names_of_fields()),
      "input_len + output_len = 9000 positions, but the longest context is 4096; lower "
      "input_len or seq, in_flight, dtype = int8-weights, on = inf2.xlarge, tp = 2 or tp = 4");
}

TEST(FieldNames, TheNameIsTheOneThatWasWritten) {
  EXPECT_EQ(with_names("lower --input-len", {{"input-len", "prompt"}}), "lower prompt");
}

TEST(FieldNames, WhatNamesNoFieldStays) {
  const FieldNames names = column_names_of_fields();
  for (const char* text :
       {"", "--factors none: unknown", "`foretell run --input-len 8` shows it", "the dtype is bf16",
        "/data/input-len/x and ./input-len.csv", "not-input-len, input-lens", "a -- b --"})
    EXPECT_EQ(with_names(text, names), text);
}

}  // namespace
}  // namespace foretell
