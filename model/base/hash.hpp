// Content hash for identifiers of data files in records. Not for security.
#pragma once

#include <string>
#include <string_view>

namespace foretell {

// 64-bit FNV-1a of the bytes, as 16 hexadecimal digits. Same bytes, same text, on every machine.
std::string content_hash(std::string_view bytes);

}  // namespace foretell
