#include "model/mapping/neuron/residency.hpp"

#include <algorithm>
#include <cmath>

#include "model/mapping/neuron/image.hpp"

namespace foretell {
namespace {

std::vector<TensorId> operands_of(const Kernel& kernel) {
  std::vector<TensorId> ids = {kernel.input.tensor, kernel.residual.tensor, kernel.query.tensor,
                               kernel.key.tensor, kernel.value.tensor};
  for (const View& view : kernel.operands) ids.push_back(view.tensor);
  return ids;
}

// Everything emitted to the engines so far.
Deps emitted(const ProgramBuilder& builder) {
  Deps deps;
  for (int queue = 0; queue < kEngineCount; ++queue) {
    const std::uint32_t length = builder.queue_length(queue);
    if (length > 0) deps.add(queue, length - 1);
  }
  return deps;
}

}  // namespace

QueueLengths Residency::lengths() const {
  QueueLengths lengths{};
  for (int queue = 0; queue < kEngineCount; ++queue)
    lengths[static_cast<std::size_t>(queue)] = emitter_.builder().queue_length(queue);
  return lengths;
}

std::vector<Occupant> Residency::occupants(const SpillPlan& plan) const {
  std::vector<Occupant> result;
  for (const Stay& stay : plan.stays()) {
    const Mark& last = marks_.at(stay.until);
    result.push_back({static_cast<std::uint64_t>(std::max(0.0, stay.bytes)),
                      marks_.at(stay.from).begin, stay.through ? last.end : last.begin});
  }
  return result;
}

double Residency::largest_operand() const {
  double largest = 0;
  for (const auto& [copy, bytes] : bytes_) {
    if (copy.layout == Layout::kFeatureMajor) largest = std::max(largest, bytes);
  }
  return largest;
}

void Residency::begin(const Kernel& kernel) {
  marks_.push_back({lengths(), {}});
  uses_.emplace_back();
  uses_.back().kind = kernel.kind;
  running_.clear();
  is_running_ = true;
  came_back_ = 0;
  deferred_ = {};
  if (plan_.empty()) return;
  earlier_ = before_;
  before_ = emitted(emitter_.builder());
}

void Residency::end(const Kernel& kernel) {
  KernelUse& use = uses_.back();
  note_made(kernel.output, true, &use.made);
  const std::set<ActivationCopy> touched = running_;
  for (const ActivationCopy& copy : touched) note_made(copy.tensor, false, &use.made);
  for (const ActivationCopy& copy : running_) {
    if (std::none_of(use.made.begin(), use.made.end(), [&copy](const ActivationCopy& made) {
          return !(made < copy) && !(copy < made);
        }))
      use.used.push_back(copy);
  }
  is_running_ = false;
  marks_.back().end = lengths();
  if (plan_.empty()) return;
  left_.merge(leaving_);
  leaving_ = {};
  for (const ActivationCopy& copy : use.made) store(kernel, copy);
}

void Residency::note_made(TensorId tensor, bool is_result, std::vector<ActivationCopy>* made) {
  if (tensor == kNoId || !emitter_.has_value(tensor)) return;
  const Value& value = emitter_.value(tensor);
  std::int64_t feature_blocks = 0;
  for (std::int64_t b = 0; b < value.blocks() && !value.feature_major.empty(); ++b) {
    if (!value.feature_major[static_cast<std::size_t>(b * value.tiles())].empty()) ++feature_blocks;
  }
  const auto add = [&](Layout layout, std::int64_t columns, int element) {
    const ActivationCopy copy{tensor, layout};
    if (columns <= 0 || bytes_.count(copy) != 0) return;
    columns_[copy] = columns;
    bytes_[copy] = static_cast<double>(value.rows * partitions(tensor, columns)) * element;
    made->push_back(copy);
  };
  // A result that is partly in one layout and partly in the other is there once.
  std::int64_t token_columns = value.token_major.empty() ? 0 : value.columns;
  if (is_result && feature_blocks > 0 && token_columns > 0)
    token_columns -= feature_blocks * emitter_.tile_rows();
  add(Layout::kTokenMajor, token_columns, emitter_.vector_bytes());
  add(Layout::kFeatureMajor, std::min(value.columns, feature_blocks * emitter_.tile_rows()),
      feature_bytes(tensor));
}

// Channels of an image lie on partitions. Those that an image of few channels leaves empty hold the
// copies of it that share a product, or nothing: they are no room for another one.
std::int64_t Residency::partitions(TensorId tensor, std::int64_t columns) const {
  return is_image(graph_, tensor) ? emitter_.blocks_of(columns) * emitter_.tile_rows() : columns;
}

// Images are results of lane engines, which residuals and pools read as they are: they lie in SBUF
// in the type of these, and are made as narrow as products read them on the way there, or to HBM.
int Residency::feature_bytes(TensorId tensor) const {
  const int narrow = element_bytes(emitter_.types().matmul);
  return is_image(graph_, tensor) ? std::max(narrow, emitter_.vector_bytes()) : narrow;
}

void Residency::skip(const Kernel& kernel, const Kernel& like, std::size_t position) {
  std::vector<TensorId> from = operands_of(like);
  std::vector<TensorId> to = operands_of(kernel);
  from.push_back(like.output);
  to.push_back(kernel.output);
  const auto rename = [&](const std::vector<ActivationCopy>& copies) {
    std::vector<ActivationCopy> renamed;
    for (const ActivationCopy& copy : copies) {
      const auto at = std::find(from.begin(), from.end(), copy.tensor);
      if (at == from.end() || bytes_.count(copy) == 0) continue;
      const ActivationCopy other{to[static_cast<std::size_t>(at - from.begin())], copy.layout};
      bytes_.emplace(other, bytes_.at(copy));
      columns_.emplace(other, columns_.at(copy));
      const auto stored = in_hbm_.find(copy);
      if (stored != in_hbm_.end()) in_hbm_.emplace(other, stored->second);
      renamed.push_back(other);
    }
    return renamed;
  };
  marks_.push_back({lengths(), lengths()});
  const KernelUse& original = uses_[position];
  uses_.push_back({kernel.kind, rename(original.used), rename(original.made), original.scratch});
}

void Residency::use(TensorId tensor, Layout layout) {
  if (!is_running_) return;
  const ActivationCopy copy{tensor, layout};
  if (!running_.insert(copy).second || plan_.empty()) return;
  if (bytes_.count(copy) == 0) return;  // the kernel makes it first
  const double absent = plan_.reloaded(uses_.size() - 1, copy);
  if (absent > 0) reload(copy, absent);
  const Tiles tiles = tiles_of(copy);
  for (std::int64_t t = 0; t < tiles.count; ++t) delay(copy, t, left_);
}

std::int64_t Residency::kept_tiles(TensorId tensor) const {
  const ActivationCopy copy{tensor, Layout::kFeatureMajor};
  if (bytes_.count(copy) == 0) return emitter_.value(tensor).tiles();
  return first_absent(tiles_of(copy), plan_.reloaded(uses_.size() - 1, copy));
}

void Residency::need_scratch(double bytes) {
  uses_.back().scratch = std::max(uses_.back().scratch, bytes);
}

Deps Residency::through_hbm(std::int64_t rows, std::int64_t row_bytes, const Deps& ready) {
  const Deps stored =
      emitter_.transfer(Ring::kSpill, TransferDirection::kStore, rows, row_bytes, ready);
  Deps back = emitter_.transfer(Ring::kReload, TransferDirection::kLoad, rows, row_bytes, stored);
  back.merge(ready);
  return back;
}

// Both layouts leave as one piece per partition and tile of 128 tokens. Between loops there are
// only tensors of the network, which are of its type; the wider one is that of registers and sums.
Residency::Tiles Residency::tiles_of(const ActivationCopy& copy) const {
  const Value& value = emitter_.value(copy.tensor);
  const std::int64_t columns = columns_.at(copy);
  Tiles tiles;
  tiles.count = value.tiles();
  const std::int64_t tokens = std::min(emitter_.tile_rows(), value.rows);
  if (copy.layout == Layout::kTokenMajor) {
    tiles.rows = tokens;
    const int matmul_bytes = element_bytes(emitter_.types().matmul);
    tiles.row_bytes =
        columns * (plan_.has_operator_loops() ? std::min(matmul_bytes, emitter_.vector_bytes())
                                              : emitter_.vector_bytes());
  } else {
    tiles.rows = std::min(emitter_.tile_rows(), columns);
    tiles.row_bytes = (columns + emitter_.tile_rows() - 1) / emitter_.tile_rows() * tokens *
                      element_bytes(emitter_.types().matmul);
    tiles.room = feature_bytes(copy.tensor) / element_bytes(emitter_.types().matmul);
  }
  tiles.partitions = std::min(emitter_.tile_rows(), partitions(copy.tensor, tiles.rows));
  // Pixels lie one after the other.
  if (tiles.row_bytes > 0 && is_image(graph_, copy.tensor)) {
    tiles.at_once = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(emitter_.stream_row()) / tiles.row_bytes);
  }
  return tiles;
}

std::int64_t Residency::first_absent(const Tiles& tiles, double absent) const {
  const auto tile_bytes = static_cast<double>(tiles.partitions * tiles.row_bytes * tiles.room);
  const auto out = static_cast<std::int64_t>(std::ceil(absent / tile_bytes));
  return tiles.count - std::clamp<std::int64_t>(out, 0, tiles.count);
}

std::vector<Deps>& Residency::copy_deps(const ActivationCopy& copy) {
  Value& value = emitter_.value(copy.tensor);
  return copy.layout == Layout::kTokenMajor ? value.token_major : value.feature_major;
}

std::vector<std::size_t> Residency::parts(const ActivationCopy& copy, std::int64_t tile) {
  const Value& value = emitter_.value(copy.tensor);
  if (copy.layout == Layout::kTokenMajor) return {static_cast<std::size_t>(tile)};
  std::vector<std::size_t> result;
  for (std::int64_t b = 0; b < value.blocks(); ++b) {
    const auto index = static_cast<std::size_t>(b * value.tiles() + tile);
    if (!value.feature_major[index].empty()) result.push_back(index);
  }
  return result;
}

Deps Residency::ready(const ActivationCopy& copy, std::int64_t tile) {
  Deps deps;
  for (const std::size_t part : parts(copy, tile)) deps.merge(copy_deps(copy)[part]);
  return deps;
}

void Residency::delay(const ActivationCopy& copy, std::int64_t tile, const Deps& deps) {
  for (const std::size_t part : parts(copy, tile)) copy_deps(copy)[part].merge(deps);
}

void Residency::store(const Kernel& kernel, const ActivationCopy& copy) {
  const double out = plan_.stored(copy);
  if (out <= 0) return;
  const OpId producer = graph_.tensor(copy.tensor).producer;
  if (producer == kNoId && copy.layout == Layout::kTokenMajor) return;  // an input is in HBM
  emitter_.attribute_to(graph_, copy.tensor == kernel.output ? producer : kernel.ops.front());
  const Tiles tiles = tiles_of(copy);
  std::vector<Deps>& stored = in_hbm_[copy];
  stored.resize(static_cast<std::size_t>(tiles.count));
  for (std::int64_t t = first_absent(tiles, out); t < tiles.count; t += tiles.at_once) {
    const std::int64_t end = std::min(tiles.count, t + tiles.at_once);
    Deps made;
    for (std::int64_t i = t; i < end; ++i) made.merge(ready(copy, i));
    const Deps done = emitter_.transfer(Ring::kSpill, TransferDirection::kStore, tiles.rows,
                                        (end - t) * tiles.row_bytes, made);
    for (std::int64_t i = t; i < end; ++i) stored[static_cast<std::size_t>(i)] = done;
    leaving_.merge(done);
  }
}

void Residency::reload(const ActivationCopy& copy, double absent) {
  const Tiles tiles = tiles_of(copy);
  const std::int64_t first = first_absent(tiles, absent);
  if (copy.layout == Layout::kFeatureMajor && copy.tensor == deferred_.tensor) {
    deferred_.next = first;
    deferred_.end = tiles.count;
    return;
  }
  reload_tiles(copy, first, tiles.count, {});
}

void Residency::bring_back(std::int64_t last, const Deps& room) {
  const std::int64_t end = std::min(last + 1, deferred_.end);
  if (deferred_.next >= end) return;
  reload_tiles({deferred_.tensor, Layout::kFeatureMajor}, deferred_.next, end, room);
  deferred_.next = end;
}

void Residency::reload_tiles(const ActivationCopy& copy, std::int64_t first, std::int64_t end,
                             const Deps& room) {
  const Tiles tiles = tiles_of(copy);
  const auto stored = in_hbm_.find(copy);
  for (std::int64_t t = first; t < end; t += tiles.at_once) {
    const std::int64_t next = std::min(end, t + tiles.at_once);
    const std::int64_t row_bytes = (next - t) * tiles.row_bytes;
    came_back_ += static_cast<double>(tiles.rows * row_bytes);
    Deps deps = came_back_ <= ahead_ ? earlier_ : before_;
    deps.merge(room);
    if (stored != in_hbm_.end()) {
      for (std::int64_t i = t; i < next; ++i)
        deps.merge(stored->second[static_cast<std::size_t>(i)]);
    }
    const Deps back =
        emitter_.transfer(Ring::kReload, TransferDirection::kLoad, tiles.rows, row_bytes, deps);
    for (std::int64_t i = t; i < next; ++i) delay(copy, i, back);
  }
}

}  // namespace foretell
