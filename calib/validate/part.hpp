// How measured rows are divided by group (a shape family, a network, a chip), so that nothing is
// fitted to what is scored: factors are fitted on one part, the form of a model is chosen on the
// second, and the third is the vault, opened once at the end.
#pragma once

#include <string>
#include <string_view>

namespace foretell {

enum class Part { kFit, kJudge, kVault };

// By the FNV-1a hash of the group's key modulo 10: 0 to 4 fit, 5 to 7 judge, 8 and 9 vault.
Part part_of(std::string_view group);

// "fit", "judge", "vault"; UserError with the nearest name for another text.
Part parse_part(const std::string& text);
const char* part_name(Part part);

// Writes down that the vault was opened: date, commit of the program and table, as a row at the end
// of the file, a CSV. UserError when it cannot be written: then the vault stays closed.
void log_vault_opening(const std::string& path, const std::string& commit,
                       const std::string& table);

}  // namespace foretell
