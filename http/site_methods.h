// The methods that a site answers, as values of the field Allow.
//
// Constants, so thread-safe.
#pragma once

#include <string_view>

namespace gridmount::http {

inline constexpr std::string_view kMethodsOfIds = "OPTIONS, GET, HEAD";
inline constexpr std::string_view kMethodsOfReaders = "OPTIONS, GET, HEAD, PROPFIND";
inline constexpr std::string_view kMethodsOfFiles =
    "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE, COPY, MOVE, PROPPATCH, LOCK, UNLOCK";
inline constexpr std::string_view kMethodsOfDirectories =
    "OPTIONS, GET, HEAD, PROPFIND, DELETE, COPY, MOVE, PROPPATCH, LOCK, UNLOCK";
// All of a site that clients may change.
inline constexpr std::string_view kMethods =
    "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE, MKCOL, COPY, MOVE, PROPPATCH, LOCK, UNLOCK";

}  // namespace gridmount::http
