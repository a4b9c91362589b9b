#include "model/program/file/statement_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/program/file/instruction_keys.hpp"
#include "model/program/file/work_keys.hpp"

namespace foretell {
namespace {

const std::vector<std::string> kLoopKeys = {"repeat", "index", "body",    "take",
                                            "give",   "type",  "operator"};
const std::vector<std::string> kDirections = {"load", "store", "copy"};
const std::vector<std::string> kTransferKeys = {"rows",  "row_bytes", "offset", "transposes",
                                                "casts", "take",      "give",   "operator"};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The text of a key whose value is one of a few words; "" when the key is not there.
std::string word(const Node& node, const char* key, const std::vector<std::string>& known,
                 const std::string& path) {
  const Node* value = node.find(key);
  if (value == nullptr) return "";
  const std::string& text = value->as_text(path + "." + key);
  if (contains(known, text)) return text;
  throw problem_at(*value, path + "." + key, unknown_name("value", text, known).what());
}

bool yes(const Node& node, const char* key, const std::string& path) {
  return word(node, key, {"true", "false"}, path) == "true";
}

// The only key of `node` that is in `choices`; nullptr when there is none.
const MapEntry* chosen(const Node& node, const std::vector<std::string>& choices,
                       const std::string& path) {
  const MapEntry* found = nullptr;
  for (const MapEntry& entry : node.entries) {
    if (!contains(choices, entry.key)) continue;
    if (found != nullptr) {
      throw problem_at(
          entry.value, path,
          fmt::format("'{}' and '{}' in one statement; make two of it", found->key, entry.key));
    }
    found = &entry;
  }
  return found;
}

// Flags of `reads: psum`, `writes: [sbuf, psum]`; SBUF when nothing is said.
std::uint16_t memory_flags(const Node& node, const char* key, std::uint16_t sbuf,
                           std::uint16_t psum, const std::string& path) {
  const Node* value = node.find(key);
  if (value == nullptr) return sbuf;
  const std::vector<Node> one = {*value};
  std::uint16_t flags = 0;
  for (const Node& memory : value->is_list() ? value->items : one) {
    const std::string& name = memory.as_text(path + "." + key);
    if (name != "sbuf" && name != "psum") {
      throw problem_at(memory, path + "." + key,
                       unknown_name("memory", name, {"sbuf", "psum"}).what());
    }
    flags = static_cast<std::uint16_t>(flags | (name == "sbuf" ? sbuf : psum));
  }
  return flags;
}

// `tile: {row: 0, column: 64, rows: 128, columns: 64}` as a mask of 32x32 quadrants.
std::uint16_t quadrants(const Node& tile, const std::string& path) {
  tile.only_keys({"row", "column", "rows", "columns"}, path);
  const auto side = [&](const char* from_key, const char* size_key) {
    const long long from = tile.required(from_key, path).as_integer(path + "." + from_key, 0, 96);
    const long long size = tile.required(size_key, path).as_integer(path + "." + size_key, 32, 128);
    if (from % 32 != 0 || size % 32 != 0 || from + size > 128) {
      throw problem_at(tile, path,
                       "a tile of the array lies at multiples of 32 and ends at 128 at most");
    }
    return std::pair<unsigned, unsigned>(static_cast<unsigned>(from / 32),
                                         static_cast<unsigned>((from + size) / 32));
  };
  const auto [first_row, end_row] = side("row", "rows");
  const auto [first_column, end_column] = side("column", "columns");
  unsigned mask = 0;
  for (unsigned row = first_row; row < end_row; ++row) {
    for (unsigned column = first_column; column < end_column; ++column)
      mask |= 1U << (row * 4 + column);
  }
  return static_cast<std::uint16_t>(mask);
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& things) {
  std::vector<std::string> names;
  for (const Named& thing : things) names.push_back(thing.name);
  return names;
}

}  // namespace

Inherited StatementReader::inherit(const Node& node, const std::string& path,
                                   const Inherited& outer) {
  Inherited result = outer;
  const std::string type = word(node, "type", type_names(), path);
  if (!type.empty()) result.type = type_named(type);
  if (const Node* name = node.find("operator")) {
    const std::string& text = name->as_text(path + ".operator");
    auto& operators = draft_.operators;
    const auto found = std::find(operators.begin(), operators.end(), text);
    result.op = static_cast<std::int32_t>(found - operators.begin());
    if (found == operators.end()) operators.push_back(text);
  }
  return result;
}

std::vector<Statement> StatementReader::read_engine(const Node& list, const std::string& path,
                                                    Engine engine, const Inherited& inherited) {
  engine_ = engine;
  return read_list(list, path, inherited);
}

std::vector<Statement> StatementReader::read_stream(const Node& list, const std::string& path,
                                                    StreamKind kind, const Inherited& inherited) {
  engine_.reset();
  kind_ = kind;
  return read_list(list, path, inherited);
}

std::vector<Statement> StatementReader::read_list(const Node& list, const std::string& path,
                                                  const Inherited& inherited) {
  std::vector<Statement> statements;
  if (!list.is_list() || list.items.empty()) {
    problems_.add(list, path, "expected a list of statements, each beginning with '-'");
    return statements;
  }
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::size_t depth = names_.indices.size();
    problems_.collect([&] {
      statements.push_back(
          read_statement(list.items[i], fmt::format("{}[{}]", path, i), inherited));
    });
    names_.indices.resize(depth);
  }
  return statements;
}

Statement StatementReader::read_statement(const Node& node, const std::string& path,
                                          const Inherited& inherited) {
  if (!node.is_map()) {
    throw problem_at(node, path,
                     fmt::format("expected an instruction as '{{key: value, ...}}', here is {}",
                                 describe(node.kind)));
  }
  if (node.find("repeat") != nullptr || node.find("body") != nullptr)
    return read_loop(node, path, inherited);
  Statement statement =
      engine_ ? read_instruction(node, path, inherited) : read_entry(node, path, inherited);
  statement.node = &node;
  statement.takes = read_uses(node, "take", path);
  statement.gives = read_uses(node, "give", path);
  return statement;
}

Statement StatementReader::read_loop(const Node& node, const std::string& path,
                                     const Inherited& inherited) {
  node.only_keys(kLoopKeys, path);
  Statement loop;
  loop.kind = Statement::Kind::kLoop;
  loop.node = &node;
  // A body without 'repeat' is a group that runs once.
  const Node* count = node.find("repeat");
  loop.count = count == nullptr ? FileNumber{Expression::parse("1", names_), &node}
                                : number(*count, path + ".repeat");
  loop.takes = read_uses(node, "take", path);
  loop.gives = read_uses(node, "give", path);
  if (const Node* index = node.find("index")) {
    const std::string& name = index->as_text(path + ".index");
    if (contains(names_.indices, name) || names_.constants.count(name) != 0) {
      throw problem_at(*index, path + ".index",
                       fmt::format("'{}' has a meaning already; take another name", name));
    }
    loop.has_index = true;
    names_.indices.push_back(name);
  }
  loop.body =
      read_list(node.required("body", path), path + ".body", inherit(node, path, inherited));
  if (loop.has_index) names_.indices.pop_back();
  return loop;
}

Statement StatementReader::read_instruction(const Node& node, const std::string& path,
                                            const Inherited& inherited) {
  Statement statement;
  Instruction& instruction = statement.instruction;
  const MapEntry* opcode = chosen(node, opcode_names(), path);
  if (opcode == nullptr) {
    std::vector<std::string> known = opcode_names();
    known.insert(known.end(), {"take", "give", "operator", "repeat"});
    for (const MapEntry& entry : node.entries) {
      if (contains(known, entry.key)) continue;
      throw problem_at(entry.value, path, unknown_name("instruction", entry.key, known).what());
    }
    if (node.find("take") == nullptr && node.find("give") == nullptr) {
      throw problem_at(node, path,
                       "a statement without instruction has to take or give a semaphore");
    }
  } else {
    instruction.opcode = opcode_named(opcode->key);
  }
  std::vector<std::string> keys = keys_of(*engine_, instruction.opcode);
  if (opcode != nullptr) keys.push_back(opcode->key);
  node.only_keys(keys, path);

  const Inherited own = inherit(node, path, inherited);
  instruction.op = own.op;
  if (opcode == nullptr) return statement;
  if (!own.type) {
    throw problem_at(node, path,
                     "'type' is missing; state it here, at the loop, or once for the whole file");
  }
  instruction.type = *own.type;
  read_operands(node, path, instruction);
  read_field(node, opcode->key.c_str(), EntryField::kN, path, statement);
  read_field(node, "partitions", EntryField::kPartitions, path, statement);
  read_field(node, "bank", EntryField::kBank, path, statement);
  if (aux_key(instruction.opcode) != nullptr) {
    read_field(node, aux_key(instruction.opcode), EntryField::kAux, path, statement);
  }
  return statement;
}

void StatementReader::read_operands(const Node& node, const std::string& path,
                                    Instruction& instruction) {
  unsigned flags = 0;
  if (*engine_ == Engine::kTensor) {
    instruction.out_type = ElementType::kFp32;  // PSUM accumulates in FP32 [A2:103-105]
    flags = instruction.opcode == Opcode::kLoadStationary ? kReadsSbuf : kReadsSbuf | kWritesPsum;
    if (yes(node, "onezero", path)) flags |= kOneZeroStationary;
    if (const Node* tile = node.find("tile")) instruction.tile = quadrants(*tile, path + ".tile");
  } else {
    const std::string out = word(node, "out", type_names(), path);
    instruction.out_type = out.empty() ? instruction.type : type_named(out);
    flags = memory_flags(node, "reads", kReadsSbuf, kReadsPsum, path);
    flags |= memory_flags(node, "writes", kWritesSbuf, kWritesPsum, path);
    if (yes(node, "dependent", path)) flags |= kDependsOnPrevious;
    if (word(node, "stride", {"contiguous", "wide"}, path) == "wide") flags |= kWideStride;
    const std::string alu =
        word(node, "alu", {"add", "subtract", "multiply", "max", "other"}, path);
    if (alu == "add" || alu == "subtract" || alu == "multiply") flags |= kAddMulSub;
    if (alu == "add" || alu == "max") flags |= kAddOrMax;
    if (word(node, "fill", {"zero", "other"}, path) == "zero") flags |= kZeroFill;
  }
  instruction.flags = static_cast<std::uint16_t>(flags);
}

Statement StatementReader::read_entry(const Node& node, const std::string& path,
                                      const Inherited& inherited) {
  static const std::vector<std::string> kCommon = {"take", "give", "operator"};
  if (kind_ == StreamKind::kTransfers) return read_transfer(node, path, inherited);
  Statement statement;
  const std::int32_t op = inherit(node, path, inherited).op;
  if (kind_ == StreamKind::kGrids) {
    statement.kind = Statement::Kind::kGrid;
    statement.grid = read_grid(node, path, names_, kCommon);
    statement.grid.op = op;
  } else if (kind_ == StreamKind::kCollectives) {
    statement.kind = Statement::Kind::kExchange;
    statement.exchange = read_exchange(node, path, names_, kCommon);
    statement.exchange.op = op;
  } else if (kind_ == StreamKind::kLoops) {
    statement.kind = Statement::Kind::kThreads;
    statement.threads = read_parallel_loop(node, path, names_, kCommon);
    statement.threads.op = op;
  } else {
    statement.kind = Statement::Kind::kHostCall;
    statement.call = read_host_call(node, path, names_, kCommon);
    statement.call.op = op;
  }
  return statement;
}

Statement StatementReader::read_transfer(const Node& node, const std::string& path,
                                         const Inherited& inherited) {
  Statement statement;
  statement.kind = Statement::Kind::kTransfer;
  Transfer& transfer = statement.transfer;
  const MapEntry* direction = chosen(node, kDirections, path);
  if (direction == nullptr) {
    std::string given = node.entries.empty() ? "" : node.entries.front().key;
    throw problem_at(node, path, unknown_name("transfer", given, kDirections).what());
  }
  std::vector<std::string> keys = kTransferKeys;
  keys.push_back(direction->key);
  node.only_keys(keys, path);
  node.required("rows", path);
  node.required("row_bytes", path);

  const std::string& tensor = direction->value.as_text(path + "." + direction->key);
  if (direction->key == "copy") {
    transfer.direction = TransferDirection::kOnChip;
    if (tensor != "sbuf")
      throw problem_at(direction->value, path + ".copy", "a copy stays on the chip: 'copy: sbuf'");
    if (node.find("offset") != nullptr)
      throw problem_at(node, path, "a copy inside SBUF has no offset in HBM");
  } else {
    transfer.direction =
        direction->key == "load" ? TransferDirection::kLoad : TransferDirection::kStore;
    const auto found = std::find_if(draft_.tensors.begin(), draft_.tensors.end(),
                                    [&](const FileTensor& t) { return t.name == tensor; });
    if (found == draft_.tensors.end()) {
      throw problem_at(direction->value, path + "." + direction->key,
                       unknown_name("tensor under 'hbm'", tensor, names_of(draft_.tensors)).what());
    }
    statement.tensor = static_cast<std::size_t>(found - draft_.tensors.begin());
    transfer.hbm_address = found->address;
  }
  transfer.op = inherit(node, path, inherited).op;
  if (yes(node, "transposes", path)) transfer.flags |= kTransposes;
  if (yes(node, "casts", path)) transfer.flags |= kCasts;
  read_field(node, "rows", EntryField::kRows, path, statement);
  read_field(node, "row_bytes", EntryField::kRowBytes, path, statement);
  read_field(node, "offset", EntryField::kOffset, path, statement);
  return statement;
}

FileNumber StatementReader::number(const Node& node, const std::string& path) const {
  const std::string& text = node.as_text(path);
  try {
    return {Expression::parse(text, names_), &node};
  } catch (const UserError& error) {
    throw problem_at(node, path, error.what());
  }
}

void StatementReader::read_field(const Node& node, const char* key, EntryField field,
                                 const std::string& path, Statement& statement) const {
  const Node* value = node.find(key);
  if (value == nullptr) return;
  const std::string value_path = path + "." + key;
  FileNumber read = number(*value, value_path);
  if (!read.expression.is_constant()) {
    statement.fields.push_back({field, std::move(read)});
    return;
  }
  try {
    set_field(field, read.expression.value({}), statement.instruction, statement.transfer);
  } catch (const UserError& error) {
    throw problem_at(*value, value_path, error.what());
  }
}

std::vector<SemaphoreUse> StatementReader::read_uses(const Node& node, const char* key,
                                                     const std::string& path) const {
  std::vector<SemaphoreUse> uses;
  const Node* value = node.find(key);
  if (value == nullptr) return uses;
  const std::string value_path = path + "." + key;
  switch (value->kind) {
    case NodeKind::kScalar:
      uses.push_back(read_use(*value, value->text, nullptr, value_path));
      break;
    case NodeKind::kList:
      for (const Node& name : value->items) {
        uses.push_back(read_use(name, name.as_text(value_path), nullptr, value_path));
      }
      break;
    case NodeKind::kMap:
      for (const MapEntry& entry : value->entries) {
        uses.push_back(read_use(entry.value, entry.key, &entry.value, value_path));
      }
      break;
    case NodeKind::kNull:
      throw problem_at(*value, value_path, "name a semaphore, a list of them, or 'name: count'");
  }
  return uses;
}

SemaphoreUse StatementReader::read_use(const Node& name_node, const std::string& name,
                                       const Node* count, const std::string& path) const {
  const auto found = std::find_if(draft_.semaphores.begin(), draft_.semaphores.end(),
                                  [&](const FileSemaphore& s) { return s.name == name; });
  if (found == draft_.semaphores.end()) {
    throw problem_at(name_node, path,
                     unknown_name("semaphore", name, names_of(draft_.semaphores)).what());
  }
  SemaphoreUse use;
  use.semaphore = static_cast<std::size_t>(found - draft_.semaphores.begin());
  use.count = count == nullptr ? FileNumber{Expression::parse("1", names_), &name_node}
                               : number(*count, path + "." + name);
  return use;
}

}  // namespace foretell
