#pragma once

#include "model/app/request/family/device_family.hpp"

namespace foretell {

const DeviceFamily& toy_family();

}  // namespace foretell
