// Tells whether a web page of another site makes a request. A page can let its browser send a
// request to any address. The browser tells the origin of the request in the fields Sec-Fetch-Site
// (Fetch Metadata) and Origin (RFC 6454). Clients other than browsers usually send neither field.
//
// Thread-safe: a pure function.
#pragma once

#include <string_view>

#include "http/request.h"

namespace gridmount::http {

// Returns false if Sec-Fetch-Site is present and is neither "same-origin" nor "none", or if Origin
// is present and is not "http://" followed by `host`. `host` must be the checked value of the field
// Host. A page in a sandbox has the origin "null", so the function returns false for its requests.
bool is_of_same_origin(const Request& request, std::string_view host);

}  // namespace gridmount::http
