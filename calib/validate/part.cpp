#include "calib/validate/part.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr const char* kOpeningsHeader = "opened,commit,table\n";

}  // namespace

Part part_of(std::string_view group) {
  constexpr std::uint64_t kResidues = 10;
  constexpr std::uint64_t kFitResidues = 5;
  constexpr std::uint64_t kSeenResidues = 8;
  const std::uint64_t residue = hash_number(group) % kResidues;
  if (residue < kFitResidues) return Part::kFit;
  return residue < kSeenResidues ? Part::kJudge : Part::kVault;
}

Part parse_part(const std::string& text) {
  for (const Part part : {Part::kFit, Part::kJudge, Part::kVault}) {
    if (text == part_name(part)) return part;
  }
  throw unknown_name("--part", text, {"fit", "judge", "vault"});
}

const char* part_name(Part part) {
  switch (part) {
    case Part::kFit:
      return "fit";
    case Part::kJudge:
      return "judge";
    case Part::kVault:
      return "vault";
  }
  throw InternalError(__FILE__, __LINE__, "a part without a name");
}

void log_vault_opening(const std::string& path, const std::string& commit,
                       const std::string& table) {
  const bool is_new = !std::ifstream(path).good();
  std::ofstream log(path, std::ios::app);
  const std::time_t now = std::time(nullptr);
  if (is_new) log << kOpeningsHeader;
  log << to_csv({fmt::format("{:%Y-%m-%d %H:%M}Z", fmt::gmtime(now)), commit, table});
  log.flush();
  if (!log) throw UserError(path + ": cannot be written; the vault stays closed");
}

}  // namespace foretell
