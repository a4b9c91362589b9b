#include "model/config/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/limited_text.hpp"
#include "model/base/text.hpp"
#include "model/config/document_cache.hpp"
#include "model/config/problems.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

namespace {

constexpr int kDeepestNesting = 64;  // deeper is an alias that contains itself
constexpr std::size_t kMaxDocuments = 200;
constexpr std::size_t kMaxParsed = 64;

struct KeptDocuments : KeptValues<Node, kMaxDocuments> {};
struct ParsedDocuments : KeptValues<Node, kMaxParsed> {};
constexpr int kMaxNodes = 1'000'000;  // more is an alias bomb

int line_of(const YAML::Mark& mark) { return mark.line + 1; }

// Turns yaml-cpp's tree into ours and checks what yaml-cpp lets pass.
class Converter {
 public:
  Converter(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}

  Node convert(const YAML::Node& yaml, const std::string& path, int depth) {
    Node node;
    node.file = file_;
    node.line = line_of(yaml.Mark());
    if (depth > kDeepestNesting || ++nodes_ > kMaxNodes) {
      throw UserError(
          fmt::format("{}: nested too deeply, or an alias that contains itself", node.where()));
    }
    if (yaml.IsScalar()) {
      node.kind = NodeKind::kScalar;
      node.text = yaml.Scalar();
    } else if (yaml.IsSequence()) {
      node.kind = NodeKind::kList;
      for (const YAML::Node& item : yaml) node.items.push_back(convert(item, path, depth + 1));
    } else if (yaml.IsMap()) {
      node.kind = NodeKind::kMap;
      convert_entries(yaml, path, depth, node);
    }
    return node;
  }

 private:
  void convert_entries(const YAML::Node& yaml, const std::string& path, int depth, Node& node) {
    std::map<std::string, int> first_lines;
    for (const auto& pair : yaml) {
      const int line = line_of(pair.first.Mark());
      const std::string where = fmt::format("{}:{}", file_, line);
      if (!pair.first.IsScalar()) {
        problems_.add(where, path, "a key must be plain text");
        continue;
      }
      const std::string& key = pair.first.Scalar();
      const std::string key_path = path.empty() ? key : path + "." + key;
      const auto [first, is_new] = first_lines.emplace(key, line);
      if (!is_new) {
        problems_.add(where, key_path, fmt::format("given twice; first in line {}", first->second));
        continue;
      }
      MapEntry entry{key, line, convert(pair.second, key_path, depth + 1)};
      if (entry.value.kind == NodeKind::kNull) entry.value.line = line;
      node.entries.push_back(std::move(entry));
    }
  }

  std::string file_;
  Problems& problems_;
  int nodes_ = 0;
};

std::string located(const Node& node, std::string_view path, std::string_view message) {
  Problems problem;
  problem.add(node, path, message);
  return problem.lines().front();
}

}  // namespace

std::string_view describe(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNull:
      return "nothing";
    case NodeKind::kScalar:
      return "a single value";
    case NodeKind::kList:
      return "a list";
    case NodeKind::kMap:
      return "a mapping";
  }
  throw InternalError(__FILE__, __LINE__, "a node kind without description");
}

std::string Node::where() const { return fmt::format("{}:{}", file, line); }

const Node* Node::find(std::string_view key) const {
  for (const MapEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

const std::string& Node::as_text(std::string_view path) const {
  if (!is_scalar()) {
    throw UserError(
        located(*this, path, fmt::format("expected a single value, here is {}", describe(kind))));
  }
  return text;
}

long long Node::as_integer(std::string_view path, long long min, long long max) const {
  const std::string& scalar = as_text(path);
  long long value = 0;
  try {
    value = parse_integer(scalar);
  } catch (const UserError& error) {
    throw UserError(located(*this, path, error.what()));
  }
  if (value < min || value > max) {
    throw UserError(located(*this, path, fmt::format("{} is outside {} .. {}", value, min, max)));
  }
  return value;
}

const Node& Node::required(std::string_view key, std::string_view path) const {
  if (!is_map()) {
    throw UserError(
        located(*this, path, fmt::format("expected a mapping, here is {}", describe(kind))));
  }
  const Node* found = find(key);
  if (found == nullptr) throw UserError(located(*this, path, fmt::format("'{}' is missing", key)));
  return *found;
}

void Node::only_keys(const std::vector<std::string>& known, std::string_view path) const {
  Problems problems;
  for (const MapEntry& entry : entries) {
    bool is_known = false;
    for (const std::string& name : known) is_known = is_known || name == entry.key;
    if (is_known) continue;
    const std::string key_path = path.empty() ? entry.key : fmt::format("{}.{}", path, entry.key);
    const std::string nearest = nearest_name(entry.key, known);
    problems.add(fmt::format("{}:{}", file, entry.line), key_path,
                 nearest.empty() ? "no such key; there are: " + join(known, ", ")
                                 : "no such key; nearest is '" + nearest + "'");
  }
  problems.throw_if_any();
}

namespace {

// Where documents begin; what is in them is passed over.
class DocumentStarts : public YAML::EventHandler {
 public:
  const std::vector<YAML::Mark>& marks() const { return marks_; }

  void OnDocumentStart(const YAML::Mark& mark) override { marks_.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}

 private:
  std::vector<YAML::Mark> marks_;
};

// Two at most: text that begins with a comma is documents without end to yaml-cpp.
std::vector<YAML::Mark> first_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.marks().size() < 2 && parser.HandleNextDocument(starts)) {
  }
  return starts.marks();
}

bool is_indented_by_tab(const std::string& text, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) begin = text.find('\n', begin) + 1;
  const std::size_t first = text.find_first_not_of(' ', begin);
  return first != std::string::npos && text[first] == '\t';
}

Node parse_anew(const std::string& text, const std::string& shown_as) {
  YAML::Node document;
  try {
    const std::vector<YAML::Mark> starts = first_documents(text);
    if (starts.size() > 1 && starts[0].pos == starts[1].pos) {
      throw UserError(fmt::format("{}:{}: not valid YAML: nothing can begin like this", shown_as,
                                  line_of(starts[0])));
    }
    if (starts.size() > 1) {
      throw UserError(fmt::format("{}:{}: a second document ('---'); expected one per file",
                                  shown_as, line_of(starts[1])));
    }
    document = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw UserError(fmt::format("{}:{}: not valid YAML: {}{}", shown_as, line_of(error.mark),
                                error.msg,
                                is_indented_by_tab(text, line_of(error.mark))
                                    ? "; lines are indented by spaces, not by tabs"
                                    : ""));
  }
  if (document.IsNull()) throw UserError(fmt::format("{}: the file is empty", shown_as));
  Problems problems;
  Node root = Converter(shown_as, problems).convert(document, "", 0);
  problems.throw_if_any();
  return root;
}

}  // namespace

// What was parsed before is kept: a study reads the same few files for every one of its points.
Node parse_document(const std::string& text, const std::string& shown_as) {
  const auto parse = [&] {
    std::optional<Node> compiled = kept_document(text, shown_as);
    if (compiled) return std::move(*compiled);
    Node root = parse_anew(text, shown_as);
    keep_document(text, root);
    return root;
  };
  if (Kept::innermost() == nullptr) return parse();
  return kept<ParsedDocuments>().get(shown_as + '\n' + text, parse);
}

std::string read_text_file(const std::filesystem::path& path, const std::string& shown_as) {
  const std::string name = shown_as.empty() ? path.string() : shown_as;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw UserError(fmt::format("{}: no such file", name));
  }
  if (!std::filesystem::is_regular_file(path, error)) {
    throw UserError(fmt::format("{}: not a file", name));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UserError(fmt::format("{}: cannot be read", name));
  return read_limited(stream, name);
}

Node load_document(const std::filesystem::path& path, const std::string& shown_as) {
  const std::string name = shown_as.empty() ? path.string() : shown_as;
  return kept_input<KeptDocuments>(path.string() + '\n' + name, [&] {
    return parse_document(read_text_file(path, name), name);
  });
}

}  // namespace foretell
