// Content hash for identifiers of data files in records. Not for security.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretell {

// 64-bit FNV-1a of the bytes, as 16 hexadecimal digits. Same bytes, same text, on every machine.
std::string content_hash(std::string_view bytes);
// The same as a number.
std::uint64_t hash_number(std::string_view bytes);

}  // namespace foretell
