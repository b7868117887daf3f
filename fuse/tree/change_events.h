// Reads the events of a change stream (engine/change_stream.h) as changes of buckets.
//
// An event says less than a transaction that is watched (external_changes.h): of a removed document
// only its _id, of a changed one not what it was before. So the names that a document had are left
// to the caller, who knows which names it has shown.
//
// Events come from outside. What cannot be understood counts as a change of the whole bucket, or of
// all buckets.
//
// Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/bson/document.h"
#include "fuse/tree/external_changes.h"

namespace gridmount::fuse {

// Returns the stages that choose the events which matter, and their fields, for
// ChangeStreamOptions::stages. The stream needs full documents.
bson::Document change_event_stages();

struct FollowedChanges {
  ExternalChanges buckets;
  bool everything = false;  // in any bucket, something has changed that is not known
};

class ChangeEvents {
 public:
  explicit ChangeEvents(std::string database) : database_(std::move(database)) {}

  void add(bson::View event);
  const FollowedChanges& changes() const { return changes_; }
  bool empty() const { return changes_.buckets.empty() && !changes_.everything; }

 private:
  BucketChanges& changes_of(std::string_view bucket);
  void add_change_of_collection(std::string_view collection);
  void add_change_of_document(std::string_view collection, std::string_view type, bson::View event);

  const std::string database_;
  FollowedChanges changes_;
  size_t count_ = 0;
};

}  // namespace gridmount::fuse
