#include "fuse/tree/control_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "gridfs/bucket/error.h"
#include "gridfs/namespace/directory_listing.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::fuse {

namespace {

constexpr std::string_view kById = "by-id";
constexpr std::string_view kRevisions = "revisions";
constexpr std::string_view kStatistics = "stats.json";

// Returns the first name of a path, and the rest of the path.
std::pair<std::string_view, std::string_view> split_first(std::string_view path) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

tl::unexpected<Error> no_such_control(std::string_view path) {
  return fail(gridfs::kNoSuchEntry,
              "there is no '" + std::string(kControlDirectoryName) + "/" + std::string(path) + "'");
}

// Turns the error of a look-up in the tree into an error about the control directory.
tl::unexpected<Error> not_found(Error error, std::string_view path) {
  const ErrorCode code = error.code();
  const bool is_absent =
      code == gridfs::kNoSuchEntry || code == gridfs::kFileNotFound || code == gridfs::kInvalidName;
  if (is_absent) return no_such_control(path);
  return fail(std::move(error));
}

// Accepts a number only in the form that listings use.
std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || std::to_string(number) != text) {
    return std::nullopt;
  }
  return number;
}

gridfs::Node directory_node() {
  gridfs::Node node;
  node.kind = gridfs::NodeKind::kDirectory;
  node.attributes.mode = S_IFDIR;
  return node;
}

gridfs::Node file_node() {
  gridfs::Node node;
  node.attributes.mode = S_IFREG;
  return node;
}

ControlNode control_file(const gridfs::Node& node) {
  ControlNode view;
  view.attributes = node.attributes;
  // Other nodes have no content. The size of a symlink is the length of its target.
  if (!S_ISREG(node.attributes.mode)) view.attributes.size = view.attributes.blocks = 0;
  view.attributes.mode = S_IFREG | (node.attributes.mode & 0444);
  view.attributes.nlink = 1;
  view.file = node.id;
  const timespec& changed = node.attributes.mtime;
  view.ino =
      gridfs::hash_of(std::to_string(node.ino) + "/" + std::to_string(changed.tv_sec) + "." +
                      std::to_string(changed.tv_nsec) + "/" + std::to_string(node.attributes.size));
  return view;
}

// Lists names that are known beforehand.
class NameListing final : public gridfs::DirectoryStream {
 public:
  explicit NameListing(std::vector<gridfs::DirectoryEntry> entries) : entries_(std::move(entries)) {
    for (size_t i = 0; i < entries_.size(); ++i) entries_[i].cookie = i + 1;
  }

  Result<std::optional<gridfs::DirectoryEntry>> next() override {
    if (next_ == entries_.size()) return std::optional<gridfs::DirectoryEntry>();
    return std::optional(entries_[next_++]);
  }
  Status seek(uint64_t cookie) override {
    next_ = std::min<size_t>(cookie, entries_.size());
    return {};
  }

 private:
  std::vector<gridfs::DirectoryEntry> entries_;
  size_t next_ = 0;
};

// Lists a directory of the tree, with each file as a directory of its revisions.
class TrackedListing final : public gridfs::DirectoryStream {
 public:
  explicit TrackedListing(std::unique_ptr<gridfs::DirectoryStream> tree) : tree_(std::move(tree)) {}

  Result<std::optional<gridfs::DirectoryEntry>> next() override {
    while (true) {
      GM_ASSIGN(std::optional<gridfs::DirectoryEntry> entry, tree_->next());
      if (!entry) return entry;
      const uint32_t type = entry->node.attributes.mode & S_IFMT;
      if (type != S_IFDIR && type != S_IFREG) continue;
      entry->node = directory_node();
      return entry;
    }
  }
  Status seek(uint64_t cookie) override { return tree_->seek(cookie); }

 private:
  const std::unique_ptr<gridfs::DirectoryStream> tree_;
};

}  // namespace

tl::unexpected<Error> control_is_read_only() {
  return fail(ErrorCode::kStoreReadOnly,
              "the files in '" + std::string(kControlDirectoryName) + "' can only be read");
}

ControlNode ControlDirectory::directory(gridfs::PathNamespace& paths, std::string_view path) const {
  ControlNode view;
  view.is_directory = true;
  if (const Result<gridfs::Node> root = paths.root()) view.attributes = root->attributes;
  view.attributes.mode = S_IFDIR | 0500;
  view.attributes.uid = getuid();
  view.attributes.gid = getgid();
  view.ino = gridfs::hash_of("folder/" + std::string(path));
  return view;
}

Result<ControlNode> ControlDirectory::find_content(gridfs::PathNamespace& paths,
                                                   bson::ValueView id) const {
  Result<gridfs::Node> node = paths.file(id);
  if (!node) return not_found(std::move(node).error(), gridfs::id_name(id).value_or(""));
  return control_file(*node);
}

Result<ControlDirectory::Tracked> ControlDirectory::track(gridfs::PathNamespace& paths,
                                                          std::string_view path) const {
  Tracked tracked;
  GM_ASSIGN(tracked.node, paths.root());
  tracked.rest = path;
  while (!tracked.rest.empty() && tracked.node.kind == gridfs::NodeKind::kDirectory) {
    const auto [name, rest] = split_first(tracked.rest);
    tracked.directory = tracked.node.path;
    tracked.name = name;
    tracked.rest = rest;
    GM_ASSIGN(tracked.node, paths.lookup(tracked.directory, name));
  }
  return tracked;
}

Result<ControlNode> ControlDirectory::find_revision(gridfs::PathNamespace& paths,
                                                    std::string_view path) const {
  const std::string whole = std::string(kRevisions) + "/" + std::string(path);
  Result<Tracked> tracked = track(paths, path);
  if (!tracked) return not_found(std::move(tracked).error(), whole);
  if (tracked->rest.empty()) return directory(paths, whole);
  const std::optional<uint64_t> number = parse_number(tracked->rest);
  if (!number) return no_such_control(whole);
  GM_ASSIGN(const std::optional<gridfs::Node> revision,
            paths.revision(tracked->directory, tracked->name, *number));
  if (!revision) return no_such_control(whole);
  return control_file(*revision);
}

ControlNode ControlDirectory::find_generated(gridfs::PathNamespace& paths,
                                             std::shared_ptr<GeneratedFile> file) const {
  ControlNode view = directory(paths, kStatistics);
  view.is_directory = false;
  view.attributes.mode = S_IFREG | 0400;
  view.attributes.size = static_cast<int64_t>(file->text().size());
  view.attributes.mtime = view.attributes.ctime = view.attributes.atime = file->made_at();
  view.ino = gridfs::hash_of("made up/" + std::to_string(file->serial()));
  view.generated = std::move(file);
  return view;
}

Result<ControlNode> ControlDirectory::find(gridfs::PathNamespace& paths, std::string_view path,
                                           std::shared_ptr<GeneratedFile> known) const {
  const auto [first, rest] = split_first(path);
  if (path.empty() || path == kById || path == kRevisions) return directory(paths, path);
  if (path == kStatistics) {
    const bool is_current = known && known->is_current();
    return find_generated(
        paths, is_current ? std::move(known)
                          : std::make_shared<GeneratedFile>(text_ ? text_(paths) : std::string()));
  }
  if (first == kRevisions) return find_revision(paths, rest);
  if (first != kById) return no_such_control(path);
  const Result<bson::Value> id = gridfs::parse_id_name(rest);
  if (!id) return no_such_control(path);
  return find_content(paths, id->view());
}

Result<std::unique_ptr<gridfs::DirectoryStream>> ControlDirectory::list(
    const std::shared_ptr<gridfs::PathNamespace>& paths, std::string_view path) const {
  if (path == kById) return paths->list_ids();
  std::vector<gridfs::DirectoryEntry> entries;
  if (path.empty()) {
    entries.push_back({std::string(kById), directory_node()});
    entries.push_back({std::string(kRevisions), directory_node()});
    entries.push_back({std::string(kStatistics), file_node()});
  } else {
    const auto [first, rest] = split_first(path);
    if (first != kRevisions) return no_such_control(path);
    GM_ASSIGN(const Tracked tracked, track(*paths, rest));
    if (tracked.node.kind == gridfs::NodeKind::kDirectory) {
      GM_ASSIGN(auto tree, paths->list(tracked.node.path));
      return std::unique_ptr<gridfs::DirectoryStream>(
          std::make_unique<TrackedListing>(std::move(tree)));
    }
    if (!tracked.rest.empty()) {
      GM_TRY(find_revision(*paths, rest));
      return fail(gridfs::kNotADirectory, "'" + std::string(path) + "' is a revision");
    }
    GM_ASSIGN(const std::vector<gridfs::Node> revisions,
              paths->revisions(tracked.directory, tracked.name));
    for (size_t number = 0; number < revisions.size(); ++number) {
      entries.push_back({std::to_string(number), file_node()});
    }
  }
  return std::unique_ptr<gridfs::DirectoryStream>(
      std::make_unique<NameListing>(std::move(entries)));
}

}  // namespace gridmount::fuse
