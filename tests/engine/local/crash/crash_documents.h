// Documents for crash tests: collections that are made, filled, indexed, renamed and dropped, in
// transactions of which some are durable.
#pragma once

#include <memory>

#include "tests/engine/local/crash/crash_subject.h"

namespace gridmount::local::testing {

std::unique_ptr<CrashSubject> make_documents();

}  // namespace gridmount::local::testing
