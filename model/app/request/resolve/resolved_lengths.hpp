// Lengths of a request as the network takes them.
#pragma once

#include "model/app/request/resolve/resolved_workload.hpp"

namespace foretell {

// For a network that hears: a window of sound where the request states none, and a note where it
// fills a part of one. Before anything asks whether tokens are generated.
void resolve_sound(ResolvedWorkload& resolved);

// Fills in what the request leaves open and the network knows: length, image size, longest context.
// UserError for lengths that the network does not take.
void resolve_lengths(ResolvedWorkload& resolved);

}  // namespace foretell
