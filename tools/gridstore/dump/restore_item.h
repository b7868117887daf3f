// A collection of a dump with its target, and the selection of the collections to restore.
//
// Thread-safety: RestoreNames is immutable after parse(), so it is safe to share. RestoreItem is a
// plain value. check_targets() is thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/store.h"
#include "tools/gridstore/dump/metadata_file.h"
#include "tools/gridstore/dump/namespace_pattern.h"

namespace gridmount::tools {

struct RestoreItem {
  engine::Namespace from;
  engine::Namespace to;
  // The file with the collection's documents, or kStandardStream (archive_flag.h). Empty if there
  // is no such file, for example for a view or in an archive.
  std::filesystem::path documents = {};
  Metadata metadata = {};  // empty if the dump has no metadata
};

// Selects the collections of a dump that are restored, and their new names.
class RestoreNames {
 public:
  struct Given {
    std::string database;    // --db
    std::string collection;  // --collection
    std::vector<std::string> include;
    std::vector<std::string> exclude;
    std::vector<std::string> from;
    std::vector<std::string> to;
  };
  // Fails with BadValue for invalid patterns.
  static Result<RestoreNames> parse(const Given& given);

  // Returns the new name of the collection. Returns nothing for a collection that is not selected,
  // for system.profile, and for a collection whose name begins with '$'. If the new name has no
  // dot, the collection name of the result is empty, and the store refuses it.
  std::optional<engine::Namespace> target_of(const engine::Namespace& ns) const;

 private:
  NamespaceMatcher included_;
  NamespaceMatcher excluded_;
  NamespaceRenamer renamer_;
};

// The documents of a time series are in a collection whose name is this prefix, followed by the
// name of the time series.
inline constexpr std::string_view kTimeSeriesPrefix = "system.buckets.";

// Fails with BadValue if two items have the same target.
Status check_targets(std::span<const RestoreItem> items);

}  // namespace gridmount::tools
