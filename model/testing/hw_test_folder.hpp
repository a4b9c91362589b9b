// A private copy of hw/ and calib/factors/ that a test may damage.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {

class HwTestFolder : public ::testing::Test {
 protected:
  HwTestFolder() {
    namespace fs = std::filesystem;
    const fs::path source = FORETELL_SOURCE_DIR;
    for (const char* part : {"systems", "devices", "cores"}) {
      fs::create_directories(root_ / "hw" / part);
      fs::copy(source / "hw" / part, root_ / "hw" / part);
    }
    fs::copy(source / "hw" / "sources.yaml", root_ / "hw" / "sources.yaml");
    fs::create_directories(root_ / "factors");
    fs::copy(source / "calib" / "factors", root_ / "factors");
  }

  Catalog catalog() const { return Catalog(root_ / "hw"); }
  CalibratedSystem load(const std::string& system, const LoadOptions& options = {}) const {
    return load_calibrated(system, options, catalog(), root_ / "factors");
  }

  // Replaces the one place where `old_text` stands.
  void edit(const std::string& file, const std::string& old_text, const std::string& new_text) {
    std::string text = read_text_file(root_ / file);
    const std::size_t at = text.find(old_text);
    ASSERT_NE(at, std::string::npos) << old_text << " is not in " << file;
    ASSERT_EQ(text.find(old_text, at + 1), std::string::npos) << old_text << " is not unique";
    write(file, text.replace(at, old_text.size(), new_text));
  }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(root_ / file, std::ios::binary | std::ios::trunc) << text;
  }

  // What the user reads when the system cannot be loaded; paths start at the copy.
  std::string load_message(const std::string& system, const LoadOptions& options = {}) const {
    try {
      load(system, options);
    } catch (const UserError& error) {
      std::string text = error.what();
      const std::string prefix = root_.string() + "/";
      for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
        text.erase(at, prefix.size());
      }
      return text;
    }
    return "accepted";
  }
  std::string set_message(const std::string& assignment) const {
    LoadOptions options;
    options.set = {assignment};
    return load_message("inf2.xlarge", options);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path root_ = folder_.path();
};

}  // namespace foretell
