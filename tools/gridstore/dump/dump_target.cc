#include "tools/gridstore/dump/dump_target.h"

#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/system/system_error.h"
#include "tools/gridstore/compact_json.h"
#include "tools/gridstore/dump/archive_writer.h"
#include "tools/gridstore/dump/dump_file_name.h"
#include "tools/gridstore/dump/output_file.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

namespace fs = std::filesystem;

class FolderTarget final : public DumpTarget {
 public:
  FolderTarget(fs::path root, std::string only, bool gzip, DumpOrigin origin)
      : root_(std::move(root)), only_(std::move(only)), gzip_(gzip), origin_(std::move(origin)) {}

  Status begin(const DumpedCollection& collection) override {
    metadata_ = collection.metadata;
    const fs::path folder = root_ / collection.ns.database;
    GM_TRY(make_folder(folder));
    folders_.insert(folder);
    GM_ASSIGN(const std::string stem, dump_file_name(collection.ns.collection));
    stem_ = folder / stem;
    if (metadata_.is_view()) {
      place_ = with_suffix(kMetadataSuffix);
      return {};
    }
    place_ = with_suffix(kDocumentsSuffix);
    GM_ASSIGN(documents_, OutputFile::create(place_, gzip_));
    return {};
  }

  Status write(bson::View document) override { return documents_->write(document.bytes()); }

  // Writes the metadata last, when the documents are complete. The metadata have the collection's
  // options and indexes.
  Status end() override {
    if (documents_) GM_TRY(documents_->finish());
    documents_.reset();
    return write_text(with_suffix(kMetadataSuffix), metadata_.to_json());
  }

  Status finish() override {
    const fs::path folder = only_.empty() ? root_ : root_ / only_;
    GM_TRY(make_folder(folder));
    bson::Builder builder;
    builder.append("ServerVersion", origin_.server_version);
    builder.append("ToolVersion", origin_.tool_version);
    GM_TRY(write_text((folder / "prelude.json").string() + std::string(gzip_ ? kGzipSuffix : ""),
                      compact_json(std::move(builder).finish(), bson::JsonForm::kRelaxed)));
    for (const fs::path& made : folders_) GM_TRY(sync_folder(made));
    return sync_folder(root_);
  }

  const std::string& place() const override { return place_; }

 private:
  Status make_folder(const fs::path& folder) {
    std::error_code error;
    // The folders above new folders must be synced too, because they have the new names.
    for (fs::path made = folder; !made.empty() && !fs::exists(made, error);
         made = made.parent_path()) {
      folders_.insert(made.parent_path());
    }
    fs::create_directories(folder, error);
    if (!error) return {};
    return fail(
        system::system_error(error.value(), "making the folder " + in_quotes(folder.string())));
  }

  std::string with_suffix(std::string_view suffix) const {
    return stem_.string() + std::string(suffix) + std::string(gzip_ ? kGzipSuffix : "");
  }

  Status write_text(const fs::path& path, std::string_view text) const {
    GM_ASSIGN(const std::unique_ptr<OutputFile> file, OutputFile::create(path, gzip_));
    GM_TRY(file->write(text));
    return file->finish();
  }

  const fs::path root_;
  const std::string only_;
  const bool gzip_;
  const DumpOrigin origin_;
  std::set<fs::path> folders_;  // folders with new files or folders, for sync_folder()
  // The state of the collection between begin() and end().
  Metadata metadata_;
  fs::path stem_;
  std::string place_;
  std::unique_ptr<OutputFile> documents_;
};

class ArchiveTarget final : public DumpTarget {
 public:
  ArchiveTarget(std::unique_ptr<OutputFile> file, fs::path path)
      : file_(std::move(file)),
        writer_(*file_),
        path_(std::move(path)),
        place_(path_.empty() ? "archive on stdout" : path_.string()) {}

  ArchiveWriter& writer() { return writer_; }

  Status begin(const DumpedCollection& collection) override { return writer_.begin(collection.ns); }
  Status write(bson::View document) override { return writer_.write(document); }
  Status end() override { return writer_.end(); }
  Status finish() override {
    GM_TRY(file_->finish());
    return path_.empty() ? Status() : sync_folder(path_.parent_path());
  }
  const std::string& place() const override { return place_; }

 private:
  const std::unique_ptr<OutputFile> file_;
  ArchiveWriter writer_;
  const fs::path path_;
  const std::string place_;
};

}  // namespace

std::unique_ptr<DumpTarget> dump_to_folder(fs::path root, std::string only, bool gzip,
                                           DumpOrigin origin) {
  return std::make_unique<FolderTarget>(std::move(root), std::move(only), gzip, std::move(origin));
}

Result<std::unique_ptr<DumpTarget>> dump_to_archive(const fs::path& file, bool gzip,
                                                    const DumpOrigin& origin,
                                                    std::span<const DumpedCollection> collections) {
  GM_ASSIGN(std::unique_ptr<OutputFile> output,
            file.empty() ? OutputFile::to_stdout(gzip) : OutputFile::create(file, gzip));
  auto target = std::make_unique<ArchiveTarget>(std::move(output), file);
  std::vector<ArchivedCollection> lines;
  lines.reserve(collections.size());
  for (const DumpedCollection& collection : collections) {
    lines.push_back({collection.ns, collection.metadata.to_json(), collection.metadata.type});
  }
  GM_TRY(target->writer().write_prelude(origin, lines));
  return std::unique_ptr<DumpTarget>(std::move(target));
}

}  // namespace gridmount::tools
