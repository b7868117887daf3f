#include "http/origin.h"

namespace gridmount::http {

bool is_of_same_origin(const Request& request, std::string_view host) {
  if (const auto site = request.field("Sec-Fetch-Site")) {
    if (*site != "same-origin" && *site != "none") return false;
  }
  const auto origin = request.field("Origin");
  return !origin || equals_ignoring_case(*origin, "http://" + std::string(trimmed(host)));
}

}  // namespace gridmount::http
