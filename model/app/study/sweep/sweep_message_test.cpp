// Messages of ranks arrive as they were sent.
#include "model/app/study/sweep/sweep_message.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

TEST(SweepMessage, ArrivesAsItWasSent) {
  SweepMessage message;
  message.kind = SweepMessage::Kind::kAnswers;
  message.room = std::uint64_t{1} << 60;
  message.numbers = {0, 7, std::uint64_t{1} << 63};
  message.answers = {{3, TaskAnswer::Kind::kAnswer, std::string("a\0\n", 3)},
                     {4, TaskAnswer::Kind::kTimeout, ""},
                     {5, TaskAnswer::Kind::kDied, std::string(100'000, 'x')}};
  const SweepMessage read = message_from(to_bytes(message));
  EXPECT_EQ(read.kind, message.kind);
  EXPECT_EQ(read.room, message.room);
  EXPECT_EQ(read.numbers, message.numbers);
  ASSERT_EQ(read.answers.size(), 3U);
  for (std::size_t i = 0; i < read.answers.size(); ++i) {
    EXPECT_EQ(read.answers[i].number, message.answers[i].number);
    EXPECT_EQ(read.answers[i].kind, message.answers[i].kind);
    EXPECT_EQ(read.answers[i].text, message.answers[i].text);
  }
}

TEST(SweepMessage, PartOfOneIsABug) {
  SweepMessage message;
  message.numbers = {1, 2, 3};
  const std::string bytes = to_bytes(message);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, bytes.size() - 1}) {
    EXPECT_THROW(message_from(bytes.substr(0, size)), InternalError) << size;
  }
}

}  // namespace
}  // namespace foretell
