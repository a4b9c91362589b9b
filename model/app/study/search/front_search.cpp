#include "model/app/study/search/front_search.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "model/app/study/search/nsga2_search.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr const char* kLibrary = "libforetell_nsga2.so";

// Stays loaded. It lies where the run path of the program says.
decltype(&search_with_nsga2) loaded_search() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : dlsym(library, "search_with_nsga2");
  if (found == nullptr) {
    throw UserError(
        fmt::format("the library of the search is not where the program was installed ({}); build "
                    "or install Foretell anew, or leave out `search:` to run every point",
                    dlerror()));
  }
  return reinterpret_cast<decltype(&search_with_nsga2)>(found);
}

}  // namespace

void search_front(const FrontSearch& search) {
  FORETELL_CHECK(!search.sizes.empty() && search.objectives > 0, "a search needs axes and aims");
  loaded_search()(search);
}

}  // namespace foretell
