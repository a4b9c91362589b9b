// Which networks a fit sees and which ones judge it (calib/fit/*_split.yaml).
//
//   family: encoder
//   fit:      {bert-large: [bert-large-cased, bert-large-uncased]}   # architecture: networks
//   held_out: {distilbert: [distilbert-base-cased]}
//   apart:    {xlm-roberta-base: why its rows are not what the model predicts}
//
// A network that is not named is held out, as an architecture of its own: data that arrive later
// never become fit data by themselves.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

enum class Side { kFit, kHeldOut, kApart };
std::string_view to_string(Side side);  // "fit", "held out", "apart"

struct NetworkSide {
  Side side = Side::kHeldOut;
  std::string architecture;  // networks that share one are on the same side
};

class Split {
 public:
  // UserError with file:line for keys that are missing or unknown, a network that is named twice,
  // and a file without fit networks.
  static Split load(const std::string& path);
  static Split parse(const std::string& text, const std::string& shown_as);

  NetworkSide find(const std::string& network) const;
  std::vector<std::string> networks(Side side) const;  // those that are named, sorted
  const std::string& family() const { return family_; }
  // "fit on bert-large-cased, gpt2; held out …", for the header of a factors file.
  std::string text() const;

 private:
  std::string family_;
  std::map<std::string, NetworkSide> networks_;
};

}  // namespace foretell
