#include "engine/query/pipeline/given_once.h"

#include <set>
#include <string>

namespace gridmount::query {

Status check_given_once(std::string_view path, bson::View options) {
  std::set<std::string_view> met;
  for (const bson::Element option : options) {
    if (met.insert(option.key).second) continue;
    return fail(ErrorCode{40413}, "BSON field '" + std::string(path) + "." +
                                      std::string(option.key) + "' is a duplicate field");
  }
  return {};
}

}  // namespace gridmount::query
