#include "gridfs/namespace/retrying_namespace.h"

#include <utility>

#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/directory_turns.h"

namespace gridmount::gridfs {

namespace {

// A call waits for its turn for at most this part of the time for which it tries again.
constexpr int kTurnPart = 10;

class RetryingNamespace final : public PathNamespace {
 public:
  RetryingNamespace(engine::Store& store, std::unique_ptr<PathNamespace> paths)
      : store_(store),
        turns_(store.capabilities().retry_for / kTurnPart),
        paths_(std::move(paths)) {}

  const Bucket& bucket() const override { return paths_->bucket(); }
  FileTable& files() override { return paths_->files(); }
  Result<Node> lookup(std::string_view directory, std::string_view name) override {
    return with_retry(store_, [&] { return paths_->lookup(directory, name); });
  }
  Result<Node> root() override {
    return with_retry(store_, [&] { return paths_->root(); });
  }
  Result<Node> file(bson::ValueView id) override {
    return with_retry(store_, [&] { return paths_->file(id); });
  }
  Result<Node> get_directory(std::string_view path) override {
    return with_retry(store_, [&] { return paths_->get_directory(path); });
  }
  Result<std::unique_ptr<DirectoryStream>> list(std::string_view directory) override {
    return with_retry(store_, [&] { return paths_->list(directory); });
  }
  Result<std::optional<Node>> find_by_ino(uint64_t ino) override {
    return with_retry(store_, [&] { return paths_->find_by_ino(ino); });
  }
  Result<Node> create_file(std::string_view directory, std::string_view name, uint32_t mode,
                           Creator creator) override {
    return in_turn(directory, [&] { return paths_->create_file(directory, name, mode, creator); });
  }
  Result<OpenedFile> create_open_file(std::string_view directory, std::string_view name,
                                      uint32_t mode, Creator creator) override {
    return in_turn(directory,
                   [&] { return paths_->create_open_file(directory, name, mode, creator); });
  }
  Result<OpenedFile> create_tmpfile(std::string_view directory, uint32_t mode,
                                    Creator creator) override {
    return with_retry(store_, [&] { return paths_->create_tmpfile(directory, mode, creator); });
  }
  Result<Node> mknod(std::string_view directory, std::string_view name, uint32_t mode,
                     uint64_t rdev, Creator creator) override {
    return in_turn(directory, [&] { return paths_->mknod(directory, name, mode, rdev, creator); });
  }
  Result<Node> symlink(std::string_view directory, std::string_view name, std::string_view target,
                       Creator creator) override {
    return in_turn(directory, [&] { return paths_->symlink(directory, name, target, creator); });
  }
  Result<Node> mkdir(std::string_view directory, std::string_view name, uint32_t mode,
                     Creator creator) override {
    return in_turn(directory, [&] { return paths_->mkdir(directory, name, mode, creator); });
  }
  Result<Node> link(bson::ValueView id, std::string_view directory,
                    std::string_view name) override {
    return in_turn(directory, [&] { return paths_->link(id, directory, name); });
  }
  bool has_links() const override { return paths_->has_links(); }
  Result<RemovedName> unlink(std::string_view directory, std::string_view name) override {
    return in_turn(directory, [&] { return paths_->unlink(directory, name); });
  }
  Status rmdir(std::string_view directory, std::string_view name) override {
    return in_turn(directory, [&] { return paths_->rmdir(directory, name); });
  }
  Result<std::optional<RemovedName>> rename(std::string_view from_directory,
                                            std::string_view from_name,
                                            std::string_view to_directory, std::string_view to_name,
                                            RenameMode mode) override {
    return in_turn(from_directory, to_directory, [&] {
      return paths_->rename(from_directory, from_name, to_directory, to_name, mode);
    });
  }
  Result<std::optional<RemovedName>> rename_leaving_whiteout(
      std::string_view from_directory, std::string_view from_name, std::string_view to_directory,
      std::string_view to_name, RenameMode mode, Creator creator) override {
    return in_turn(from_directory, to_directory, [&] {
      return paths_->rename_leaving_whiteout(from_directory, from_name, to_directory, to_name, mode,
                                             creator);
    });
  }
  Result<Node> setattr_file(bson::ValueView id, const AttributeChanges& changes) override {
    return with_retry(store_, [&] { return paths_->setattr_file(id, changes); });
  }
  Result<Node> setattr_directory(std::string_view path, const AttributeChanges& changes) override {
    return in_turn(path, [&] { return paths_->setattr_directory(path, changes); });
  }
  Result<std::string> readlink(bson::ValueView id) override {
    return with_retry(store_, [&] { return paths_->readlink(id); });
  }
  bool record_read(const File& file) override { return paths_->record_read(file); }
  bool record_read(std::string_view directory) override { return paths_->record_read(directory); }
  Result<PosixFields> file_posix(bson::ValueView id) override {
    return with_retry(store_, [&] { return paths_->file_posix(id); });
  }
  Result<PosixFields> directory_posix(std::string_view path) override {
    return with_retry(store_, [&] { return paths_->directory_posix(path); });
  }
  Status change_file_posix(bson::ValueView id, const PosixChange& change) override {
    return with_retry(store_, [&] { return paths_->change_file_posix(id, change); });
  }
  Status change_directory_posix(std::string_view path, const PosixChange& change) override {
    return in_turn(path, [&] { return paths_->change_directory_posix(path, change); });
  }
  Result<std::string> file_field(bson::ValueView id, std::string_view field) override {
    return with_retry(store_, [&] { return paths_->file_field(id, field); });
  }
  Status set_file_field(bson::ValueView id, std::string_view field,
                        std::optional<std::string_view> text, XattrMode mode) override {
    return with_retry(store_, [&] { return paths_->set_file_field(id, field, text, mode); });
  }
  Result<std::shared_ptr<File>> open_file(bson::ValueView id) override {
    return with_retry(store_, [&] { return paths_->open_file(id); });
  }
  Result<std::shared_ptr<File>> open_file_to_read(bson::ValueView id) override {
    return with_retry(store_, [&] { return paths_->open_file_to_read(id); });
  }
  Result<std::vector<Node>> revisions(std::string_view directory, std::string_view name) override {
    return with_retry(store_, [&] { return paths_->revisions(directory, name); });
  }
  Result<std::optional<Node>> revision(std::string_view directory, std::string_view name,
                                       uint64_t number) override {
    return with_retry(store_, [&] { return paths_->revision(directory, name, number); });
  }
  Result<std::optional<bson::Value>> start_revision(bson::ValueView id) override {
    return with_retry(store_, [&] { return paths_->start_revision(id); });
  }
  Result<std::unique_ptr<DirectoryStream>> list_ids() override {
    return with_retry(store_, [&] { return paths_->list_ids(); });
  }
  void name_changed_externally(std::string_view filename) override {
    paths_->name_changed_externally(filename);
  }
  void directory_changed_externally(std::string_view path) override {
    paths_->directory_changed_externally(path);
  }
  void directories_changed_externally() override { paths_->directories_changed_externally(); }
  void links_changed_externally() override { paths_->links_changed_externally(); }
  Result<std::vector<std::string>> links_of(bson::ValueView id) override {
    return with_retry(store_, [&] { return paths_->links_of(id); });
  }
  Status close() override { return paths_->close(); }

 private:
  template <typename Attempt>
  auto in_turn(std::string_view directory, const Attempt& attempt) -> decltype(attempt()) {
    return in_turn(directory, directory, attempt);
  }
  template <typename Attempt>
  auto in_turn(std::string_view one, std::string_view other, const Attempt& attempt)
      -> decltype(attempt()) {
    return turns_.in_turn(one, other, [&] { return with_retry(store_, attempt); });
  }

  engine::Store& store_;
  DirectoryTurns turns_;
  const std::unique_ptr<PathNamespace> paths_;
};

}  // namespace

std::unique_ptr<PathNamespace> make_retrying_namespace(engine::Store& store,
                                                       std::unique_ptr<PathNamespace> paths) {
  return std::make_unique<RetryingNamespace>(store, std::move(paths));
}

}  // namespace gridmount::gridfs
