// The further names of a file as earlier stores have them: the strings of the array `aliases` in
// its files document, which GridFS has for alternative names. links.h is how they are now.
//
// They are found by the sparse index {aliases: 1}, which was made with a bucket's first link: in a
// bucket without it they are nobody's names.
//
// Thread-safety: thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// Each once, without the filename. Elements that are no strings are passed over.
std::vector<std::string> aliases_of(bson::View files_document);

class Aliases {
 public:
  explicit Aliases(const Bucket& bucket) : bucket_(bucket) {}

  // Learns whether there may be any. Before anything else.
  Status start(engine::Snapshot& snapshot);
  bool in_use() const { return in_use_; }

  struct Alias {
    std::string name;
    bson::View document;  // valid as long as views of the snapshot are
  };
  // The first at `from` or behind it, in the order of their bytes.
  Result<std::optional<Alias>> next(engine::Snapshot& snapshot, std::string_view from,
                                    bool inclusive) const;
  // The files of that name: usually one or none.
  Result<std::vector<bson::View>> files_of(engine::Snapshot& snapshot, std::string_view name) const;

 private:
  Result<std::optional<Alias>> next_of_index(engine::Snapshot& snapshot, std::string_view from,
                                             bool inclusive) const;
  Result<std::optional<Alias>> next_alike(engine::Snapshot& snapshot, std::string_view from,
                                          bool inclusive) const;
  Result<std::unique_ptr<engine::Cursor>> find(engine::Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options) const;
  // The index was not there for a look-up: of a snapshot from before it was made, or a driver has
  // dropped it. Learns which, and gives the error if it is another.
  Status look_again(const Error& error) const;

  const Bucket& bucket_;
  mutable std::atomic<bool> in_use_ = false;
};

}  // namespace gridmount::gridfs
