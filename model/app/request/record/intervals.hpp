// The 80 % interval of a prediction: which multiples of it held 80 % of the measurements. The
// numbers are data (calib/validate/intervals.yaml), each for the type that matmuls were measured
// in:
//
//   default: {low: 0.7, high: 1.4, why: …}
//   intervals:
//     - {device: inferentia2, family: encoder, matmul: bf16, low: 0.92, high: 1.09, why: …}
//     - {device: inferentia2, family: decoder, matmul: bf16, quantity: tpot, low: 0.9, …}
//
// An entry may name the places (tokens, layers, parts) that it was judged at and how much wider it
// is per octave of distance from the nearest of them, beyond the distance at which the groups stood
// that made it (calib/validate/next_group.hpp); and the newest release of the compiler that was
// judged, with the share by which it is wider for each that is older.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calib/validate/next_group.hpp"
#include "model/app/request/prediction.hpp"
#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// Times that are predicted with different certainty: a call of one forward pass, the prefill of a
// generation, and its decode steps.
enum class IntervalQuantity { kCall, kTtft, kTpot };

struct IntervalChoice {
  Interval ratio;    // measured / predicted
  std::string note;  // not empty when the default had to be taken
};

class IntervalTable {
 public:
  // UserError with file:line for what is missing or wrong; low has to be in (0, 1], high in
  // [1, 10].
  static IntervalTable load(const std::filesystem::path& path);
  static IntervalTable parse(const std::string& text, const std::string& shown_as);

  // `place`: of what is predicted; an empty one is near everything. `sdk`: release of the compiler;
  // empty: the newest. UserError for one that is no version.
  IntervalChoice choose(std::string_view device, std::string_view family, std::string_view matmul,
                        IntervalQuantity quantity = IntervalQuantity::kCall,
                        const Place& place = {}, std::string_view sdk = "") const;

  // Entries of another table, after these.
  void append(const IntervalTable& other);

  // For what was not measured.
  const Interval& fallback() const { return fallback_; }

 private:
  struct Entry {
    std::string device;
    std::string family;
    std::string matmul;
    IntervalQuantity quantity;
    Interval ratio;
    double per_octave = 0;
    double octaves = 0;         // usual ones
    std::vector<Place> places;  // that were judged
    double per_release = 0;
    std::string newest;  // release that was judged; empty: not stated
  };
  Interval fallback_;
  std::vector<Entry> entries_;
};

// Of a machine that was changed and so not measured (kChangedHardware): both ratios squared.
Interval of_changed_hardware(const Interval& ratio);

// The table that belongs to this build, with the intervals that `calibrate intervals` makes
// (calib/validate/next_network.yaml, published_intervals.yaml and served_intervals.yaml), read
// once.
const IntervalTable& default_intervals();

// Where a question stands among those that were judged: tokens of a call (of images patches, of 16
// pixels a side where a network has none; of a decode step one per sequence), layers or blocks,
// cores of a copy.
Place interval_place(const Request& request, const ModelConfig& model, IntervalQuantity quantity);

// "call", "ttft", "tpot".
std::string_view interval_quantity_name(IntervalQuantity quantity);

// "encoder", "decoder": what a network counts as in the table. Decoders with experts, or with
// layers of several kinds, count by themselves: rows of dense ones say nothing of them.
std::string_view interval_family(const ModelConfig& model);

// Likewise for calls on GPUs that one graph launches: "network", or "network of images".
std::string_view graph_family(const ModelConfig& model);

// Likewise for services on GPUs: what stands in place of a device (workers that do prompts and
// answers, or separate ones; all requests at once), and of a family.
std::string_view served_device(bool separate_workers);
inline constexpr std::string_view kServedOffline = "served offline";
std::string_view served_interval_family(bool has_experts);

}  // namespace foretell
