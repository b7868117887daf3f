#include "http/site.h"

#include <sys/stat.h>

#include <utility>

#include "engine/bson/json.h"
#include "gridfs/bucket/error.h"
#include "gridfs/namespace/name_mapping.h"
#include "http/file_reply.h"
#include "http/listing.h"
#include "http/origin.h"
#include "http/site_error.h"
#include "http/site_methods.h"
#include "http/site_nodes.h"
#include "http/site_properties.h"

namespace gridmount::http {

namespace {

// The first component of the paths that name files by _id. No bucket can have this name.
constexpr std::string_view kById = ".id";
// How many times a name is looked up, if each time its file is replaced between the look-up and the
// reading of its files document.
constexpr int kLookUpsMax = 5;

tl::unexpected<Error> not_regular(std::string_view what) {
  return fail(ErrorCode::kPermissionDenied,
              std::string(what) + " is a symbolic link, a device or the like");
}

std::optional<bson::Value> parse_id(const std::string& text) {
  if (const auto id = bson::ObjectId::from_hex(text)) return bson::Value(*id);
  return gridfs::id_from_json(text);
}

ListedEntry listed(const gridfs::DirectoryEntry& entry) {
  ListedEntry listed;
  listed.name = entry.name;
  const gridfs::Attributes& attributes = entry.node.attributes;
  listed.size = attributes.size;
  listed.modified_milliseconds = gridfs::to_date(attributes.mtime).milliseconds;
  if (entry.node.kind == gridfs::NodeKind::kDirectory) {
    listed.kind = ListedEntry::Kind::kDirectory;
  } else if (S_ISLNK(attributes.mode)) {
    listed.kind = ListedEntry::Kind::kSymlink;
  } else if (!is_regular(attributes.mode)) {
    listed.kind = ListedEntry::Kind::kOther;
  } else {
    listed.id_json = bson::to_json(entry.node.id, bson::JsonForm::kCanonical);
  }
  return listed;
}

// Returns the field Destination. Fails with BadValue if it is missing or cannot be parsed, and with
// OtherServer if it names another server than `host`.
Result<Target> destination_of(const Request& request, std::string_view host) {
  const auto field = request.field("Destination");
  if (!field) return fail(ErrorCode::kBadValue, "the field Destination is missing");
  const std::string_view text = trimmed(*field);
  const bool is_http = equals_ignoring_case(text.substr(0, 7), "http://");
  if (!text.starts_with('/') && !is_http && text.find("://") != std::string_view::npos) {
    return fail(kOtherServer, "the Destination is no URL of this server");
  }
  GM_ASSIGN(Target target, parse_target(text));
  if (target.authority && !equals_ignoring_case(*target.authority, trimmed(host))) {
    return fail(kOtherServer, "the Destination is on another server");
  }
  if (!target.query.empty()) return fail(ErrorCode::kBadValue, "the Destination has a query");
  return target;
}

Result<ListingForm> form_of(const Request& request, const Target& target) {
  if (const auto format = target.parameter("format")) {
    if (*format == "json") return ListingForm::kJson;
    if (*format == "html") return ListingForm::kHtml;
    return fail(ErrorCode::kBadValue, "the format of a listing is json or html");
  }
  const std::string accept = request.field("Accept").value_or("");
  const bool wants_json = accept.find("application/json") != std::string::npos &&
                          accept.find("text/html") == std::string::npos;
  return wants_json ? ListingForm::kJson : ListingForm::kHtml;
}

Result<Reply> listing_reply(const Request& request, const Target& target, EntrySource entries) {
  GM_ASSIGN(const ListingForm form, form_of(request, target));
  Reply reply;
  reply.length = std::nullopt;
  reply.add("Content-Type",
            form == ListingForm::kJson ? "application/json" : "text/html; charset=utf-8");
  reply.add("Vary", "Accept");
  reply.add("Cache-Control", "no-store");
  reply.add("X-Content-Type-Options", "nosniff");
  reply.add("Cross-Origin-Resource-Policy", "same-origin");
  if (form == ListingForm::kHtml) {
    reply.add("Content-Security-Policy",
              "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  }
  if (request.method != Request::Method::kHead) {
    reply.body = std::make_unique<Listing>(form, target.components, std::move(entries));
  }
  return reply;
}

}  // namespace

Site::Site(engine::Store& store, SiteOptions options)
    : store_(store),
      options_(std::move(options)),
      hosts_(options_.hosts),
      database_(store.database(options_.database)),
      changes_(options_.write
                   ? std::make_shared<const SiteChanges>(store, database_, *options_.write)
                   : nullptr) {}

Answer Site::answer(const Request& request) const {
  Result<Answer> answer = try_answer(request);
  if (answer) return std::move(answer).value();
  return refusal_of(answer.error(), request);
}

Result<Answer> Site::try_answer(const Request& request) const {
  const bool is_head = request.method == Request::Method::kHead;
  Target target;
  // "*" means the server as a whole (RFC 9110, 9.3.7).
  if (request.method != Request::Method::kOptions || request.target != "*") {
    GM_ASSIGN(target, parse_target(request.target));
  }
  const std::optional<std::string> host =
      target.authority ? target.authority : request.field("Host");
  if (!host) return refusal(400, "the field Host is missing", is_head);
  if (!hosts_.allows(*host)) {
    return refusal(421, "this server has another name than the field Host says", is_head);
  }
  if (request.method == Request::Method::kOptions) return options_reply(target);
  if (request.is_change()) {
    if (changes_ && !is_of_same_origin(request, *host)) {
      return refusal(403, "a page of another site must not change files", is_head);
    }
    return change(request, target, *host);
  }
  if (request.method == Request::Method::kFindProperties)
    return find_all_properties(request, target);
  if (target.components.empty()) return list_buckets(request, target);
  if (target.components[0] == kById) return answer_id(request, target);
  return answer_path(request, target);
}

Reply Site::options_reply(const Target& target) const {
  const bool is_by_id = !target.components.empty() && target.components[0] == kById;
  const bool is_server = target.components.empty() && !target.ends_with_slash;
  const bool is_in_bucket = target.components.size() >= 2;
  std::string_view methods = kMethodsOfReaders;
  if (changes_ && (is_server || is_in_bucket)) methods = kMethods;
  if (is_by_id) methods = kMethodsOfIds;
  Reply reply;
  reply.add("Allow", std::string(methods));
  if (is_by_id) return reply;
  reply.add("DAV", changes_ ? "1, 2" : "1");
  // Without this field, Microsoft's clients assume another protocol than WebDAV.
  reply.add("MS-Author-Via", "DAV");
  return reply;
}

Result<Answer> Site::find_all_properties(const Request& request, const Target& target) const {
  if (target.components.empty()) {
    GM_ASSIGN(std::vector<std::string> names, shown_buckets());
    return find_bucket_properties(request, std::move(names));
  }
  if (target.components[0] == kById) {
    return not_allowed(request, "files by _id have no properties", std::string(kMethodsOfIds));
  }
  GM_ASSIGN(const Paths paths, open_bucket(target.components[0]));
  return find_properties(request, target, paths, store_, changes_ ? changes_->locks() : nullptr);
}

Result<Answer> Site::change(const Request& request, const Target& target,
                            const std::string& host) const {
  const bool is_by_id = !target.components.empty() && target.components[0] == kById;
  const std::string reading(is_by_id ? kMethodsOfIds : kMethodsOfReaders);
  if (!changes_) return not_allowed(request, "files can only be read", reading);
  if (request.method == Request::Method::kOther) {
    return not_allowed(request, "the method is unknown", std::string(kMethods));
  }
  if (target.components.size() < 2 || is_by_id) {
    return not_allowed(request, "only files and directories of a bucket can be changed", reading);
  }
  GM_ASSIGN(const Paths paths, open_bucket(target.components[0]));
  GM_TRY(changes_->check_if(request, target, host,
                            [this](const std::string& name) { return open_bucket(name); }));
  switch (request.method) {
    case Request::Method::kPut:
      return changes_->put(request, target, paths);
    case Request::Method::kDelete:
      return changes_->remove(request, target, paths);
    case Request::Method::kMakeCollection:
      return changes_->make_directory(request, target, paths);
    default:
      return change_by_webdav(request, target, paths, host);
  }
}

Result<Answer> Site::change_by_webdav(const Request& request, const Target& target,
                                      const Paths& paths, const std::string& host) const {
  switch (request.method) {
    case Request::Method::kLock:
      return changes_->lock(request, target, paths);
    case Request::Method::kUnlock:
      return changes_->unlock(request, target, paths);
    case Request::Method::kPatchProperties:
      return changes_->patch_properties(request, target, paths);
    default:
      return copy_or_move(request, target, paths, host);
  }
}

Result<Answer> Site::copy_or_move(const Request& request, const Target& from, const Paths& paths,
                                  const std::string& host) const {
  GM_ASSIGN(const Target to, destination_of(request, host));
  if (to.components.size() < 2 || to.components[0] == kById) {
    return fail(ErrorCode::kPermissionDenied, "the destination is not in a bucket");
  }
  const bool stays = to.components[0] == from.components[0];
  if (request.method == Request::Method::kMove) {
    if (!stays) return fail(ErrorCode::kPermissionDenied, "a move stays within its bucket");
    return changes_->move(request, from, to, paths);
  }
  Paths to_paths = paths;
  if (!stays) {
    auto opened = open_bucket(to.components[0]);
    if (!opened) return fail(kConflict, opened.error().message());
    to_paths = *std::move(opened);
  }
  return changes_->copy(request, from, paths, to, to_paths);
}

Result<std::vector<std::string>> Site::shown_buckets() const {
  GM_ASSIGN(const auto snapshot, store_.snapshot());
  GM_ASSIGN(std::vector<std::string> names, gridfs::bucket_names(*database_, *snapshot));
  if (options_.bucket) {
    std::erase_if(names, [&](const std::string& name) { return name != *options_.bucket; });
  }
  return names;
}

Result<Reply> Site::list_buckets(const Request& request, const Target& target) const {
  GM_ASSIGN(std::vector<std::string> names, shown_buckets());
  return listing_reply(
      request, target,
      [names = std::move(names), next = size_t{0}]() mutable -> Result<std::optional<ListedEntry>> {
        if (next == names.size()) return std::optional<ListedEntry>();
        return std::optional(ListedEntry{names[next++], ListedEntry::Kind::kDirectory});
      });
}

Result<Site::Paths> Site::open_bucket(const std::string& name) const {
  const std::string files = name + ".files";
  const bool is_shown = !options_.bucket || *options_.bucket == name;
  if (is_shown && engine::check_namespace({options_.database, files})) {
    GM_ASSIGN(const auto snapshot, store_.snapshot());
    GM_ASSIGN(const bool exists, database_->exists(*snapshot, files));
    if (exists) {
      gridfs::BucketOptions bucket;
      bucket.name = name;
      gridfs::NamespaceOptions how;
      if (options_.write) how = options_.write->paths;
      how.read_only = true;
      how.at = options_.at;
      GM_ASSIGN(auto paths, gridfs::PathNamespace::open(store_, database_, bucket, how, {}));
      return Paths(std::move(paths));
    }
  }
  return fail(gridfs::kNoSuchEntry, "there is no bucket '" + name + "'");
}

Result<Reply> Site::answer_path(const Request& request, const Target& target) const {
  GM_ASSIGN(const Paths paths, open_bucket(target.components[0]));
  for (int attempt = 1;; ++attempt) {
    Result<Reply> reply = answer_node(request, target, paths);
    const bool was_replaced = !reply && reply.error().code() == gridfs::kFileNotFound;
    if (!was_replaced || attempt == kLookUpsMax) return reply;
  }
}

Result<Reply> Site::answer_node(const Request& request, const Target& target,
                                const Paths& paths) const {
  GM_ASSIGN(const gridfs::Node node, find_node(*paths, target));
  if (node.kind == gridfs::NodeKind::kDirectory) {
    GM_ASSIGN(auto stream, paths->list(node.path));
    return listing_reply(request, target,
                         [paths, entries = std::shared_ptr<gridfs::DirectoryStream>(
                                     std::move(stream))]() -> Result<std::optional<ListedEntry>> {
                           GM_ASSIGN(const auto entry, entries->next());
                           return entry ? std::optional(listed(*entry)) : std::nullopt;
                         });
  }
  const std::string& name = target.components.back();
  if (!is_regular(node.attributes.mode)) return not_regular("'" + name + "'");
  GM_ASSIGN(gridfs::FilesDocument file, read_file(paths->bucket(), node.id));
  return file_reply(
      request, {bucket_of(paths), std::move(file), name, target.parameter("download").has_value()});
}

Result<Reply> Site::answer_id(const Request& request, const Target& target) const {
  if (target.components.size() != 3 || target.ends_with_slash) {
    return fail(gridfs::kNoSuchEntry, "a file by its _id is at /.id/BUCKET/ID");
  }
  const std::optional<bson::Value> id = parse_id(target.components[2]);
  if (!id) {
    return fail(ErrorCode::kBadValue,
                "the _id must be the 24 digits of an ObjectId, or Extended JSON");
  }
  GM_ASSIGN(const Paths paths, open_bucket(target.components[1]));
  GM_ASSIGN(gridfs::FilesDocument file, read_file(paths->bucket(), *id));
  if (options_.at && file.upload_date > *options_.at) {
    return gridfs::file_not_found(paths->bucket(), *id);
  }
  if (!is_regular(file)) return not_regular("the file");
  const std::string filename = file.filename.value_or(target.components[2]);
  std::string name = filename.substr(filename.rfind('/') + 1);
  return file_reply(request, {bucket_of(paths), std::move(file), std::move(name),
                              target.parameter("download").has_value()});
}

}  // namespace gridmount::http
