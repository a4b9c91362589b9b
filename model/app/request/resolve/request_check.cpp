#include <string>

#include "model/app/request/prediction.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

void check_counts(const Request& request) {
  FORETELL_CHECK(request.batch != 0, "a request has a batch");
  for (const RequestField& field : request_fields()) {
    const bool is_stated_count = field.kind() == FieldKind::kCount && count_of(field, request) != 0;
    if (is_stated_count)
      parse_count(field.option, std::to_string(count_of(field, request)), field.low, field.high);
  }
}

void check_lengths(const Request& request) {
  if (request.seq_len > 0 && (request.input_len > 0 || request.output_len > 0)) {
    throw UserError(
        "seq and input-len/output-len exclude each other: --seq is one forward pass, "
        "--input-len with --output-len is prefill and decode");
  }
  if (request.input_len > 0 && request.output_len == 0) {
    throw UserError("input-len needs output-len; add --output-len with the number of new tokens");
  }
}

// Words out of a fixed set, and only where they mean something.
void check_words(const Request& request) {
  for (const RequestField& field : request_fields()) {
    if (field.choices.empty() || !is_stated(field, request)) continue;
    if (field.phases == kGenerationPhase && request.input_len == 0) {
      throw UserError(std::string(field.option) +
                      " is about the generation of tokens; add --input-len and --output-len, or "
                      "leave it out");
    }
    if (field.phases == kTrainingPhase && request.phase != "train-step") {
      throw UserError(std::string(field.option) +
                      " is about training; add --phase train-step, or leave it out");
    }
    parse_choice(field, cell_of(field, request));
  }
}

// What lengths that vary and control flow need is checked where they are read (length_cases.hpp,
// control_prediction.hpp).
void check_mode(const Request& request) {
  if (request.phase == "train-step" && request.input_len > 0) {
    throw UserError(
        "phase: a training step has no KV cache and generates no tokens; give --seq instead of "
        "--input-len and --output-len");
  }
}

void check_parallelism(const Request& request) {
  if (request.sequence_parallel && (request.input_len == 0 || request.tp < 2)) {
    throw UserError(
        "sequence-parallel spreads the tokens of a prefill over the cores of a copy; add "
        "--input-len, --output-len and --tp above 1, or leave it out");
  }
  const std::int64_t per_copy =
      std::int64_t{request.tp > 0 ? request.tp : 1} * (request.pp > 0 ? request.pp : 1);
  const std::int64_t needed = per_copy * (request.dp > 0 ? request.dp : 1);
  if (request.cores > 0 && needed > request.cores) {
    throw UserError("tp x pp x dp = " + std::to_string(needed) + " cores, but cores says " +
                    std::to_string(request.cores) + "; lower one of them or raise --cores");
  }
}

}  // namespace

void check_energy_price(const Request& request) {
  if (request.usd_per_kwh < 0 || request.usd_per_kwh > kMaxUsdPerKwh) {
    throw UserError("usd-per-kwh: must be from 0 to " + std::to_string(kMaxUsdPerKwh) +
                    "; 0.1 is ten cents");
  }
  if (request.pue != 0 && (request.pue < 1 || request.pue > kMaxPue)) {
    throw UserError("pue: the building takes all that its systems take, so 1 or more, up to " +
                    std::to_string(kMaxPue));
  }
  if (request.pue != 0 && request.usd_per_kwh == 0) {
    throw UserError("pue needs a price of energy; add --usd-per-kwh, or leave it out");
  }
}

void check_request(const Request& request) {
  if (request.system.empty())
    throw UserError("no system; name one with --on, see `foretell list systems`");
  if (request.workload.empty()) {
    throw UserError("no workload; name one with --workload, see `foretell list workloads`");
  }
  check_counts(request);
  check_lengths(request);
  check_words(request);
  check_parallelism(request);
  check_mode(request);
  check_energy_price(request);
  if (request.in_flight < 0 || request.in_flight > kMaxInFlight) {
    throw UserError("in-flight: must be above 0 and up to " + std::to_string(kMaxInFlight));
  }
}

}  // namespace foretell
