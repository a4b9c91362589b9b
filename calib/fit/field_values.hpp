// What fields hold before a search, to put it back.
#pragma once

#include <cstddef>
#include <vector>

#include "model/config/fields.hpp"

namespace foretell {

class FieldValues {
 public:
  explicit FieldValues(const FieldList& fields) : fields_(fields) {
    for (const Field& field : fields.all()) values_.push_back(field.number());
  }
  void restore() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Field& field = fields_.all()[i];
      field.assign(format_quantity(values_[i], field.dimension));
    }
  }

 private:
  const FieldList& fields_;
  std::vector<double> values_;
};

}  // namespace foretell
