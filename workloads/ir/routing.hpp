// How the tokens of a mixture of experts spread over its experts. Decided here alone; every mapping
// reads it from the operator Experts.
//
// A routing has a text form, which --experts takes and the attribute `routing` holds:
//   random            every token chooses with equal chances: loads are binomial, and of several
//                     ranks the one counts that has most rows, as the others wait for it
//   balanced          every expert gets the same number of tokens, give or take one
//   power-law:A       loads are drawn from a power law with exponent A, cut off at a share of the
//                     tokens, and scaled to the tokens there are; the rank with the largest load
//                     counts, mean of some draws (PowerLaw)
//   loads:a,b,c,…     measured loads of any scale, repeated where the layer has more experts
//
// Redundant experts are further copies of the most loaded ones, made and placed as DeepSeek's EPLB
// does (github.com/deepseek-ai/EPLB, eplb.py): the next copy is of the expert with the largest load
// per copy, and the copies, the most loaded first, go to the rank with the smallest sum that has a
// place left. Copies of an expert share its rows evenly. Without redundant experts they lie in
// their order, as many on each rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

enum class RoutingKind { kRandom, kBalanced, kPowerLaw, kLoads };

struct ExpertRouting {
  RoutingKind kind = RoutingKind::kRandom;
  double exponent = 0;        // of a power law
  std::vector<double> loads;  // kLoads
};

// UserError for an unknown form, with the ones that are known.
ExpertRouting parse_routing(std::string_view text);
std::string to_string(const ExpertRouting& routing);

struct RoutedTokens {
  std::int64_t tokens = 0;     // that enter the layer, of all ranks together
  std::int64_t top_k = 1;      // experts that each chooses
  std::int64_t experts = 1;    // of the layer
  std::int64_t held = 1;       // of these, and of copies, on this rank
  std::int64_t redundant = 0;  // copies beside one of each; (experts + redundant) / held ranks
};

// Ranks, of `ranks` that share the experts evenly, that the `top_k` choices of a token reach on
// average when each is as likely: R (1 - (1 - 1/R)^k).
double ranks_reached(std::int64_t ranks, std::int64_t top_k);

// How loads are drawn from a power law (hw/kernels/layers/shapes.yaml: as published tables do).
struct PowerLaw {
  int draws = 0;             // whose mean counts
  double largest_share = 0;  // of the tokens, that one expert wishes for at most
};

// Rows of every expert of the busiest rank that gets any; small and large ones take turns, as their
// order says nothing. Without any row: one expert with one row. Conserves tokens: the rows of all
// ranks of a balanced routing sum up to tokens * top_k, give or take rounding. Only a power law
// asks for `law`.
std::vector<std::int64_t> rows_per_expert(const ExpertRouting& routing, const RoutedTokens& routed,
                                          const PowerLaw& law = {});

}  // namespace foretell
