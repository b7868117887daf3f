// The errors of HTTP requests for files, and the statuses of these errors.
//
// Thread-safe: constants and pure functions, and a function that writes to the log.
#pragma once

#include "engine/base/error.h"
#include "http/reply.h"
#include "http/request.h"

namespace gridmount::http {

inline constexpr ErrorCode kPreconditionFailed{100301};
// The state of the tree of files does not permit the change.
inline constexpr ErrorCode kConflict{100302};
inline constexpr ErrorCode kUnsupportedContent{100303};
// The server has too many requests or locks, or it is ending. The client can try again later.
inline constexpr ErrorCode kTooManyRequests{100304};
inline constexpr ErrorCode kLengthRequired{100305};
inline constexpr ErrorCode kXmlTooLarge{100306};
// The destination of a COPY or MOVE is on another server.
inline constexpr ErrorCode kOtherServer{100307};
// The client has not shown the token of a lock. The message of kLocked and of kLockConflict is the
// URL of the locked file or directory.
inline constexpr ErrorCode kLocked{100308};
// Another lock excludes the one that a client asks for.
inline constexpr ErrorCode kLockConflict{100309};

// Returns the status of a reply to a request that failed with this error. `is_change` says whether
// the request changes files.
int status_of(ErrorCode code, bool is_change);

// Returns the reply that says why a request failed. Logs the error if the status is 500.
Reply refusal_of(const Error& error, const Request& request);

// Returns a reply with the status 405, with the text `what`, and with `allowed` in the field Allow.
Reply not_allowed(const Request& request, std::string_view what, std::string allowed);

}  // namespace gridmount::http
