// A service: clients, a router, workers and a link for KV caches, as SystemC modules.
//
//   clients ── requests ──▶ router ──▶ worker 0 … n ──▶ answers
//                                   └─▶ KV link ─▶ decode worker 0 … m (disaggregated)
//
// Every module wakes at its own events; steps of workers take what the step timer says. Time is
// counted in nanoseconds, so that years fit.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/base/units.hpp"
#include "model/serving/service_result.hpp"
#include "model/serving/step_timer.hpp"
#include "model/serving/worker_rules.hpp"
#include "workloads/traffic/load.hpp"

namespace foretell {

enum class Router {
  kRoundRobin,
  kMinLoaded,    // fewest tokens still to compute and to make
  kPrefixAware,  // the worker that has the session; else the least loaded
};

// Equal workers. The timer is shared: equal steps are executed once for all of them.
//
// A worker of several pipeline stages has as many batches in flight as stages. Each batch has a
// scheduler of its own with its share of the KV blocks and places, to which its requests belong
// until they are done; a step of it goes through the stages one after the other, and waits before
// each until the steps that came earlier have left it.
struct ServingGroup {
  WorkerRules rules;
  StepTimer* timer = nullptr;
  int workers = 1;
  int ranks = 1;  // attention-data-parallel ranks of a worker, in lock step

  int stages() const { return timer == nullptr ? 1 : timer->stages(); }
};

// Between prefill and decode workers; transfers follow one another.
struct KvLinkRules {
  Seconds latency;
  BytesPerSecond rate;
  Bytes per_token;  // of the KV cache
};

struct ServiceSetup {
  const Load* load = nullptr;
  ServingGroup serving;                // or the prefill workers; rules are those of one batch
  std::vector<ServingGroup> decoding;  // one group where decoding is separate, else none
  KvLinkRules link;
  Router router = Router::kRoundRobin;
  std::int64_t warm_up = 0;
  std::uint64_t seed = 0;
  std::int64_t places = 0;  // of the whole service, for ServiceResult::full; 0: not asked for
  std::size_t slices = 0;   // this many steps are kept for a timeline
  // Called now and then with the share of the answers that are there; false: stop.
  std::function<bool(double)> progress;
};

// UserError when a request of the load can never be served: what it needs, and what would help.
ServiceResult run_service(const ServiceSetup& setup);

}  // namespace foretell
