#include "gridfs/names.h"

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/chunk_document.h"
#include "gridfs/path.h"
#include "gridfs/path_range.h"

namespace gridmount::gridfs {
namespace {

bson::Document sort_by(std::string_view field, int32_t direction) {
  bson::Builder sort;
  sort.append(field, direction);
  return std::move(sort).finish();
}

std::weak_ordering compare_dates(bson::View a, bson::View b) {
  const auto date = [](bson::View document) {
    return document.find("uploadDate").value_or(bson::ValueView(bson::Type::kNull, nullptr, 0));
  };
  return bson::compare(date(a), date(b));
}

const bson::Document& by_filename() {
  static const bson::Document kSort = [] {
    bson::Builder sort;
    sort.append("filename", int32_t{1}).append("uploadDate", int32_t{1});
    return std::move(sort).finish();
  }();
  return kSort;
}

// Revisions that are read to find the newest before it is asked of the index.
constexpr int kRevisionsRead = 4;

}  // namespace

bool is_newer(bson::View a, bson::View b) {
  const std::weak_ordering dates = compare_dates(a, b);
  return dates != 0 ? dates > 0 : bson::compare(a["_id"], b["_id"]) > 0;
}

bool has_filename(bson::View document) {
  const std::optional<bson::ValueView> name = document.find("filename");
  return name && name->type() == bson::Type::kString;
}

bool Names::is_of_time(bson::View document) const {
  if (!at_) return true;
  const std::optional<bson::ValueView> date = document.find("uploadDate");
  return date && date->type() == bson::Type::kDate && date->as_date() <= *at_;
}

bool Names::is_shown(bson::View document) const {
  return has_filename(document) && is_of_time(document);
}

Result<std::optional<bson::View>> Names::newest_by_filename(engine::Snapshot& snapshot,
                                                            std::string_view filename) const {
  static const bson::Document kNewestFirst = sort_by("uploadDate", -1);
  engine::FindOptions options;
  options.sort = kNewestFirst;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(snapshot, equals("filename", bson::Value(filename)), options));
  std::optional<bson::View> newest;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return newest;
    if (!is_shown(*document)) continue;
    if (newest && compare_dates(*document, *newest) != 0) return newest;
    if (!newest || is_newer(*document, *newest)) newest = document;
  }
}

Result<std::optional<bson::View>> Names::newest(engine::Snapshot& snapshot,
                                                std::string_view filename) const {
  GM_ASSIGN(std::optional<bson::View> newest, newest_by_filename(snapshot, filename));
  GM_ASSIGN(const std::vector<bson::View> linked, aliases_.files_of(snapshot, filename));
  for (const bson::View document : linked) {
    if (!is_of_time(document)) continue;
    if (!newest || is_newer(document, *newest)) newest = document;
  }
  return newest;
}

Result<std::vector<bson::View>> Names::all(engine::Snapshot& snapshot,
                                           std::string_view name) const {
  GM_ASSIGN(std::vector<bson::View> files, aliases_.files_of(snapshot, name));
  // One that has it as filename, too, is among those of the filename.
  std::erase_if(files, [&](bson::View document) {
    if (!is_of_time(document)) return true;
    return has_filename(document) && document["filename"].as_string() == name;
  });
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(snapshot, equals("filename", bson::Value(name))));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return files;
    if (is_shown(*document)) files.push_back(*document);
  }
}

Result<std::optional<bson::View>> Names::any_below(engine::Snapshot& snapshot,
                                                   std::string_view folder) const {
  if (!can_be_folder(folder)) return std::optional<bson::View>();
  const bson::Document below = names_below("filename", folder);
  engine::FindOptions any;
  any.partial = true;
  GM_ASSIGN(const std::optional<bson::View> first, bucket_.files().find_one(snapshot, below, any));
  if (first && is_shown(*first)) return first;
  if (first) {
    // An array with such a name in it, or too new. There may be others.
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              bucket_.files().find(snapshot, below, any));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      if (is_shown(*document)) return document;
    }
  }
  const std::string lead = folder.empty() ? std::string() : std::string(folder) + "/";
  std::string from = lead;
  for (bool inclusive = true;; inclusive = false) {
    GM_ASSIGN(const std::optional<Aliases::Alias> alias, aliases_.next(snapshot, from, inclusive));
    if (!alias || !alias->name.starts_with(lead)) return std::optional<bson::View>();
    GM_ASSIGN(const std::optional<bson::View> shown, newest(snapshot, alias->name));
    if (shown) return shown;
    from = alias->name;
  }
}

Result<Names::AtPath> Names::at(engine::Snapshot& snapshot, std::string_view path) const {
  AtPath at;
  const bool can_have_names_below = !path.empty() && can_be_folder(path);
  if (!can_have_names_below || aliases_.in_use() || at_) {
    GM_ASSIGN(at.file, newest(snapshot, path));
    if (can_have_names_below) {
      GM_ASSIGN(at.below, any_below(snapshot, path));
    }
    return at;
  }
  engine::FindOptions options;
  options.sort = by_filename();
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
      GM_ASSIGN(at.below, any_below(snapshot, path));
    }
    return at;
  }
  GM_ASSIGN(at.file, newest(snapshot, path));
  GM_ASSIGN(at.below, any_below(snapshot, path));
  return at;
}

ChildScan::ChildScan(const Names& names, engine::Snapshot& snapshot, std::string folder,
                     std::string from, bool inclusive)
    : names_(names),
      snapshot_(snapshot),
      folder_(std::move(folder)),
      prefix_bytes_(folder_.empty() ? 0 : folder_.size() + 1),
      end_(folder_.empty() ? std::string() : end_of_names_below(folder_)),
      from_(std::move(from)),
      inclusive_(inclusive) {}

void ChildScan::skip_to(std::string name) {
  from_ = std::move(name);
  inclusive_ = true;
  cursor_.reset();
  filename_.reset();
  filenames_ended_ = false;
  // An alias behind it is still the next one.
  if (alias_ && alias_->name < from_) {
    alias_.reset();
    aliases_begun_ = false;
  }
}

Result<std::optional<ChildScan::Named>> ChildScan::read_filename() {
  if (!cursor_) {
    engine::FindOptions options;
    options.sort = by_filename();
    GM_ASSIGN(cursor_,
              names_.bucket().files().find(
                  snapshot_, names_below_from("filename", folder_, from_, inclusive_), options));
  }
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor_->next());
    if (!document) return std::optional<Named>();
    if (!names_.is_shown(*document)) continue;
    return std::optional(Named{std::string((*document)["filename"].as_string()), *document});
  }
}

Result<std::optional<ChildScan::Named>> ChildScan::read_alias() {
  const bool first = !std::exchange(aliases_begun_, true);
  if (!first && !alias_) return std::optional<Named>();
  std::string from = first ? from_ : alias_->name;
  for (bool inclusive = first && inclusive_;; inclusive = false) {
    GM_ASSIGN(const std::optional<Aliases::Alias> next,
              names_.aliases().next(snapshot_, from, inclusive));
    if (!next || (!end_.empty() && next->name >= end_)) return std::optional<Named>();
    GM_ASSIGN(const std::optional<bson::View> newest, names_.newest(snapshot_, next->name));
    if (newest) return std::optional(Named{next->name, *newest});
    from = next->name;
  }
}

Result<std::optional<ChildScan::Named>> ChildScan::read() {
  if (ahead_) return std::exchange(ahead_, std::nullopt);
  if (!filename_ && !filenames_ended_) {
    GM_ASSIGN(filename_, read_filename());
    filenames_ended_ = !filename_;
  }
  if (names_.aliases().in_use() && !aliases_begun_) {
    GM_ASSIGN(alias_, read_alias());
  }
  if (!alias_ || (filename_ && filename_->name <= alias_->name)) {
    return std::exchange(filename_, std::nullopt);
  }
  std::optional<Named> given = alias_;
  GM_ASSIGN(alias_, read_alias());
  return given;
}

Result<std::optional<ChildScan::Child>> ChildScan::next() {
  GM_ASSIGN(const std::optional<Named> named, read());
  if (!named) return std::optional<Child>();
  const std::string_view rest = std::string_view(named->name).substr(prefix_bytes_);
  Child child;
  child.component = first_component(rest, folder_.empty());
  if (child.component.size() < rest.size()) {
    child.is_folder = true;
    child.document = named->document;
    // Whatever else is in it is passed over.
    skip_to(end_of_names_below(named->name.substr(0, prefix_bytes_ + child.component.size())));
    return std::optional(std::move(child));
  }
  child.document = named->document;
  while (true) {
    GM_ASSIGN(ahead_, read());
    if (!ahead_ || ahead_->name != named->name) break;
    if (is_newer(ahead_->document, child.document)) child.document = ahead_->document;
    ahead_.reset();
  }
  GM_ASSIGN(child.shadowed, is_shadowed(named->name, ahead_));
  return std::optional(std::move(child));
}

// The next name usually tells: names below stand close behind.
Result<bool> ChildScan::is_shadowed(const std::string& path,
                                    const std::optional<Named>& following) {
  if (!following || path.empty() || !can_be_folder(path)) return false;
  const std::string below = path + "/";
  if (following->name.starts_with(below)) return true;
  if (following->name > below) return false;
  GM_ASSIGN(const std::optional<bson::View> some, names_.any_below(snapshot_, path));
  return some.has_value();
}

}  // namespace gridmount::gridfs
