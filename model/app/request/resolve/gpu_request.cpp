#include "model/app/request/resolve/gpu_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calib/fitted/gpu/gpu_factor_tables.hpp"
#include "calib/fitted/shared/energy_factors.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/app/request/resolve/expert_ranks.hpp"
#include "model/app/request/resolve/library_rules.hpp"
#include "model/app/request/resolve/refuse_option.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/predict/rows/gemm_rows.hpp"
#include "reports/record/ranks.hpp"

namespace foretell {
namespace {

constexpr const char* kSustained = "sustained";

const KernelLibrary& library_of(const Request& request) {
  return kernel_libraries().of_networks(std::string(trim(request.library)));
}

void check_release(const Request& request) {
  const KernelLibrary& library = library_of(request);
  const std::string release(trim(request.library_release));
  if (release.empty()) return;
  const std::string given = fmt::format("{}: --library-release '{}': ", request.system, release);
  if (library.first_release.empty()) {
    throw UserError(
        fmt::format("{}of {} no difference between releases is known for networks; leave it out",
                    given, library.name));
  }
  const bool is_last =
      release == library.last_release || starts_with(release, library.last_release + ".");
  const bool is_number = release.find_first_not_of("0123456789.") == std::string::npos;
  const bool known = is_number && compare_releases(release, library.first_release) >= 0 &&
                     (is_last || compare_releases(release, library.last_release) < 0);
  if (known) return;
  throw UserError(fmt::format("{}{} has releases {} to {}; leave it out for the newest", given,
                              library.name, library.first_release, library.last_release));
}

// Whether kernels for tokens read the cache once for all query heads that share it.
bool shares_keys(const Request& request, const ModelConfig& model,
                 const std::string& architecture) {
  const KernelLibrary& library = library_of(request);
  const std::string release(trim(request.library_release));
  if (release.empty() || library.one_head.empty()) return true;
  const std::int64_t group = model.heads / std::max<std::int64_t>(1, model.kv_heads);
  const SmallGroups& small = library.one_head_small;
  if (architecture == small.architecture && group < small.below &&
      compare_releases(release, small.until) < 0) {
    return false;
  }
  const bool is_power_of_two = (group & (group - 1)) == 0;
  const std::string& until = is_power_of_two || library.one_head_odd_until.empty()
                                 ? library.one_head_until
                                 : library.one_head_odd_until;
  return compare_releases(release, until) >= 0;
}

// … and those for keys in chunks. A release that is not stated is the newest.
bool chunks_share_keys(const Request& request, const std::string& architecture) {
  const KernelLibrary& library = library_of(request);
  const ChunkedKeys& chunks = library.one_head_chunks;
  const std::string release(trim(request.library_release));
  if (release.empty() || chunks.since.empty() || architecture == chunks.except) return true;
  return compare_releases(release, chunks.since) < 0 ||
         compare_releases(release, chunks.until) >= 0;
}

// What the host adds to a call: to forward passes, and to prompts up to a release. A release that
// is not stated is the newest.
void take_calls_of_host(const KernelLibrary& library, GpuRequest& resolved) {
  const auto& slowness = kernel_libraries().choice().host_slowness;
  const auto slower = slowness.find(resolved.system.spec.device.architecture);
  resolved.host_call = library.per_call * (slower == slowness.end() ? 1.0 : slower->second);
  resolved.host_sample = library.per_sample * static_cast<double>(resolved.request.batch);
  const std::string release(trim(resolved.request.library_release));
  const std::string& until = library.per_prompt_layer_until;
  const bool is_over = !until.empty() && (release.empty() || compare_releases(release, until) >= 0);
  if (!is_over)
    resolved.host_prompt = library.per_prompt_layer * static_cast<double>(resolved.model.layers);
  for (const Seconds time : {resolved.host_call, resolved.host_prompt, resolved.host_sample})
    resolved.host_values += time > Seconds(0) ? 1 : 0;
}

// The host of a library that says how long it takes for a kernel, unless --set says it.
void take_host_of(const KernelLibrary& library, const Request& request, GpuDeviceSpec& device) {
  const auto states_floor = [](const std::string& one) {
    return starts_with(one, "device.stream_floor");
  };
  if (!library.per_launch || std::any_of(request.set.begin(), request.set.end(), states_floor))
    return;
  device.stream_floor = kernel_libraries().launch_time(library, device.architecture);
}

void check_gpu_options(const Request& request) {
  refuse_option(request, request.pp > 1 && !request.trace_file.empty(), "--trace",
                "shows one GPU, not the stages of a pipeline; leave it or --pp out");
  refuse_fields(request, "gpu");
  check_release(request);
}

void check_two_batch(const ModelConfig& model, const Request& request) {
  if (!request.two_batch) return;
  if (request.cp > 1) {
    throw UserError(model.name +
                    ": --two-batch and --cp both take the second stream; leave one of them out");
  }
  if (request.tp * std::max(1, request.attention_dp) > 1) return;
  throw UserError(
      model.name +
      ": --two-batch lets one half compute while the other exchanges, and one GPU "
      "has no peers to exchange with; give --tp or --attention-dp above 1, or leave it out");
}

void resolve_gpus(GpuRequest& resolved) {
  Request& request = resolved.request;
  if (request.tp == 0) request.tp = 1;
  if (request.cp == 1) request.cp = 0;  // a rank with all tokens is what there is without it
  if (request.cp > 1 && request.attention_dp > 1) {
    throw UserError(resolved.model.name +
                    ": --cp gives ranks tokens of every prompt and --attention-dp whole sequences; "
                    "leave one of them out");
  }
  resolve_expert_ranks(resolved.model, "GPUs", request);
  check_two_batch(resolved.model, request);
  const auto system_of = [&](std::int64_t gpus) {
    const GpuSystemSpec& spec = resolved.system.spec;
    if (spec.device.like.is_own) {
      if (spec.devices > 1 || !is_file_name(spec.id)) return std::string();
      return fmt::format("a file that states 'device: {}', 'devices: …' and 'interconnect: …'",
                         spec.id);
    }
    const std::string name = fmt::format("{}-x{}", resolved.system.spec.device.id, gpus);
    return GpuCatalog().has_system(name) ? name : std::string();
  };
  share_parts({"GPU", resolved.system.spec.devices, system_of}, groups_of_copy(request), resolved);
}

// Libraries for GPUs give every rank as many heads as the others.
// Heads of keys are divided, or each of them is held by the same number of ranks.
void check_heads(const GpuRequest& resolved) {
  const std::int64_t heads = resolved.model.heads;
  const std::int64_t key_heads = std::max<std::int64_t>(1, resolved.model.kv_heads);
  const auto fits = [&](std::int64_t ranks) {
    return heads % ranks == 0 && (key_heads % ranks == 0 || ranks % key_heads == 0);
  };
  if (resolved.request.tp <= 1 || fits(resolved.request.tp)) return;
  std::vector<int> degrees;
  for (int ranks = 1; ranks <= resolved.system.spec.devices; ++ranks) {
    if (fits(ranks)) degrees.push_back(ranks);
  }
  const std::string of_keys =
      heads == key_heads ? "" : fmt::format(" and {} of keys and values", key_heads);
  throw UserError(fmt::format(
      "{}: {} GPUs cannot share its {} attention heads{} evenly; --tp can be {}",
      resolved.model.name, resolved.request.tp, heads, of_keys, fmt::join(degrees, ", ")));
}

// With or without its unit: "500W", "500".
// Power for an operation of a type at the full rate, over what one costs.
double power_for(const GpuDeviceSpec& device, const std::string& type, const std::string& factors) {
  const EnergyPerFlop each = load_gpu_energy(device, factors).factors.matrix_16;
  return device.power.value() / device.matrix_rate.at(type) / each.value();
}

// The board that the factors of products of a type were measured on; "" without factors.
std::string measured_board(const GpuRequest& resolved, const KernelLibrary& library) {
  const std::string& factors = resolved.request.factors;
  const GpuDeviceSpec& device = resolved.system.spec.device;
  const std::string type(to_string(resolved.precision.matmul_compute));
  if (factors == "none" || device.matrix_rate.count(type) == 0) return "";
  return choose_gemm(GpuFactorTables::of(factors)->kernels("gemm"), device, library.id, type)
      .device;
}

// Has the board less power for an operation of a type than the one that its factors of products
// were measured on? Then it does not hold the clock of that one.
bool has_less_power(const GpuRequest& resolved, const std::string& from) {
  const GpuDeviceSpec& device = published_device(resolved.system.spec.device);
  const std::string type(to_string(resolved.precision.matmul_compute));
  const GpuDeviceSpec* measured = from.empty() ? nullptr : find_published_device(from);
  if (measured == nullptr || from == device.id || measured->matrix_rate.count(type) == 0)
    return false;
  const std::string& factors = resolved.request.factors;
  return power_for(device, type, factors) < power_for(*measured, type, factors);
}

// Was the board made from one that is sold, whose kernels are as its limit left them?
bool is_made(const GpuRequest& resolved) {
  const GpuDeviceSpec& device = resolved.system.spec.device;
  return device.changed && !resolved.less_power && find_published_device(device.id) != nullptr;
}

// Kernels of a board that was measured are as they are under the limit that it is sold with.
// Another one, by device.power_watts, is that of --power-limit; a higher one leaves them as they
// were measured.
void take_limit_of_board(Request& request, const GpuDeviceSpec& published, GpuDeviceSpec& device) {
  const bool differs = device.power < published.power || device.power > published.power;
  if (differs && request.power_limit.empty())
    request.power_limit = fmt::format("{:g} W", device.power.value());
  device.power = published.power;
}

constexpr double kMega = 1e6;

// "0.9" or "90%": as a share of the voltage at the full clock.
double voltage_in(const std::string& text) {
  constexpr double kPercent = 100;
  const std::string_view trimmed = trim(text);
  const bool is_percent = !trimmed.empty() && trimmed.back() == '%';
  const std::string number(is_percent ? trimmed.substr(0, trimmed.size() - 1) : trimmed);
  const std::optional<AnyQuantity> share = parse_any_quantity(number);
  if (!share || !(share->dimension == Dimension{})) {
    throw UserError("voltage: '" + text +
                    "' is not a share of the voltage at the full clock; write 0.9 or 90%, as no "
                    "volts of these boards are published");
  }
  return is_percent ? share->value / kPercent : share->value;
}

// The highest clock that a voltage is enough for.
double highest_clock(double voltage, const PowerFacts& facts) {
  if (voltage >= least_voltage(1, facts)) return 1;
  double low = facts.lowest_clock;
  double high = 1;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (voltage < least_voltage(middle, facts) ? high : low) = middle;
  }
  return low;
}

// At least what the clock needs, which is that of the curve less a margin. Without a clock it is
// the highest one that the voltage is enough for.
void resolve_voltage(const PowerFacts& facts, bool states_clock, GpuRequest& resolved) {
  if (resolved.request.voltage.empty()) return;
  resolved.voltage = voltage_in(resolved.request.voltage);
  constexpr double kDigits = 1000;
  const double needed =
      least_voltage(states_clock ? resolved.clock_share : facts.lowest_clock, facts);
  const double least = std::ceil(needed * kDigits) / kDigits;
  if (resolved.voltage < least || resolved.voltage > 1) {
    const GpuDeviceSpec& device = resolved.system.spec.device;
    const double mhz = device.clock.boost.value() * resolved.clock_share / kMega;
    throw UserError(fmt::format(
        "voltage: {} takes {:g} to 1 of its full voltage{}, not {:g}", device.name, least,
        states_clock ? fmt::format(" at {:.0f} MHz", mhz) : "", resolved.voltage));
  }
  if (!states_clock) resolved.clock_share = highest_clock(resolved.voltage, facts);
}

// Without the board that it is made from.
BoardEnergy changed_board(const GpuRequest& resolved) {
  const Request& request = resolved.request;
  const GpuDeviceSpec& device = resolved.system.spec.device;
  const EnergyChange change = energy_change(device.id, {request.node, request.hbm});
  BoardEnergy board;
  board.measured = load_gpu_energy(device, request.factors);
  const double speed = device.clock.boost / published_device(device).clock.boost;
  board.asked = changed_energy(at_full_clock(board.measured, speed), change);
  board.asked.facts.voltage_most = resolved.voltage;
  board.differs = change.changes() || resolved.voltage < 1;
  return board;
}

// --clock as a frequency, --voltage and --power-limit: no more than the device has, no less than it
// needs.
void resolve_power(GpuRequest& resolved) {
  const Request& request = resolved.request;
  const GpuDeviceSpec& device = resolved.system.spec.device;
  const PowerFacts facts = load_gpu_energy(device).facts;
  const bool is_word =
      request.clock.empty() || request.clock == "burst" || resolved.sustained_clock;
  if (!is_word) {
    const double boost = device.clock.boost.value();
    double clock = 0;
    try {
      clock = parse_quantity<Hertz>(request.clock).value();
    } catch (const UserError& error) {
      throw UserError("clock: expected burst, sustained or a frequency such as 1500MHz: " +
                      std::string(error.what()));
    }
    if (clock > boost || clock < boost * facts.lowest_clock) {
      throw UserError(fmt::format("clock: {} runs at {:.0f} to {:.0f} MHz, not at {:.0f} MHz",
                                  device.name, std::ceil(boost * facts.lowest_clock / kMega),
                                  boost / kMega, clock / kMega));
    }
    resolved.clock_share = clock / boost;
  }
  resolve_voltage(facts, !is_word, resolved);
  if (request.power_limit.empty()) return;
  resolved.power_limit = read_power_limit(request.power_limit);
  const Watts idle = idle_power(1, changed_board(resolved).asked.facts);
  const double least = std::ceil(idle.value() / facts.limit_share);
  const Watts most = is_made(resolved) ? kMaxBoardPower : device.power;
  if (resolved.power_limit < Watts(least) || resolved.power_limit > most) {
    throw UserError(fmt::format(
        "power-limit: {} takes {:.0f} to {:.0f} W, not {:.6g} W: it draws {:.0f} W with its clocks "
        "up before any work",
        device.name, least, most.value(), resolved.power_limit.value(), idle.value()));
  }
}

GpuFactors factors_on(const GpuDeviceSpec& device, const GpuRequest& resolved) {
  return GpuFactors(device, resolved.request.factors, resolved.factors_set,
                    std::string(trim(resolved.request.library)));
}

// Overrides that this call is not computed from.
void note_unread(const Request& request, GpuRequest& resolved) {
  const bool sustained = resolved.sustained_clock;
  const bool streams = request.launch == "stream";
  const auto note = [&](const char* path, bool is_read, const char* why) {
    for (const Parameter& parameter : resolved.system.parameters) {
      if (parameter.path == path && parameter.overridden && !is_read)
        resolved.notes.push_back(std::string(path) + " " + why);
    }
  };
  note(
      "device.clock.base", false,
      "bounds no time: rates are those of device.clock.boost, and the power limit lowers the clock "
      "by what the work draws");
  note("device.hbm.latency", false,
       "bounds no time: what kernels see of it is fitted; set factors.prologue");
  const auto& parameters = resolved.system.parameters;
  const bool is_all = std::none_of(parameters.begin(), parameters.end(), [](const Parameter& one) {
    return one.overridden && one.path != "device.power_watts" && starts_with(one.path, "device.");
  });
  const bool raises = resolved.power_limit > published_device(resolved.system.spec.device).power;
  const bool holds = resolved.power_limit > Watts(0) && !(raises && is_all);
  note("device.power_watts", sustained || resolved.less_power || holds,
       "counts with --clock sustained, below what the board is sold with where its kernels were "
       "measured, and for a board that is changed in something else");
  note("device.stream_floor", streams, "counts with --launch stream");
  note("device.sustained_rate", sustained, "counts with --clock sustained");
  const bool on_vector_pipe = resolved.precision.matmul_compute == DType::kFp32;
  for (const char* path : {"device.vector_rate.fp32", "device.vector_rate.fp16",
                           "device.vector_rate.bf16", "device.vector_limit"}) {
    note(path, on_vector_pipe,
         "counts where products run on the vector pipe (--dtype fp32): other kernels are bound by "
         "memory, special functions or their latencies before it");
  }
  const bool narrow = size_of(resolved.precision.matmul_compute) < Bytes(2);
  const bool wide_cache = size_of(resolved.precision.kv_cache) >= Bytes(2);
  if (narrow && wide_cache && request.input_len > 0 && request.kv_dtype.empty()) {
    resolved.notes.emplace_back(
        "the KV cache is in " + std::string(to_string(resolved.precision.kv_cache)) +
        ": --kv-dtype fp8 or int8 halves it, as published figures in narrow types have it");
  }
  const GpuSystemSpec& system = resolved.system.spec;
  if (ranks_of_stage(request) * std::max(1, request.pp) > gpus_of_node(system)) {
    resolved.notes.push_back(fmt::format(
        "a copy lies on several nodes of {} GPUs: no exchange between nodes was measured, so it "
        "takes published rates and steps (docs/gpu_kernels.md)",
        gpus_of_node(system)));
  }
  if (request.context > 0) {
    resolved.notes.emplace_back(
        "--context changes nothing on GPUs: the cache grows with the tokens, nothing is compiled "
        "for a length");
  }
}

// Keys and values in the type that the file of a narrow network states for them.
void take_stored_cache(GpuRequest& resolved) {
  const bool is_narrow = size_of(resolved.precision.weight_storage) < Bytes(2);
  if (!is_narrow || !resolved.model.checkpoint.fp8_cache) return;
  resolved.precision.kv_cache = DType::kFp8;
  resolved.note_unstated(
      "type of the KV cache not stated: fp8 taken, as the file of the network says; --kv-dtype "
      "names another");
}

}  // namespace

Watts read_power_limit(const std::string& text) {
  const std::optional<AnyQuantity> power = parse_any_quantity(text);
  const bool is_power =
      power && (power->dimension == Dimension{} || power->dimension == dimension_of<Watts>::value);
  if (!is_power)
    throw UserError("power-limit: '" + text + "' is not a number of watts; write 500W or 0.5kW");
  if (power->value <= 0) throw UserError("power-limit: must be above 0 W; write 500W");
  return Watts(power->value);
}

GpuFactors factors_of(const GpuRequest& resolved) {
  return factors_on(resolved.system.spec.device, resolved);
}

std::vector<std::string> factor_notes(const GpuFactors& factors, const std::string& type) {
  std::vector<std::string> notes;
  for (const std::string& note :
       {factors.note(type), factors.tables() == nullptr ? "" : factors.tables()->note()}) {
    if (!note.empty()) notes.push_back(note);
  }
  return notes;
}

BoardEnergy energy_of_board(const GpuRequest& resolved) {
  BoardEnergy board = changed_board(resolved);
  if (is_made(resolved)) {
    GpuSystemSpec system = resolved.system.spec;
    const GpuDeviceSpec& sold = published_device(system.device);
    system.device = sold;
    board.made_from =
        std::make_shared<const SoldBoard>(SoldBoard{std::move(system), factors_on(sold, resolved)});
  }
  return board;
}

Watts kept_limit(const GpuRequest& resolved, const BoardEnergy& board) {
  if (resolved.power_limit > Watts(0)) return resolved.power_limit;
  const bool is_free = board.made_from && !board.differs;
  return is_free ? Watts(0) : resolved.system.spec.device.power;
}

GpuRequest resolve_gpu(const Request& request) {
  check_request(request);
  check_gpu_options(request);
  GpuRequest resolved;
  MachineSet set = split_machine_set(request);
  resolved.factors_set = std::move(set.factors);
  resolved.system = GpuCatalog().load(request.system, set.system);
  const std::string likeness = take_for_measured(request.factors, resolved.system);
  resolved.graphs.narrow_activations = true;
  const auto& rates = resolved.system.spec.device.matrix_rate;
  if (rates.count("fp8") > 0) {
    for (const char* policy : {"fp8", kBlockScales}) resolved.narrow_pipes.emplace_back(policy);
  }
  if (rates.count("fp4") > 0) resolved.narrow_pipes.emplace_back("nvfp4");
  if (rates.count("int8") > 0) resolved.narrow_pipes.emplace_back("int8");
  resolve_workload(request, default_dtype_on_gpu(resolved.system.spec.device), resolved);
  if (!likeness.empty()) resolved.notes.push_back(likeness);
  resolved.request.system = resolved.system.spec.id;
  const DType kv_cache = resolved.precision.kv_cache;
  resolved.precision = precision_on_gpu(resolved.precision, resolved.system.spec.device);
  const KernelLibrary& library = library_of(request);
  if (library.fastest_type) take_fastest_type(resolved);
  if (!request.kv_dtype.empty()) {
    resolved.precision.kv_cache = kv_cache;
  } else {
    take_stored_cache(resolved);
  }
  const GpuDeviceSpec& device = resolved.system.spec.device;
  resolved.graphs.narrow_residuals = library.narrow_residuals;
  resolved.fusion = fusion_of(library, resolved.precision, device.architecture);
  const bool by_host = library.one_by_one || library.per_launch;
  if (request.launch.empty() && by_host) resolved.request.launch = "stream";
  take_host_of(library, request, resolved.system.spec.device);
  take_calls_of_host(library, resolved);
  if (resolved.request.launch == "stream") resolved.launch = LaunchKind::kStream;
  const std::string measured = measured_board(resolved, library);
  resolved.less_power = request.clock != kSustained && has_less_power(resolved, measured);
  resolved.exact = resolved.request.exact;
  resolved.sustained_clock = resolved.request.clock == kSustained;
  if (!resolved.sustained_clock && measured == device.id)
    take_limit_of_board(resolved.request, published_device(device), resolved.system.spec.device);
  resolve_power(resolved);
  if (!request.l2.empty()) resolved.rotated_copies = parse_l2_choice(request.l2).copies;
  resolved.heads_share_keys =
      shares_keys(request, resolved.model, resolved.system.spec.device.architecture);
  resolved.chunks_share_keys = chunks_share_keys(request, resolved.system.spec.device.architecture);
  resolve_gpus(resolved);
  check_heads(resolved);
  note_unread(request, resolved);
  return resolved;
}

GpuCall call_of(const GpuRequest& resolved, const Graph& graph, const GpuFactors& factors) {
  return {resolved, graph, resolved.precision, resolved.system.spec, factors};
}

ClockLimits clock_limits_of(const GpuRequest& resolved) {
  return {resolved.system.spec.device.power, resolved.power_limit, resolved.clock_share,
          resolved.less_power};
}

Graph build_gpu_generation_graph(const GpuRequest& resolved, Phase phase, std::int64_t tokens,
                                 std::int64_t kv_len, int tensor_parallel) {
  Pass pass{phase, tokens, kv_len};
  if (resolved.model.family == Family::kEncoderDecoder)
    pass.encoder_len = encoded_positions(resolved.model, resolved.request.input_len);
  return build_pass_graph(resolved, pass, tensor_parallel);
}

}  // namespace foretell
