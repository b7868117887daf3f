// SiteChanges: LOCK, UNLOCK and the field If. Source: RFC 4918, 9.10, 9.11 and 10.

#include <algorithm>
#include <charconv>
#include <utility>

#include "http/entity_tag.h"
#include "http/file_upload.h"
#include "http/if_field.h"
#include "http/multi_status.h"
#include "http/request_text.h"
#include "http/site_changes.h"
#include "http/site_error.h"
#include "http/site_nodes.h"
#include "http/xml_document.h"

namespace gridmount::http {

namespace {

using std::chrono::seconds;

// Returns the duration of a lock: the first valid time in the field Timeout, reduced or raised to
// the limits, or nothing. "Infinite" means kLockTimeMax.
std::optional<seconds> time_of(const Request& request) {
  const std::string field = request.field("Timeout").value_or("");
  std::string_view rest = field;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view each = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (equals_ignoring_case(each, "Infinite")) return kLockTimeMax;
    constexpr std::string_view kSeconds = "Second-";
    if (!equals_ignoring_case(each.substr(0, kSeconds.size()), kSeconds)) continue;
    const std::string_view digits = each.substr(kSeconds.size());
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
      continue;
    int64_t count = kLockTimeMax.count();
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    // A number that is too large for the type is above the limit.
    if (parsed.ec != std::errc()) return kLockTimeMax;
    return std::clamp(seconds(count), seconds(1), kLockTimeMax);
  }
  return std::nullopt;
}

Result<bool> is_deep_lock(const Request& request) {
  const std::string depth = request.field("Depth").value_or("infinity");
  if (equals_ignoring_case(depth, "infinity")) return true;
  if (depth == "0") return false;
  return fail(ErrorCode::kBadValue, "the Depth of LOCK is 0 or infinity");
}

// Returns the content of an element as XML, without attributes, and with the text before the
// children. Stops when the XML is longer than kLockOwnerBytesMax.
std::string content_as_xml(const XmlElement& element) {
  std::string content = xml_text(element.text);
  for (const XmlElement& child : element.children) {
    if (content.size() > kLockOwnerBytesMax) break;
    content += xml_element(child.name, content_as_xml(child));
  }
  return content;
}

// Parses the body of a LOCK. Fails as parse_xml() does, with BadValue if the body is not a
// `lockinfo` or asks for an unknown kind of lock, and with XmlTooLarge if the owner is too long.
Result<Lock> parse_lockinfo(std::string_view body) {
  GM_ASSIGN(const XmlElement root, parse_xml(body));
  const XmlElement* const scope = root.child("lockscope");
  const XmlElement* const type = root.child("locktype");
  if (!root.name.is_dav("lockinfo") || scope == nullptr || type == nullptr) {
    return fail(ErrorCode::kBadValue, "the XML is no lockinfo");
  }
  const bool is_exclusive = scope->child("exclusive") != nullptr;
  const bool is_shared = scope->child("shared") != nullptr;
  if (is_exclusive == is_shared || type->child("write") == nullptr) {
    return fail(ErrorCode::kBadValue, "a lock is exclusive or shared, and of the type write");
  }
  Lock lock;
  lock.is_exclusive = is_exclusive;
  if (const XmlElement* const owner = root.child("owner")) lock.owner = content_as_xml(*owner);
  if (lock.owner.size() > kLockOwnerBytesMax) {
    return fail(kXmlTooLarge, "the owner of the lock is too long");
  }
  return lock;
}

// The reply states the full duration of the lock, because for the client the lock begins with the
// reply.
Reply lock_reply(int status, const Lock& lock) {
  return xml_reply(
      status, "prop",
      "<D:lockdiscovery>" + active_lock(lock, lock.end - lock.time) + "</D:lockdiscovery>");
}

}  // namespace

Result<LockClaim> SiteChanges::claim_of(const Request& request) const {
  LockClaim claim{locks_, {}};
  if (const auto field = request.field("If")) {
    GM_ASSIGN(const std::vector<IfList> lists, parse_if(*field));
    claim.tokens = tokens_in(lists);
  }
  return claim;
}

Status SiteChanges::check_if(const Request& request, const Target& target, const std::string& host,
                             const OpenBucket& open_bucket) const {
  const auto field = request.field("If");
  if (!field) return {};
  GM_ASSIGN(const std::vector<IfList> lists, parse_if(*field));
  const auto state_of = [&](const std::optional<std::string>& resource) -> Result<ResourceState> {
    Target named = target;
    ResourceState state;
    if (resource) {
      Result<Target> parsed = parse_target(*resource);
      if (!parsed) return state;  // a URL of another server
      named = *std::move(parsed);
    }
    const bool is_other = named.authority && !equals_ignoring_case(*named.authority, trimmed(host));
    if ((resource && is_other) || named.components.size() < 2) return state;
    const Result<Paths> paths = open_bucket(named.components[0]);
    if (!paths) return state;
    const Result<Place> place = locate(**paths, named.components);
    if (!place) return state;
    const gridfs::Bucket& bucket = (*paths)->bucket();
    for (const Lock& lock : locks_->covering(lock_path(bucket.options().name, place->path))) {
      state.tokens.push_back(lock.token);
    }
    if (place->node && !place->is_directory()) {
      const auto file = read_file(bucket, place->node->id);
      if (file) state.tag = entity_tag(*file);
    }
    return state;
  };
  GM_ASSIGN(const bool is_met, holds(lists, state_of));
  if (!is_met) return fail(kPreconditionFailed, "the field If does not hold");
  return {};
}

Result<Answer> SiteChanges::lock(const Request& request, const Target& target,
                                 const Paths& paths) const {
  return answer_to_text(request,
                        [self = shared_from_this(), request, target, paths](std::string_view body) {
                          return self->lock_by(request, target, paths, body);
                        });
}

Result<Reply> SiteChanges::lock_by(const Request& request, const Target& target, const Paths& paths,
                                   std::string_view body) const {
  GM_ASSIGN(const bool is_deep, is_deep_lock(request));
  GM_ASSIGN(const Place place, locate(*paths, target.components));
  const std::string path = lock_path(paths->bucket().options().name, place.path);
  if (body.empty()) return refresh_lock(request, path);
  GM_ASSIGN(Lock wanted, parse_lockinfo(body));
  GM_ASSIGN(const LockClaim claim, claim_of(request));
  wanted.path = path;
  wanted.href = path_of(target.components);
  if (place.is_directory()) wanted.href += '/';
  wanted.is_deep = is_deep;
  wanted.time = time_of(request).value_or(kLockTimeDefault);
  std::optional<Lock> lock;
  if (!place.node) {
    if (target.ends_with_slash) return fail(kConflict, "a directory is made by MKCOL");
    GM_TRY(check_conditions(request, std::nullopt));
    GM_ASSIGN(lock, lock_new(place, *paths, claim, wanted));
  } else {
    if (!place.is_directory()) {
      if (target.ends_with_slash) return fail(gridfs::kNoSuchEntry, "there is no such directory");
      if (!is_regular(place.node->attributes.mode)) {
        return fail(ErrorCode::kPermissionDenied,
                    "a symbolic link, device or the like cannot be locked");
      }
    }
    std::optional<gridfs::FilesDocument> file;
    if (!place.is_directory()) {
      GM_ASSIGN(file, read_file(paths->bucket(), place.node->id));
    }
    GM_TRY(check_conditions(request, file ? validators_of(file) : Validators{}));
    GM_ASSIGN(lock, lock_existing(place, bucket_for(*paths), claim, wanted));
  }
  Reply reply = lock_reply(place.node ? 200 : 201, *lock);
  reply.add("Lock-Token", "<" + lock->token + ">");
  return reply;
}

Result<Reply> SiteChanges::refresh_lock(const Request& request, const std::string& path) const {
  GM_ASSIGN(const LockClaim claim, claim_of(request));
  for (const std::string& token : claim.tokens) {
    const auto lock = locks_->refresh(token, path, time_of(request));
    if (lock) return lock_reply(200, *lock);
  }
  if (claim.tokens.empty()) return fail(ErrorCode::kBadValue, "LOCK has a body or the field If");
  return fail(kPreconditionFailed, "there is no such lock");
}

Result<Lock> SiteChanges::lock_existing(const Place& place, const gridfs::Bucket& bucket,
                                        const LockClaim& claim, const Lock& lock) const {
  // The transaction changes nothing and is not committed. It only ensures that no change is in
  // progress while the lock is added (lock_table.h).
  GM_ASSIGN(const auto transaction, store_.begin());
  PlaceChange change(bucket, options_.paths, claim, place, *transaction);
  GM_TRY(change.begin_reading());
  GM_ASSIGN(const bool is_there, change.is_there());
  if (!is_there) return fail(gridfs::kNoSuchEntry, "it was removed meanwhile");
  return locks_->add(lock);
}

Result<Lock> SiteChanges::lock_new(const Place& place, gridfs::PathNamespace& paths,
                                   const LockClaim& claim, const Lock& lock) const {
  std::optional<Lock> added;
  const auto remove_added = [&] {
    if (added) locks_->remove_all({added->token});
    added.reset();
  };
  FileUpload file(place, options_, claim, std::make_unique<gridfs::Bucket>(bucket_for(paths)),
                  [&](const std::optional<gridfs::FilesDocument>& present) -> Status {
                    // The transaction may be repeated.
                    remove_added();
                    if (present) return fail(kConflict, "the file was made meanwhile");
                    GM_ASSIGN(added, locks_->add(lock));
                    return {};
                  });
  GM_TRY(file.open(std::nullopt));
  const Result<bool> closed = file.close();
  if (!closed) {
    remove_added();
    return fail(closed.error());
  }
  return *added;
}

Result<Answer> SiteChanges::unlock(const Request& request, const Target& target,
                                   const Paths& paths) const {
  const std::string field = request.field("Lock-Token").value_or("");
  std::string_view token = trimmed(field);
  if (token.size() < 3 || !token.starts_with('<') || !token.ends_with('>')) {
    return fail(ErrorCode::kBadValue, "the field Lock-Token has a token in angle brackets");
  }
  token = token.substr(1, token.size() - 2);
  const Result<Place> place = locate(*paths, target.components);
  const bool is_removed =
      place &&
      locks_->remove(std::string(token), lock_path(paths->bucket().options().name, place->path));
  if (!is_removed) return condition_reply(409, "<D:lock-token-matches-request-uri/>");
  Reply reply;
  reply.status = 204;
  reply.length = std::nullopt;
  return reply;
}

}  // namespace gridmount::http
