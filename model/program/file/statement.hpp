// A program file as it was read: per queue a tree of statements, loops not yet unrolled.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/config/document.hpp"
#include "model/program/file/expression.hpp"
#include "model/program/program.hpp"

namespace foretell {

// A number of a statement and where it stands; `node` outlives it.
struct FileNumber {
  Expression expression;
  const Node* node = nullptr;
};

// What an expression may set. Constants are in the prototype already.
enum class EntryField : std::uint8_t { kN, kAux, kPartitions, kBank, kRows, kRowBytes, kOffset };

struct FieldNumber {
  EntryField field;
  FileNumber number;
};

// `count` more of a counting semaphore.
struct SemaphoreUse {
  std::size_t semaphore = 0;  // into ProgramDraft::semaphores
  FileNumber count;
};

struct Statement {
  enum class Kind : std::uint8_t {
    kInstruction,
    kTransfer,
    kGrid,
    kExchange,
    kThreads,
    kHostCall,
    kLoop
  };
  Kind kind = Kind::kInstruction;
  const Node* node = nullptr;
  std::vector<SemaphoreUse> takes;  // of a loop: once, before its first entry
  std::vector<SemaphoreUse> gives;  // of a loop: once, when its last entry has ended

  Instruction instruction;  // prototype
  Transfer transfer;        // prototype; hbm_address is that of its tensor
  Grid grid;
  Collective exchange;
  Loop threads;  // a parallel loop
  HostCall call;
  std::size_t tensor = 0;           // of a load or store, into ProgramDraft::tensors
  std::vector<FieldNumber> fields;  // those that change from one iteration to the next

  FileNumber count;        // of a loop
  bool has_index = false;  // does the loop name its index?
  std::vector<Statement> body;
};

struct FileQueue {
  std::string name;  // "tensor"; of a ring, its name
  StreamKind kind = StreamKind::kInstructions;
  std::vector<Statement> statements{};
};

struct FileSemaphore {
  std::string name;
  std::int64_t initial = 0;
  const Node* node = nullptr;
};

struct FileTensor {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct ProgramDraft {
  std::string name;
  std::vector<std::string> operators;
  std::vector<FileSemaphore> semaphores;
  std::vector<FileTensor> tensors;  // in HBM
  std::array<FileQueue, kEngineCount> engines;
  std::vector<FileQueue> rings;
  bool has_engines = true;        // queues or rings
  std::vector<FileQueue> others;  // grids, exchanges, loops, calls of the host
};

// Puts `value` into the prototype. UserError, without place, when it does not fit the field.
void set_field(EntryField field, std::int64_t value, Instruction& instruction, Transfer& transfer);
// The key of a field in the file: "row_bytes".
const char* to_string(EntryField field);

}  // namespace foretell
