#include "model/config/document_cache.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "model/base/hash.hpp"
#include "model/base/replaced_file.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForm = "foretell.document/1\n";  // of the files; another form, another name

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Writer {
 public:
  void number(std::uint32_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  void node(const Node& value) {
    number(static_cast<std::uint32_t>(value.kind));
    number(static_cast<std::uint32_t>(value.line));
    if (value.is_scalar()) text(value.text);
    if (value.is_list()) {
      number(static_cast<std::uint32_t>(value.items.size()));
      for (const Node& item : value.items) node(item);
    }
    if (value.is_map()) {
      number(static_cast<std::uint32_t>(value.entries.size()));
      for (const MapEntry& entry : value.entries) {
        text(entry.key);
        number(static_cast<std::uint32_t>(entry.line));
        node(entry.value);
      }
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads bytes whose hash was right: what is read is what was written.
class Reader {
 public:
  Reader(const std::string& bytes, std::size_t at, const std::string& shown_as)
      : bytes_(bytes), at_(at), shown_as_(shown_as) {}

  Node node() {
    Node value;
    value.kind = static_cast<NodeKind>(number());
    value.line = static_cast<int>(number());
    value.file = shown_as_;
    if (value.is_scalar()) value.text = text();
    if (value.is_list()) {
      value.items.resize(number());
      for (Node& item : value.items) item = node();
    }
    if (value.is_map()) {
      value.entries.resize(number());
      for (MapEntry& entry : value.entries) {
        entry.key = text();
        entry.line = static_cast<int>(number());
        entry.value = node();
      }
    }
    return value;
  }
  bool is_at_end() const { return at_ == bytes_.size(); }

 private:
  std::uint32_t number() {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const std::uint32_t size = number();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  const std::string& bytes_;
  std::size_t at_;
  const std::string& shown_as_;
};

fs::path file_of_text(const fs::path& folder, const std::string& text) {
  return folder / (content_hash(text) + "-" + std::to_string(text.size()));
}

// In front of a document: the form and the hash of what follows.
std::string head_of(const std::string& body) { return kForm + content_hash(body) + "\n"; }

}  // namespace

fs::path document_cache_folder() {
  const std::string stated = variable("FORETELL_CACHE");
  if (stated == "off") return {};
  if (!stated.empty()) return stated;
  const std::string shared = variable("XDG_CACHE_HOME");
  if (!shared.empty()) return fs::path(shared) / "foretell";
  const std::string home = variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "foretell";
}

std::optional<Node> kept_document(const std::string& text, const std::string& shown_as) {
  const fs::path folder = document_cache_folder();
  if (folder.empty() || text.size() < kMinKeptDocument) return std::nullopt;
  std::ifstream file(file_of_text(folder, text), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::string found = bytes.str();
  const std::size_t begin = head_of("").size();
  if (found.size() <= begin || head_of(found.substr(begin)) != found.substr(0, begin))
    return std::nullopt;
  Reader reader(found, begin, shown_as);
  Node root = reader.node();
  return reader.is_at_end() ? std::optional(std::move(root)) : std::nullopt;
}

void keep_document(const std::string& text, const Node& root) {
  const fs::path folder = document_cache_folder();
  if (folder.empty() || text.size() < kMinKeptDocument) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return;
  Writer writer;
  writer.node(root);
  ReplacedFile whole(file_of_text(folder, text).string());
  std::ofstream file(whole.writing_to(), std::ios::binary);
  file << head_of(writer.bytes()) << writer.bytes();
  file.close();
  if (file) whole.commit();
}

}  // namespace foretell
