#include "model/app/tables/report_classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<ReportClass> classes_in(const std::string& text) {
  return read_report_classes(parse_document(text, "c.yaml"));
}

TEST(ReportClasses, AreReadInTheirOrder) {
  const std::vector<ReportClass> classes = classes_in(
      "classes:\n"
      "  - {name: b, table: t.csv, where: \"x=1,2\", every: 7, class: op, seconds: 3}\n"
      "  - {name: a, table: calib/data, all_rows: \"yes\", quantities: [ttft_ms], seconds: 1}\n");
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].name, "b");
  EXPECT_EQ(classes[0].where, "x=1,2");
  EXPECT_EQ(classes[0].every, 7);
  EXPECT_EQ(classes[0].op_class, "op");
  EXPECT_FALSE(classes[0].all_rows);
  EXPECT_EQ(classes[1].every, 1);
  EXPECT_TRUE(classes[1].all_rows);
  EXPECT_EQ(classes[1].quantities, std::vector<std::string>{"ttft_ms"});
}

TEST(ReportClasses, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT([] { classes_in("classes:\n  - {name: a, table: t, seconds: 1, evry: 2}\n"); },
              ThrowsMessage<UserError>(HasSubstr("c.yaml:2")));
  EXPECT_THAT([] { classes_in("classes:\n  - {name: a, table: t, every: 0, seconds: 1}\n"); },
              ThrowsMessage<UserError>(HasSubstr("every")));
  EXPECT_THAT(
      [] {
        classes_in(
            "classes:\n  - {name: a, table: t, seconds: 1}\n  - {name: a, table: u, seconds: 1}\n");
      },
      ThrowsMessage<UserError>(HasSubstr("'a' stands there twice")));
}

TEST(ReportClasses, AreChosenByNameAndPattern) {
  const std::vector<ReportClass> all = load_report_classes();
  EXPECT_EQ(chosen_classes(all, {}).size(), all.size());
  const std::vector<ReportClass> some = chosen_classes(all, {"GPU p*", "encoders on Neuron"});
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].name, "encoders on Neuron");
  EXPECT_EQ(some[1].name, "GPU products");
  EXPECT_THAT([&] { chosen_classes(all, {"GPU product"}); },
              ThrowsMessage<UserError>(HasSubstr("nearest is 'GPU products'")));
}

}  // namespace
}  // namespace foretell
