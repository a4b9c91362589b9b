#include "reports/render/output_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

Table small_table() { return {{{"name"}, {"n", Align::kRight}}, {{"a|b, c", "2"}}}; }

TEST(OutputFormat, EveryFormThatOptionsNameWritesTablesAndRecords) {
  for (const OutputFormat& known : output_formats()) {
    if (known.table == nullptr) continue;
    EXPECT_EQ(parse_format(known.name), known.format);
    EXPECT_THAT(format_words(), HasSubstr(known.name));
    EXPECT_THAT(table_text(small_table(), known.format, 0), HasSubstr("2"));
    EXPECT_THAT(records_text({example_record()}, known.format), HasSubstr("inf2.xlarge"));
    for (const char* ending : known.extensions)
      EXPECT_EQ(format_of_file(std::string("a") + ending), known.format);
  }
}

TEST(OutputFormat, CellsStayCells) {
  EXPECT_EQ(table_text(small_table(), Format::kCsv, 0), "name,n\n\"a|b, c\",2\n");
  EXPECT_EQ(table_text(small_table(), Format::kJson, 0), "[{\"name\":\"a|b, c\",\"n\":2}]\n");
  EXPECT_THAT(table_text(small_table(), Format::kMarkdown, 0), HasSubstr("a\\|b, c"));
}

TEST(OutputFormat, UnknownNamesAndEndingsSayWhatThereIs) {
  EXPECT_THAT(message_of<UserError>([] { parse_format("jsn"); }), HasSubstr("nearest is 'json'"));
  EXPECT_THAT(message_of<UserError>([] { parse_format("html"); }),
              HasSubstr("pages are made by `foretell report`"));
  EXPECT_EQ(format_by_ending("a/b.MD", "csv"), "md");
  EXPECT_EQ(format_by_ending("b.txt", "csv"), "csv");
  EXPECT_THAT(message_of<UserError>([] { format_of_file("x.pdf"); }),
              HasSubstr("x.pdf: the name has to end in .json"));
}

}  // namespace
}  // namespace foretell
