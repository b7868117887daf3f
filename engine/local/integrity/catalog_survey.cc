#include "engine/local/integrity/catalog_survey.h"

#include <algorithm>
#include <set>

#include "engine/local/format/catalog_keys.h"
#include "engine/local/storage/ascending_cursor.h"

namespace gridmount::local {
namespace {

bool expires(const CollectionMetadata& metadata) {
  return std::any_of(
      metadata.indexes.begin(), metadata.indexes.end(),
      [](const IndexMetadata& index) { return index.definition.expire_after_seconds.has_value(); });
}

class Survey {
 public:
  Survey(const std::shared_ptr<Trees>& trees, Catalog& catalog) : trees_(trees), catalog_(catalog) {
    survey_.keyspaces.resize(trees->tree_count());
  }

  Result<CatalogSurvey> run() {
    AscendingCursor cursor(trees_, trees_->catalog());
    // LMDB has no empty keys, and all keys are shorter than the upper bound.
    cursor.set_range(std::string(1, '\0'), std::string(512, '\xFF'));
    while (true) {
      GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
      if (!entry) break;
      look_at(std::string(entry->key), entry->value);
    }
    finish();
    return std::move(survey_);
  }

 private:
  void look_at(const std::string& key, std::string_view value) {
    switch (key[0]) {
      case kCollectionKey:
        if (key.find('\0') == std::string::npos) {
          orphan(key, "an entry without a collection's name", false);
        } else {
          look_at_collection(namespace_of(key));
        }
        return;
      case kCountsKey:
        if (key.size() != kPrefixKeyBytes) {
          orphan(key, "counts of the wrong form");
        } else {
          counted_.insert(big_endian_32(std::string_view(key).substr(1)));
        }
        return;
      case kReleasedKey:
        look_at_released(key, value);
        return;
      case kExpiringKey:
        listed_.insert(key);
        return;
      case kAllocationKey:
        if (key.size() != 1) orphan(key, "a table of keyspaces of the wrong form", false);
        return;
      default:
        orphan(key, "a key of a kind this version does not know", false);
    }
  }

  void look_at_collection(const engine::Namespace& ns) {
    const Result<std::shared_ptr<const CollectionMetadata>> found = catalog_.find(ns);
    if (!found || !*found) {
      survey_.unreadable.push_back(found ? ns.full() : found.error().message());
      unreadable_expiring_.insert(collection_key(ns, kExpiringKey));
      return;
    }
    const CollectionMetadata& metadata = **found;
    claim(metadata.records, ns.full());
    records_.insert(metadata.records.prefix);
    for (const IndexMetadata& index : metadata.indexes) {
      claim(index.keyspace, ns.full() + " index '" + index.definition.name + "'");
    }
    if (expires(metadata)) expiring_.insert(collection_key(ns, kExpiringKey));
  }

  void look_at_released(const std::string& key, std::string_view value) {
    if (key.size() != kPrefixKeyBytes || !is_sound_value(key, value, kReleasedBytes) ||
        big_endian_32(value) >= trees_->tree_count()) {
      orphan(key, "a released keyspace of the wrong form");
      return;
    }
    claim({big_endian_32(value), big_endian_32(std::string_view(key).substr(1))},
          "a dropped collection or index");
  }

  void claim(const Keyspace& keyspace, const std::string& owner) {
    const auto [at, added] = survey_.owners.try_emplace(keyspace.prefix, owner);
    if (!added) {
      survey_.shared.emplace(
          keyspace.prefix,
          owner + " and " + at->second + " share the keyspace " + std::to_string(keyspace.prefix));
    }
    ++survey_.keyspaces[keyspace.tree];
  }

  void orphan(const std::string& key, const std::string& what, bool removable = true) {
    survey_.orphan.push_back({key, what, removable});
  }

  void finish() {
    for (const uint32_t prefix : counted_) {
      // The counts may belong to a collection whose entry cannot be read.
      if (!records_.contains(prefix)) {
        orphan(prefix_key(kCountsKey, prefix), "counts without a collection",
               survey_.unreadable.empty());
      }
    }
    for (const std::string& key : listed_) {
      if (!expiring_.contains(key) && !unreadable_expiring_.contains(key)) {
        orphan(key, "an entry for expiring documents without a TTL index");
      }
    }
    for (const std::string& key : expiring_) {
      if (!listed_.contains(key)) survey_.expiring_unlisted.push_back(namespace_of(key));
    }
  }

  static engine::Namespace namespace_of(const std::string& key) {
    const size_t end = key.find('\0');
    return {key.substr(1, end - 1), key.substr(end + 1)};
  }

  const std::shared_ptr<Trees>& trees_;
  Catalog& catalog_;
  CatalogSurvey survey_;
  std::set<uint32_t> records_;  // the record prefixes of the collections
  std::set<uint32_t> counted_;
  std::set<std::string> expiring_;  // the keys that the list of expiring collections must have
  std::set<std::string> listed_;
  std::set<std::string> unreadable_expiring_;
};

}  // namespace

bool CatalogSurvey::knows_all_keyspaces() const {
  return unreadable.empty() && std::all_of(orphan.begin(), orphan.end(),
                                           [](const OrphanKey& key) { return key.removable; });
}

bool CatalogSurvey::is_alone(const CollectionMetadata& metadata) const {
  return !shared.contains(metadata.records.prefix) &&
         std::none_of(
             metadata.indexes.begin(), metadata.indexes.end(),
             [&](const IndexMetadata& index) { return shared.contains(index.keyspace.prefix); });
}

Result<CatalogSurvey> survey_catalog(const std::shared_ptr<Trees>& trees, Catalog& catalog) {
  return Survey(trees, catalog).run();
}

}  // namespace gridmount::local
