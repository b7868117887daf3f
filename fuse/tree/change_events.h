// Translates the events of a change stream (engine/change_stream.h) to changes of buckets.
//
// An event says less than a watched transaction (external_changes.h). The event of a removed
// document has only the _id. The event of a changed document does not have the former content. So
// to find the names that a document had, the caller must search the names that it has shown to the
// kernel.
//
// Events come from outside. An event that cannot be understood counts as a change of the whole
// bucket, or of all buckets.
//
// Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/bson/document.h"
#include "fuse/tree/external_changes.h"

namespace gridmount::fuse {

// Returns the stages for ChangeStreamOptions::stages. They select the events, and the fields of
// events, that matter here. The stream must deliver full documents.
bson::Document change_event_stages();

struct FollowedChanges {
  ExternalChanges buckets;
  bool everything = false;  // anything may have changed in any bucket
};

class ChangeEvents {
 public:
  explicit ChangeEvents(std::string database) : database_(std::move(database)) {}

  // Adds the changes that the event reports. Ignores events of other databases.
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
