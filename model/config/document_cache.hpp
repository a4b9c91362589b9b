// Documents that were read before, in a form that is read quickly: YAML of some hundred kilobytes
// takes longer to parse than a network takes to predict.
//
// One file per document, named by the hash of its bytes, so that a changed document is another one.
// Files are written beside and renamed: processes may read and write at the same time. Whatever is
// wrong with a file or the folder, the document is parsed; nothing is said.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/config/document.hpp"

namespace foretell {

// Documents of fewer bytes are parsed.
inline constexpr std::size_t kMinKeptDocument = 512;

// FORETELL_CACHE where it is set ("off": none), else foretell/ in XDG_CACHE_HOME or in ~/.cache;
// empty: none.
std::filesystem::path document_cache_folder();

// `shown_as` is the name in messages, which is not kept.
std::optional<Node> kept_document(const std::string& text, const std::string& shown_as);
void keep_document(const std::string& text, const Node& root);

}  // namespace foretell
