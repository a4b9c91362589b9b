// Which of many names is meant by one that is spelt otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// Letters and digits between other characters, in lower case: "A100-SXM4-80GB" has "a100", "sxm4"
// and "80gb".
std::vector<std::string> words_of(std::string_view name);

// Runs of letters and runs of digits, in lower case: "h100-sxm-x8" has "h", "100", "sxm", "x" and
// "8".
std::vector<std::string> runs_of(std::string_view name);

// Whether both are the same but for capitals and what stands between runs: "llama3 70b" is
// "Llama-3-70B", and "Llama-370B" is not.
bool is_spelt_like(std::string_view given, std::string_view name);

// The one of `names` that is `given` whatever its capitals, else the only one that is spelt like
// it; "" when there is none, or several.
std::string name_spelt(std::string_view given, const std::vector<std::string>& names);

// The names that begin as `given` does, in the order of `names` and spelt one way: "bert-large"
// begins "bert-large-cased" and "bert-large-uncased". None of less than two letters and digits.
std::vector<std::string> names_begun(std::string_view given, const std::vector<std::string>& names);

// The names that begin with the first run of `given` and have its other runs, two at least, in
// their order: "llama70b" has them in common with "Llama-3.1-70B".
std::vector<std::string> names_skipped_to(std::string_view given,
                                          const std::vector<std::string>& names);

}  // namespace foretell
