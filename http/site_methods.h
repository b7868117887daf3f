// Values of the field Allow: the methods that a site permits, for each kind of place.
//
// Constants, so thread-safe.
#pragma once

#include <string_view>

namespace gridmount::http {

// The files by their _id.
inline constexpr std::string_view kMethodsOfIds = "OPTIONS, GET, HEAD";
// In a site that clients may not change: all other places. In a site that they may change: the list
// of buckets, and the root of each bucket.
inline constexpr std::string_view kMethodsOfReaders = "OPTIONS, GET, HEAD, PROPFIND";
// A file, and a directory below the root of a bucket, in a site that clients may change.
inline constexpr std::string_view kMethodsOfFiles =
    "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE, COPY, MOVE, PROPPATCH, LOCK, UNLOCK";
inline constexpr std::string_view kMethodsOfDirectories =
    "OPTIONS, GET, HEAD, PROPFIND, DELETE, COPY, MOVE, PROPPATCH, LOCK, UNLOCK";
// All methods of a site that clients may change. Also the methods of a name in a bucket, whatever
// has the name.
inline constexpr std::string_view kMethods =
    "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE, MKCOL, COPY, MOVE, PROPPATCH, LOCK, UNLOCK";

}  // namespace gridmount::http
