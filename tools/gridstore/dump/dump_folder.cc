#include "tools/gridstore/dump/dump_folder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "engine/system/system_error.h"
#include "tools/gridstore/dump/dump_file_name.h"
#include "tools/gridstore/dump/input_file.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

namespace fs = std::filesystem;

// The limit for a metadata file. Its text is one document, only a little larger than in BSON.
constexpr size_t kMetadataBytesMax = 64 * 1024 * 1024;

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  if (error) {
    return fail(
        system::system_error(error.value(), "reading the folder " + in_quotes(folder.string())));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

Result<Metadata> read_metadata(const fs::path& path, bool gzip) {
  GM_ASSIGN(const std::unique_ptr<InputFile> file, InputFile::open(path, gzip));
  std::string text;
  constexpr size_t kStep = 64 * 1024;
  while (true) {
    const size_t before = text.size();
    text.resize(before + kStep);
    GM_ASSIGN(const size_t got,
              file->read({reinterpret_cast<uint8_t*>(text.data()) + before, kStep}));
    text.resize(before + got);
    if (got < kStep) break;
    if (text.size() > kMetadataBytesMax) {
      return file->damage(text.size(), "the file is too large for metadata");
    }
  }
  Result<Metadata> metadata = Metadata::parse(text);
  if (!metadata) return fail(std::move(metadata).error().with_context(file->name()));
  return metadata;
}

class DumpFolderScan {
 public:
  DumpFolderScan(const DumpFolderOptions& options, const RestoreNames& names)
      : options_(options), names_(names) {}

  Result<DumpFolder> run() {
    std::error_code error;
    const fs::file_status status = fs::status(options_.path, error);
    if (!fs::exists(status)) {
      return fail(ErrorCode::kNonExistentPath,
                  "there is no dump at " + in_quotes(options_.path.string()));
    }
    if (!fs::is_directory(status)) {
      GM_TRY(scan_file());
      return std::move(found_);
    }
    if (options_.database.empty()) {
      GM_TRY(scan_root());
    } else {
      const fs::path below = options_.path / options_.database;
      GM_TRY(scan_database(options_.database, is_folder(below) ? below : options_.path));
    }
    return std::move(found_);
  }

 private:
  // The two files of a collection.
  struct Files {
    fs::path documents;
    fs::path metadata;
  };
  enum class Kind { kDocuments, kMetadata, kOther };
  struct ClassifiedName {
    Kind kind = Kind::kOther;
    std::string stem;
  };

  Status scan_root() {
    GM_ASSIGN(const std::vector<fs::path> entries, entries_of(options_.path));
    for (const fs::path& entry : entries) {
      const std::string name = entry.filename().string();
      if (is_folder(entry)) {
        GM_TRY(scan_database(name, entry));
      } else if (name.starts_with("oplog.bson")) {
        found_.notices.push_back("skipping " + in_quotes(entry.string()) +
                                 ": an oplog cannot be replayed");
      } else if (!name.starts_with("prelude.json")) {
        unknown(entry);
      }
    }
    return {};
  }

  Status scan_database(const std::string& database, const fs::path& folder) {
    GM_ASSIGN(const std::vector<fs::path> entries, entries_of(folder));
    std::map<std::string, Files> by_stem;
    for (const fs::path& entry : entries) {
      const std::string name = entry.filename().string();
      if (name.starts_with("prelude.json")) continue;
      const ClassifiedName named = is_folder(entry) ? ClassifiedName() : named_as(name);
      if (named.kind == Kind::kOther) {
        unknown(entry);
        continue;
      }
      std::string stem = named.stem;
      if (stem.starts_with(kTimeSeriesPrefix)) stem.erase(0, kTimeSeriesPrefix.size());
      Files& files = by_stem[stem];
      (named.kind == Kind::kDocuments ? files.documents : files.metadata) = entry;
    }
    for (const auto& [stem, files] : by_stem) GM_TRY(add(database, stem, files));
    return {};
  }

  Status scan_file() {
    const std::string name = options_.path.filename().string();
    const ClassifiedName named = named_as(name);
    if (named.kind != Kind::kDocuments) {
      return fail(ErrorCode::kBadValue, in_quotes(options_.path.string()) +
                                            " is neither a folder nor a file *.bson" +
                                            (options_.gzip ? ".gz" : " (*.bson.gz with --gzip)"));
    }
    Files files;
    files.documents = options_.path;
    const fs::path metadata =
        options_.path.parent_path() / (named.stem + std::string(kMetadataSuffix) + compressed());
    std::error_code ignored;
    if (fs::exists(metadata, ignored)) files.metadata = metadata;
    std::string database = options_.database;
    if (database.empty()) {
      const fs::path whole = fs::absolute(options_.path, ignored);
      database = whole.parent_path().filename().string();
    }
    return add(database, named.stem, files);
  }

  std::string compressed() const { return std::string(options_.gzip ? kGzipSuffix : ""); }

  ClassifiedName named_as(std::string_view name) const {
    for (const auto& [suffix, kind] : {std::pair(kDocumentsSuffix, Kind::kDocuments),
                                       std::pair(kMetadataSuffix, Kind::kMetadata)}) {
      const std::string whole = std::string(suffix) + compressed();
      if (name.size() > whole.size() && name.ends_with(whole)) {
        return {kind, std::string(name.substr(0, name.size() - whole.size()))};
      }
    }
    return {};
  }

  void unknown(const fs::path& entry) {
    const std::string name = entry.filename().string();
    const std::string shown = in_quotes(entry.string());
    const std::string whole(options_.gzip ? "" : kGzipSuffix);
    if (name.ends_with(std::string(kDocumentsSuffix) + whole) ||
        name.ends_with(std::string(kMetadataSuffix) + whole)) {
      found_.problems.push_back(shown + (options_.gzip
                                             ? " is not compressed, although --gzip is given"
                                             : " is compressed; give --gzip"));
    } else {
      found_.notices.push_back("don't know what to do with " + shown + "; skipping it");
    }
  }

  Status add(const std::string& database, const std::string& stem, const Files& files) {
    RestoreItem item;
    item.from.database = database;
    item.documents = files.documents;
    Result<Metadata> metadata =
        files.metadata.empty() ? Metadata() : read_metadata(files.metadata, options_.gzip);
    std::optional<std::string> name = collection_of_stem(stem);
    if (is_cut_name(stem)) {
      name.reset();
      if (metadata && !metadata->collection_name.empty()) name = metadata->collection_name;
    }
    if (options_.collection.empty() || files.documents != options_.path) {
      if (!name) {
        const fs::path& shown = files.documents.empty() ? files.metadata : files.documents;
        found_.problems.push_back(in_quotes(shown.string()) +
                                  ": the collection's name is neither in the file's name nor in "
                                  "metadata");
        return {};
      }
      item.from.collection = *name;
    } else {
      item.from.collection = options_.collection;
    }
    const std::optional<engine::Namespace> to = names_.target_of(item.from);
    if (!to) return {};
    item.to = *to;
    if (!metadata) {
      // Without its options and indexes, the collection would differ from the dumped one.
      found_.problems.push_back(metadata.error().message() + "; " + in_quotes(item.from.full()) +
                                " is not restored");
      return {};
    }
    item.metadata = std::move(metadata).value();
    found_.items.push_back(std::move(item));
    return {};
  }

  const DumpFolderOptions& options_;
  const RestoreNames& names_;
  DumpFolder found_;
};

}  // namespace

Result<DumpFolder> read_dump_folder(const DumpFolderOptions& options, const RestoreNames& names) {
  return DumpFolderScan(options, names).run();
}

}  // namespace gridmount::tools
