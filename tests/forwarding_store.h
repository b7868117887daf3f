// The base class of stores that pass all calls except watch() on to another store. A derived class
// changes some of them.
//
// Thread-safe if the other store is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store.h"

namespace gridmount {

class ForwardingStore : public engine::Store {
 public:
  // `store` must outlive this object.
  explicit ForwardingStore(engine::Store& store) : store_(store) {}

  std::shared_ptr<engine::Database> database(std::string_view name) override {
    return store_.database(name);
  }
  Result<std::vector<std::string>> databases(engine::Snapshot& snapshot) override {
    return store_.databases(snapshot);
  }
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override { return store_.snapshot(); }
  Result<std::unique_ptr<engine::Snapshot>> short_snapshot() override {
    return store_.short_snapshot();
  }
  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind kind) override {
    return store_.begin(kind);
  }
  Status make_durable() override { return store_.make_durable(); }
  Result<int64_t> compact(const engine::Namespace& ns,
                          const std::optional<engine::Deadline>& deadline) override {
    return store_.compact(ns, deadline);
  }
  Result<engine::StoreStats> stats() override { return store_.stats(); }
  bool read_only() const override { return store_.read_only(); }
  engine::Capabilities capabilities() const override { return store_.capabilities(); }

 protected:
  engine::Store& inner() { return store_; }

 private:
  engine::Store& store_;
};

}  // namespace gridmount
