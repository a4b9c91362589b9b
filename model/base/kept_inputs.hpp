// What a run keeps of the files that it reads and of what follows from them. It belongs to whoever
// runs (a command, a worker of a study, a test), which makes a `Kept`, and ends with it: nothing
// that changes outlives a run. Functions find the innermost one that lives.
//
// Inputs, which are networks, systems and all that follows from a request, are kept on demand
// alone: workers of a study, all of whose points are to see one content of every file, ask for it.
// Everywhere else they are read anew for each prediction.
//
// For processes with one thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>

namespace foretell {

class Kept {
 public:
  Kept();   // the innermost one from now on
  ~Kept();  // … and the one before it again
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // The innermost one; null where there is none.
  static Kept* innermost();

  // The one T of this run, made when it is first asked for.
  template <class T>
  T& of() {
    std::shared_ptr<void>& value = values_[std::type_index(typeid(T))];
    if (value == nullptr) {
      auto made = std::make_shared<T>();  // may ask for others
      value = made;
    }
    return *static_cast<T*>(value.get());
  }

 private:
  friend bool inputs_are_kept();
  friend void keep_inputs(bool keep);

  Kept* outer_;
  bool keeps_inputs_ = false;
  std::unordered_map<std::type_index, std::shared_ptr<void>> values_;
};

Kept& require_kept();  // the innermost one; InternalError where there is none

// The one T of the run. Requires a run.
template <class T>
T& kept() {
  return require_kept().of<T>();
}

bool inputs_are_kept();
void keep_inputs(bool keep = true);  // by the innermost one, from now on; requires one

// Values by all that they follow from. Empties itself when it holds `kMost` of them. Each kind of
// values is a type of its own that derives from it.
template <class Value, std::size_t kMost>
class KeptValues {
 public:
  // The value of `key`, made when it is new.
  template <class Make>
  Value get(const std::string& key, const Make& make) {
    const auto known = values_.find(key);
    if (known != values_.end()) return known->second;
    Value value = make();
    if (values_.size() >= kMost) values_.clear();
    values_.emplace(key, value);
    return value;
  }

 private:
  std::map<std::string, Value> values_;
};

// get() of the Values of the run while inputs are kept, else what is made.
template <class Values, class Key, class Make>
auto kept_input(const Key& key, const Make& make) {
  return inputs_are_kept() ? kept<Values>().get(key, make) : make();
}

}  // namespace foretell
