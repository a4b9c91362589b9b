// The machine of a worker whose tokens a draft network guesses.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/serving/steps/drafted_step_timer.hpp"
#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

// A guess is a row of the vocabulary that the network looks up and scores itself.
void check_vocabulary(const Request& request, const std::string& draft) {
  const WorkloadLibrary library;
  const ModelConfig of_target = library.load(request.workload);
  const ModelConfig of_draft = library.load(draft);
  if (of_draft.family != Family::kDecoder) {
    throw UserError(
        fmt::format("--speculate draft={}: is no decoder, which guesses token by token", draft));
  }
  if (of_draft.vocab == of_target.vocab) return;
  throw UserError(fmt::format(
      "--speculate draft={}: has a vocabulary of {} words and {} one of {}: its guesses would be "
      "other words; name a smaller network of the same family",
      draft, of_draft.vocab, request.workload, of_target.vocab));
}

WorkerMachine machine_of_draft(const Predictor& predict, const Request& request,
                               std::int64_t max_tokens) {
  try {
    return make_worker_machine(predict, request, max_tokens);
  } catch (const UserError& error) {
    throw UserError(fmt::format(
        "--speculate draft: {}; tp=N in --speculate divides it among fewer devices", error.what()));
  }
}

}  // namespace

void add_draft(const Predictor& predict, const Request& request, std::int64_t max_tokens,
               const Speculation& guesses, WorkerMachine& machine) {
  if (guesses.draft.empty()) {
    machine.notes.emplace_back(
        "--speculate names no network that guesses (draft=NETWORK): guesses take no time");
    return;
  }
  check_vocabulary(request, guesses.draft);
  if (machine.stages > 1 || machine.ranks > 1 || request.cp > 1) {
    throw UserError(
        "--speculate draft: is simulated where all devices of a copy share each layer; leave --pp, "
        "--cp and --attention-dp out");
  }
  if (guesses.tp > std::max(1, request.tp)) {
    throw UserError(fmt::format(
        "--speculate tp={}: a copy of the network that is served has {}; name as many or fewer",
        guesses.tp, std::max(1, request.tp)));
  }
  Request of_draft = request;
  if (guesses.tp > 0) of_draft.tp = guesses.tp;
  of_draft.workload = guesses.draft;
  of_draft.ep = 0;
  of_draft.moe_tp = 0;
  of_draft.redundant_experts = 0;
  of_draft.two_batch = false;
  of_draft.experts = Request().experts;
  WorkerMachine draft = machine_of_draft(predict, of_draft, max_tokens);
  machine.max_length = std::min(machine.max_length, draft.max_length);
  machine.weights += draft.weights;
  machine.kv_per_token += draft.kv_per_token;
  machine.kv_of_stages += draft.kv_of_stages;
  machine.workspace = std::max(machine.workspace, draft.workspace);
  machine.workspace_of = nullptr;  // that of the larger network, of `max_tokens`
  machine.timer = std::make_unique<DraftedStepTimer>(std::move(machine.timer),
                                                     std::move(draft.timer), guesses.drafts);
  machine.notes.push_back(fmt::format(
      "guesses: {} passes of {} one after the other in each step, without time of the host between "
      "them; no measured service guessed, so the intervals are those of services that do not",
      guesses.drafts, guesses.draft));
}

}  // namespace foretell
