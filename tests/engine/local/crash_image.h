// What the disk may hold when the power fails: built from a recording.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "tests/engine/local/write_recorder.h"

namespace gridmount::local::testing {

// One file as it may be found when the power fails just before event `cut`: all that its last
// finished sync covered, and of each page written since any of its versions, the old one included.
// Sometimes a page is torn: some of its sectors from one version, the rest from another.
std::vector<uint8_t> crash_image(const RecordedFile& file, size_t position,
                                 const std::vector<Event>& events, size_t cut,
                                 std::mt19937_64& random);

}  // namespace gridmount::local::testing
