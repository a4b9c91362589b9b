#include "workloads/import/onnx/onnx_file.hpp"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::FileInputStream;
using google::protobuf::io::StringOutputStream;

constexpr int kMaxTensorBytes = 1 << 16;

// Field numbers of the format (onnx.proto).
constexpr int kModelGraph = 7;
constexpr int kModelFunction = 25;
constexpr int kFunctionNode = 7;
constexpr int kGraphNode = 1;
constexpr int kGraphInitializer = 5;
constexpr int kGraphSparseInitializer = 15;
constexpr int kNodeAttribute = 5;
constexpr int kAttributeGraph = 6;
constexpr int kAttributeGraphs = 11;

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr int field_of(std::uint32_t tag) { return static_cast<int>(tag >> 3); }
constexpr int wire_type_of(std::uint32_t tag) { return static_cast<int>(tag & 7); }

// Fields of a TensorProto that hold its elements.
constexpr bool holds_data(int field) {
  return field == 4 || field == 5 || field == 6 || field == 7 || field == 9 || field == 10 ||
         field == 11;
}

void forget_large_data(onnx::TensorProto* tensor) {
  if (tensor->ByteSizeLong() <= kMaxTensorBytes) return;
  tensor->clear_raw_data();
  tensor->clear_float_data();
  tensor->clear_int32_data();
  tensor->clear_int64_data();
  tensor->clear_string_data();
  tensor->clear_double_data();
  tensor->clear_uint64_data();
}

class Reader {
 public:
  explicit Reader(CodedInputStream& in) : in_(in) {}

  bool model(onnx::ModelProto* model) {
    while (const std::uint32_t tag = in_.ReadTag()) {
      if (field_of(tag) == kModelGraph && wire_type_of(tag) == kBytes) {
        if (!within([&] { return graph(model->mutable_graph()); })) return false;
      } else if (!take_over(tag, model)) {
        return false;
      }
    }
    return in_.ConsumedEntireMessage();
  }

 private:
  // A nested message: its length, then `read`, which must stop there.
  template <typename Read>
  bool within(Read read) {
    std::uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > std::numeric_limits<int>::max()) return false;
    const CodedInputStream::Limit limit = in_.PushLimit(static_cast<int>(length));
    // What the file says is longer than what is around it.
    if (in_.BytesUntilLimit() != static_cast<int>(length)) return false;
    const bool good = read() && in_.BytesUntilLimit() == 0;
    in_.PopLimit(limit);
    return good;
  }

  bool graph(onnx::GraphProto* graph) {
    while (const std::uint32_t tag = in_.ReadTag()) {
      const bool nested = wire_type_of(tag) == kBytes;
      bool good = true;
      if (nested && field_of(tag) == kGraphNode) {
        good = within([&] { return node(graph->add_node()); });
      } else if (nested && field_of(tag) == kGraphInitializer) {
        good = within([&] { return tensor(graph->add_initializer()); });
      } else if (field_of(tag) == kGraphSparseInitializer) {
        good = skip(tag);
      } else {
        good = take_over(tag, graph);
      }
      if (!good) return false;
    }
    return in_.ConsumedEntireMessage();
  }

  bool node(onnx::NodeProto* node) {
    if (!node->MergePartialFromCodedStream(&in_)) return false;
    for (onnx::AttributeProto& attribute : *node->mutable_attribute()) {
      if (attribute.has_t()) forget_large_data(attribute.mutable_t());
    }
    return true;
  }

  // Keeps the small fields of a tensor and skips the data of a large one.
  bool tensor(onnx::TensorProto* tensor) {
    std::string kept;
    while (const std::uint32_t tag = in_.ReadTag()) {
      const bool full = kept.size() > kMaxTensorBytes;
      if (holds_data(field_of(tag)) && full) {
        if (!skip(tag)) return false;
      } else if (!copy(tag, &kept)) {
        return false;
      }
    }
    if (!in_.ConsumedEntireMessage() || !tensor->ParsePartialFromString(kept)) return false;
    forget_large_data(tensor);
    return true;
  }

  bool copy(std::uint32_t tag, std::string* to) {
    std::uint32_t length = 0;
    if (wire_type_of(tag) == kBytes) {
      if (!in_.ReadVarint32(&length)) return false;
      if (length > kMaxTensorBytes)
        return length < (1u << 31) && in_.Skip(static_cast<int>(length));
    }
    StringOutputStream stream(to);
    CodedOutputStream out(&stream);
    out.WriteTag(tag);
    switch (wire_type_of(tag)) {
      case kVarint: {
        std::uint64_t value = 0;
        if (!in_.ReadVarint64(&value)) return false;
        out.WriteVarint64(value);
        return true;
      }
      case kFixed64: {
        std::uint64_t value = 0;
        if (!in_.ReadLittleEndian64(&value)) return false;
        out.WriteLittleEndian64(value);
        return true;
      }
      case kFixed32: {
        std::uint32_t value = 0;
        if (!in_.ReadLittleEndian32(&value)) return false;
        out.WriteLittleEndian32(value);
        return true;
      }
      case kBytes: {
        std::string bytes;
        if (!in_.ReadString(&bytes, static_cast<int>(length))) return false;
        out.WriteVarint32(length);
        out.WriteString(bytes);
        return true;
      }
      default:
        return false;
    }
  }

  bool skip(std::uint32_t tag) {
    std::uint64_t value = 0;
    std::uint32_t word = 0;
    switch (wire_type_of(tag)) {
      case kVarint:
        return in_.ReadVarint64(&value);
      case kFixed64:
        return in_.ReadLittleEndian64(&value);
      case kFixed32:
        return in_.ReadLittleEndian32(&word);
      case kBytes:
        return in_.ReadVarint32(&word) && word <= std::numeric_limits<int>::max() &&
               in_.Skip(static_cast<int>(word));
      default:
        return false;
    }
  }

  // Any other field, as the library reads it.
  template <typename Message>
  bool take_over(std::uint32_t tag, Message* message) {
    std::string field;
    std::uint32_t length = 0;
    if (wire_type_of(tag) == kBytes) {
      constexpr std::uint32_t kMaxFieldBytes = 1 << 28;
      if (!in_.ReadVarint32(&length) || length > kMaxFieldBytes) return false;
      std::string bytes;
      if (!in_.ReadString(&bytes, static_cast<int>(length))) return false;
      StringOutputStream stream(&field);
      CodedOutputStream out(&stream);
      out.WriteTag(tag);
      out.WriteVarint32(length);
      out.WriteString(bytes);
    } else if (!copy(tag, &field)) {
      return false;
    }
    CodedInputStream again(reinterpret_cast<const std::uint8_t*>(field.data()),
                           static_cast<int>(field.size()));
    return message->MergePartialFromCodedStream(&again);
  }

  CodedInputStream& in_;
};

// Counts the nodes of a model, those of bodies included, without keeping any of them. Stops beyond
// kMaxOnnxNodes, and where the file is damaged, which Reader says better.
class NodeCounter {
 public:
  explicit NodeCounter(CodedInputStream& in) : in_(in) {}

  int count() {
    message(Message::kModel, 0);
    return nodes_;
  }

 private:
  enum class Message { kModel, kGraph, kFunction, kNode, kAttribute, kOther };
  static constexpr int kDeepest = 100;  // as the library reads them

  static Message inside(Message outer, int field) {
    if (outer == Message::kModel && field == kModelGraph) return Message::kGraph;
    if (outer == Message::kModel && field == kModelFunction) return Message::kFunction;
    if (outer == Message::kGraph && field == kGraphNode) return Message::kNode;
    if (outer == Message::kFunction && field == kFunctionNode) return Message::kNode;
    if (outer == Message::kNode && field == kNodeAttribute) return Message::kAttribute;
    const bool body = field == kAttributeGraph || field == kAttributeGraphs;
    return outer == Message::kAttribute && body ? Message::kGraph : Message::kOther;
  }

  bool message(Message outer, int depth) {
    while (const std::uint32_t tag = in_.ReadTag()) {
      if (wire_type_of(tag) != kBytes) {
        if (!skip_number(wire_type_of(tag))) return false;
        continue;
      }
      std::uint32_t length = 0;
      if (!in_.ReadVarint32(&length) || length > std::numeric_limits<int>::max()) return false;
      const Message inner = inside(outer, field_of(tag));
      if (inner == Message::kNode && ++nodes_ > kMaxOnnxNodes) return false;
      if (inner == Message::kOther || depth >= kDeepest) {
        if (!in_.Skip(static_cast<int>(length))) return false;
        continue;
      }
      const CodedInputStream::Limit limit = in_.PushLimit(static_cast<int>(length));
      if (!message(inner, depth + 1)) return false;
      in_.PopLimit(limit);
    }
    return in_.ConsumedEntireMessage();
  }

  bool skip_number(int wire_type) {
    std::uint64_t value = 0;
    std::uint32_t word = 0;
    if (wire_type == kVarint) return in_.ReadVarint64(&value);
    if (wire_type == kFixed64) return in_.ReadLittleEndian64(&value);
    return wire_type == kFixed32 && in_.ReadLittleEndian32(&word);
  }

  CodedInputStream& in_;
  int nodes_ = 0;
};

// From the start of an open file, which is rewound.
int node_count(int file) {
  int nodes = 0;
  {
    FileInputStream stream(file);
    CodedInputStream in(&stream);
    in.SetTotalBytesLimit(std::numeric_limits<int>::max());
    nodes = NodeCounter(in).count();
  }
  ::lseek(file, 0, SEEK_SET);
  return nodes;
}

}  // namespace

std::shared_ptr<onnx::ModelProto> read_onnx_file(const std::string& path) {
  struct stat status {};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw UserError(path + ": cannot be read");
  FileInputStream stream(file);
  stream.SetCloseOnDelete(true);
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    throw UserError(path + ": is no file");
  if (status.st_size > std::numeric_limits<int>::max()) {
    throw UserError(path +
                    ": is larger than 2 GiB, the most that the format holds; export it with its "
                    "weights as external data");
  }
  const google::protobuf::LogSilencer silence;
  if (node_count(file) > kMaxOnnxNodes) {
    throw UserError(path + ": has more than " + std::to_string(kMaxOnnxNodes) +
                    " nodes; such a network is unrolled: export it with loops or layer by layer");
  }
  CodedInputStream in(&stream);
  in.SetTotalBytesLimit(std::numeric_limits<int>::max());
  const auto model = std::make_shared<onnx::ModelProto>();
  Reader reader(in);
  const bool good = reader.model(model.get());
  if (!good && model->has_ir_version()) {
    throw UserError(path + ": is an ONNX file that is truncated or damaged near byte " +
                    std::to_string(in.CurrentPosition()) + " of " + std::to_string(status.st_size));
  }
  if (!good || !model->has_ir_version() || !model->has_graph())
    throw UserError(path + ": is not an ONNX model");
  return model;
}

}  // namespace foretell
