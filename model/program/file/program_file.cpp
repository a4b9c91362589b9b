#include "model/program/file/program_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/problems.hpp"
#include "model/program/file/statement_reader.hpp"
#include "model/program/file/unroll.hpp"

namespace foretell {
namespace {

const std::vector<std::string> kFileKeys = {
    "program", "description", "parameters", "type",      "operator", "hbm", "semaphores",
    "queues",  "rings",       "grids",      "exchanges", "loops",    "host"};

// Sections of streams whose names are free.
struct StreamSection {
  const char* key;
  StreamKind kind;
};
constexpr std::array<StreamSection, 4> kSections = {{{"grids", StreamKind::kGrids},
                                                     {"exchanges", StreamKind::kCollectives},
                                                     {"loops", StreamKind::kLoops},
                                                     {"host", StreamKind::kHostCalls}}};

class FileReader {
 public:
  FileReader(const Node& root, const ProgramFileOptions& options)
      : root_(root), options_(options) {}

  ProgramDraft read() {
    if (!root_.is_map()) {
      throw UserError(root_.where() +
                      ": expected a program file, a mapping with 'program', 'queues', …");
    }
    problems_.collect([&] { root_.only_keys(kFileKeys, ""); });
    problems_.collect([&] { draft_.name = root_.required("program", "").as_text("program"); });
    read_parameters();
    problems_.throw_if_any();
    read_tensors();
    read_semaphores();
    problems_.throw_if_any();
    read_queues();
    problems_.throw_if_any();
    return std::move(draft_);
  }

 private:
  // The entries of a section that is a mapping; nothing when the file does not have it.
  const std::vector<MapEntry>& section(const char* key) {
    static const std::vector<MapEntry> kNone;
    const Node* node = root_.find(key);
    if (node == nullptr) return kNone;
    if (!node->is_map()) {
      problems_.add(*node, key,
                    fmt::format("expected a mapping, here is {}", describe(node->kind)));
      return kNone;
    }
    return node->entries;
  }

  std::int64_t number(const MapEntry& entry, const std::string& path) const {
    return Expression::parse(entry.value.as_text(path), names_).value({});
  }

  // Runs `read` on every entry; what it throws gets the place of the entry.
  template <class Read>
  void each(const char* key, const Read& read) {
    for (const MapEntry& entry : section(key)) {
      const std::string path = fmt::format("{}.{}", key, entry.key);
      try {
        read(entry, path);
      } catch (const UserError& error) {
        problems_.add(entry.value, path, error.what());
      }
    }
  }

  void read_parameters() {
    each("parameters", [&](const MapEntry& entry, const std::string& path) {
      const auto given = options_.parameters.find(entry.key);
      names_.constants[entry.key] =
          given != options_.parameters.end() ? given->second : number(entry, path);
    });
    std::vector<std::string> known;
    for (const MapEntry& entry : section("parameters")) known.push_back(entry.key);
    for (const auto& given : options_.parameters) {
      if (std::find(known.begin(), known.end(), given.first) != known.end()) continue;
      problems_.add(root_, "parameters", unknown_name("parameter", given.first, known).what());
    }
  }

  void read_tensors() {
    std::uint64_t address = 0;
    each("hbm", [&](const MapEntry& entry, const std::string& path) {
      const std::int64_t bytes = number(entry, path);
      if (bytes < 1) throw UserError(fmt::format("{} bytes; a tensor has 1 or more", bytes));
      const auto size = static_cast<std::uint64_t>(bytes);
      draft_.tensors.push_back({entry.key, address, size});
      if (__builtin_add_overflow(address, size, &address))
        throw UserError("the tensors are larger than 64 bits can address");
    });
  }

  void read_semaphores() {
    each("semaphores", [&](const MapEntry& entry, const std::string& path) {
      const std::int64_t initial = number(entry, path);
      if (initial < 0) throw UserError(fmt::format("initially {}; 0 or more makes sense", initial));
      draft_.semaphores.push_back({entry.key, initial, &entry.value});
    });
  }

  void read_queues() {
    StatementReader reader(draft_, names_, problems_);
    Inherited inherited;
    problems_.collect([&] {
      inherited = reader.inherit(root_, "", inherited);
      if (inherited.op < 0) {  // everything belongs to one operator, the program
        draft_.operators.push_back(draft_.name);
        inherited.op = 0;
      }
    });
    std::vector<std::string> engines;
    for (int e = 0; e < kEngineCount; ++e) {
      engines.emplace_back(to_string(static_cast<Engine>(e)));
      draft_.engines[static_cast<std::size_t>(e)].name = engines.back();
    }
    if (const Node* queues = root_.find("queues")) {
      problems_.collect([&] { queues->only_keys(engines, "queues"); });
    }
    for (const MapEntry& entry : section("queues")) {
      const auto found = std::find(engines.begin(), engines.end(), entry.key);
      if (found == engines.end()) continue;
      const auto e = static_cast<std::size_t>(found - engines.begin());
      draft_.engines[e].statements =
          reader.read_engine(entry.value, "queues." + entry.key, static_cast<Engine>(e), inherited);
    }
    for (const MapEntry& entry : section("rings")) {
      draft_.rings.push_back({entry.key, StreamKind::kTransfers,
                              reader.read_stream(entry.value, "rings." + entry.key,
                                                 StreamKind::kTransfers, inherited)});
    }
    for (const StreamSection& of : kSections) {
      for (const MapEntry& entry : section(of.key)) {
        const std::string path = std::string(of.key) + "." + entry.key;
        draft_.others.push_back(
            {entry.key, of.kind, reader.read_stream(entry.value, path, of.kind, inherited)});
      }
    }
    if (section("queues").empty() && draft_.rings.empty() && draft_.others.empty()) {
      problems_.add(
          root_, "",
          "the program has neither queues and rings nor grids, exchanges, loops or host; there is "
          "nothing to run");
    }
    draft_.has_engines = !section("queues").empty() || !draft_.rings.empty();
  }

  const Node& root_;
  const ProgramFileOptions& options_;
  Problems problems_;
  ExpressionNames names_;
  ProgramDraft draft_;
};

// Exchanges that do not state the links have those of the machine.
void set_links(BytesPerSecond of_machine, Program& program) {
  const std::size_t stream = program.collective_queue();
  if (stream == program.streams.size()) return;
  for (Collective& collective : std::get<std::vector<Collective>>(program.streams[stream].work)) {
    LinkExchange& exchange = collective.exchange;
    if (exchange.rounds.empty() || exchange.peak > BytesPerSecond(0)) continue;
    const BytesPerSecond rate = exchange.rounds.front().links.rate;
    exchange.peak = of_machine > BytesPerSecond(0) ? of_machine : rate;
  }
}

}  // namespace

Program parse_program(const std::string& text, const std::string& shown_as,
                      const ProgramFileOptions& options) {
  const Node root = parse_document(text, shown_as);
  const ProgramDraft draft = FileReader(root, options).read();
  Unroller unroller(draft);
  Program program = unroller.unroll();
  set_links(options.stated.link_rate, program);
  try {
    validate(program, options.limits);
    check_stated(program, options.stated);
  } catch (const EntryError& error) {
    throw UserError(fmt::format(
        "{}: {}", unroller.origin(error.queue(), error.index()).node->where(), error.what()));
  }
  return program;
}

Program load_program(const std::filesystem::path& path, const ProgramFileOptions& options) {
  return parse_program(read_text_file(path), path.string(), options);
}

}  // namespace foretell
