// Opens stores for crash tests. The clock triggers nothing in these stores, and the log is small so
// that it fills up soon.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/open_store.h"
#include "engine/local/test_options.h"
#include "engine/store.h"

namespace gridmount::local::testing {

// Returns options with which the clock triggers nothing.
OpenOptions crash_store_options();

// Opens the store with local::open(), or with Environment::open() if an option in `test` differs
// from its default (keeps_log_until_replayed and check_mappings alone do not count).
Result<std::unique_ptr<engine::Store>> open_crash_store(
    const std::filesystem::path& folder, bool create, const TestOptions& test,
    OpenOptions options = crash_store_options());

// Makes everything durable with a checkpoint instead of the log.
Status take_checkpoint(engine::Store& store);

// Returns what `gridstore check` finds below the documents.
Result<std::vector<std::string>> structure_problems(engine::Store& store);

}  // namespace gridmount::local::testing
