#include "calib/measurements/record_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/measurements/testing/example_measurement.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Measurement with_rows(std::int64_t rows) {
  Measurement measurement = example_measurement();
  measurement.shape[0].second = rows;
  return measurement;
}

TEST(RecordLog, GoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.jsonl");
  {
    RecordLog log(path);
    EXPECT_EQ(log.size(), 0U);
    log.append(with_rows(1));
    log.append(with_rows(2));
    EXPECT_TRUE(log.has(measurement_key(with_rows(2))));
  }
  const std::string before = folder.read("m.jsonl");
  RecordLog log(path);
  EXPECT_EQ(log.size(), 2U);
  EXPECT_TRUE(log.has(measurement_key(with_rows(1))));
  EXPECT_FALSE(log.has(measurement_key(with_rows(3))));
  log.append(with_rows(3));
  EXPECT_EQ(folder.read("m.jsonl"), before + to_line(with_rows(3)) + "\n");
}

TEST(RecordLog, ALineThatWasNotFinishedIsCutOff) {
  const TemporaryFolder folder;
  const std::string whole = to_line(with_rows(1)) + "\n";
  const std::string path = folder.write("m.jsonl", whole + to_line(with_rows(2)).substr(0, 40));
  RecordLog log(path);
  EXPECT_EQ(log.size(), 1U);
  EXPECT_EQ(folder.read("m.jsonl"), whole);
}

TEST(RecordLog, AnotherFileIsNotWrittenInto) {
  const TemporaryFolder folder;
  const std::string path = folder.write("notes.txt", "milk\nbread\n");
  EXPECT_THAT([&] { RecordLog log(path); },
              ThrowsMessage<UserError>(HasSubstr("notes.txt:1: is no JSON object")));
  EXPECT_EQ(folder.read("notes.txt"), "milk\nbread\n");
  EXPECT_THAT([&] { RecordLog log(folder.file("no/such/folder")); },
              ThrowsMessage<UserError>(HasSubstr("No such file or directory")));
}

TEST(RecordLog, WhatIsNoFileIsRefusedBeforeItIsRead) {
  for (const char* path : {"/dev/zero", "/tmp"}) {
    EXPECT_THAT([path] { RecordLog log(path); }, ThrowsMessage<UserError>(HasSubstr("no file")));
  }
}

}  // namespace
}  // namespace foretell
