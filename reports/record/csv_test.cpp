#include "reports/record/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <limits>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<CsvRow> read_all(const std::string& path) {
  CsvReader reader(path);
  std::vector<CsvRow> rows{reader.header()};
  CsvRow row;
  while (reader.next(row)) rows.push_back(row);
  return rows;
}

TEST(Csv, QuotesCommasAndLineEndsSurviveTheRoundTrip) {
  const TemporaryFolder folder;
  const std::vector<CsvRow> rows = {{"a", "b", "c"},
                                    {"1", "x, y", ""},
                                    {"say \"hi\"", "two\nlines", "crlf\r\ninside"},
                                    {"", "", ""}};
  std::string text;
  for (const CsvRow& row : rows) text += to_csv(row);
  EXPECT_EQ(read_all(folder.write("t.csv", text)), rows);
}

TEST(Csv, OneEmptyCellIsNoEmptyLine) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_all(folder.write("t.csv", to_csv({"a"}) + to_csv({""}) + to_csv({"1"}))).size(),
            3U);
}

TEST(Csv, ReadsCrlfByteOrderMarkEmptyLinesAndAMissingLastLineEnd) {
  const TemporaryFolder folder;
  const auto rows = read_all(folder.write("t.csv",
                                          "\xef\xbb\xbf"
                                          "a,b\r\n\r\n1,2\r\n\n3,4"));
  EXPECT_THAT(rows, ElementsAre(CsvRow{"a", "b"}, CsvRow{"1", "2"}, CsvRow{"3", "4"}));
}

// As spreadsheets write them.
TEST(Csv, ReadsQuotedNamesAfterAByteOrderMarkSpacesAndOtherSeparators) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_all(folder.write("t.csv",
                                    "\xef\xbb\xbf"
                                    "\"a\", b \r\n\"1\",2\r\n")),
              ElementsAre(CsvRow{"a", "b"}, CsvRow{"1", "2"}));
  EXPECT_THAT(read_all(folder.write("s.csv", "\n\"a\";b\n\"x;y\";1,5\n")),
              ElementsAre(CsvRow{"a", "b"}, CsvRow{"x;y", "1,5"}));
  EXPECT_THAT(read_all(folder.write("t.tsv", "a\tb;c\n1\t\n")),
              ElementsAre(CsvRow{"a", "b;c"}, CsvRow{"1", ""}));
  EXPECT_THAT(read_all(folder.write("c.csv", "a,b;c\n1,2\n")),
              ElementsAre(CsvRow{"a", "b;c"}, CsvRow{"1", "2"}));
}

// As older spreadsheets write them: they were one endless header, and no row.
TEST(Csv, ReadsLinesThatEndWithCarriageReturnsAlone) {
  const TemporaryFolder folder;
  const auto rows = read_all(folder.write("t.csv", "a,b\r1,2\r\r\"x\r\",4\r"));
  EXPECT_THAT(rows, ElementsAre(CsvRow{"a", "b"}, CsvRow{"1", "2"}, CsvRow{"x\r", "4"}));
  EXPECT_THAT(message_of<UserError>([&] { read_all(folder.write("t.csv", "a,b\r1,2\r3\r")); }),
              HasSubstr("t.csv:3: 1 cells"));
}

// It took all memory there is.
TEST(Csv, WhatIsNoTextEndsAtOnce) {
  EXPECT_THAT(message_of<UserError>([] { CsvReader("/dev/zero"); }),
              HasSubstr("/dev/zero:1: holds a zero byte; expected text"));
  const TemporaryFolder folder;
  const std::string endless(std::size_t{17} << 20, 'x');
  EXPECT_THAT(message_of<UserError>([&] { CsvReader(folder.write("t.csv", endless)); }),
              HasSubstr("t.csv:1: the row is longer than 16 MiB"));
  EXPECT_THAT(message_of<UserError>([] {
                InputFile file("/dev/zero");
                std::string line;
                file.read_line(line);
              }),
              HasSubstr("/dev/zero:1: holds a zero byte"));
}

TEST(OutputFile, AFileThatIsNotFinishedLeavesTheEarlierOne) {
  const TemporaryFolder folder;
  const std::string path = folder.write("report.md", "earlier");
  { OutputFile(path).write("half"); }
  EXPECT_EQ(folder.read("report.md"), "earlier");
  OutputFile whole(path);
  whole.write("new");
  whole.finish();
  EXPECT_EQ(folder.read("report.md"), "new");
}

TEST(Csv, ReadsGzip) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.csv.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "a,b\n1,2\n");
  gzclose(file);
  EXPECT_THAT(read_all(path), ElementsAre(CsvRow{"a", "b"}, CsvRow{"1", "2"}));
}

TEST(Csv, TruncatedGzipIsAnErrorAndNotTheEnd) {
  const TemporaryFolder folder;
  gzFile file = gzopen(folder.file("t.csv.gz").c_str(), "wb");
  gzputs(file, "a,b\n");
  for (int i = 0; i < 20000; ++i) gzputs(file, (std::to_string(std::rand()) + ",2\n").c_str());
  gzclose(file);
  const std::string whole = folder.read("t.csv.gz");
  const std::string path = folder.write("half.csv.gz", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(message_of<UserError>([&] { read_all(path); }),
              HasSubstr("half.csv.gz: cannot be read: "));
}

TEST(Csv, ErrorsNameFileAndLine) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text) {
    return message_of<UserError>([&] { read_all(folder.write("t.csv", text)); });
  };
  EXPECT_THAT(error(""), HasSubstr("t.csv: is empty; expected a header row"));
  EXPECT_THAT(error("a,b,a\n"), HasSubstr("t.csv:1: column 'a' stands twice"));
  EXPECT_THAT(error("a,b\n1,2\n1,2,3\n"), HasSubstr("t.csv:3: 3 cells, but the header has 2"));
  EXPECT_THAT(error("a,b\n1\n"), HasSubstr("t.csv:2: 1 cells, but the header has 2"));
  EXPECT_THAT(error("a,b\n1,\"2\n\n"), HasSubstr("t.csv:2: a quoted cell is not closed"));
  EXPECT_THAT(message_of<UserError>([] { CsvReader("/no/such/file.csv"); }),
              HasSubstr("/no/such/file.csv: cannot be read: No such file"));
  EXPECT_THAT(message_of<UserError>([] { CsvReader("/tmp"); }), HasSubstr("/tmp: is a directory"));
}

TEST(Csv, ARowOfTheWrongLengthCanBeKept) {
  const TemporaryFolder folder;
  CsvReader reader(folder.write("t.csv", "a,b\n1\n2,3\n4,5,6\n"));
  CsvRow row;
  std::string problem;
  ASSERT_TRUE(reader.next(row, problem));
  EXPECT_EQ(row, (CsvRow{"1", ""}));
  EXPECT_THAT(problem, HasSubstr("t.csv:2: 1 cells, but the header has 2"));
  ASSERT_TRUE(reader.next(row, problem));
  EXPECT_EQ(problem, "");
  ASSERT_TRUE(reader.next(row, problem));
  EXPECT_EQ(row, (CsvRow{"4", "5"}));
  EXPECT_FALSE(reader.next(row, problem));
}

TEST(Csv, LineCountsThroughQuotedLineEnds) {
  const TemporaryFolder folder;
  CsvReader reader(folder.write("t.csv", "a\n\"1\n2\"\n3\n"));
  CsvRow row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(reader.line(), 2U);
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(reader.line(), 4U);
}

TEST(Csv, NumbersAreShortAndExact) {
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_EQ(to_text(8), "8");
  EXPECT_EQ(to_text(-0.0), "0");
  const double third = 1.0 / 3;
  EXPECT_EQ(std::strtod(to_text(third).c_str(), nullptr), third);
  EXPECT_THROW(to_text(std::numeric_limits<double>::quiet_NaN()), InternalError);
  EXPECT_THROW(to_text(std::numeric_limits<double>::infinity()), InternalError);
}

TEST(TextFile, ReadsLinesOfAnyLengthWithBothLineEnds) {
  const TemporaryFolder folder;
  const std::string long_line(300000, 'x');
  InputFile file(folder.write("t.txt", "one\r\n\n" + long_line + "\nlast"));
  std::vector<std::string> lines;
  for (std::string line; file.read_line(line);) lines.push_back(line);
  EXPECT_THAT(lines, ElementsAre("one", "", long_line, "last"));
  EXPECT_EQ(file.consumed(), 1);
}

TEST(TextFile, OutputThatCannotBeWrittenIsFoundOnOpening) {
  EXPECT_THAT(message_of<UserError>([] { OutputFile("/no/such/folder/out.csv"); }),
              HasSubstr("/no/such/folder/out.csv: cannot be written: No such file or directory"));
}

TEST(TextFile, AFullDiskIsReported) {
  OutputFile full("/dev/full");
  full.write("text");
  EXPECT_THAT(message_of<UserError>([&] { full.flush(); }),
              HasSubstr("/dev/full: cannot be written: No space left on device"));
}

TEST(TextFile, TheInputIsNotOverwritten) {
  const TemporaryFolder folder;
  const std::string path = folder.write("t.csv", "a\n");
  EXPECT_THAT(message_of<UserError>([&] { check_not_same_file(path, folder.file("./t.csv")); }),
              HasSubstr("is the input itself"));
  EXPECT_NO_THROW(check_not_same_file(path, folder.file("other.csv")));
}

}  // namespace
}  // namespace foretell
