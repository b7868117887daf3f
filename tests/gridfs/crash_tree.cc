#include "tests/gridfs/crash_tree.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gridfs/bucket/posix_changes.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/engine/local/crash/crash_store.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/gridfs/late_chunks.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::gridfs {
namespace {

using local::testing::Facts;

constexpr const char* kNames[] = {"a", "b", "a!", "long name", "c"};
// Small, so that small files have many chunks.
constexpr int32_t kChunkBytes = 2000;

// Names of facts: "folder a/b" and "file a/b/c". A file's fact has its first name, its
// permissions, an extended attribute and its content.
const std::string kFolder = "folder ";
const std::string kFile = "file ";
const std::string kXattr = "user.crash";
const std::string kNew = "/";  // no file has this name

struct FileFact {
  std::string first_name = {};  // the same for all names of a file
  uint32_t mode = 0;
  std::string xattr = {};  // without a newline
  std::string content = {};

  static FileFact parse(const std::string& text) {
    FileFact fact;
    const size_t mode_at = text.find('\n') + 1;
    fact.first_name = text.substr(0, mode_at - 1);
    const size_t xattr_at = text.find(' ', mode_at) + 1;
    fact.mode = static_cast<uint32_t>(std::stoul(text.substr(mode_at)));
    const size_t content_at = text.find('\n', xattr_at) + 1;
    fact.xattr = text.substr(xattr_at, content_at - 1 - xattr_at);
    fact.content = text.substr(content_at);
    return fact;
  }
  std::string text() const {
    return first_name + "\n" + std::to_string(mode & 07777) + " " + xattr + "\n" + content;
  }
};

// Called after a change of names: names with the same `first_name` belong to one file.
void name_first_names(Facts& facts) {
  std::map<std::string, std::string> first_names;
  for (auto& [name, value] : facts) {
    if (!name.starts_with(kFile)) continue;
    FileFact fact = FileFact::parse(value);
    const std::string path = name.substr(kFile.size());
    fact.first_name = first_names.try_emplace(fact.first_name, path).first->second;
    value = fact.text();
  }
}

// The existing names, for the choice of the next change.
class Model {
 public:
  explicit Model(Facts& facts) : facts_(facts) {
    for (const auto& [name, value] : facts) {
      (name.starts_with(kFolder) ? folders_ : files_).push_back(path_of(name));
    }
  }

  const std::vector<std::string>& files() const { return files_; }
  bool exists(const std::string& path) const {
    return facts_.contains(kFolder + path) || facts_.contains(kFile + path);
  }
  bool is_empty(const std::string& folder) const {
    const auto below = [&](const std::string& path) { return path.starts_with(folder + "/"); };
    return std::none_of(files_.begin(), files_.end(), below) &&
           std::none_of(folders_.begin(), folders_.end(), below);
  }
  std::optional<std::string> any_file(std::mt19937_64& random) const {
    return files_.empty() ? std::nullopt : std::optional(files_[random() % files_.size()]);
  }
  std::optional<std::string> any_folder(std::mt19937_64& random) const {
    return folders_.empty() ? std::nullopt : std::optional(folders_[random() % folders_.size()]);
  }
  // Returns a name in an existing directory that is not deep.
  std::string any_place(std::mt19937_64& random) const {
    const size_t chosen = random() % (folders_.size() + 1);
    const std::string folder = chosen == folders_.size() ? "" : folders_[chosen];
    const bool deep = std::count(folder.begin(), folder.end(), '/') >= 2;
    return join(deep ? "" : folder, kNames[random() % std::size(kNames)]);
  }
  // Changes the file under all its names.
  void change(const FileFact& file) {
    for (auto& [name, value] : facts_) {
      if (name.starts_with(kFile) && FileFact::parse(value).first_name == file.first_name)
        value = file.text();
    }
  }
  void exchange(const std::string& one, const std::string& other) {
    move(one, "between");
    move(other, one);
    move("between", other);
  }
  void move(const std::string& from, const std::string& to) {
    Facts moved;
    for (auto& [name, value] : facts_) {
      const std::string path = path_of(name);
      const bool concerned = path == from || path.starts_with(from + "/");
      const std::string kind = name.substr(0, name.size() - path.size());
      if (!concerned && path == to) continue;  // replaced
      moved[concerned ? kind + to + path.substr(from.size()) : name] = std::move(value);
    }
    facts_ = std::move(moved);
  }

 private:
  static std::string path_of(const std::string& name) { return name.substr(name.find(' ') + 1); }

  Facts& facts_;
  std::vector<std::string> files_;
  std::vector<std::string> folders_;
};

class TreeSubject : public local::testing::CrashSubject {
 public:
  explicit TreeSubject(const TreeOptions& options) : options_(options) {}

  Status open(const std::filesystem::path& folder, bool create,
              const local::TestOptions& test) override {
    GM_ASSIGN(store_, local::testing::open_crash_store(folder, create, test));
    return {};
  }
  Status close() override;
  Status make_durable() override { return store_->make_durable(); }
  Status checkpoint() override { return local::testing::take_checkpoint(*store_); }
  Result<std::vector<std::string>> check() override;

  Result<bool> step(std::mt19937_64& random, Facts& facts, bool may_be_durable) override;
  Result<Facts> read() override;

 private:
  Status mount();
  Status read_folder(const std::string& folder, Facts& facts);
  Result<Node> look_up(const std::string& path) {
    return namespace_->lookup(split(path).directory, split(path).component);
  }
  // Returns whether something was changed.
  Result<bool> change(std::mt19937_64& random, Facts& facts);
  Result<bool> rename(std::mt19937_64& random, Facts& facts);
  Result<bool> upload(std::mt19937_64& random, Facts& facts);
  Result<bool> write(std::mt19937_64& random, Facts& facts);

  const TreeOptions options_;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<PathNamespace> namespace_;
  bool durable_ = false;  // whether the next change may be
  bool was_durable_ = false;
};

// Opens the namespace as a program does at its start, which also removes what the previous program
// left behind.
Status TreeSubject::mount() {
  if (namespace_) return {};
  std::shared_ptr<engine::Database> database = store_->database("crash");
  if (options_.late_chunks) database = with_late_chunks(*store_, std::move(database));
  BucketOptions bucket;
  bucket.chunk_bytes = kChunkBytes;
  bucket.md5 = options_.md5;
  FileTableOptions files;
  files.commit_interval = std::chrono::hours(1);
  files.md5 = options_.md5;
  GM_ASSIGN(namespace_, PathNamespace::open(*store_, std::move(database), bucket, {}, files));
  return {};
}

Status TreeSubject::close() {
  if (namespace_) {
    GM_TRY(namespace_->close());
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_->snapshot());
    GM_ASSIGN(const int64_t left, namespace_->bucket().detached().count(*snapshot, bson::View()));
    if (left > 0 && options_.removes_all) {
      return fail(ErrorCode::kInternalError, "files are left in 'detached'");
    }
  }
  namespace_.reset();
  store_.reset();
  return {};
}

Result<std::vector<std::string>> TreeSubject::check() {
  GM_ASSIGN(std::vector<std::string> problems, local::testing::structure_problems(*store_));
  tools::Findings findings(tools::Findings::Format::kText);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_->snapshot());
  const std::shared_ptr<engine::Database> database = store_->database("crash");
  GM_ASSIGN(const std::set<std::string> buckets, tools::buckets_of(*database, *snapshot));
  for (const std::string& bucket : buckets) {
    GM_TRY(tools::check_bucket(*store_, *snapshot, database, bucket, false, findings));
  }
  if (findings.exit_status() != ExitStatus::kOk) problems.push_back("content, printed before");
  return problems;
}

Result<bool> TreeSubject::rename(std::mt19937_64& random, Facts& facts) {
  Model model(facts);
  const bool folder = random() % 3 == 0;
  const std::optional<std::string> from =
      folder ? model.any_folder(random) : model.any_file(random);
  const std::string to = model.any_place(random);
  if (!from || *from == to || to.starts_with(*from + "/")) return false;
  const SplitPath source = split(*from);
  const SplitPath target = split(to);
  // For two names of one file, rename does nothing.
  if (!folder && facts.contains(kFile + to) &&
      FileFact::parse(facts[kFile + to]).first_name ==
          FileFact::parse(facts[kFile + *from]).first_name) {
    return false;
  }
  if (model.exists(to) && random() % 4 == 0 && !from->starts_with(to + "/")) {
    GM_TRY(namespace_->rename(source.directory, source.component, target.directory,
                              target.component, RenameMode::kExchange));
    model.exchange(*from, to);
    return true;
  }
  // A file may replace a file. A directory replaces nothing.
  if (facts.contains(kFolder + to) || (folder && model.exists(to))) return false;
  GM_TRY(namespace_->rename(source.directory, source.component, target.directory, target.component,
                            RenameMode::kReplace));
  model.move(*from, to);
  return true;
}

// Uploads like a driver: the file exists only when it is complete.
Result<bool> TreeSubject::upload(std::mt19937_64& random, Facts& facts) {
  const std::string path = Model(facts).any_place(random);
  if (Model(facts).exists(path)) return false;
  const std::string bytes = random_bytes(random, random() % 30'000);
  GM_ASSIGN(const std::unique_ptr<UploadStream> stream,
            namespace_->bucket().open_upload_stream(path));
  GM_TRY(stream->write(bytes_of(bytes)));
  GM_TRY(stream->close(durable_ ? engine::Durability::kDurable : engine::Durability::kCommitted));
  was_durable_ = durable_;
  facts[kFile + path] = FileFact{.first_name = kNew, .mode = 0644, .content = bytes}.text();
  return true;
}

Result<bool> TreeSubject::write(std::mt19937_64& random, Facts& facts) {
  const std::optional<std::string> path = Model(facts).any_file(random);
  if (!path) return false;
  FileFact fact = FileFact::parse(facts.at(kFile + *path));
  std::string& content = fact.content;
  GM_ASSIGN(const Node node, look_up(*path));
  GM_ASSIGN(const std::shared_ptr<File> file, namespace_->open_file(node.id));
  const uint64_t kind = random() % 8;
  if (kind == 0 && !content.empty()) {
    content.resize(random() % content.size());
    GM_TRY(file->truncate(static_cast<int64_t>(content.size()), TimeUpdate::kNow));
  }
  // Rewrites the file, writes beyond its end after a hole, or overwrites a part, in several pieces.
  if (kind <= 2) {
    content.clear();
    GM_TRY(file->truncate(0, TimeUpdate::kNow));
  }
  for (uint64_t pieces = 1 + random() % 3; pieces > 0; --pieces) {
    const size_t size = 1 + (random() % 8 == 0 ? random() % 40'000 : random() % 5000);
    const std::string bytes = random_bytes(random, size);
    const size_t offset =
        kind == 3 ? content.size() + random() % 9000 : random() % (content.size() + 1);
    content.resize(std::max(content.size(), offset + size));
    content.replace(offset, size, bytes);
    GM_TRY(file->write(static_cast<int64_t>(offset), bytes_of(bytes), TimeUpdate::kNow));
  }
  GM_TRY(durable_ ? file->fsync() : file->flush());
  was_durable_ = durable_;
  Model(facts).change(fact);
  return true;
}

Result<bool> TreeSubject::change(std::mt19937_64& random, Facts& facts) {
  Model model(facts);
  const std::string place = model.any_place(random);
  const SplitPath where = split(place);
  const std::optional<std::string> file = model.any_file(random);
  switch (random() % 15) {
    case 0:
    case 1: {
      if (model.exists(place)) return false;
      GM_TRY(namespace_->create_file(where.directory, where.component, 0640, {}));
      facts[kFile + place] = FileFact{.first_name = kNew, .mode = 0640}.text();
      return true;
    }
    case 2:
      if (model.exists(place)) return false;
      GM_TRY(namespace_->mkdir(where.directory, where.component, 0755, {}));
      facts[kFolder + place];
      return true;
    case 3: {
      const std::optional<std::string> folder = model.any_folder(random);
      if (!folder || !model.is_empty(*folder)) return false;
      GM_TRY(namespace_->rmdir(split(*folder).directory, split(*folder).component));
      facts.erase(kFolder + *folder);
      return true;
    }
    case 4:
      if (!file || model.files().size() < 4) return false;
      GM_TRY(namespace_->unlink(split(*file).directory, split(*file).component));
      facts.erase(kFile + *file);
      return true;
    case 5: {
      if (!file) return false;
      GM_ASSIGN(const Node node, look_up(*file));
      AttributeChanges changes;
      changes.permissions = static_cast<uint32_t>(random() % 0777);
      GM_TRY(namespace_->setattr_file(node.id, changes));
      FileFact fact = FileFact::parse(facts[kFile + *file]);
      fact.mode = *changes.permissions;
      model.change(fact);
      return true;
    }
    case 6:
    case 7:
      return rename(random, facts);
    case 8:
      return upload(random, facts);
    case 9: {
      if (!file || model.exists(place)) return false;
      GM_ASSIGN(const Node node, look_up(*file));
      GM_TRY(namespace_->link(node.id, where.directory, where.component));
      facts[kFile + place] = facts[kFile + *file];
      return true;
    }
    case 10: {
      if (!file) return false;
      GM_ASSIGN(const Node node, look_up(*file));
      FileFact fact = FileFact::parse(facts[kFile + *file]);
      fact.xattr = std::to_string(random());
      GM_TRY(namespace_->change_file_posix(node.id, [&](const PosixFields& now) {
        return with_xattr(now, kXattr, fact.xattr, XattrMode::kAny);
      }));
      model.change(fact);
      return true;
    }
    default:
      return write(random, facts);
  }
}

Result<bool> TreeSubject::step(std::mt19937_64& random, Facts& facts, bool may_be_durable) {
  GM_TRY(mount());
  durable_ = may_be_durable && random() % 4 == 0;
  was_durable_ = false;
  while (true) {
    GM_ASSIGN(const bool changed, change(random, facts));
    name_first_names(facts);
    if (changed) return was_durable_;
  }
}

Status TreeSubject::read_folder(const std::string& folder, Facts& facts) {
  GM_ASSIGN(const std::unique_ptr<DirectoryStream> listing, namespace_->list(folder));
  while (true) {
    GM_ASSIGN(const std::optional<DirectoryEntry> entry, listing->next());
    if (!entry) return {};
    const std::string path = join(folder, entry->name);
    if (entry->node.kind == NodeKind::kDirectory) {
      facts[kFolder + path];
      GM_TRY(read_folder(path, facts));
      continue;
    }
    GM_ASSIGN(const std::shared_ptr<File> file, namespace_->open_file(entry->node.id));
    GM_ASSIGN(const ReadResult content, file->read(0, static_cast<size_t>(file->length()) + 1));
    GM_ASSIGN(const PosixFields posix, namespace_->file_posix(entry->node.id));
    FileFact fact{.first_name = std::to_string(entry->node.ino),
                  .mode = entry->node.attributes.mode & 07777};
    if (posix.xattrs && posix.xattrs->contains(kXattr))
      fact.xattr = std::string(*posix.xattrs->find(kXattr));
    fact.content = text_of(content);
    facts[kFile + path] = fact.text();
  }
}

Result<Facts> TreeSubject::read() {
  GM_TRY(mount());
  Facts facts;
  GM_TRY(read_folder("", facts));
  name_first_names(facts);
  return facts;
}

}  // namespace

std::unique_ptr<local::testing::CrashSubject> make_tree(const TreeOptions& options) {
  return std::make_unique<TreeSubject>(options);
}

}  // namespace gridmount::gridfs
