// Programs written by hand: a YAML file of instructions, DMA transfers and semaphores becomes a
// Program. docs/programs.md describes the format, workloads/programs/ has examples.
//
// UserErrors carry file and line and name the entry: "x.yaml:12: tensor[3] multiply_moving: …".
// What is wrong with single statements comes in one go; what only shows when the loops are unrolled
// (limits, addresses, semaphores) stops at the first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "model/program/file/stated_limits.hpp"
#include "model/program/program.hpp"

namespace foretell {

struct ProgramFileOptions {
  // Replace values under `parameters:` of the file; a name that is not there is an error.
  std::map<std::string, std::int64_t> parameters;
  // What the program is checked against. Without hbm_bytes, only against the tensors of the file.
  ProgramLimits limits;
  StatedLimits stated;
};

Program load_program(const std::filesystem::path& path, const ProgramFileOptions& options = {});

// The same from text in memory; `shown_as` stands for the file in messages.
Program parse_program(const std::string& text, const std::string& shown_as,
                      const ProgramFileOptions& options = {});

}  // namespace foretell
