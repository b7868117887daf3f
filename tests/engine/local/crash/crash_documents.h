// The document workload of crash tests: collections are created, filled, indexed, renamed and
// dropped in transactions, some of them durable.
#pragma once

#include <memory>

#include "tests/engine/local/crash/crash_subject.h"

namespace gridmount::local::testing {

std::unique_ptr<CrashSubject> make_documents();

}  // namespace gridmount::local::testing
