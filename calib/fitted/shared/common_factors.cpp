#include "calib/fitted/shared/common_factors.hpp"

#include "calib/fitted/shared/common_factors_use.hpp"
#include "calib/fitted/shared/factor_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr Range<double> kShare{0, 1};

std::filesystem::path common_factors_file(const std::filesystem::path& folder) {
  return folder / "common" / "kernels.yaml";
}

struct StandardFactors {
  CommonFactors common = load_common_factors(factors_folder());
};

}  // namespace

void fields(FieldList& list, CommonFactors& factors) {
  list.value("cache_softness", factors.cache_softness, {0.01, 10},
             "Share of the capacity of a cache over which hits turn into misses.");
  list.value("stages_stated_at", factors.stages_stated_at, {Seconds(1e-9), Seconds(1)},
             "Time of a product at which the factor stages_ahead is stated.");
  list.value("stages_growth", factors.stages_growth, kShare,
             "Exponent by which the stages ahead grow with the time of a product.");
  list.value("stages_limit", factors.stages_limit, {0, 150}, "Most stages ahead.");
  list.value("power_drop_from", factors.power_drop_from, {Seconds(1e-9), Seconds(10)},
             "Time of a kernel beyond which clocks drop under the power limit.");
  list.value("power_drop_until", factors.power_drop_until, {Seconds(1e-9), Seconds(10)},
             "Time of a kernel from which the clock is the one that the power limit leaves.");
  list.value("power_drop_delay", factors.power_drop_delay, {Seconds(1e-9), Seconds(10)},
             "Time to half of the drop of the vector pipe.");
  list.value("power_window", factors.power_window, {Seconds(1e-4), Seconds(100)},
             "Over which a board averages its power before it changes the clock.");
  list.value("page_row", factors.page_row, {Bytes(1), Bytes(1e9)},
             "Row of operands up to which lines of a DRAM page are asked for together.");
  list.value("far_row", factors.far_row, {Bytes(1), Bytes(1e9)},
             "Row of operands beyond which addresses are translated anew.");
  list.value("padded_reach", factors.padded_reach, {1, 1000},
             "Missing rows of a tile after which the wait of its stages is mostly there.");
  list.value("padded_tiles", factors.padded_tiles, {1, 1000},
             "Tiles along the rows of a product among which a partial one shows fully.");
  list.value("pass_stages", factors.pass_stages, {0, 150},
             "Stages ahead in the pass that quantises and in the product without tiles.");
  list.value("widening_fp32_share", factors.widening_fp32_share, kShare,
             "Of the instructions that widen weights, those of the FP32 pipes.");
  list.value("launches_follow_floor", factors.launches_follow_floor, kShare,
             "Exponent of the ratio of launch floors that launches of layers follow.");
  list.value("carried_dram_least", factors.carried_dram_least, kShare,
             "Least share of the peak of DRAM that a kernel has on another architecture.");
  list.value("carried_dram_most", factors.carried_dram_most, kShare,
             "Most of the peak of DRAM that a kernel has on another architecture.");
  list.value("carried_pass_least", factors.carried_pass_least,
             {BytesPerCycle(0), BytesPerCycle(1e3)},
             "Least rate of an SM in passes that a kernel has on another architecture.");
  list.value("warp_tile", factors.warp_tile, {1, 1024},
             "Rows and columns of a product of a warp that loads its operands itself.");
  list.value("shared_blocks", factors.shared_blocks, {1, 32},
             "Thread blocks of attention that share an SM where threads wait for products.");
  list.value("score_instructions", factors.score_instructions, {0, 100},
             "FP32 instructions of a score, beside its exponential.");
  list.value("kernel_floors", factors.kernel_floors, {0, 100},
             "Launch floors that a kernel takes which waits for the end of the one before.");
  list.value("unmeasured_interval", factors.unmeasured_interval, {1, 100},
             "The interval on a chip that was not measured is this many times as wide.");
  list.value("kernel_correlation", factors.kernel_correlation, kShare,
             "Of the errors of two kernels of one network.");
}

int assumed_common_factors_of_gpus() {
  CommonFactors factors;
  FieldList list;
  fields(list, factors);
  return static_cast<int>(list.all().size());
}

int assumed_common_factors_of_cpus() { return 1; }  // cache_softness

std::string common_factors_text(const std::filesystem::path& folder) {
  const std::filesystem::path path = common_factors_file(folder);
  return std::filesystem::exists(path) ? read_text_file(path) : "";
}

CommonFactors load_common_factors(const std::filesystem::path& folder) {
  const std::filesystem::path path = common_factors_file(folder);
  CommonFactors factors;
  FieldList list;
  fields(list, factors);
  const std::string shown = shown_path(path);
  const FactorFile file = parse_factor_table(read_text_file(path, shown), shown, {{}, &list, true});
  for (const auto& factor : file.tables.front().factors) {
    const auto remark = file.tables.front().remarks.find(factor.first);
    if (remark == file.tables.front().remarks.end() || remark->second.why.empty())
      throw UserError(shown + ": " + factor.first + ": 'why' is missing: what it rests on");
  }
  return factors;
}

const CommonFactors& common_factors() { return kept<StandardFactors>().common; }

}  // namespace foretell
