#include "gridfs/namespace/links.h"

#include <algorithm>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/posix_place.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/path_range.h"

namespace gridmount::gridfs {
namespace {

// Number of names changed per query, so that memory use does not grow with the directory.
constexpr int64_t kMovedAtOnce = 512;

const bson::Document& by_name() {
  static const bson::Document kSort = [] {
    bson::Builder sort;
    sort.append("_id", int32_t{1});
    return std::move(sort).finish();
  }();
  return kSort;
}

// Returns the filter for a range of names.
bson::Document names_from(std::string_view from, bool inclusive, std::string_view end) {
  bson::Builder filter;
  filter.open_document("_id").append(inclusive ? "$gte" : "$gt", from);
  if (!end.empty()) filter.append("$lt", end);
  filter.close();
  return std::move(filter).finish();
}

}  // namespace

LinkedFile LinkedFile::parse(bson::View files_document) {
  LinkedFile file;
  file.id = bson::Value(files_document["_id"]);
  if (has_filename(files_document)) file.filename = files_document["filename"].as_string();
  file.links = recorded_links(files_document);
  file.accepts_fields = accepts_posix_fields(files_document);
  return file;
}

Status Links::start(engine::Snapshot& snapshot) {
  GM_TRY(aliases_.start(snapshot));
  GM_ASSIGN(const bool made, bucket_.database().exists(snapshot, documents().ns().collection));
  is_made_ = made;
  has_documents_ = made;
  return {};
}

uint32_t Links::nlink(bson::View files_document) const {
  if (!in_use()) return 1;
  int64_t links = recorded_links(files_document);
  if (aliases_.in_use()) links += static_cast<int64_t>(aliases_of(files_document).size());
  if (has_documents_ && !accepts_posix_fields(files_document)) {
    const Result<std::unique_ptr<engine::Snapshot>> snapshot = bucket_.store().snapshot();
    if (snapshot) links += count_of(**snapshot, files_document["_id"]).value_or(0);
  }
  return static_cast<uint32_t>(std::min(links, kMaxLinks - 1)) + 1;
}

Result<std::vector<bson::View>> Links::files_of(engine::Snapshot& snapshot,
                                                std::string_view name) const {
  GM_ASSIGN(std::vector<bson::View> files, aliases_.files_of(snapshot, name));
  if (!has_documents_) return files;
  GM_ASSIGN(const std::optional<bson::View> link,
            documents().find_one(snapshot, equals("_id", bson::Value(name))));
  const std::optional<bson::ValueView> id = link ? link->find("file") : std::nullopt;
  if (!id) return files;
  GM_ASSIGN(const std::optional<bson::View> file,
            bucket_.files().find_one(snapshot, equals("_id", *id)));
  const auto is_known = [&](bson::View known) { return bson::compare(known["_id"], *id) == 0; };
  if (file && std::none_of(files.begin(), files.end(), is_known)) files.push_back(*file);
  return files;
}

Result<std::optional<std::string>> Links::any_of(engine::Snapshot& snapshot,
                                                 bson::ValueView id) const {
  GM_ASSIGN(const std::optional<bson::View> link,
            documents().find_one(snapshot, equals("file", id)));
  if (!link || (*link)["_id"].type() != bson::Type::kString) return std::optional<std::string>();
  return std::optional(std::string((*link)["_id"].as_string()));
}

Result<bool> Links::has_any(engine::Snapshot& snapshot, bson::View files_document) const {
  if (aliases_.in_use() && !aliases_of(files_document).empty()) return true;
  if (!has_documents_) return false;
  GM_ASSIGN(const std::optional<std::string> link, any_of(snapshot, files_document["_id"]));
  return link.has_value();
}

Result<std::vector<std::string>> Links::all_of(engine::Snapshot& snapshot,
                                               bson::ValueView id) const {
  std::vector<std::string> names;
  if (!has_documents_) return names;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            documents().find(snapshot, equals("file", id)));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> link, cursor->next());
    if (!link) return names;
    if ((*link)["_id"].type() == bson::Type::kString)
      names.emplace_back((*link)["_id"].as_string());
  }
}

Result<int64_t> Links::count_of(engine::Snapshot& snapshot, bson::ValueView id) const {
  return documents().count(snapshot, equals("file", id));
}

Result<std::optional<LinkedFile>> Links::load(engine::Transaction& transaction,
                                              bson::ValueView id) const {
  const bson::Document by_id = equals("_id", id);
  GM_ASSIGN(std::optional<bson::View> found, bucket_.files().find_one(transaction, by_id));
  if (found && aliases_.in_use() && found->find("aliases")) {
    GM_TRY(make_documents(transaction, bson::Document(*found)));
    GM_ASSIGN(found, bucket_.files().find_one(transaction, by_id));
  }
  if (!found) return std::optional<LinkedFile>();
  LinkedFile file = LinkedFile::parse(*found);
  // Counts again if the number is missing, or if the number would forbid another name.
  if (has_documents_ && (file.links == 0 || file.links + 1 >= kMaxLinks)) {
    GM_ASSIGN(file.links, count_of(transaction, file.id));
  }
  return std::optional(std::move(file));
}

// If two files have one alias, the newer one gets the link document.
Status Links::make_documents(engine::Transaction& transaction, const bson::Document& file) const {
  const bson::Value id(file.view()["_id"]);
  for (const std::string& alias : aliases_of(file)) {
    GM_ASSIGN(const std::vector<bson::View> others, files_of(transaction, alias));
    const bool has_newer = std::any_of(others.begin(), others.end(), [&](bson::View other) {
      return bson::compare(other["_id"], id) != 0 && is_newer(other, file);
    });
    if (!has_newer) GM_TRY(put(transaction, alias, id));
  }
  bson::Builder set;
  bson::Builder unset;
  unset.append("aliases", "");
  GM_ASSIGN(const int64_t links, count_of(transaction, id));
  if (links > 0) set.append(kRecordedLinksPath, links);
  GM_TRY(update_file(bucket_.files(), transaction, id, update_of(set, unset)));
  return {};
}

Status Links::put(engine::Transaction& transaction, std::string_view name,
                  bson::ValueView id) const {
  if (!is_made_) {
    GM_TRY(bucket_.ensure_links(transaction));
    has_documents_ = true;
  }
  bson::Builder update;
  update.open_document("$set").append("file", id).close();
  engine::UpdateOptions options;
  options.upsert = true;
  GM_TRY(documents().update(transaction, equals("_id", bson::Value(name)),
                            std::move(update).finish(), options));
  return {};
}

Result<bool> Links::take(engine::Transaction& transaction, std::string_view name,
                         bson::ValueView id) const {
  bson::Builder filter;
  filter.append("_id", name).append("file", id);
  GM_ASSIGN(const int64_t removed,
            documents().remove(transaction, std::move(filter).finish(), false));
  return removed != 0;
}

Status Links::transfer(engine::Transaction& transaction, bson::ValueView from,
                       bson::ValueView to) const {
  bson::Builder update;
  update.open_document("$set").append("file", to).close();
  engine::UpdateOptions all;
  all.multi = true;
  GM_TRY(documents().update(transaction, equals("file", from), std::move(update).finish(), all));
  return {};
}

Status Links::move_below(engine::Transaction& transaction, const std::string& from,
                         const std::string& to) const {
  const std::string lead = from + "/";
  while (true) {
    GM_ASSIGN(const std::optional<Aliases::Alias> alias, aliases_.next(transaction, lead, true));
    if (!alias || !alias->name.starts_with(lead)) break;
    // make_documents() also removes the array, so the next search finds another alias.
    GM_TRY(make_documents(transaction, bson::Document(alias->document)));
  }
  if (!has_documents_) return {};
  const bson::Document below = names_below("_id", from);
  while (true) {
    std::vector<bson::Document> batch;
    {
      engine::FindOptions some;
      some.limit = kMovedAtOnce;
      GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
                documents().find(transaction, below, some));
      while (true) {
        GM_ASSIGN(const std::optional<bson::View> link, cursor->next());
        if (!link) break;
        batch.emplace_back(*link);
      }
    }
    // The links of this batch are no longer below `from`.
    for (const bson::Document& moved : batch) {
      const bson::View link = moved;
      const std::string_view name = link["_id"].as_string();
      GM_TRY(documents().remove(transaction, equals("_id", link["_id"]), false));
      if (const std::optional<bson::ValueView> file = link.find("file")) {
        GM_TRY(put(transaction, to + std::string(name.substr(from.size())), *file));
      }
    }
    if (static_cast<int64_t>(batch.size()) < kMovedAtOnce) return {};
  }
}

LinkScan::LinkScan(const Links& links, engine::Snapshot& snapshot, std::string from, bool inclusive,
                   std::string end)
    : links_(links),
      snapshot_(snapshot),
      end_(std::move(end)),
      from_(std::move(from)),
      inclusive_(inclusive) {}

Result<std::optional<LinkScan::Link>> LinkScan::next() {
  if (!links_.in_use()) return std::optional<Link>();
  if (!begun_) {
    begun_ = true;
    GM_ASSIGN(document_, read_document());
    GM_ASSIGN(alias_, read_alias());
  }
  std::optional<Link> given;
  if (document_ && (!alias_ || document_->name <= alias_->name)) {
    given = std::exchange(document_, std::nullopt);
    GM_ASSIGN(document_, read_document());
  } else if (alias_) {
    given = std::exchange(alias_, std::nullopt);
    GM_ASSIGN(alias_, read_alias());
  }
  return given;
}

Result<std::optional<LinkScan::Link>> LinkScan::read_document() {
  if (!cursor_) {
    engine::FindOptions options;
    options.sort = by_name();
    GM_ASSIGN(cursor_,
              links_.documents().find(snapshot_, names_from(from_, inclusive_, end_), options));
  }
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> link, cursor_->next());
    if (!link) return std::optional<Link>();
    const std::optional<bson::ValueView> id = link->find("file");
    if (!id) continue;
    GM_ASSIGN(const std::optional<bson::View> file,
              links_.bucket().files().find_one(snapshot_, equals("_id", *id)));
    if (file) return std::optional(Link{std::string((*link)["_id"].as_string()), *file});
  }
}

Result<std::optional<LinkScan::Link>> LinkScan::read_alias() {
  if (alike_.empty()) {
    GM_ASSIGN(const std::optional<Aliases::Alias> alias,
              links_.aliases().next(snapshot_, from_, inclusive_));
    if (!alias || (!end_.empty() && alias->name >= end_)) return std::optional<Link>();
    from_ = alias->name;
    inclusive_ = false;
    GM_ASSIGN(alike_, links_.aliases().files_of(snapshot_, from_));
    if (alike_.empty()) alike_.push_back(alias->document);
  }
  const bson::View document = alike_.back();
  alike_.pop_back();
  return std::optional(Link{from_, document});
}

}  // namespace gridmount::gridfs
