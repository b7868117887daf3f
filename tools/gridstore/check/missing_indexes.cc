#include "tools/gridstore/check/missing_indexes.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engine/bson/builder.h"

namespace gridmount::tools {

namespace {

struct NeededIndex {
  std::string_view suffix;               // suffix of the collection's name
  std::array<std::string_view, 2> keys;  // one or two keys
  bool unique;

  size_t key_count() const { return keys[1].empty() ? 1 : 2; }
};

// The first two indexes are those of the GridFS specification, "indexes". gridmount adds the
// others.
constexpr std::array kNeeded = std::to_array<NeededIndex>({
    {"files", {"filename", "uploadDate"}, false},
    {"chunks", {"files_id", "n"}, true},
    {"directories", {"parent", "name"}, true},
    {"links", {"file"}, false},
});

bool serves(const engine::IndexDefinition& index, const NeededIndex& needed) {
  if (needed.unique && !index.unique) return false;
  // A partial index does not contain all documents.
  if (index.partial_filter) return false;
  size_t position = 0;
  for (bson::Element key : index.keys.view()) {
    if (position == needed.key_count() || key.key != needed.keys[position]) return false;
    // Drivers create the keys with 1, 1.0 or NumberLong(1).
    if (key.value.number() != 1.0) return false;
    ++position;
  }
  return position == needed.key_count();
}

}  // namespace

Result<std::vector<MissingIndex>> missing_indexes(const gridfs::Bucket& bucket,
                                                  engine::Snapshot& snapshot) {
  std::vector<MissingIndex> missing;
  for (const NeededIndex& needed : kNeeded) {
    std::string name = bucket.options().name + "." + std::string(needed.suffix);
    GM_ASSIGN(bool exists, bucket.database().exists(snapshot, name));
    if (!exists) continue;
    auto collection = bucket.database().collection(name);
    GM_ASSIGN(auto indexes, collection->indexes(snapshot));
    bool found = false;
    for (const engine::IndexDefinition& index : indexes) found = found || serves(index, needed);
    if (found) continue;
    MissingIndex lacking;
    lacking.collection = name;
    bson::Builder keys;
    for (size_t i = 0; i < needed.key_count(); ++i) keys.append(needed.keys[i], int32_t{1});
    lacking.definition.keys = std::move(keys).finish();
    lacking.definition.unique = needed.unique;
    lacking.what = "{" + std::string(needed.keys[0]) + ": 1";
    if (needed.key_count() > 1) lacking.what += ", " + std::string(needed.keys[1]) + ": 1";
    lacking.what += needed.unique ? "}, unique" : "}";
    missing.push_back(std::move(lacking));
  }
  return missing;
}

Status check_indexes(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                     const Location& place, Findings& findings) {
  GM_ASSIGN(const std::vector<MissingIndex> missing, missing_indexes(bucket, snapshot));
  for (const MissingIndex& index : missing) {
    findings.content_problem(place, index.collection + " lacks its index " + index.what);
  }
  return {};
}

}  // namespace gridmount::tools
