// What the rows of a table leave unstated, said once for the table.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace foretell {

class AssumedValues {
 public:
  // Of a row; most have none.
  void add(const std::vector<std::string>& assumed);

  // "3 of 8 rows: sequence length not stated: 128 tokens taken", the most frequent first; the last
  // one counts what is too much to be listed.
  std::vector<std::string> texts(std::size_t rows) const;

 private:
  std::map<std::string, std::size_t> rows_;  // by what is assumed
};

}  // namespace foretell
