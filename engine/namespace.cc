// Source: MongoDB manual, "MongoDB Limits and Thresholds", naming restrictions.

#include "engine/store.h"

namespace gridmount::engine {
namespace {

constexpr size_t kMaxDatabaseBytes = 63;
constexpr size_t kMaxFullBytes = 255;
constexpr std::string_view kForbiddenInDatabase("/\\. \"$*<>:|?\0", 13);

tl::unexpected<Error> refuse(const Namespace& ns, const std::string& why) {
  return fail(ErrorCode::kInvalidNamespace,
              "Invalid namespace specified '" + ns.full() + "': " + why);
}

}  // namespace

Status check_namespace(const Namespace& ns) {
  if (ns.database.empty()) return refuse(ns, "the database name is empty");
  if (ns.database.size() > kMaxDatabaseBytes) {
    return refuse(ns, "the database name has " + std::to_string(ns.database.size()) +
                          " bytes; at most " + std::to_string(kMaxDatabaseBytes) + " are allowed");
  }
  if (const size_t at = ns.database.find_first_of(kForbiddenInDatabase); at != std::string::npos) {
    return refuse(ns, ns.database[at] == '\0'
                          ? "the database name holds a NUL"
                          : "the database name holds '" + ns.database.substr(at, 1) + "'");
  }
  if (ns.collection.empty()) return refuse(ns, "the collection name is empty");
  if (ns.collection.find('\0') != std::string::npos) {
    return refuse(ns, "the collection name holds a NUL");
  }
  if (ns.collection.starts_with('.') || ns.collection.ends_with('.')) {
    return refuse(ns, "a collection name neither begins nor ends with '.'");
  }
  // $cmd and its like are servers' own, and so is what old ones called oplog.$main.
  if (ns.collection.find('$') != std::string::npos && ns.collection != "oplog.$main") {
    return refuse(ns, "the collection name holds '$'");
  }
  if (ns.full().size() > kMaxFullBytes) {
    return refuse(ns, "it has " + std::to_string(ns.full().size()) + " bytes; at most " +
                          std::to_string(kMaxFullBytes) + " are allowed");
  }
  return {};
}

}  // namespace gridmount::engine
