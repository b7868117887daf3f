// Tells whether a web page of another site makes a request. A page can let its browser send a
// request to any address. The browser says from where the request comes: in Sec-Fetch-Site (Fetch
// Metadata) and in Origin (RFC 6454). Other clients send neither of these fields.
//
// Thread-safe: a pure function.
#pragma once

#include <string_view>

#include "http/request.h"

namespace gridmount::http {

// Returns true if neither field names another origin than "http://" and `host`. `host` is the
// checked value of the field Host. A page in a sandbox has the origin "null", which is another one.
bool is_of_same_origin(const Request& request, std::string_view host);

}  // namespace gridmount::http
