// Reads the statements of one queue or ring of a program file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/config/problems.hpp"
#include "model/program/file/statement.hpp"

namespace foretell {

// What a loop, or the file, states for all statements inside.
struct Inherited {
  std::optional<ElementType> type;
  std::int32_t op = -1;
};

class StatementReader {
 public:
  // `draft` gets the operators; its semaphores and tensors are there already. `names` holds the
  // parameters. Everything that is wrong is added to `problems`. All outlive the reader.
  StatementReader(ProgramDraft& draft, ExpressionNames& names, Problems& problems)
      : draft_(draft), names_(names), problems_(problems) {}

  std::vector<Statement> read_engine(const Node& list, const std::string& path, Engine engine,
                                     const Inherited& inherited);
  // Statements of transfers, grids, parallel loops or calls of the host.
  std::vector<Statement> read_stream(const Node& list, const std::string& path, StreamKind kind,
                                     const Inherited& inherited);

  // The type that `node` states, or the inherited one. Likewise the operator.
  Inherited inherit(const Node& node, const std::string& path, const Inherited& outer);

 private:
  std::vector<Statement> read_list(const Node& list, const std::string& path,
                                   const Inherited& inherited);
  Statement read_statement(const Node& node, const std::string& path, const Inherited& inherited);
  Statement read_loop(const Node& node, const std::string& path, const Inherited& inherited);
  Statement read_instruction(const Node& node, const std::string& path, const Inherited& inherited);
  Statement read_transfer(const Node& node, const std::string& path, const Inherited& inherited);
  Statement read_entry(const Node& node, const std::string& path, const Inherited& inherited);
  void read_operands(const Node& node, const std::string& path, Instruction& instruction);

  FileNumber number(const Node& node, const std::string& path) const;
  void read_field(const Node& node, const char* key, EntryField field, const std::string& path,
                  Statement& statement) const;
  std::vector<SemaphoreUse> read_uses(const Node& node, const char* key,
                                      const std::string& path) const;
  SemaphoreUse read_use(const Node& name_node, const std::string& name, const Node* count,
                        const std::string& path) const;

  ProgramDraft& draft_;
  ExpressionNames& names_;
  Problems& problems_;
  std::optional<Engine> engine_;  // of the queue being read; none: another stream
  StreamKind kind_ = StreamKind::kInstructions;
};

}  // namespace foretell
