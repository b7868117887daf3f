// SiteChanges: PROPPATCH. Source: RFC 4918, 9.2.
//
// A client can set the mtime: as `getlastmodified`, or as `Win32LastModifiedTime` of Microsoft's
// clients. The server refuses every other property. It makes the changes of a request together or
// not at all, so if it refuses one property, the mtime stays as it is.

#include <utility>
#include <vector>

#include "http/http_date.h"
#include "http/multi_status.h"
#include "http/request_text.h"
#include "http/resource_properties.h"
#include "http/site_changes.h"
#include "http/site_error.h"

namespace gridmount::http {

namespace {

// Returns the value without the white space around it, which may have line breaks.
std::string_view date_of(std::string_view value) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = value.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return value.substr(begin, value.find_last_not_of(kSpace) + 1 - begin);
}

bool is_mtime(const XmlName& name) {
  return name.is_dav("getlastmodified") ||
         (name.space == "urn:schemas-microsoft-com:" && name.name == "Win32LastModifiedTime");
}

// Returns the status that the change would have alone: 200, 403 for a property that cannot be
// changed, or 409 for a value that is not a date.
int status_of_change(const PropertyChange& change) {
  if (!is_mtime(change.name) || !change.value) return 403;
  return parse_http_date(date_of(*change.value)) ? 200 : 409;
}

// Returns the element `response`. If one change cannot be made, no change is made, and the others
// get the status 424.
std::string patch_response(const std::string& href, const std::vector<PropertyChange>& changes,
                           bool are_made) {
  std::string made;
  std::string forbidden;
  std::string conflicting;
  for (const PropertyChange& change : changes) {
    const int status = status_of_change(change);
    (status == 200   ? made
     : status == 403 ? forbidden
                     : conflicting) += xml_element(change.name, "");
  }
  std::string response = "<D:response><D:href>" + xml_text(href) + "</D:href>";
  if (!made.empty()) response += propstat(made, are_made ? 200 : 424);
  if (!forbidden.empty()) response += propstat(forbidden, 403);
  if (!conflicting.empty()) response += propstat(conflicting, 409);
  return response + "</D:response>\n";
}

}  // namespace

Result<Answer> SiteChanges::patch_properties(const Request& request, const Target& target,
                                             const Paths& paths) const {
  return answer_to_text(request,
                        [self = shared_from_this(), request, target, paths](std::string_view body) {
                          return self->patch_by(request, target, paths, body);
                        });
}

Result<Reply> SiteChanges::patch_by(const Request& request, const Target& target,
                                    const Paths& paths, std::string_view body) const {
  GM_ASSIGN(const std::vector<PropertyChange> changes, parse_proppatch(body));
  GM_ASSIGN(const Place place, locate_existing(*paths, target.components));
  if (!place.is_directory() && target.ends_with_slash) {
    return fail(gridfs::kNoSuchEntry, "there is no such directory");
  }
  GM_ASSIGN(const LockClaim claim, claim_of(request));
  GM_TRY(check_locks(claim, *paths, place, LockScope::kContent));
  bool are_made = true;
  timespec mtime{};
  for (const PropertyChange& change : changes) {
    are_made = are_made && status_of_change(change) == 200;
    if (are_made) mtime.tv_sec = *parse_http_date(date_of(*change.value));
  }
  if (are_made) {
    const gridfs::Bucket bucket = bucket_for(*paths);
    GM_ASSIGN(const auto transaction, store_.begin());
    PlaceChange change(bucket, options_.paths, claim, place, *transaction);
    GM_TRY(change.begin(LockScope::kContent));
    std::optional<gridfs::FilesDocument> file;
    if (!place.is_directory()) {
      GM_ASSIGN(const std::optional<bson::Document> document, change.present());
      if (!document) return fail(gridfs::kNoSuchEntry, "there is no such file");
      GM_ASSIGN(file, gridfs::FilesDocument::parse(*document));
    }
    GM_TRY(check_conditions(request, file ? validators_of(file) : Validators{}));
    GM_TRY(change.set_mtime(mtime));
    GM_TRY(transaction->commit());
  }
  std::string href = path_of(target.components);
  if (place.is_directory()) href += '/';
  return multi_status_reply(
      [response = std::optional(patch_response(href, changes, are_made))]() mutable
      -> Result<std::optional<std::string>> { return std::exchange(response, std::nullopt); });
}

}  // namespace gridmount::http
