// A store that deliberately breaks a promise, for tests that must detect it.
#pragma once

#include <memory>

#include "engine/store.h"

namespace gridmount::fuse::testing {

struct BrokenPromises {
  bool makes_nothing_durable = false;  // make_durable() does nothing and reports success
  bool late_chunks = false;            // commits chunks after their files document (late_chunks.h)
};

// `store` must outlive the result.
std::unique_ptr<engine::Store> with_broken_promises(engine::Store& store, BrokenPromises broken);

}  // namespace gridmount::fuse::testing
