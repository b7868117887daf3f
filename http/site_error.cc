#include "http/site_error.h"

#include "engine/base/log.h"
#include "gridfs/bucket/error.h"
#include "http/multi_status.h"
#include "http/xml_document.h"

namespace gridmount::http {

int status_of(ErrorCode code, bool is_change) {
  if (code == gridfs::kInvalidName) return is_change ? 403 : 404;
  if (code == gridfs::kNameTooLong) return is_change ? 414 : 404;
  if (code == gridfs::kNoSuchEntry || code == gridfs::kFileNotFound ||
      code == gridfs::kFileDeleted || code == gridfs::kNotADirectory) {
    return 404;
  }
  if (code == ErrorCode::kBadValue) return 400;
  if (code == ErrorCode::kPermissionDenied || code == ErrorCode::kStoreReadOnly) return 403;
  if (code == kConflict || code == gridfs::kEntryExists || code == ErrorCode::kDuplicateKey ||
      code == gridfs::kDirectoryNotEmpty) {
    return 409;
  }
  if (code == kLengthRequired) return 411;
  if (code == kPreconditionFailed) return 412;
  if (code == gridfs::kFileTooLarge || code == kXmlTooLarge) return 413;
  if (code == kUnsupportedContent) return 415;
  if (code == kLocked || code == kLockConflict) return 423;
  if (code == kOtherServer) return 502;
  if (code == kTooManyRequests) return 503;
  if (code == ErrorCode::kOutOfDiskSpace) return 507;
  return 500;
}

Reply refusal_of(const Error& error, const Request& request) {
  const int status = status_of(error.code(), request.is_change());
  if (status == 500) log::error("http: {}: {}", request.target, error.message());
  // The conditions of RFC 4918, 16.
  if (status == 423) {
    const bool is_locked = error.code() == kLocked;
    return condition_reply(
        status, xml_element({"DAV:", is_locked ? "lock-token-submitted" : "no-conflicting-lock"},
                            xml_element({"DAV:", "href"}, xml_text(error.message()))));
  }
  Reply reply = refusal(status, error.message(), request.method == Request::Method::kHead);
  if (status == 503) reply.add("Retry-After", "1");
  return reply;
}

Reply not_allowed(const Request& request, std::string_view what, std::string allowed) {
  Reply reply = refusal(405, what, request.method == Request::Method::kHead);
  reply.add("Allow", std::move(allowed));
  return reply;
}

}  // namespace gridmount::http
