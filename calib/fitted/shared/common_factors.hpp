// Numbers that every chip and library shares (calib/factors/common/kernels.yaml): value and why it
// is believed.
#pragma once

#include <filesystem>

#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// Stages ahead where nothing is fitted: the longer of the times, to 0.7 %.
inline constexpr double kAllAhead = 141;

struct CommonFactors {
  double cache_softness = 0;         // share of a capacity over which hits turn into misses
  Seconds stages_stated_at;          // of a kernel with the factor `stages_ahead`
  double stages_growth = 0;          // exponent with the time of a kernel
  double stages_limit = 0;           // most stages ahead
  Seconds power_drop_from;           // kernels that take longer lose clock …
  Seconds power_drop_until;          // … and no more of it than one that takes this long
  Seconds power_drop_delay;          // to half of the drop
  Seconds power_window;              // over which boards average their power
  Bytes page_row;                    // rows of operands that share DRAM pages
  Bytes far_row;                     // rows of operands that are translated anew
  double padded_reach = 0;           // missing rows of a tile
  double padded_tiles = 0;           // along the rows of a product
  double pass_stages = 0;            // ahead, in kernels without tiles
  double widening_fp32_share = 0;    // of instructions
  double launches_follow_floor = 0;  // exponent of a ratio
  double carried_dram_least = 0;     // share of the peak, on another architecture …
  double carried_dram_most = 0;      // … and no more than this
  BytesPerCycle carried_pass_least;  // of an SM in a pass, on another architecture
  double warp_tile = 0;              // rows and columns of a warp that loads its operands itself
  double shared_blocks = 0;          // thread blocks of attention on an SM where threads wait
  double score_instructions = 0;     // FP32, of a score beside its exponential
  double kernel_floors = 0;          // launch floors of a kernel that waits for the one before
  double unmeasured_interval = 0;    // times an interval
  double kernel_correlation = 0;     // of errors
};
void fields(FieldList& list, CommonFactors& factors);

// From a folder as calib/factors is one. UserError with file and line.
CommonFactors load_common_factors(const std::filesystem::path& folder);
// From factors_folder(), read once in a run (model/base/kept_inputs.hpp). Sets of factors hold
// them, or those of the folder that a request names.
const CommonFactors& common_factors();

}  // namespace foretell
