#include "gridfs/namespace/path_index.h"

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/upload_order.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_range.h"

namespace gridmount::gridfs {
namespace {

std::weak_ordering compare_dates(bson::View a, bson::View b) {
  const auto date = [](bson::View document) {
    return document.find("uploadDate").value_or(bson::ValueView(bson::Type::kNull, nullptr, 0));
  };
  return bson::compare(date(a), date(b));
}

// The number of revisions that a scan reads to find the newest, before it looks the newest up in
// the index.
constexpr int kRevisionsRead = 4;
// The maximum number of files with the newest uploadDate that are compared by _id.
constexpr int kEquallyNewRead = 64;

}  // namespace

bool is_newer(bson::View a, bson::View b) {
  const std::weak_ordering dates = compare_dates(a, b);
  return dates != 0 ? dates > 0 : bson::compare(a["_id"], b["_id"]) > 0;
}

bool has_filename(bson::View document) {
  const std::optional<bson::ValueView> name = document.find("filename");
  return name && name->type() == bson::Type::kString;
}

bool PathIndex::is_of_time(bson::View document) const {
  if (!at_) return true;
  const std::optional<bson::ValueView> date = document.find("uploadDate");
  return date && date->type() == bson::Type::kDate && date->as_date() <= *at_;
}

bool PathIndex::is_shown(bson::View document) const {
  return has_filename(document) && is_of_time(document);
}

bson::Document PathIndex::named(std::string_view filename) const {
  bson::Builder filter;
  filter.append("filename", filename);
  if (at_) filter.open_document("uploadDate").append("$lte", *at_).close();
  return std::move(filter).finish();
}

Result<std::optional<bson::View>> PathIndex::newest_by_filename(engine::Snapshot& snapshot,
                                                                std::string_view filename) const {
  engine::FindOptions options;
  options.sort = newest_first();
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(snapshot, named(filename), options));
  std::optional<bson::View> newest;
  for (int read = 0; read < kEquallyNewRead;) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return newest;
    if (!is_shown(*document)) continue;
    ++read;
    if (newest && compare_dates(*document, *newest) != 0) return newest;
    if (!newest || is_newer(*document, *newest)) newest = document;
  }
  return newest;
}

Result<std::optional<bson::View>> PathIndex::newest(engine::Snapshot& snapshot,
                                                    std::string_view filename) const {
  GM_ASSIGN(std::optional<bson::View> newest, newest_by_filename(snapshot, filename));
  GM_ASSIGN(const std::vector<bson::View> linked, links_.files_of(snapshot, filename));
  for (const bson::View document : linked) {
    if (!is_of_time(document)) continue;
    if (!newest || is_newer(document, *newest)) newest = document;
  }
  return newest;
}

Result<std::vector<bson::View>> PathIndex::linked(engine::Snapshot& snapshot,
                                                  std::string_view name) const {
  GM_ASSIGN(std::vector<bson::View> files, links_.files_of(snapshot, name));
  // A file that also has the name as its filename is found by its filename.
  std::erase_if(files, [&](bson::View document) {
    if (!is_of_time(document)) return true;
    return has_filename(document) && document["filename"].as_string() == name;
  });
  return files;
}

// The index has the dates in the right order, but not the _ids within one date. So this function
// finds the date at that position, and the number of entries with that date from there on.
Result<std::vector<bson::View>> PathIndex::at_position(engine::Snapshot& snapshot,
                                                       std::string_view name,
                                                       uint64_t& number) const {
  std::vector<bson::View> files;
  GM_ASSIGN(const std::vector<bson::View> further, linked(snapshot, name));
  if (!further.empty()) return all(snapshot, name);
  if (number > INT64_MAX) return files;
  bson::Builder filter;
  int64_t left = 0;
  {
    engine::FindOptions options;
    options.sort = oldest_first();
    options.skip = static_cast<int64_t>(number);
    options.only_paths = std::vector<std::string>{"filename", "uploadDate"};
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              bucket_.files().find(snapshot, named(name), options));
    GM_ASSIGN(const std::optional<bson::View> first, cursor->next());
    if (!first) return files;
    // A document that was made from an index entry has no _id. The cursor returns whole documents
    // instead if the index has arrays, which have several entries, or if its keys are truncated.
    if (first->find("_id")) return all(snapshot, name);
    const bson::Document entry(*first);
    filter.append("filename", name).open_document("uploadDate");
    if (const std::optional<bson::ValueView> date = entry.view().find("uploadDate")) {
      filter.append("$eq", *date);
    } else {
      filter.append("$eq", bson::ValueView(bson::Type::kNull, nullptr, 0));
    }
    filter.close();
    while (true) {
      ++left;
      GM_ASSIGN(const std::optional<bson::View> next, cursor->next());
      if (!next || compare_dates(*next, entry) != 0) break;
    }
  }
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(snapshot, std::move(filter).finish()));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) break;
    files.push_back(*document);
  }
  if (std::ssize(files) < left) return all(snapshot, name);
  number = files.size() - static_cast<uint64_t>(left);
  return files;
}

Result<std::vector<bson::View>> PathIndex::first_and_last(engine::Snapshot& snapshot,
                                                          std::string_view name) const {
  GM_ASSIGN(std::vector<bson::View> files, linked(snapshot, name));
  const bson::Document named = equals("filename", bson::Value(name));
  for (const bson::Document* const order : {&newest_first(), &oldest_first()}) {
    engine::FindOptions options;
    options.sort = *order;
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              bucket_.files().find(snapshot, named, options));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      if (!is_shown(*document)) continue;
      files.push_back(*document);
      break;
    }
  }
  return files;
}

Result<std::unique_ptr<engine::Cursor>> PathIndex::behind_newest(engine::Snapshot& snapshot,
                                                                 std::string_view filename,
                                                                 int64_t count) const {
  engine::FindOptions options;
  options.sort = newest_first();
  options.skip = count;
  // A filename that is an array and contains the name is not a path.
  bson::Builder filter;
  filter.open_document("filename").append("$eq", filename);
  filter.open_document("$not").append("$type", "array").close().close();
  return bucket_.files().find(snapshot, std::move(filter).finish(), options);
}

Result<std::vector<bson::View>> PathIndex::all(engine::Snapshot& snapshot,
                                               std::string_view name) const {
  GM_ASSIGN(std::vector<bson::View> files, linked(snapshot, name));
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(snapshot, equals("filename", bson::Value(name))));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return files;
    if (is_shown(*document)) files.push_back(*document);
  }
}

Result<std::optional<bson::View>> PathIndex::any_below(engine::Snapshot& snapshot,
                                                       std::string_view directory) const {
  if (!can_be_directory(directory)) return std::optional<bson::View>();
  GM_ASSIGN(const std::optional<bson::View> named, any_filename_below(snapshot, directory));
  if (named) return named;
  return any_link_below(snapshot, directory);
}

Result<std::optional<bson::View>> PathIndex::any_filename_below(engine::Snapshot& snapshot,
                                                                std::string_view directory) const {
  const bson::Document below = names_below("filename", directory);
  engine::FindOptions any;
  any.partial = true;
  GM_ASSIGN(const std::optional<bson::View> first, bucket_.files().find_one(snapshot, below, any));
  if (!first || is_shown(*first)) return first;
  // The filename is an array that contains such a name, or the file is too new. There may be other
  // files below the directory.
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(snapshot, below, any));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document || is_shown(*document)) return document;
  }
}

Result<std::optional<bson::View>> PathIndex::any_link_below(engine::Snapshot& snapshot,
                                                            std::string_view directory) const {
  const bool is_root = directory.empty();
  LinkScan links(links_, snapshot, is_root ? std::string() : std::string(directory) + "/", true,
                 is_root ? std::string() : end_of_names_below(directory));
  while (true) {
    GM_ASSIGN(const std::optional<LinkScan::Link> link, links.next());
    if (!link) return std::optional<bson::View>();
    if (is_of_time(link->document)) return std::optional(link->document);
  }
}

Result<PathIndex::AtPath> PathIndex::at(engine::Snapshot& snapshot, std::string_view path) const {
  AtPath at;
  const bool can_have_names_below = !path.empty() && can_be_directory(path);
  if (!can_have_names_below || at_) {
    GM_ASSIGN(at.file, newest(snapshot, path));
    if (can_have_names_below) {
      GM_ASSIGN(at.below, any_below(snapshot, path));
    }
    return at;
  }
  GM_ASSIGN(at, at_by_filename(snapshot, path));
  GM_TRY(add_links(snapshot, path, at));
  return at;
}

Status PathIndex::add_links(engine::Snapshot& snapshot, std::string_view path, AtPath& at) const {
  if (!links_.in_use()) return {};
  GM_ASSIGN(const std::vector<bson::View> linked, links_.files_of(snapshot, path));
  for (const bson::View document : linked) {
    if (!at.file || is_newer(document, *at.file)) at.file = document;
  }
  if (!at.below) {
    GM_ASSIGN(at.below, any_link_below(snapshot, path));
  }
  return {};
}

Result<PathIndex::AtPath> PathIndex::at_by_filename(engine::Snapshot& snapshot,
                                                    std::string_view path) const {
  AtPath at;
  engine::FindOptions options;
  options.sort = by_filename_oldest_first();
  GM_ASSIGN(
      const std::unique_ptr<engine::Cursor> cursor,
      bucket_.files().find(snapshot, names_below_from("filename", path, path, true), options));
  for (int read = 0; read < kRevisionsRead; ++read) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return at;
    if (!is_shown(*document)) continue;
    const std::string_view name = (*document)["filename"].as_string();
    if (name == path) {
      if (!at.file || is_newer(*document, *at.file)) at.file = document;
      continue;
    }
    if (name.substr(path.size()).starts_with('/')) {
      at.below = document;
    } else {
      GM_ASSIGN(at.below, any_filename_below(snapshot, path));
    }
    return at;
  }
  GM_ASSIGN(at.file, newest_by_filename(snapshot, path));
  GM_ASSIGN(at.below, any_filename_below(snapshot, path));
  return at;
}

ChildScan::ChildScan(const PathIndex& path_index, engine::Snapshot& snapshot, std::string directory,
                     std::string from, bool inclusive)
    : path_index_(path_index),
      snapshot_(snapshot),
      directory_(std::move(directory)),
      prefix_bytes_(directory_.empty() ? 0 : directory_.size() + 1),
      end_(directory_.empty() ? std::string() : end_of_names_below(directory_)),
      from_(std::move(from)),
      inclusive_(inclusive) {}

void ChildScan::skip_to(std::string name) {
  from_ = std::move(name);
  inclusive_ = true;
  cursor_.reset();
  filename_.reset();
  filenames_ended_ = false;
  // A link after the new position is still the next one.
  if (link_ && link_->name < from_) {
    link_.reset();
    links_.reset();
  }
}

void ChildScan::skip_behind(const std::string& name) {
  from_ = name;
  inclusive_ = false;
  cursor_.reset();
  filename_.reset();
  filenames_ended_ = false;
  if (link_ && link_->name <= name) {
    link_.reset();
    links_.reset();
  }
}

Result<std::optional<ChildScan::NamedFile>> ChildScan::read_filename() {
  if (!cursor_) {
    engine::FindOptions options;
    options.sort = by_filename_oldest_first();
    GM_ASSIGN(cursor_,
              path_index_.bucket().files().find(
                  snapshot_, names_below_from("filename", directory_, from_, inclusive_), options));
  }
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor_->next());
    if (!document) return std::optional<NamedFile>();
    if (!path_index_.is_shown(*document)) continue;
    return std::optional(NamedFile{std::string((*document)["filename"].as_string()), *document});
  }
}

Result<std::optional<ChildScan::NamedFile>> ChildScan::read_link() {
  if (!links_) links_.emplace(path_index_.links(), snapshot_, from_, inclusive_, end_);
  while (true) {
    GM_ASSIGN(const std::optional<LinkScan::Link> link, links_->next());
    if (!link) return std::optional<NamedFile>();
    if (path_index_.is_of_time(link->document)) {
      return std::optional(NamedFile{link->name, link->document});
    }
  }
}

Result<std::optional<ChildScan::NamedFile>> ChildScan::read() {
  if (ahead_) return std::exchange(ahead_, std::nullopt);
  if (!filename_ && !filenames_ended_) {
    GM_ASSIGN(filename_, read_filename());
    filenames_ended_ = !filename_;
  }
  if (path_index_.links().in_use() && !links_) {
    GM_ASSIGN(link_, read_link());
  }
  if (!link_ || (filename_ && filename_->name <= link_->name)) {
    return std::exchange(filename_, std::nullopt);
  }
  std::optional<NamedFile> given = link_;
  GM_ASSIGN(link_, read_link());
  return given;
}

Result<std::optional<ChildScan::Child>> ChildScan::next() {
  GM_ASSIGN(const std::optional<NamedFile> named, read());
  if (!named) return std::optional<Child>();
  const std::string_view rest = std::string_view(named->name).substr(prefix_bytes_);
  Child child;
  child.component = first_component(rest, directory_.empty());
  if (child.component.size() < rest.size()) {
    child.is_directory = true;
    child.document = named->document;
    // Skips all other names below this child.
    skip_to(end_of_names_below(named->name.substr(0, prefix_bytes_ + child.component.size())));
    return std::optional(std::move(child));
  }
  child.document = named->document;
  for (int revisions = 1;; ++revisions) {
    GM_ASSIGN(ahead_, read());
    if (!ahead_ || ahead_->name != named->name) break;
    if (is_newer(ahead_->document, child.document)) child.document = ahead_->document;
    ahead_.reset();
    if (revisions < kRevisionsRead) continue;
    // The remaining revisions are not read here. newest() finds the newest one with the index.
    GM_ASSIGN(const std::optional<bson::View> newest, path_index_.newest(snapshot_, named->name));
    if (newest) child.document = *newest;
    skip_behind(named->name);
  }
  GM_ASSIGN(child.shadowed, is_shadowed(named->name, ahead_));
  return std::optional(std::move(child));
}

// Usually the next name decides, because names below the path follow soon after it.
Result<bool> ChildScan::is_shadowed(const std::string& path,
                                    const std::optional<NamedFile>& following) {
  if (!following || path.empty() || !can_be_directory(path)) return false;
  const std::string below = path + "/";
  if (following->name.starts_with(below)) return true;
  if (following->name > below) return false;
  GM_ASSIGN(const std::optional<bson::View> some, path_index_.any_below(snapshot_, path));
  return some.has_value();
}

}  // namespace gridmount::gridfs
