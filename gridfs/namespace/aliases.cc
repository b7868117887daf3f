#include "gridfs/namespace/aliases.h"

#include <algorithm>
#include <unordered_set>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kField = "aliases";
// An index orders values by at least this number of leading bytes. The order of longer values with
// the same leading bytes is undefined.
constexpr size_t kOrderedBytes = 256;

const bson::Document& index_keys() {
  static const bson::Document kKeys = [] {
    bson::Builder keys;
    keys.append(kField, int32_t{1});
    return std::move(keys).finish();
  }();
  return kKeys;
}

engine::FindOptions by_index() {
  engine::FindOptions options;
  options.hint = bson::Value(index_keys().view());
  return options;
}

template <typename Visit>
void visit_aliases(bson::View files_document, Visit visit) {
  const std::optional<bson::ValueView> array = files_document.find(kField);
  if (!array) return;
  // A single string counts as an array of one, as it does for indexes and queries.
  if (array->type() == bson::Type::kString) visit(array->as_string());
  if (array->type() != bson::Type::kArray) return;
  for (const bson::Element element : array->as_document()) {
    if (element.value.type() == bson::Type::kString) visit(element.value.as_string());
  }
}

bson::Document key_of(std::string_view name) {
  bson::Builder key;
  key.append(kField, name);
  return std::move(key).finish();
}

// Returns the first string after all strings that begin with `beginning`, or an empty string if
// there is none. Drivers may write any bytes, so the last byte may be 0xFF.
std::string end_of_those_with(std::string_view beginning) {
  std::string end(beginning);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(end.back() + 1);
  return end;
}

std::optional<std::string_view> least_behind(bson::View files_document, std::string_view from,
                                             bool inclusive) {
  std::optional<std::string_view> least;
  visit_aliases(files_document, [&](std::string_view alias) {
    if (inclusive ? alias < from : alias <= from) return;
    if (!least || alias < *least) least = alias;
  });
  return least;
}

Result<bool> has_index(engine::Collection& files, engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::vector<engine::IndexDefinition> indexes, files.indexes(snapshot));
  return std::any_of(indexes.begin(), indexes.end(), [](const engine::IndexDefinition& index) {
    return bson::compare(index.keys.view(), index_keys().view()) == 0;
  });
}

}  // namespace

std::vector<std::string> aliases_of(bson::View files_document) {
  const std::optional<bson::ValueView> filename = files_document.find("filename");
  const bool named = filename && filename->type() == bson::Type::kString;
  std::vector<std::string> aliases;
  std::unordered_set<std::string_view> known;
  visit_aliases(files_document, [&](std::string_view alias) {
    if (named && alias == filename->as_string()) return;
    if (known.insert(alias).second) aliases.emplace_back(alias);
  });
  return aliases;
}

Status Aliases::start(engine::Snapshot& snapshot) const {
  GM_ASSIGN(in_use_, has_index(bucket_.files(), snapshot));
  return {};
}

Status Aliases::recheck_index(engine::Snapshot& snapshot, const Error& error) const {
  if (error.code() != ErrorCode::kBadValue) return fail(error);
  const Result<std::unique_ptr<engine::Snapshot>> newest = bucket_.store().snapshot();
  // A thread that has a transaction gets no snapshot, but its transaction is recent enough.
  return start(newest ? **newest : snapshot);
}

Result<std::optional<Aliases::Alias>> Aliases::next(engine::Snapshot& snapshot,
                                                    std::string_view from, bool inclusive) const {
  if (!in_use_) return std::optional<Alias>();
  if (from.size() <= kOrderedBytes) return next_of_index(snapshot, from, inclusive);
  // The index orders names that share their first kOrderedBytes arbitrarily, so it may lead to a
  // file by a name that is not after `from`. So all of these names are examined before any other.
  GM_ASSIGN(std::optional<Alias> alike, next_alike(snapshot, from, inclusive));
  if (alike) return alike;
  const std::string behind = end_of_those_with(from.substr(0, kOrderedBytes));
  if (behind.empty()) return std::optional<Alias>();
  return next_of_index(snapshot, behind, true);
}

// `from` must be short enough that the index orders everything before it correctly.
Result<std::optional<Aliases::Alias>> Aliases::next_of_index(engine::Snapshot& snapshot,
                                                             std::string_view from,
                                                             bool inclusive) const {
  bson::Builder filter;
  filter.open_document(kField).append(inclusive ? "$gte" : "$gt", from).close();
  const bson::Document behind = std::move(filter).finish();
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor, find(snapshot, behind, by_index()));
  std::optional<Alias> next;
  while (cursor) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) break;
    // The index leads to the document by the least of its names in the range.
    const std::optional<std::string_view> least = least_behind(*document, from, inclusive);
    if (!least) continue;
    if (next && least->substr(0, kOrderedBytes) != next->name.substr(0, kOrderedBytes)) break;
    if (!next || *least < next->name) next = Alias{std::string(*least), *document};
    if (next->name.size() <= kOrderedBytes) break;
  }
  return next;
}

// Examines only names that share their first kOrderedBytes with `from`.
Result<std::optional<Aliases::Alias>> Aliases::next_alike(engine::Snapshot& snapshot,
                                                          std::string_view from,
                                                          bool inclusive) const {
  const std::string_view beginning = from.substr(0, kOrderedBytes);
  const bson::Document first = key_of(beginning);
  const std::string behind = end_of_those_with(beginning);
  const bson::Document end = key_of(behind);
  engine::FindOptions options = by_index();
  options.min = first;
  if (!behind.empty()) options.max = end;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor, find(snapshot, bson::View(), options));
  std::optional<Alias> next;
  while (cursor) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) break;
    const std::optional<std::string_view> least = least_behind(*document, from, inclusive);
    if (!least || !least->starts_with(beginning)) continue;
    if (!next || *least < next->name) next = Alias{std::string(*least), *document};
  }
  return next;
}

// Returns null if there is no index, and therefore no aliases.
Result<std::unique_ptr<engine::Cursor>> Aliases::find(engine::Snapshot& snapshot, bson::View filter,
                                                      const engine::FindOptions& options) const {
  Result<std::unique_ptr<engine::Cursor>> found = bucket_.files().find(snapshot, filter, options);
  if (found) return found;
  GM_TRY(recheck_index(snapshot, found.error()));
  return std::unique_ptr<engine::Cursor>();
}

Result<std::vector<bson::View>> Aliases::files_of(engine::Snapshot& snapshot,
                                                  std::string_view name) const {
  std::vector<bson::View> files;
  if (!in_use_) return files;
  const bson::Document filter = equals(kField, bson::Value(name));
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor, find(snapshot, filter, by_index()));
  while (cursor) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) break;
    files.push_back(*document);
  }
  return files;
}

}  // namespace gridmount::gridfs
