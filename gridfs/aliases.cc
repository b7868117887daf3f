#include "gridfs/aliases.h"

#include <algorithm>
#include <unordered_set>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/chunk_document.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kField = "aliases";
// An index has longer values in the order of so many bytes of them, at least, and no further.
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
  // As indexes and queries see it, a single string is an array of one.
  if (array->type() == bson::Type::kString) visit(array->as_string());
  if (array->type() != bson::Type::kArray) return;
  for (const bson::Element element : array->as_document()) {
    if (element.value.type() == bson::Type::kString) visit(element.value.as_string());
  }
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

uint32_t Aliases::links_of(bson::View files_document) const {
  if (!in_use_ || !files_document.find(kField)) return 1;
  return 1 + static_cast<uint32_t>(aliases_of(files_document).size());
}

Status Aliases::start(engine::Snapshot& snapshot) {
  GM_ASSIGN(in_use_, has_index(bucket_.files(), snapshot));
  return {};
}

Status Aliases::look_again(const Error& error) const {
  if (error.code() != ErrorCode::kBadValue) return fail(error);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket_.store().snapshot());
  GM_ASSIGN(in_use_, has_index(bucket_.files(), *snapshot));
  return {};
}

Status Aliases::ensure_index(engine::Transaction& transaction) const {
  if (in_use_) return {};
  engine::IndexDefinition definition;
  definition.keys = index_keys();
  definition.sparse = true;
  return bucket_.files().create_index(transaction, definition);
}

Result<std::optional<Aliases::Alias>> Aliases::next(engine::Snapshot& snapshot,
                                                    std::string_view from, bool inclusive) const {
  if (!in_use_) return std::optional<Alias>();
  bson::Builder filter;
  filter.open_document(kField).append(inclusive ? "$gte" : "$gt", from).close();
  const bson::Document behind = std::move(filter).finish();
  Result<std::unique_ptr<engine::Cursor>> found =
      bucket_.files().find(snapshot, behind, by_index());
  std::optional<Alias> next;
  if (!found) {
    GM_TRY(look_again(found.error()));
    return next;
  }
  const std::unique_ptr<engine::Cursor> cursor = *std::move(found);
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return next;
    // The index leads to the document by the least of its names in the range.
    std::optional<std::string_view> least;
    visit_aliases(*document, [&](std::string_view alias) {
      if (inclusive ? alias < from : alias <= from) return;
      if (!least || alias < *least) least = alias;
    });
    if (!least) continue;
    if (next && least->substr(0, kOrderedBytes) != next->name.substr(0, kOrderedBytes)) return next;
    if (!next || *least < next->name) next = Alias{std::string(*least), *document};
    if (next->name.size() <= kOrderedBytes) return next;
  }
}

Result<std::vector<bson::View>> Aliases::files_of(engine::Snapshot& snapshot,
                                                  std::string_view name) const {
  std::vector<bson::View> files;
  if (!in_use_) return files;
  Result<std::unique_ptr<engine::Cursor>> found =
      bucket_.files().find(snapshot, equals(kField, bson::Value(name)), by_index());
  if (!found) {
    GM_TRY(look_again(found.error()));
    return files;
  }
  const std::unique_ptr<engine::Cursor> cursor = *std::move(found);
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return files;
    files.push_back(*document);
  }
}

}  // namespace gridmount::gridfs
