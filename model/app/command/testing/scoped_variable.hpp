// An environment variable with another value for the length of a test, so that tests of one process
// do not depend on each other.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace foretell {

class ScopedVariable {
 public:
  // Without a value the variable is not there.
  explicit ScopedVariable(std::string name, const std::optional<std::string>& value = {})
      : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~ScopedVariable() { set(before_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace foretell
