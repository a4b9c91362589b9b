#include "model/program/file/statement.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

template <class Integer>
Integer fitting(std::int64_t value, std::int64_t min,
                std::uint64_t max = std::numeric_limits<Integer>::max()) {
  if (value < min) throw UserError(fmt::format("is {}; the least is {}", value, min));
  if (static_cast<std::uint64_t>(value) > max) {
    throw UserError(fmt::format("is {}; the most is {}", value, max));
  }
  return static_cast<Integer>(value);
}

}  // namespace

const char* to_string(EntryField field) {
  switch (field) {
    case EntryField::kN:
      return "size";
    case EntryField::kAux:
      return "second size";
    case EntryField::kPartitions:
      return "partitions";
    case EntryField::kBank:
      return "bank";
    case EntryField::kRows:
      return "rows";
    case EntryField::kRowBytes:
      return "row_bytes";
    case EntryField::kOffset:
      return "offset";
  }
  throw InternalError(__FILE__, __LINE__, "a field without name");
}

void set_field(EntryField field, std::int64_t value, Instruction& instruction, Transfer& transfer) {
  switch (field) {
    case EntryField::kN:
      instruction.n = fitting<std::uint32_t>(value, 1);
      return;
    case EntryField::kAux:
      instruction.aux = fitting<std::uint32_t>(value, 1);
      return;
    case EntryField::kPartitions:
      instruction.partitions = fitting<std::uint16_t>(value, 1);
      return;
    case EntryField::kBank:
      instruction.psum_bank = fitting<std::uint8_t>(value, 0, kNoBank - 1);
      return;
    case EntryField::kRows:
      transfer.descriptors = fitting<std::uint32_t>(value, 1);
      return;
    case EntryField::kRowBytes:
      transfer.descriptor_bytes = fitting<std::uint32_t>(value, 1);
      return;
    case EntryField::kOffset:
      transfer.hbm_address += fitting<std::uint64_t>(value, 0);
      return;
  }
  throw InternalError(__FILE__, __LINE__, "a field that nothing sets");
}

}  // namespace foretell
