// The document workload of crash tests. It creates, fills, indexes, renames and drops collections
// in transactions, some of them durable.
#pragma once

#include <memory>

#include "tests/engine/local/crash/crash_subject.h"

namespace gridmount::local::testing {

std::unique_ptr<CrashSubject> make_documents();

}  // namespace gridmount::local::testing
