#include "tools/gridstore/index_check.h"

#include <array>
#include <string>
#include <string_view>

namespace gridmount::tools {

namespace {

struct NeededIndex {
  std::string_view suffix;  // of the collection
  std::array<std::string_view, 2> keys;
  bool unique;
};

// GridFS specification, "indexes"; the last one is ours.
constexpr std::array kNeeded = std::to_array<NeededIndex>({
    {"files", {"filename", "uploadDate"}, false},
    {"chunks", {"files_id", "n"}, true},
    {"directories", {"parent", "name"}, true},
});

bool serves(const engine::IndexDefinition& index, const NeededIndex& needed) {
  if (needed.unique && !index.unique) return false;
  size_t position = 0;
  for (bson::Element key : index.keys.view()) {
    if (position == needed.keys.size() || key.key != needed.keys[position]) return false;
    // Drivers create them with 1, 1.0 or NumberLong(1).
    if (key.value.number() != 1.0) return false;
    ++position;
  }
  return position == needed.keys.size();
}

}  // namespace

Status check_indexes(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
                     Findings& findings) {
  for (const NeededIndex& needed : kNeeded) {
    std::string name = place.bucket + "." + std::string(needed.suffix);
    GM_ASSIGN(bool exists, bucket.database().exists(snapshot, name));
    if (!exists) continue;
    auto collection = bucket.database().collection(name);
    GM_ASSIGN(auto indexes, collection->indexes(snapshot));
    bool found = false;
    for (const engine::IndexDefinition& index : indexes) found = found || serves(index, needed);
    if (found) continue;
    findings.content_problem(place, name + " lacks its index {" + std::string(needed.keys[0]) +
                                        ": 1, " + std::string(needed.keys[1]) + ": 1}" +
                                        (needed.unique ? ", unique" : ""));
  }
  return {};
}

}  // namespace gridmount::tools
