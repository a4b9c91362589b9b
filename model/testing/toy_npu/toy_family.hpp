#pragma once

#include "model/app/request/device_family.hpp"

namespace foretell {

const DeviceFamily& toy_family();

}  // namespace foretell
