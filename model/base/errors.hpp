// Two kinds of failure. UserError: the input is wrong, exit code 2, the message says what to type
// instead. InternalError: a bug of ours, exit code 3, with file and line. Libraries throw; only
// model/app/command prints and exits.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InternalError : public std::logic_error {
 public:
  InternalError(const char* file, int line, const std::string& what);
};

// The candidate that is closest to `given` (edit distance, case-insensitive), or "" when none is
// near enough to be what the user meant; then the shortest that has `given` in it ("bert").
std::string nearest_name(std::string_view given, const std::vector<std::string>& candidates);

// The candidates, at most `most`: the one of nearest_name() first, then those that need the fewest
// edits.
std::vector<std::string> nearest_names(std::string_view given,
                                       const std::vector<std::string>& candidates,
                                       std::size_t most);

// Whether `given` is `name` but for one slip of the keys: a letter that is missing, another, one
// too many, or two that are swapped. Words of less than four letters are too short to tell.
bool is_slip_of(std::string_view given, std::string_view name);

// "unknown <kind> 'given'; nearest is 'x'" plus the list of candidates when it is short; of a long
// one those that begin so, where there are several.
UserError unknown_name(std::string_view kind, std::string_view given,
                       const std::vector<std::string>& candidates);

}  // namespace foretell

// A condition that only a bug of ours can break.
#define FORETELL_CHECK(condition, message)                            \
  do {                                                                \
    if (!(condition)) {                                               \
      throw ::foretell::InternalError(__FILE__, __LINE__, (message)); \
    }                                                                 \
  } while (false)
