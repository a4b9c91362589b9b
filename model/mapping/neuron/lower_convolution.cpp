// Convolutions as products over shifted windows: channels of the input on the rows of the tensor
// engine, filters stationary, up to 512 pixels of the result moving. The shift is in the address
// that the moving operand is read from; every position of the kernel accumulates in PSUM.
//
//   * Few channels would leave rows idle: positions of the kernel are packed into the contraction
//     where all channels of several of them fit 128 rows. Rows of the engine are partitions of
//     SBUF, which lane engines do not cross: DMA copies every image there, once per further
//     position.
//   * The first convolution reads the image from HBM. DMA lays the pixels under every position of
//     the kernel on partitions of their own, row of the result by row (im2col).
//   * Any other padded convolution waits until zeros have been written around its images.
//   * Batch norm is folded into the filters, bias and activation ride on the eviction, and a
//     residual is added while it reads PSUM.
//   * Depthwise convolutions have nothing to contract: the Vector engine multiplies and adds,
//     position by position.
//   * A transposed convolution computes each phase of its stride as a convolution of its own.
#include <algorithm>
#include <cmath>

#include "model/mapping/neuron/image.hpp"
#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

class ConvLowering {
 public:
  ConvLowering(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        graph_(context.graph),
        kernel_(kernel),
        op_(context.graph.op(kernel.matmul)),
        input_(graph_.tensor(op_.inputs[0]).shape),
        output_(graph_.tensor(kernel.output).shape),
        transposed_(op_.kind == "ConvTranspose") {
    const Shape& weight = graph_.tensor(op_.inputs[1]).shape;
    group_ = integer_of(op_, "group", 1);
    taps_ = element_count(Shape(weight.begin() + 2, weight.end()));
    side_ = weight.size() > 3 ? weight[2] : 1;
    in_ = input_.channels / group_;
    out_ = output_.channels / group_;
    stride_ = weight.size() > 3 ? first_of("strides", 1) : 1;
    strides_ = all_strides(weight.size() - 2);
    const std::int64_t extent = first_of("dilations", 1) * (side_ - 1) + 1;
    window_ = {extent, stride_, weight.size() > 3 ? first_of("pads", 0) : 0};
    if (weight.size() == 3) window_ = {1, 1, 0};
  }

  void run() {
    emitter_.attribute_to(graph_, kernel_.matmul);
    const bool from_hbm = graph_.tensor(op_.inputs[0]).producer == kNoId;
    gathers_ = from_hbm && !transposed_ && group_ == 1 && in_ <= packed_channels();
    phases_ = transposed_ ? strides_ : 1;
    positions_ = (taps_ + phases_ - 1) / phases_;
    copies_ = is_packed() && !gathers_ && !is_depthwise() && together() > 1;
    if (!gathers_) {
      if (copies_ && !is_read_wide()) context_.residency.defer(op_.inputs[0]);
      Value& source = require_image(context_, op_.inputs[0]);
      if (is_read_wide()) narrow(&source);
      source_ = &source;
    }
    if (kernel_.residual_op != kNoId) residual_ = &require_image(context_, kernel_.residual.tensor);
    if (window_.pad > 0 && !gathers_ && !transposed_) surround();
    result_ = &declare_image(context_, kernel_.output);
    if (is_depthwise()) return depthwise();
    plan_contraction();
    if (copies_) plan_copies();
    for (std::int64_t g = 0; g < group_; ++g) products(g);
  }

 private:
  // This many or fewer share the contraction.
  std::int64_t packed_channels() const { return emitter_.tile_rows() / 2; }

  std::int64_t first_of(const char* attribute, std::int64_t otherwise) const {
    return integers_of(op_, attribute, {otherwise}).front();
  }

  std::int64_t all_strides(std::size_t axes) const {
    const std::vector<std::int64_t> strides = integers_of(op_, "strides", {});
    return strides.size() == axes ? element_count(strides) : 1;
  }

  // Products read narrow elements; other readers of the same image want what the lane engines have.
  bool is_read_wide() const {
    if (element_bytes(emitter_.types().matmul) >= emitter_.vector_bytes()) return false;
    const std::vector<OpId>& readers = graph_.tensor(op_.inputs[0]).consumers;
    return std::any_of(readers.begin(), readers.end(),
                       [this](OpId reader) { return graph_.op(reader).kind != op_.kind; });
  }

  // A second copy, made once; what comes back from HBM was made narrow on the way there.
  void narrow(Value* source) {
    if (!source->narrow.empty()) return;
    source->narrow = source->feature_major;
    const std::int64_t pixels =
        std::min(context_.residency.kept_tiles(op_.inputs[0]) * emitter_.tile_rows(), source->rows);
    for (std::int64_t first = 0; first < pixels; first += emitter_.pass_pixels()) {
      const std::int64_t count = std::min(emitter_.pass_pixels(), pixels - first);
      const std::int64_t begin = first / emitter_.tile_rows();
      const std::int64_t end = (first + count - 1) / emitter_.tile_rows() + 1;
      for (std::int64_t block = 0; block < source->blocks(); ++block) {
        Deps done;
        for (std::int64_t t = begin; t < end; ++t) done.merge(source->features(block, t));
        done = emitter_.lane(Engine::kVector, {Opcode::kTensorCopy, count, kFromSbuf}, done);
        for (std::int64_t t = begin; t < end; ++t)
          source->narrow[static_cast<std::size_t>(block * source->tiles() + t)] = done;
      }
    }
  }

  // The copy that products read.
  const Deps& features(std::int64_t block, std::int64_t tile) const {
    if (source_->narrow.empty()) return source_->features(block, tile);
    const std::int64_t at = block * source_->tiles() + std::min(tile, source_->tiles() - 1);
    return source_->narrow[std::min(static_cast<std::size_t>(at), source_->narrow.size() - 1)];
  }

  // Zeros around every image, so that windows may reach beyond its edges: by DMA, as soon as the
  // image is complete.
  void surround() {
    Deps complete;
    for (const Deps& deps : source_->feature_major) complete.merge(deps);
    const double pixels =
        2.0 * static_cast<double>(window_.pad) * static_cast<double>(input_.height + input_.width);
    const auto row_bytes = static_cast<std::int64_t>(pixels) *
                           element_bytes(emitter_.types().matmul) * source_->blocks();
    border_ = emitter_.transfer(Ring::kReload, TransferDirection::kLoad,
                                std::min(emitter_.tile_rows(), input_.channels) * input_.images,
                                row_bytes, complete);
  }

  bool is_packed() const { return gathers_ || in_ <= packed_channels(); }

  bool is_depthwise() const { return in_ == 1 && out_ == 1 && group_ > 1; }

  // Positions of the kernel that share a product.
  std::int64_t together() const { return std::min(emitter_.tile_rows() / in_, positions_); }

  // An image and its copies take all partitions: this many are there at a time.
  void plan_copies() {
    const auto images = static_cast<std::size_t>(input_.images);
    replicas_.resize(images);
    read_.resize(images);
    const CoreShape& core = emitter_.core();
    const auto image_bytes = static_cast<double>(emitter_.tile_rows() * input_.pixels() *
                                                 element_bytes(emitter_.types().matmul));
    const double room = core.scheduling.activation_share * core.sbuf.capacity.value();
    held_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(room / image_bytes));
  }

  // The image, shifted by the positions that share a product with the first, as soon as products
  // have read the image that was in its place.
  void replicate(std::int64_t image) {
    Deps& replica = replicas_[static_cast<std::size_t>(image)];
    if (!replica.empty()) return;
    const std::int64_t pixels = input_.pixels();
    const std::int64_t first = image * pixels / emitter_.tile_rows();
    const std::int64_t last = ((image + 1) * pixels - 1) / emitter_.tile_rows();
    Deps complete;
    if (image >= held_) complete = read_[static_cast<std::size_t>(image - held_)];
    context_.residency.bring_back(last, complete);
    complete.merge(border_);
    for (std::int64_t block = 0; block < source_->blocks(); ++block) {
      for (std::int64_t t = first; t <= last; ++t) complete.merge(features(block, t));
    }
    replica = emitter_.transfer(Ring::kReload, TransferDirection::kLoad,
                                (together() - 1) * input_.channels,
                                pixels * element_bytes(emitter_.types().matmul), complete);
  }

  void replicate(const PixelGroup& group) {
    if (!copies_) return;
    for (std::int64_t image = group.first_input / input_.pixels();
         image <= group.last_input / input_.pixels(); ++image)
      replicate(image);
  }

  void note_read(const PixelGroup& group, const Deps& done) {
    if (!copies_) return;
    for (std::int64_t image = group.first_input / input_.pixels();
         image <= group.last_input / input_.pixels(); ++image)
      read_[static_cast<std::size_t>(image)].merge(done);
  }

  // Rows of the tensor engine that each product of an accumulation group uses.
  void plan_contraction() {
    contraction_.clear();
    if (is_packed()) {
      for (std::int64_t left = in_ * positions_; left > 0; left -= emitter_.tile_rows())
        contraction_.push_back(std::min(left, emitter_.tile_rows()));
      return;
    }
    for (std::int64_t position = 0; position < positions_; ++position) {
      for (std::int64_t left = in_; left > 0; left -= emitter_.tile_rows())
        contraction_.push_back(std::min(left, emitter_.tile_rows()));
    }
  }

  void products(std::int64_t g) {
    const std::int64_t k = in_ * positions_;
    LoadedWeight weight;
    weight.panel_columns = emitter_.bank_columns();
    const std::int64_t panels = (out_ + emitter_.bank_columns() - 1) / emitter_.bank_columns();
    // A transposed convolution goes over the pixels of its input, once per phase.
    const ImageShape& grid = transposed_ ? input_ : output_;
    const std::vector<PixelGroup> groups =
        pixel_groups(input_, grid, transposed_ ? ImageWindow{} : window_, emitter_.bank_columns());
    for (std::int64_t phase = 0; phase < phases_; ++phase) {
      for (std::int64_t panel = 0; panel < panels; ++panel) {
        emitter_.attribute_to(graph_, kernel_.matmul);
        const auto index = static_cast<std::int64_t>(weight.ready.size());
        load(&weight, k, panel, index);
        Deps last_use;
        for (const PixelGroup& group : groups) {
          replicate(group);
          const Deps columns = gathers_ ? gather(group) : Deps{};
          const std::int64_t end = std::min(out_, (panel + 1) * emitter_.bank_columns());
          for (std::int64_t column = panel * emitter_.bank_columns(); column < end;
               column += emitter_.tile_rows()) {
            last_use = product(group, {weight, index, columns},
                               std::min(emitter_.tile_rows(), end - column), g * out_ + column);
          }
          note_read(group, last_use);
        }
        context_.weights.release_panel(weight, index, last_use);
      }
    }
  }

  // Each phase and group has filters of its own, which pass through SBUF once.
  void load(LoadedWeight* weight, std::int64_t k, std::int64_t panel, std::int64_t index) {
    const std::int64_t columns =
        std::min(emitter_.bank_columns(), out_ - panel * emitter_.bank_columns());
    weight->panel_columns = columns;
    context_.weights.load_panel(op_.inputs[1], k, columns * (index + 1), index, weight);
  }

  // The pixels under every position of the kernel, on partitions of their own: rows of the result
  // where the stride is short, pieces of the kernel's width where it is as long as the kernel.
  Deps gather(const PixelGroup& group) {
    const auto found = gathered_.find(group.first);
    if (found != gathered_.end()) return found->second;
    const std::int64_t by_row = in_ * taps_ * group.rows;
    const std::int64_t by_piece = in_ * side_ * group.count;
    const std::int64_t descriptors = std::min(by_row, by_piece);
    const std::int64_t elements =
        in_ * taps_ * group.count / std::max<std::int64_t>(1, descriptors);
    const auto row_bytes = static_cast<std::int64_t>(
        static_cast<double>(elements) * size_of(graph_.tensor(op_.inputs[0]).dtype).value());
    return gathered_[group.first] = emitter_.transfer(Ring::kInputs, TransferDirection::kLoad,
                                                      descriptors, row_bytes, {});
  }

  struct Operands {
    const LoadedWeight& weight;
    std::int64_t panel;
    const Deps& columns;
  };

  Deps product(const PixelGroup& group, const Operands& operands, std::int64_t filters,
               std::int64_t channel) {
    const std::uint8_t bank = emitter_.acquire_bank();
    emitter_.attribute_to(graph_, kernel_.matmul);
    Deps done;
    std::int64_t row = 0;
    const auto blocks = static_cast<std::int64_t>(
        operands.weight.ready[static_cast<std::size_t>(operands.panel)].size());
    const Deps pixels = gathers_ ? operands.columns : ready(group);
    for (std::size_t i = 0; i < contraction_.size(); ++i) {
      Deps deps =
          operands.weight.at(operands.panel, std::min(row / emitter_.tile_rows(), blocks - 1));
      deps.merge(pixels);
      done = emitter_.matmul(bank, {contraction_[i], filters, group.count}, deps, i == 0,
                             i + 1 == contraction_.size());
      row += contraction_[i];
    }
    finish(group, channel, evict(bank, group, channel, done));
    return done;
  }

  // Waits for all channels: the group begins when the last of them is there.
  Deps ready(const PixelGroup& group) const {
    Deps deps = border_;
    for (std::int64_t block = 0; block < source_->blocks(); ++block) {
      for (std::int64_t t = group.first_input / emitter_.tile_rows();
           t <= group.last_input / emitter_.tile_rows(); ++t)
        deps.merge(features(block, t));
    }
    if (replicas_.empty()) return deps;
    for (std::int64_t image = group.first_input / input_.pixels();
         image <= group.last_input / input_.pixels(); ++image)
      deps.merge(replicas_[static_cast<std::size_t>(image)]);
    return deps;
  }

  // PSUM -> SBUF with bias and activation. With a residual, bias and sum are one instruction of
  // the Vector engine; the activation after it (or before it) is an instruction of its own.
  Deps evict(std::uint8_t bank, const PixelGroup& group, std::int64_t channel, Deps done) {
    const auto from_psum = static_cast<std::uint16_t>(kReadsPsum | kWritesSbuf);
    if (kernel_.residual_op != kNoId) {
      emitter_.attribute_to(graph_, kernel_.residual_op);
      for (std::int64_t t = group.first / emitter_.tile_rows();
           t <= (group.first + group.count - 1) / emitter_.tile_rows(); ++t)
        done.merge(residual_->features(channel / emitter_.tile_rows(), t));
      const auto flags = static_cast<std::uint16_t>(from_psum | kReadsSbuf | kAddMulSub);
      done = emitter_.lane(Engine::kVector, {Opcode::kTensorTensor, group.count, flags}, done);
      emitter_.release_bank(bank, done);
      if (kernel_.activation_op == kNoId) return done;
      emitter_.attribute_to(graph_, kernel_.activation_op);
      return emitter_.lane(Engine::kScalar,
                           {Opcode::kActivate, group.count, kReadsSbuf | kWritesSbuf}, done);
    }
    if (kernel_.activation_op != kNoId) {
      emitter_.attribute_to(graph_, kernel_.activation_op);
      done = emitter_.lane(Engine::kScalar, {Opcode::kActivate, group.count, from_psum}, done);
      emitter_.release_bank(bank, done);
      return done;
    }
    return emitter_.evict(bank, group.count, done);
  }

  void finish(const PixelGroup& group, std::int64_t channel, const Deps& done) {
    const std::int64_t base = channel / emitter_.tile_rows() * result_->tiles();
    const std::int64_t scale = transposed_ ? output_.all_pixels() / input_.all_pixels() : 1;
    const std::int64_t last = std::min(
        result_->tiles() - 1, ((group.first + group.count) * scale - 1) / emitter_.tile_rows());
    for (std::int64_t t = group.first * scale / emitter_.tile_rows(); t <= last; ++t)
      result_->feature_major[static_cast<std::size_t>(base + t)].merge(done);
  }

  void depthwise() {
    for (const PixelGroup& group :
         pixel_groups(input_, output_, window_, emitter_.bank_columns())) {
      for (std::int64_t block = 0; block < result_->blocks(); ++block) {
        Deps done;
        for (std::int64_t t = group.first_input / emitter_.tile_rows();
             t <= group.last_input / emitter_.tile_rows(); ++t)
          done.merge(source_->features(block, t));
        for (std::int64_t tap = 0; tap < taps_; ++tap) {
          done = emitter_.lane(Engine::kVector,
                               {Opcode::kScalarTensorTensor, group.count, kReadsSbuf | kWritesSbuf},
                               done);
        }
        if (kernel_.activation_op != kNoId) {
          done = emitter_.lane(Engine::kScalar,
                               {Opcode::kActivate, group.count, kReadsSbuf | kWritesSbuf}, done);
        }
        finish(group, block * emitter_.tile_rows(), done);
      }
    }
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Graph& graph_;
  const Kernel& kernel_;
  const Op& op_;
  ImageShape input_;
  ImageShape output_;
  bool transposed_;
  bool gathers_ = false;
  std::int64_t group_ = 1, taps_ = 1, side_ = 1, in_ = 1, out_ = 1, stride_ = 1, strides_ = 1;
  std::int64_t phases_ = 1, positions_ = 1;
  ImageWindow window_;
  std::vector<std::int64_t> contraction_;
  std::map<std::int64_t, Deps> gathered_;
  Deps border_;
  bool copies_ = false;         // images, for products of several positions
  std::int64_t held_ = 1;       // of them at a time
  std::vector<Deps> replicas_;  // of each image; empty: none
  std::vector<Deps> read_;      // products of each image so far
  const Value* source_ = nullptr;
  const Value* residual_ = nullptr;
  Value* result_ = nullptr;
};

}  // namespace

void lower_convolution(LoweringContext& context, const Kernel& kernel) {
  ConvLowering(context, kernel).run();
}

}  // namespace foretell
