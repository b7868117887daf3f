// What a repair has taken out of a store without knowing what it was: bytes in which files
// documents may be found in part, so that chunks that are all there get their file's name back.
//
// Keeps as much of it as kBytesMax; of what is more only that it was there.
// Thread-safety: used by one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
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

  // Whether the collection may have lost documents: some of its own, or any that were in a page.
  bool may_be_of(const engine::Namespace& ns) const;
  // What `filename` says behind that _id.
  std::optional<std::string> filename(const bson::Value& id) const;

 private:
  bool pages_ = false;
  std::vector<std::string> namespaces_;
  std::vector<std::string> parts_;
  size_t bytes_ = 0;
};

}  // namespace gridmount::tools
