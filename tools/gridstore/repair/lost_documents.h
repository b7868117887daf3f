// Documents that a repair has lost: which collections they are of, and the bytes in which they may
// still be found in part, so that a file whose chunks are all there gets its name back.
//
// Keeps as many bytes as kBytesMax.
// Thread-safety: used by one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/value.h"
#include "engine/local/local_store.h"

namespace gridmount::tools {

class LostDocuments {
 public:
  static constexpr size_t kBytesMax = size_t{32} << 20;

  // As RemovedData::keep_bytes() is told of it.
  void add(const engine::Namespace& ns, std::string_view bytes);

  // As RepairReport has them.
  void add_collections(const std::vector<engine::Namespace>& collections);

  bool are_of(const engine::Namespace& collection) const;
  // What `filename` says behind that _id.
  std::optional<std::string> filename(const bson::Value& id) const;

 private:
  std::set<std::string> collections_;
  std::vector<std::string> parts_;
  size_t bytes_ = 0;
};

}  // namespace gridmount::tools
