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
  // Fails the test and returns null if it cannot.
  static std::unique_ptr<StoreUnderTest> make(const std::filesystem::path& folder);
  virtual ~StoreUnderTest() = default;

  // What the verbs go through.
  virtual engine::Store& store() = 0;
  // What lies beneath, to look at its structure.
  virtual engine::Store& embedded() = 0;
  // Whether what is not committed is not seen: a standalone server has no transactions.
  virtual bool has_transactions() const = 0;
};

}  // namespace gridmount::manuals
