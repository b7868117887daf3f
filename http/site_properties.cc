#include "http/site_properties.h"

#include <optional>
#include <string_view>
#include <utility>

#include "gridfs/bucket/error.h"
#include "http/entity_tag.h"
#include "http/media_type.h"
#include "http/multi_status.h"
#include "http/request_text.h"
#include "http/resource_properties.h"
#include "http/site_nodes.h"

namespace gridmount::http {

namespace {

using gridfs::Node;
using gridfs::NodeKind;
using Paths = std::shared_ptr<gridfs::PathNamespace>;

enum class Depth { kResource, kChildren, kTree };

// Without the field, a client asks for the whole tree (RFC 4918, 9.1).
Result<Depth> depth_of(const Request& request) {
  const std::string depth = request.field("Depth").value_or("infinity");
  if (depth == "0") return Depth::kResource;
  if (depth == "1") return Depth::kChildren;
  if (equals_ignoring_case(depth, "infinity")) return Depth::kTree;
  return fail(ErrorCode::kBadValue, "Depth is 0, 1 or infinity");
}

// A request for the whole tree is refused, because the tree may have any number of names.
Reply finite_depth_reply() {
  return condition_reply(403, "<D:propfind-finite-depth/>");
}

// Reads the properties of resources.
class PropertyReader {
 public:
  PropertyReader(PropertyRequest wanted, Paths paths, std::shared_ptr<const LockTable> locks)
      : wanted_(std::move(wanted)),
        reads_files_(wanted_.wants({"getetag", "getcontenttype", "lockdiscovery"}, true)),
        paths_(std::move(paths)),
        locks_(std::move(locks)) {}

  // Must be called first. `store` is only used here.
  Status read_quota(engine::Store& store) {
    if (!wanted_.wants({"quota-available-bytes", "quota-used-bytes"}, false)) return {};
    GM_ASSIGN(quota_, store.stats());
    return {};
  }

  // Returns the element `response`. Fails with FileNotFound if the file was removed meanwhile.
  Result<std::string> response(const std::vector<std::string>& components, const Node& node) const {
    Resource resource;
    resource.href = path_of(components);
    resource.name = components.back();
    resource.modified_seconds = node.attributes.mtime.tv_sec;
    if (node.id.type() == bson::Type::kObjectId) {
      resource.created_seconds = node.id.view().as_object_id().seconds();
    }
    if (node.kind == NodeKind::kDirectory) {
      resource.href += '/';
      resource.is_directory = true;
      add_quota(resource);
      // The root of a bucket cannot be locked.
      if (!node.path.empty()) add_locks(node.path, resource);
    } else if (is_regular(node.attributes.mode)) {
      resource.bytes = node.attributes.size;
      GM_TRY(add_file(node, resource));
    }
    return response_of(resource, wanted_);
  }

 private:
  void add_quota(Resource& resource) const {
    // For PropertyRequest::Form::kNames, only the names are needed.
    if (!quota_ && wanted_.form != PropertyRequest::Form::kNames) return;
    resource.bytes_available = quota_ ? quota_->available_bytes : 0;
    resource.bytes_used = quota_ ? quota_->used_bytes : 0;
  }

  Status add_file(const Node& node, Resource& resource) const {
    if (!reads_files_) {
      resource.tag.emplace();
      resource.media_type.emplace();
      if (locks_) resource.locks.emplace();
      return {};
    }
    const Result<gridfs::FilesDocument> file = read_file(paths_->bucket(), node.id);
    if (!file && file.error().code() == gridfs::kFileNotFound) return fail(file.error());
    // If the files document is not valid, the file is listed without these properties.
    if (!file) return {};
    resource.bytes = file->length;
    resource.tag = entity_tag(*file);
    resource.media_type = media_type_of(file->content_type, resource.name);
    if (file->filename) add_locks(*file->filename, resource);
    return {};
  }

  void add_locks(std::string_view path, Resource& resource) const {
    if (!locks_) return;
    resource.locks.emplace();
    for (const Lock& lock : locks_->covering(lock_path(paths_->bucket().options().name, path))) {
      *resource.locks += active_lock(lock);
    }
  }

  const PropertyRequest wanted_;
  const bool reads_files_;
  const Paths paths_;
  const std::shared_ptr<const LockTable> locks_;
  std::optional<engine::StoreStats> quota_;
};

// The responses about a resource and, if it is a directory, about its children.
class TreeResponses {
 public:
  TreeResponses(PropertyReader reader, std::vector<std::string> components, Node node,
                std::shared_ptr<gridfs::DirectoryStream> children)
      : reader_(std::move(reader)),
        components_(std::move(components)),
        node_(std::move(node)),
        children_(std::move(children)) {}

  Result<std::optional<std::string>> next() {
    if (node_) {
      const Node node = *std::exchange(node_, std::nullopt);
      GM_ASSIGN(std::string response, reader_.response(components_, node));
      return std::optional(std::move(response));
    }
    while (children_) {
      GM_ASSIGN(const auto entry, children_->next());
      if (!entry) break;
      std::vector<std::string> components = components_;
      components.push_back(entry->name);
      Result<std::string> response = reader_.response(components, entry->node);
      if (response) return std::optional(std::move(response).value());
      if (response.error().code() != gridfs::kFileNotFound) {
        return fail(std::move(response).error());
      }
    }
    return std::optional<std::string>();
  }

 private:
  const PropertyReader reader_;
  const std::vector<std::string> components_;
  std::optional<Node> node_;
  const std::shared_ptr<gridfs::DirectoryStream> children_;
};

Result<Reply> properties_reply(std::string_view body, Depth depth, const Target& target,
                               const Paths& paths, engine::Store& store,
                               const std::shared_ptr<const LockTable>& locks) {
  GM_ASSIGN(PropertyRequest wanted, parse_propfind(body));
  GM_ASSIGN(Node node, find_node(*paths, target));
  const bool is_directory = node.kind == NodeKind::kDirectory;
  if (is_directory && depth == Depth::kTree) return finite_depth_reply();
  std::shared_ptr<gridfs::DirectoryStream> children;
  if (is_directory && depth == Depth::kChildren) {
    GM_ASSIGN(children, paths->list(node.path));
  }
  PropertyReader reader(std::move(wanted), paths, locks);
  GM_TRY(reader.read_quota(store));
  auto responses = std::make_shared<TreeResponses>(std::move(reader), target.components,
                                                   std::move(node), std::move(children));
  return multi_status_reply([responses] { return responses->next(); });
}

Result<Reply> buckets_reply(std::string_view body, Depth depth, std::vector<std::string> buckets) {
  GM_ASSIGN(PropertyRequest wanted, parse_propfind(body));
  if (depth == Depth::kTree) return finite_depth_reply();
  if (depth == Depth::kResource) buckets.clear();
  buckets.insert(buckets.begin(), "");
  return multi_status_reply([wanted = std::move(wanted), buckets = std::move(buckets),
                             next = size_t{0}]() mutable -> Result<std::optional<std::string>> {
    if (next == buckets.size()) return std::optional<std::string>();
    Resource resource;
    resource.name = buckets[next++];
    resource.is_directory = true;
    resource.href = resource.name.empty() ? "/" : path_of({resource.name}) + "/";
    return std::optional(response_of(resource, wanted));
  });
}

}  // namespace

Result<Answer> find_bucket_properties(const Request& request, std::vector<std::string> buckets) {
  GM_ASSIGN(const Depth depth, depth_of(request));
  return answer_to_text(request, [depth, buckets = std::move(buckets)](std::string_view body) {
    return buckets_reply(body, depth, buckets);
  });
}

Result<Answer> find_properties(const Request& request, const Target& target, const Paths& paths,
                               engine::Store& store, std::shared_ptr<const LockTable> locks) {
  GM_ASSIGN(const Depth depth, depth_of(request));
  return answer_to_text(
      request, [depth, target, paths, &store, locks = std::move(locks)](std::string_view body) {
        return properties_reply(body, depth, target, paths, store, locks);
      });
}

}  // namespace gridmount::http
