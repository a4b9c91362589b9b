// A number that several tables of kernels have in common stands once: a set of factors may name
// another set, of the same kind of kernels, whose factors it takes where it states none of its own.
//
//   like: {device: h100-sxm, table: trtllm context bf16 bf16, without: [split]}
//
// Values are taken as they stand: cycles and bytes per cycle are those of the same SM at another
// clock. `without` are factors of that set that do not apply here.
//
// What is a library's and no chip's stands in common.yaml of the kind, by table. A set that says
// `common: true` takes it where neither it nor a set of the same table that it is like states the
// factor, before what another table has.
//
// What is usual of the kind stands there, too, as the table `usual`: a set names the factors that
// it takes from it, before what it has in common and what another table has.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "calib/fitted/shared/factor_file.hpp"
#include "model/base/errors.hpp"

namespace foretell {

struct ResolvedFactors {
  FactorTexts factors;
  std::set<std::string> devices;  // that any of the numbers was fitted on, the device's own too
};

// The stated factors of a table of a device; null when there are none.
using FindStated =
    std::function<const StatedFactors*(const std::string& device, const std::string& table)>;
// What the chips have in common of a table; null when that is nothing.
using FindCommon = std::function<const FactorTexts*(const std::string& table)>;

// All factors of a table, own ones before those of the set that it is like, and so on. Nothing when
// a set on the way, or what one has in common, is not there. UserError for sets that take from one
// another in a ring.
std::optional<ResolvedFactors> resolve_factors(const std::string& device, const std::string& table,
                                               const FindStated& find, const FindCommon& common);

// For a table whose like is not there.
UserError missing_parent(const std::string& device, const std::string& table,
                         const FactorParent& like);
// For a table that resolve_factors has nothing for.
UserError missing_sets(const std::string& device, const std::string& table,
                       const StatedFactors& stated);

}  // namespace foretell
