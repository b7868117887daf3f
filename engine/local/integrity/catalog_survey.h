// What the catalog says as a whole, and which of its keys say nothing: for check and repair.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

struct CatalogSurvey {
  // A key that is there and should not be. Those that are not removable may be all that is left of
  // something: a key of no known kind, or a collection's without its name.
  struct StrayKey {
    std::string key;
    std::string what;
    bool removable = true;
  };
  std::vector<StrayKey> stray;
  // Collections that are wrongly missing from the list of those with expiring documents.
  std::vector<engine::Namespace> expiring_unlisted;
  // The errors of collections whose entries cannot be read. Which ranges are theirs is not known.
  std::vector<std::string> unreadable;

  std::map<uint32_t, std::string> owners;  // by prefix, the released ranges' too
  std::vector<uint32_t> ranges;            // their number per tree
  std::map<uint32_t, std::string> shared;  // prefixes that two owners claim, in words

  // Every range that is not among `owners` is nobody's.
  bool knows_all_ranges() const;
  // No other collection claims a range of this one.
  bool is_alone(const CollectionEntry& entry) const;
};

Result<CatalogSurvey> survey_catalog(const std::shared_ptr<Trees>& trees, Catalog& catalog);

}  // namespace gridmount::local
