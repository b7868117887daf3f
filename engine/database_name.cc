// Source: MongoDB manual, "MongoDB Limits and Thresholds", naming restrictions.

#include "engine/database_name.h"

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

// Returns the fault of the name, or an empty string if the name has none.
std::string fault_of_database_name(std::string_view name) {
  if (name.empty()) return "the database name is empty";
  if (name.size() > kMaxDatabaseBytes) {
    return "the database name has " + std::to_string(name.size()) + " bytes; at most " +
           std::to_string(kMaxDatabaseBytes) + " are allowed";
  }
  const size_t at = name.find_first_of(kForbiddenInDatabase);
  if (at == std::string_view::npos) return {};
  if (name[at] == '\0') return "the database name holds a NUL";
  return "the database name holds '" + std::string(name.substr(at, 1)) + "'";
}

}  // namespace

Status check_database_name(std::string_view name) {
  const std::string fault = fault_of_database_name(name);
  if (fault.empty()) return {};
  return fail(ErrorCode::kInvalidNamespace,
              "Invalid database name '" + std::string(name) + "': " + fault);
}

Status check_namespace(const Namespace& ns) {
  const std::string fault = fault_of_database_name(ns.database);
  if (!fault.empty()) return refuse(ns, fault);
  if (ns.collection.empty()) return refuse(ns, "the collection name is empty");
  if (ns.collection.find('\0') != std::string::npos) {
    return refuse(ns, "the collection name holds a NUL");
  }
  if (ns.collection.starts_with('.') || ns.collection.ends_with('.')) {
    return refuse(ns, "a collection name neither begins nor ends with '.'");
  }
  // Servers reserve names with '$', such as $cmd. They allow oplog.$main, the oplog of old servers.
  if (ns.collection.find('$') != std::string::npos && ns.collection != "oplog.$main") {
    return refuse(ns, "the collection name holds '$'");
  }
  if (ns.full().size() > kMaxFullBytes) {
    return refuse(ns, "it has " + std::to_string(ns.full().size()) + " bytes; at most " +
                          std::to_string(kMaxFullBytes) + " are allowed");
  }
  return {};
}

bool is_internal_database(std::string_view name) {
  return name == "admin" || name == "config" || name == "local";
}

}  // namespace gridmount::engine
