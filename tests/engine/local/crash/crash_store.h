// Opens stores for crash tests. Nothing in them is triggered by the clock, and the log is small so
// that it fills up soon.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/local_store.h"
#include "engine/local/test_options.h"
#include "engine/store.h"

namespace gridmount::local::testing {

// Options with which nothing happens by the clock.
OpenOptions crash_store_options();

// By local::open() itself, unless `test` asks for something that it does not give.
Result<std::unique_ptr<engine::Store>> open_crash_store(
    const std::filesystem::path& folder, bool create, const TestOptions& test,
    OpenOptions options = crash_store_options());

// Makes everything durable by a checkpoint, and not by the log.
Status take_checkpoint(engine::Store& store);

// What `gridstore check` finds below the documents.
Result<std::vector<std::string>> structure_problems(engine::Store& store);

}  // namespace gridmount::local::testing
