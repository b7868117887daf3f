// What is known of the documents that a repair has lost: their collections, and the bytes that may
// still contain parts of the documents. With these bytes, a file of which only chunks are left can
// get its name back.
//
// Keeps at most kBytesMax bytes. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/value.h"
#include "engine/local/open_store.h"

namespace gridmount::tools {

class LostDocuments {
 public:
  static constexpr size_t kBytesMax = size_t{32} << 20;

  // Adds the bytes that RemovedData::keep_bytes() receives. Ignores the bytes of a collection of
  // chunks, and bytes that would exceed kBytesMax.
  void add(const engine::Namespace& ns, std::string_view bytes);

  // Adds the collections of a RepairReport.
  void add_collections(const std::vector<engine::Namespace>& collections);

  // Returns true if documents of `collection` are lost.
  bool are_of(const engine::Namespace& collection) const;
  // Returns the value of the field `filename` that follows the element {_id: id} in the bytes.
  // Returns nothing if no such field ends within 64 KiB and before the next field `_id`.
  std::optional<std::string> filename(const bson::Value& id) const;

 private:
  std::set<std::string> collections_;
  std::vector<std::string> parts_;
  size_t bytes_ = 0;
};

}  // namespace gridmount::tools
