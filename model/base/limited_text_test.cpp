#include "model/base/limited_text.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20;

std::string limited(const std::string& text) {
  std::istringstream stream(text);
  return read_limited(stream, "f", kMost);
}

TEST(LimitedText, WholeTextsUpToTheLimit) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{1} << 16, kMost}) {
    const std::string text(size, 'x');
    EXPECT_EQ(limited(text), text);
  }
}

TEST(LimitedText, OneByteMoreIsRefused) {
  try {
    limited(std::string(kMost + 1, 'x'));
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "f: is larger than 1 MiB, which no file of this kind is; name the right one");
  }
}

TEST(LimitedText, AFileWithoutEndIsRefused) {
  std::ifstream endless("/dev/zero", std::ios::binary);
  EXPECT_THROW(read_limited(endless, "/dev/zero"), UserError);
}

}  // namespace
}  // namespace foretell
