#include "model/base/hash.hpp"

namespace foretell {

std::uint64_t hash_number(std::string_view bytes) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325ULL;
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;
  std::uint64_t hash = kOffsetBasis;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= kPrime;
  }
  return hash;
}

std::string content_hash(std::string_view bytes) {
  std::uint64_t hash = hash_number(bytes);
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit) {
    *digit = "0123456789abcdef"[hash & 0xFU];
    hash >>= 4U;
  }
  return text;
}

}  // namespace foretell
