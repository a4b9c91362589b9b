#include "model/base/limited_text.hpp"

#include <algorithm>
#include <istream>

#include "model/base/errors.hpp"

namespace foretell {

std::string read_limited(std::istream& stream, const std::string& shown_as, std::size_t most) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string text;
  while (stream) {
    const std::size_t held = text.size();
    text.resize(held + std::min(kPiece, most + 1 - held));
    stream.read(text.data() + held, static_cast<std::streamsize>(text.size() - held));
    text.resize(held + static_cast<std::size_t>(stream.gcount()));
    if (text.size() > most) {
      throw UserError(shown_as + ": is larger than " + std::to_string(most >> 20) +
                      " MiB, which no file of this kind is; name the right one");
    }
  }
  if (stream.bad()) throw UserError(shown_as + ": cannot be read");
  return text;
}

}  // namespace foretell
