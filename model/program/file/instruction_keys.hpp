// Which keys an instruction may have in a program file.
#pragma once

#include <string>
#include <vector>

#include "model/program/instruction.hpp"

namespace foretell {

// Opcodes by their name in the file; kSemaphoreOnly has none: it is a statement without opcode.
const std::vector<std::string>& opcode_names();
Opcode opcode_named(const std::string& name);  // one of opcode_names()

// Names of the element types and of the engines.
const std::vector<std::string>& type_names();
ElementType type_named(const std::string& name);

// The keys besides the opcode itself.
std::vector<std::string> keys_of(Engine engine, Opcode opcode);

// The key of Instruction::aux for this opcode, or nullptr.
const char* aux_key(Opcode opcode);

}  // namespace foretell
