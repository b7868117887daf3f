// Volume over one bucket: the documents decide, nothing is kept of them between calls.
// Looking up is in bucket_volume.cc, changes in bucket_volume_changes.cc and its like.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gridfs/namespace/access_times.h"
#include "gridfs/namespace/folders.h"
#include "gridfs/namespace/names.h"
#include "gridfs/namespace/subfolder_counts.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::gridfs {

class BucketVolume final : public Volume {
 public:
  BucketVolume(engine::Store& store, std::shared_ptr<engine::Database> database,
               const BucketOptions& bucket, const VolumeOptions& options);
  // Indexes, the root's document, and what a killed process has left.
  Status start(const FileTableOptions& files);

  const Bucket& bucket() const override { return bucket_; }
  FileTable& files() override { return *files_; }

  Result<Node> lookup(std::string_view folder, std::string_view name) override;
  Result<Node> root() override { return directory(""); }
  Result<Node> file(bson::ValueView id) override;
  Result<Node> directory(std::string_view path) override;
  Result<std::unique_ptr<DirectoryStream>> list(std::string_view folder) override;
  Result<std::optional<Node>> find_by_number(uint64_t ino) override;

  Result<Node> create_file(std::string_view folder, std::string_view name, uint32_t mode,
                           Creator creator) override;
  Result<Nameless> create_nameless(std::string_view folder, uint32_t mode,
                                   Creator creator) override;
  Result<Node> create_special(std::string_view folder, std::string_view name, uint32_t mode,
                              uint64_t rdev, Creator creator) override;
  Result<Node> create_symlink(std::string_view folder, std::string_view name,
                              std::string_view target, Creator creator) override;
  Result<Node> create_directory(std::string_view folder, std::string_view name, uint32_t mode,
                                Creator creator) override;
  Result<Node> link(bson::ValueView id, std::string_view folder, std::string_view name) override;
  bool has_links() const override { return names_.links().in_use(); }
  Result<LostName> unlink(std::string_view folder, std::string_view name) override;
  Status remove_directory(std::string_view folder, std::string_view name) override;
  Result<std::optional<LostName>> rename(std::string_view from_folder, std::string_view from_name,
                                         std::string_view to_folder, std::string_view to_name,
                                         RenameMode mode) override;
  Result<std::optional<LostName>> rename_leaving_whiteout(std::string_view from_folder,
                                                          std::string_view from_name,
                                                          std::string_view to_folder,
                                                          std::string_view to_name, RenameMode mode,
                                                          Creator creator) override;

  Result<Node> set_file_attributes(bson::ValueView id, const AttributeChanges& changes) override;
  Result<Node> set_directory_attributes(std::string_view path,
                                        const AttributeChanges& changes) override;
  Result<std::string> symlink_target(bson::ValueView id) override;
  bool note_read(const File& file) override;
  bool note_read(std::string_view folder) override;
  Result<PosixFields> file_posix(bson::ValueView id) override;
  Result<PosixFields> directory_posix(std::string_view path) override;
  Status change_file_posix(bson::ValueView id, const PosixChange& change) override;
  Status change_directory_posix(std::string_view path, const PosixChange& change) override;
  Result<std::string> file_field(bson::ValueView id, std::string_view field) override;
  Status set_file_field(bson::ValueView id, std::string_view field,
                        std::optional<std::string_view> text, XattrMode mode) override;
  Result<std::shared_ptr<File>> open_file(bson::ValueView id) override;

  Result<std::vector<Node>> revisions(std::string_view folder, std::string_view name) override;
  Result<std::optional<bson::Value>> start_revision(bson::ValueView id) override;
  Result<std::unique_ptr<DirectoryStream>> list_ids() override;

  void name_changed_by_others(std::string_view filename) override;
  void folders_changed_by_others() override { subfolders_.forget_all(); }
  void links_changed_by_others() override { names_.links().changed_by_others(); }
  std::vector<std::string> links_of(bson::ValueView id) override;

  Status close() override;

 private:
  // What a name stands for in a snapshot. Views are valid as long as the snapshot's.
  struct Found {
    enum class Kind { kNothing, kExplicitFolder, kImpliedFolder, kFile };
    Kind kind = Kind::kNothing;
    std::string path;       // the folder's, or the filename
    FolderDocument folder;  // kExplicitFolder
    bson::View document;    // kFile: the newest revision. kImpliedFolder: a file below
    // kFile without a string filename: known by its _id only.
    std::optional<bson::Value> nameless_id;

    bool has_filename() const { return !nameless_id.has_value(); }
    bool is_folder() const { return kind == Kind::kExplicitFolder || kind == Kind::kImpliedFolder; }
  };

  Result<Found> find(engine::Snapshot& snapshot, std::string_view folder,
                     std::string_view name) const;
  Result<Found> find_folder(engine::Snapshot& snapshot, const std::string& path) const;
  Result<Found> find_file(engine::Snapshot& snapshot, const std::string& path) const;
  // The file whose name is also a folder's.
  Result<Found> find_shadowed(engine::Snapshot& snapshot, const std::string& path) const;
  Result<Found> find_plain(engine::Snapshot& snapshot, const std::string& path) const;
  Result<Found> find_long(engine::Snapshot& snapshot, std::string_view folder,
                          const struct ParsedName& name) const;
  Result<Found> find_by_id(engine::Snapshot& snapshot, std::string_view name,
                           const std::string& json) const;
  Node node_of(const Found& found) const;
  Node node_of_file(bson::View document) const;
  Node node_of_open(const File& file) const;  // without its links
  // Before the document changes.
  static PosixFields posix_of_file(const Found& file);
  // What is known of it beyond its document.
  void complete(Node& node) const;
  tl::unexpected<Error> no_such_entry(std::string_view folder, std::string_view name) const;
  std::string shown(std::string_view folder, std::string_view name) const;

  Status check_writable() const;
  // The path a new child would have: its name must be one that can be made. EntryExists if it is
  // taken; the folder must exist, and is given with its attributes.
  struct Place {
    std::string path;
    Found folder;
  };
  Result<Place> place_for(engine::Transaction& transaction, std::string_view folder,
                          std::string_view name) const;
  Result<std::string> new_path(std::string_view folder, std::string_view name) const;
  Status check_folder_path(std::string_view path) const;
  // Makes the folder and those above it explicit if they are not, and changes it.
  Status change_folder(engine::Transaction& transaction, std::string_view path,
                       const PosixFields& changes);
  Status touch(engine::Transaction& transaction, std::string_view folder);
  // What a new file gets; nothing where none are kept.
  std::optional<std::string> md5_of_nothing() const;
  Result<Node> insert_file(std::string_view folder, std::string_view name, PosixFields posix,
                           uint32_t umask);
  // Of an empty file; without a filename if there is no path.
  bson::Document new_files_document(const std::optional<std::string>& path,
                                    const PosixFields& posix) const;
  // Gives an open file that has none its first name.
  Status attach(engine::Transaction& transaction, bson::ValueView id, const std::string& path);
  // With mode, uid and gid.
  PosixFields posix_of_folder(const Found& folder) const;

  // Takes the name from all files that have it; those that have no other are removed.
  Result<Node> remove_name(engine::Transaction& transaction, const Found& file);
  Status remove_name_of(engine::Transaction& transaction, const std::string& path,
                        const bson::Value& id);
  // The further name of a file is none any more, which its number is told. Whether it was.
  Result<bool> take_link(engine::Transaction& transaction, const std::string& name,
                         LinkedFile& file) const;
  // Makes `source`, which is to have the name of `target`, the newest of the revisions: of what has
  // that name alone the content stays. The file that lost the name, as with remove_name().
  Result<Node> retire_name(engine::Transaction& transaction, const Found& source,
                           const Found& target);
  // The document `next` that takes the place of a file and its further names.
  Result<bson::Document> continue_with_names(engine::Transaction& transaction, bson::ValueView id,
                                             const bson::Value& next, bson::Date date) const;
  // Removes those of the name that are more than are kept.
  Status remove_old_revisions(engine::Transaction& transaction, std::string_view filename);
  Result<bool> is_empty(engine::Snapshot& snapshot, std::string_view path) const;
  Result<std::optional<LostName>> make_room(engine::Transaction& transaction, const Found& source,
                                            const Found& target, std::string_view shown_target);
  Status move_file(engine::Transaction& transaction, const Found& source,
                   const std::string& to) const;
  // If `from` is one of its further names.
  Status move_link(engine::Transaction& transaction, const std::string& from, const std::string& to,
                   LinkedFile& file) const;
  Status move_folder(engine::Transaction& transaction, const Found& source, const std::string& to);
  Status move_names_below(engine::Transaction& transaction, const std::string& from,
                          const std::string& to);
  // What has been implied by names gets a document, so that it keeps its number at its new path.
  Status keep_number(engine::Transaction& transaction, const Node& implied,
                     const std::string& path);
  Status move(engine::Transaction& transaction, const Found& source, const std::string& to);
  // What moving `source`, or exchanging it with `target`, makes of the counts of subfolders.
  void count_moved(const Found& source, const Found& from, const Found& target, const Found& to,
                   RenameMode mode);
  // Commits a transaction whose changes the counts of subfolders have been told.
  Status commit_counted(engine::Transaction& transaction);
  // Whether two names that are there lead to one file or folder.
  static bool is_same(const Found& a, const Found& b);
  Status exchange(engine::Transaction& transaction, const Found& one, const Found& other);
  // rename(2), and a whiteout in the old place by whom there is one from.
  Result<std::optional<LostName>> rename_by(std::string_view from_folder,
                                            std::string_view from_name, std::string_view to_folder,
                                            std::string_view to_name, RenameMode mode,
                                            const std::optional<Creator>& whiteout);
  Status insert_whiteout(engine::Transaction& transaction, std::string_view folder,
                         std::string_view name, const Creator& creator);

  engine::Store& store_;
  const VolumeOptions options_;
  const Bucket bucket_;
  Folders folders_;
  Names names_;
  std::unique_ptr<FileTable> files_;
  AccessTimes access_times_;
  SubfolderCounts subfolders_;
};

}  // namespace gridmount::gridfs
