// The store on which the examples run, in its own folder: either in this process, as an application
// embeds it (embedded_store.cc), or through a MongoDB driver's library over the socket of a server
// (served_store.cc).
#pragma once

#include <filesystem>
#include <memory>

#include "engine/store.h"

namespace gridmount::manuals {

class StoreUnderTest {
 public:
  // Makes a new store in `folder`. If that fails, the test fails and the result is null.
  static std::unique_ptr<StoreUnderTest> make(const std::filesystem::path& folder);
  virtual ~StoreUnderTest() = default;

  // Returns the store that the verbs of a test use.
  virtual engine::Store& store() = 0;
  // Returns the embedded store behind store(), so that a test can examine its structure.
  virtual engine::Store& embedded() = 0;
  // Returns true if others do not see uncommitted changes. A standalone server has no transactions.
  virtual bool has_transactions() const = 0;
};

}  // namespace gridmount::manuals
