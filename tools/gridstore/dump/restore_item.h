// One collection of a dump, and where it goes; and which of them are wanted.
//
// Thread-safety: as for any value type.
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
  std::filesystem::path documents = {};  // of a dump in a folder; empty: none, as of a view
  Metadata metadata = {};                // without anything if the dump has none
};

// Which of a dump's collections are restored, and under which names.
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
  // BadValue for patterns that are none.
  static Result<RestoreNames> parse(const Given& given);

  // Nothing for a collection that is not wanted, or that nobody can restore.
  std::optional<engine::Namespace> target_of(const engine::Namespace& ns) const;

 private:
  NamespaceMatcher included_;
  NamespaceMatcher excluded_;
  NamespaceRenamer renamer_;
};

// A time series has its documents in a collection of this and its own name.
inline constexpr std::string_view kTimeSeriesPrefix = "system.buckets.";

// BadValue if two of them go to one collection.
Status check_targets(std::span<const RestoreItem> items);

}  // namespace gridmount::tools
