// main() of the tests: each process of tests is a run of its own.
#include <gmock/gmock.h>

#include "model/base/kept_inputs.hpp"

int main(int argc, char** argv) {
  const foretell::Kept kept;
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
