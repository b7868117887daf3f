// Hard links as earlier versions stored them: a file's additional names are strings in the array
// `aliases` of its files document, a deprecated field of GridFS for alternative names. links.h
// describes the present form.
//
// The sparse index {aliases: 1} finds the aliases. Earlier versions created the index with a
// bucket's first link. In a bucket without that index, aliases are not names of files.
//
// Thread-safe after start().
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// Returns each alias once, without the filename. Ignores elements that are not strings.
std::vector<std::string> aliases_of(bson::View files_document);

class Aliases {
 public:
  // `bucket` must outlive this object.
  explicit Aliases(const Bucket& bucket) : bucket_(bucket) {}

  // Finds out whether the bucket may have aliases. Must be called before all other functions.
  Status start(engine::Snapshot& snapshot) const;
  bool in_use() const { return in_use_; }

  struct Alias {
    std::string name;
    bson::View document;  // valid as long as views of the snapshot (rule S5)
  };
  // Returns the first alias, in byte order, that is greater than `from`, or equal to it if
  // `inclusive`.
  Result<std::optional<Alias>> next(engine::Snapshot& snapshot, std::string_view from,
                                    bool inclusive) const;
  // Returns the files documents of the files that have this alias, usually one or none. The views
  // are valid as long as views of the snapshot.
  Result<std::vector<bson::View>> files_of(engine::Snapshot& snapshot, std::string_view name) const;

 private:
  Result<std::optional<Alias>> next_of_index(engine::Snapshot& snapshot, std::string_view from,
                                             bool inclusive) const;
  Result<std::optional<Alias>> next_alike(engine::Snapshot& snapshot, std::string_view from,
                                          bool inclusive) const;
  Result<std::unique_ptr<engine::Cursor>> find(engine::Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options) const;
  // Called when a look-up failed because the index is missing. Either the snapshot is older than
  // the index, or a driver has dropped the index. Finds out which of the two is the case, and sets
  // in_use(). Returns `error` if it has another cause.
  Status recheck_index(engine::Snapshot& snapshot, const Error& error) const;

  const Bucket& bucket_;
  mutable std::atomic<bool> in_use_ = false;
};

}  // namespace gridmount::gridfs
