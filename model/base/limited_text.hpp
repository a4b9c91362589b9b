// Text files that people write are small: one that is not is another file, and is refused at once.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace foretell {

inline constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;  // of a configuration
inline constexpr std::size_t kMaxLogBytes = std::size_t{1} << 30;    // of what grows by lines

// Everything of a stream. UserError for more than `most` bytes, and for what cannot be read.
std::string read_limited(std::istream& stream, const std::string& shown_as,
                         std::size_t most = kMaxTextBytes);

}  // namespace foretell
